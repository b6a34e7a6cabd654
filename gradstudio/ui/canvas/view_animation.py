"""The view glides to where it jumps; what a person does next finds it there already. The card that it follows."""

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QEasingCurve, QEvent, QObject, QVariantAnimation
from PySide6.QtWidgets import QStyle

from gradstudio.graph.model import ItemId
from gradstudio.scene.camera import Camera, interpolate, shows_whole
from gradstudio.scene.geometry import Box
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.card_animation import ENDS, unwatch, watch

TRAVEL_MS: Final = 220


class ViewAnimation(QObject):
    """Moves the camera of one canvas step by step.

    Attributes:
        smooth: whether it glides at all; a window switches it on unless the person prefers reduced motion.
    """

    def __init__(self, canvas: CanvasContext, move: Callable[[Camera], None], arrive: Callable[[Camera], None]) -> None:
        """Nothing moves yet; `move` takes a step of a way, `arrive` its end."""
        super().__init__(canvas.widget)
        self.smooth = False
        self._canvas, self._move, self._arrive = canvas, move, arrive
        self._way: tuple[Camera, Camera] | None = None
        self._then: Callable[[], None] | None = None
        self._clock = QVariantAnimation(self)
        self._clock.setEasingCurve(QEasingCurve.Type.InOutCubic)
        self._clock.setDuration(TRAVEL_MS)
        self._clock.setStartValue(0.0)
        self._clock.setEndValue(1.0)
        self._clock.valueChanged.connect(self._on_clock_value_changed)
        self._clock.finished.connect(self.finish)

    @property
    def is_moving(self) -> bool:
        """Whether the view is on its way."""
        return self._way is not None

    @property
    def target(self) -> Camera:
        """Where the view looks when it is at rest."""
        return self._way[1] if self._way is not None else self._canvas.camera

    def go(self, camera: Camera, then: Callable[[], None] | None = None) -> None:
        """Look from there; `then` is called on arrival."""
        self.stop()
        canvas, here = self._canvas, self._canvas.camera
        self._way, self._then = (here, camera), then
        if camera == here or not self._wanted():
            self.finish()
            return
        size = canvas.viewport().width(), canvas.viewport().height()
        if camera.zoom < here.zoom:  # the way out is shown from the larger picture, the way in from the one there is
            canvas.picture.prepare(camera, *size, canvas.viewport().devicePixelRatioF())
        watch(self, canvas)
        self._clock.start()

    def finish(self) -> None:
        """Be there."""
        if self._way is not None:
            (_, camera), then = self._way, self._then
            self.stop()
            self._arrive(camera)
            if then is not None:
                then()

    def stop(self) -> None:
        """Stay here: somebody else moves the view."""
        self._way = self._then = None
        self._clock.stop()
        unwatch(self, self._canvas)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A key, a press or another size finds the view where it was going."""
        if self._way is not None and event.type() in ENDS:
            self.finish()
        return super().eventFilter(watched, event)

    def _wanted(self) -> bool:
        """Nobody is shown motion who has turned it off, here or for the whole desktop."""
        view = self._canvas.widget
        duration = view.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration, None, view)
        return self.smooth and duration > 0 and view.isVisible() and self._canvas.input_dispatcher.gesture is None

    def _on_clock_value_changed(self, part: float) -> None:
        if self._way is not None and part < 1.0:
            self._move(interpolate(*self._way, part, self._canvas.viewport().width()))


class FollowedCard:
    """The current card of one canvas, as it stood when it was selected, or when somebody looked elsewhere.

    That is noted when it happens, not at the next painting: until then the card may have grown already.
    """

    def __init__(self, canvas: CanvasContext, travel: ViewAnimation) -> None:
        """Nothing is known; `travel` says where the view comes to."""
        self._canvas, self._travel = canvas, travel
        self._noted: tuple[ItemId | None, Box | None, Camera] = None, None, travel.target

    def note(self) -> None:
        """Take its room and the view as they are now."""
        item = self._canvas.attention.current
        self._noted = item, self._room(item), self._travel.target

    def box_out_of_view(self) -> Box | None:
        """Its room, where that was whole in view and is not any more; what it is now is noted."""
        item, before, camera = self._noted
        box = self._room(item)
        if box == before:
            return None
        self.note()
        if before is None or box is None:
            return None
        size = self._canvas.viewport().width(), self._canvas.viewport().height()
        was_whole, is_whole = shows_whole(camera, before, *size), shows_whole(self._travel.target, box, *size)
        return box if was_whole and not is_whole else None

    def _room(self, item: ItemId | None) -> Box | None:
        return self._canvas.scene.placement.room(item) if item is not None else None
