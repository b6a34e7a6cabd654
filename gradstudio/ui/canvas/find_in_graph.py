"""Find in the graph: what matches is lit and walked through, the rest is faded."""

from functools import cached_property
from typing import TYPE_CHECKING, Final

import msgspec
from PySide6.QtCore import QObject, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from gradstudio.graph.model import ItemId
from gradstudio.scene import camera as cameras
from gradstudio.scene import geometry
from gradstudio.scene.geometry import Box
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.edit.canvas_selection import CanvasSelection
from gradstudio.ui.canvas.minimap import Minimap
from gradstudio.ui.canvas.paint.primitives.batch_drawing import draw_rects
from gradstudio.ui.canvas.viewport import Viewport
from gradstudio.ui.state.throttle import Throttle
from gradstudio.ui.theme import Theme

if TYPE_CHECKING:
    from gradstudio.ui.canvas.popups.find_bar import FindBar

READABLE: Final = 0.5
NEAR: Final = 0.8
HEAD: Final = (280.0, 60.0)
"""Of a block its head is shown: it may be larger than the view."""
MOST_UNCOVERED: Final = 2.0
"""So many heights of what the bar covers the view moves at most to show what lies below it."""
REFRESH_MS: Final = 150


class FindInGraph(QObject):
    """The search through one canvas.

    Attributes:
        found: what matches, in program order; the cards of these are lit while the bar is open.
        current: which of them is looked at; -1: none.
    """

    def __init__(
        self, canvas: CanvasContext, navigation: Viewport, selection: CanvasSelection, minimap: Minimap
    ) -> None:
        """No bar is open."""
        super().__init__(canvas.widget)
        self._canvas = canvas
        self._navigation = navigation
        self._selection = selection
        self._minimap = minimap
        self.found: tuple[ItemId, ...] = ()
        self.current = -1
        self._band_px = 0.0
        self._soon = Throttle(REFRESH_MS, self)
        self._soon.due.connect(self._search)
        for told in (canvas.store.edited, canvas.store.replaced, canvas.session.results.changed):
            told.connect(self._on_changed)
        canvas.session.results.moment_moved.connect(self._on_moment_moved)

    @cached_property
    def bar(self) -> "FindBar":
        """What is typed into, built when it is first asked for."""
        from gradstudio.ui.canvas.popups.find_bar import FindBar

        made = FindBar(self._canvas.viewport(), self._canvas.canvas_style.theme)
        made.changed.connect(self._on_bar_changed)
        made.stepped.connect(self.step)
        made.all_wanted.connect(self.select_all)
        made.closed.connect(self.close)
        made.keep_below(int(self._band_px))
        return made

    @property
    def _covered_px(self) -> float:
        """How much of the canvas lies below its upper edge and the lower one of the bar."""
        return self.bar.COVERED_PX + self._band_px

    @property
    def is_open(self) -> bool:
        """Whether the bar is there."""
        return self._has_bar() and not self.bar.isHidden()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        if self._has_bar():
            self.bar.set_theme(theme)

    @property
    def item(self) -> ItemId | None:
        """The match that is looked at."""
        return self.found[self.current] if self.current >= 0 else None

    def lit(self) -> tuple[ItemId, ...]:
        """What is lit now: the matches while the bar is open."""
        return self.found if self.is_open else ()

    def open(self) -> None:
        """Ask what to find; the words of last time are there to be used or typed over."""
        self._canvas.close_editor()
        self.bar.open()
        self._search()
        self._uncover()

    def close(self) -> None:
        """Back to the canvas, with the match selected."""
        item = self.item
        if self.is_open:
            self.bar.hide()
            if item is not None:
                self._canvas.attention.select((item,))
            self._canvas.widget.setFocus()
            self._canvas.viewport().update()

    def step(self, by: int = 1) -> None:
        """To the next match, round and round; also when the bar is closed."""
        if not self.is_open:
            self._search()
        if not self.found:
            if not self.is_open:
                self.open()
            return
        self.current = (self.current + by) % len(self.found) if self.current >= 0 else 0
        self._tell()
        self._show()
        if not self.is_open:
            self._canvas.attention.select((self.found[self.current],))

    def select_all(self) -> None:
        """Select every match and go back to the canvas."""
        found = self.found
        self.close()
        if found:
            self._selection.select(frozenset(found))

    def paint(self, painter: QPainter) -> None:
        """Fade what does not match, outline what does; nothing fades where nothing matches."""
        if not self.is_open or not self.found:
            return
        import numpy as np

        canvas, scene = self._canvas, self._canvas.scene
        camera, port, style = canvas.camera, canvas.viewport(), canvas.canvas_style
        seen = geometry.visible(scene.placement.bounds, camera.seen(port.width(), port.height()))
        matching = np.zeros(len(scene.stack.ids), dtype=np.bool_)
        matching[[scene.stack.index[item] for item in self.found if item in scene.stack.index]] = True
        rects = np.empty((len(scene.stack.ids), 4))
        rects[:, :2] = (scene.placement.bounds[:, :2] - (camera.x, camera.y)) * camera.zoom
        rects[:, 2:] = (scene.placement.bounds[:, 2:] - scene.placement.bounds[:, :2]) * camera.zoom
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(style.faded("canvas", 0.62))
        draw_rects(painter, rects[seen & ~matching] + np.array([-7.0, -1.0, 14.0, 2.0]))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(style.color("warning"), 2.0))
        in_view = {scene.stack.ids[k] for k in np.flatnonzero(seen & matching)}
        for item in self.found:
            box = scene.placement.box(item) if item in in_view or item in scene.placement.frames else None
            if box is not None:
                self._outline(painter, box, 3.0)
        if self.item is not None and (box := scene.placement.box(self.item)) is not None:
            painter.setPen(QPen(style.color("accent"), 4.0))
            self._outline(painter, box, 5.0)

    def _outline(self, painter: QPainter, box: Box, gap: float) -> None:
        shown = self._canvas.camera.box_to_view(box)
        painter.drawRect(QRectF(shown.x - gap, shown.y - gap, shown.width + 2 * gap, shown.height + 2 * gap))

    # ------------------------------------------------------------------ inner workings

    def _search(self) -> None:
        """Find anew; the match that was looked at stays where it still matches."""
        from gradstudio.ui.state.document.node_search import find_nodes

        canvas, before = self._canvas, self.item
        scene, results = canvas.scene, canvas.scene.results
        problems = getattr(canvas.session, "problems", None)

        def wrong(item: ItemId) -> list[tuple[str, str]]:
            found = problems.of(item) if problems is not None else ()
            told = [(one.severity, f"{one.title}\n{one.words}") for one in found]
            failure = results.failure(item)
            return told if failure is None else [*told, ("error", f"{failure.what}\n{failure.explanation}")]

        items = find_nodes(scene.graph, results, self.bar.field.text(), wrong)
        shown = dict.fromkeys(
            home for item in items if scene.placement.box(home := scene.state.card_groups.home(item)) is not None
        )
        self.found = tuple(shown)
        self.current = self.found.index(before) if before in shown else self._first()
        self._tell()
        canvas.viewport().update()

    def _first(self) -> int:
        """The first match that is selected, else that is seen, else the first one."""
        chosen = self._canvas.attention.selection
        of_chosen = (k for k, item in enumerate(self.found) if item in chosen)
        seen = (k for k, item in enumerate(self.found) if self._navigation.is_seen(item, self._covered_px))
        return next(of_chosen, next(seen, 0 if self.found else -1))

    def _has_bar(self) -> bool:
        """Whether it was asked for: until then there is none."""
        return "bar" in vars(self)

    def _tell(self) -> None:
        self.bar.tell(self.current + 1, len(self.found))
        self._canvas.viewport().update()
        self._minimap.update()

    def _show(self) -> None:
        """Bring the match into view, large enough to be read."""
        canvas, item = self._canvas, self.item
        box = canvas.scene.placement.box(item) if item is not None else None
        if item is None or box is None:
            return
        is_block = item in canvas.scene.placement.frames
        if is_block:
            box = Box(box.x, box.y, min(box.width, HEAD[0]), min(box.height, HEAD[1]))
        here, port = self._navigation.travel.target, canvas.viewport()
        shown = here.box_to_view(box)
        is_in = (
            shown.x >= 0
            and shown.y >= self._covered_px
            and shown.right <= port.width()
            and shown.bottom <= port.height()
        )
        if here.zoom < READABLE or not (is_in or (not is_block and self._navigation.is_seen(item, self._covered_px))):
            zoom = here.zoom if here.zoom >= READABLE else NEAR
            above = self._covered_px / zoom
            box = Box(box.x, box.y - above, box.width, box.height + above)
            self._navigation.look_from(cameras.center_on(box, port.width(), port.height(), zoom))

    def _uncover(self) -> None:
        """What matches and would be seen but for the bar comes out below it."""
        here, bar = self._navigation.travel.target, self.bar.geometry()
        gap = self.bar.GAP_PX
        covers = Box(bar.x() - gap, bar.y() - gap, bar.width() + 2 * gap, bar.height() + 2 * gap)
        boxes = [self._canvas.scene.placement.box(item) for item in self.found]
        below = [shown for box in boxes if box is not None and (shown := here.box_to_view(box)).meets(covers)]
        room = min(self._canvas.viewport().height(), covers.bottom * MOST_UNCOVERED)
        tops = [shown.y for shown in below if covers.bottom - shown.y < room]
        if tops:
            self._navigation.look_from(
                msgspec.structs.replace(here, y=here.y - (covers.bottom - min(tops)) / here.zoom)
            )

    def _on_moment_moved(self) -> None:
        """The band that says "looking back" lies over the upper edge."""
        from gradstudio.ui.canvas.paint.moment_painter import COVERED

        band_px = COVERED if self._canvas.session.results.moment is not None else 0.0
        self._band_px = band_px
        if self._has_bar():
            self.bar.keep_below(int(band_px))

    def _on_bar_changed(self, _text: object) -> None:
        self.current = -1
        self._search()
        if self.found and not any(self._navigation.is_seen(item, self._covered_px) for item in self.found):
            self._show()
        else:
            self._uncover()

    def _on_changed(self, *_told: object) -> None:
        if self.is_open:
            self._soon.request()
