"""Cards glide to where the graph has put them; any key, click, turn of the wheel or edit ends it at once."""

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import QEasingCurve, QEvent, QObject, QVariantAnimation
from PySide6.QtWidgets import QStyle

from gradstudio.ui.canvas.canvas_context import CanvasContext

GLIDE_MS: Final = 200
MOST_CARDS: Final = 300
"""More of them stand where they belong at once."""
ENDS: Final = frozenset(
    {
        QEvent.Type.MouseButtonPress,
        QEvent.Type.MouseButtonDblClick,
        QEvent.Type.Wheel,
        QEvent.Type.NativeGesture,
        QEvent.Type.KeyPress,
        QEvent.Type.ShortcutOverride,
        QEvent.Type.ContextMenu,
        QEvent.Type.DragEnter,
        QEvent.Type.Hide,
        QEvent.Type.Resize,
    }
)
"""What a person does that must find everything at rest."""
Corners = Mapping[str, tuple[float, float]]


class CardAnimation(QObject):
    """Shows items of one canvas on their way; the graph has them at the end of it already.

    Attributes:
        reduced_motion: the person prefers that nothing glides.
    """

    def __init__(self, canvas: CanvasContext) -> None:
        """Nothing moves yet."""
        super().__init__(canvas.widget)
        self._canvas = canvas
        self.reduced_motion = False
        self._ways: dict[str, tuple[tuple[float, float], tuple[float, float]]] = {}
        self._clock = QVariantAnimation(self)
        self._clock.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._clock.setStartValue(0.0)
        self._clock.setEndValue(1.0)
        self._clock.valueChanged.connect(self._on_clock_value_changed)
        self._clock.finished.connect(self.finish)
        canvas.store.edited.connect(self.finish)
        canvas.store.replaced.connect(self.finish)

    @property
    def is_moving(self) -> bool:
        """Whether cards are on their way."""
        return bool(self._ways)

    def start(self, before: Corners) -> None:
        """Let items glide from places, in scene pixels, to where the graph has them now."""
        self.finish()
        scene, places = self._canvas.scene, self._canvas.scene.graph.places
        after = {key: (place.x, place.y) for key in before if (place := places.get(key)) is not None}
        ways = {key: (before[key], at) for key, at in after.items() if at != before[key]}
        if not ways or sum(key in scene.stack.index for key in ways) > MOST_CARDS or not self._wanted():
            return
        self._ways = ways
        watch(self, self._canvas)
        self._clock.setDuration(GLIDE_MS)
        self._clock.start()
        self._show(0.0)

    def finish(self, *_said: object) -> None:
        """Everything stands where the graph has it."""
        if self._ways:
            self._ways = {}
            self._clock.stop()
            unwatch(self, self._canvas)
            self._canvas.scene.drag.let_go()
            self._canvas.repaint_scene()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """What a person does finds the cards at rest."""
        if self._ways and event.type() in ENDS:
            self.finish()
        return super().eventFilter(watched, event)

    def _wanted(self) -> bool:
        """Nobody is shown motion who has turned it off for the whole desktop."""
        view = self._canvas.widget
        duration = view.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration, None, view)
        return view.isVisible() and duration > 0 and not self.reduced_motion

    def _on_clock_value_changed(self, part: float) -> None:
        if self._ways:
            self._show(part)

    def _show(self, part: float) -> None:
        self._canvas.scene.drag.show(
            {key: (a + (x - a) * part, b + (y - b) * part) for key, ((a, b), (x, y)) in self._ways.items()}
        )
        self._canvas.repaint_scene()


def watch(animation: QObject, canvas: CanvasContext) -> None:
    """It sees what a person does to the canvas: only while something moves, for each event asks whoever watches."""
    canvas.widget.installEventFilter(animation)
    canvas.viewport().installEventFilter(animation)


def unwatch(animation: QObject, canvas: CanvasContext) -> None:
    """Nothing moves any more."""
    canvas.widget.removeEventFilter(animation)
    canvas.viewport().removeEventFilter(animation)
