"""Where the canvas looks: pan, zoom, fit, reveal."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import numpy as np

from gradstudio.graph.model import ItemId
from gradstudio.scene import camera as cameras
from gradstudio.scene import geometry
from gradstudio.scene.camera import Camera
from gradstudio.scene.edit.new_card_size import fresh_size
from gradstudio.scene.entry_point import first_item
from gradstudio.scene.geometry import Box, Floats
from gradstudio.ui.canvas.wheel import WHEEL_STEP

if TYPE_CHECKING:
    from PySide6.QtCore import QTimer, SignalInstance
    from PySide6.QtWidgets import QWidget

    from gradstudio.scene.scene import Board
    from gradstudio.ui.canvas.minimap import Minimap
    from gradstudio.ui.canvas.view_animation import Travel
    from gradstudio.ui.state.document.attention import Attention

MOST_OF_IT: Final = 0.7
"""A card that is seen has so much of its width and height in view."""
LEAST_INSIDE: Final = 0.35
"""A group is shown as a whole when that needs no smaller zoom."""
FREE_GAP: Final = 24.0
"""Scene pixels kept free around a card that is added without a place of its own."""


class Navigation:
    """Methods of `CanvasView` that move its camera; what they need of it is declared here."""

    if TYPE_CHECKING:
        attention: Attention
        board: Board
        camera: Camera
        fit_pending: bool
        fitted: bool
        fitted_to: frozenset[ItemId]
        minimap: Minimap
        kept: tuple[float, float, float] | None
        opened: bool
        settle_timer: QTimer
        view_changed: SignalInstance
        zooming: bool
        reduced_motion: bool
        text_scale: float
        travel: Travel

        def viewport(self) -> QWidget: ...
        def devicePixelRatioF(self) -> float: ...
        def close_editor(self) -> None: ...

    shows_all = False
    """Whether all of the document was seen as it was opened."""

    @property
    def zoom(self) -> float:
        """View pixels per scene pixel."""
        return self.camera.zoom

    def scale_text(self, factor: float) -> None:
        """Let 100 % be so much nearer than usual; what is seen comes nearer, too."""
        if factor != self.text_scale:
            nearer, self.text_scale = factor / self.text_scale, factor
            self._zoom_at_middle(nearer)
            self.view_changed.emit()

    def set_camera(self, camera: Camera) -> None:
        """Look elsewhere at once."""
        self.travel.stop()
        self.move_camera(camera)

    def move_camera(self, camera: Camera) -> None:
        """A step of a way; pans land on whole device pixels, so that the picture can be scrolled."""
        self.close_editor()
        if camera.zoom == self.camera.zoom:
            camera = self._whole_pixels(camera)
        else:
            self.zooming = True
            self.settle_timer.start()
        if camera != self.camera:
            self.camera = camera
            self.fit_pending = self.fitted = False
            self.kept = None
            self.viewport().update()
            self.view_changed.emit()

    def be_at(self, camera: Camera) -> None:
        """The end of a way: sharp."""
        self.move_camera(camera)
        self.zooming = False
        self.settle_timer.stop()
        self.viewport().update()

    def fit_all(self) -> None:
        """Show everything; nothing is enlarged beyond 100 %."""
        self.opened, self.fitted_to = False, frozenset()
        self._fit(self.board.extent())

    def look_again(self) -> None:
        """Fit what was fitted, or take the view in which the document opened: the window has another size."""
        self.fit_pending = False
        box = self.board.extent()
        if box is None:
            self._jump(Camera())
        elif self.opened:
            first = self._first_box() or box
            width, height = self.viewport().width(), self.viewport().height()
            first = cameras.with_rows_above(first, self._all_bounds(), width, height)
            self._jump(cameras.opening(box, first, width, height, self.text_scale, self.shows_all))
            self.fitted, shown = True, self.camera.box_to_view(box)
            self.shows_all = min(shown.x, shown.y, width - shown.right, height - shown.bottom) >= 0
        else:
            self._fit(self.board.extent(self.fitted_to) or box, at_once=True)

    def _first_box(self) -> Box | None:
        """Where the program begins: its first statement with its note."""
        item = first_item(self.board.graph)
        note = self.board.notes.get(item) if item is not None else None
        boxes = [self.board.box(item) if item is not None else None, note.box if note is not None else None]
        return geometry.union(box for box in boxes if box is not None)

    def _all_bounds(self) -> Floats:
        """Left, top, right, bottom of each card, frame and note."""
        boxes = [frame.box for frame in self.board.frames.values()] + [note.box for note in self.board.notes.values()]
        rows = [(box.x, box.y, box.right, box.bottom) for box in boxes]
        return np.concatenate([self.board.bounds, np.array(rows, dtype=np.float64).reshape(-1, 4)])

    def bring_into_view(self, item: ItemId, covered_px: float = 0.0) -> None:
        """Push the scene as little as shows the whole card; the zoom stays.

        Something lies over `covered_px` view pixels at the upper edge.
        """
        box = self.board.box(item)
        if box is not None:
            above = covered_px / self.travel.target.zoom
            box = Box(box.x, box.y - above, box.width, box.height + above)
            size = self.viewport().width(), self.viewport().height()
            there = cameras.showing(self.travel.target, box, *size)
            covered = self.minimap.box_from(there)
            self.travel.go(cameras.clear_of(there, box, covered, *size) if covered is not None else there)

    def show_items(self, items: Iterable[ItemId]) -> None:
        """Push the scene as little as shows these whole; farther away where they are larger than the view."""
        box = self.board.extent(items)
        if box is not None:
            self._show_whole(box)

    def show_with_its_sources(self, item: ItemId) -> None:
        """Show a card that was added: with everything where that can be read, else with what feeds it, else alone."""
        feeding = {wire.source for wire in self.board.graph.wires.values() if wire.target == item}
        here, width, height = self.travel.target, self.viewport().width(), self.viewport().height()
        least = min(here.zoom, cameras.LEAST_READABLE * self.text_scale)
        for box in (self.board.extent(), self.board.extent({item, *feeding})):
            if box is not None and cameras.fitting(box, width, height, here.zoom).zoom >= least:
                self._show_whole(box)
                return
        self.bring_into_view(item)

    def _show_whole(self, box: Box) -> None:
        if self.has_room_for(box):
            self.show_box(box)
        else:
            width, height, nearest = self.viewport().width(), self.viewport().height(), self.travel.target.zoom
            self.travel.go(cameras.fitting(box, width, height, nearest))

    def show_box(self, box: Box) -> None:
        """Push the scene as little as shows a rectangle of it, not at all where it is seen; the zoom stays."""
        width, height, shown = self.viewport().width(), self.viewport().height(), self.travel.target.box_to_view(box)
        if min(shown.x, shown.y) < 0 or shown.right > width or shown.bottom > height:
            self.travel.go(cameras.showing(self.travel.target, box, width, height))

    def has_room_for(self, box: Box) -> bool:
        """Whether a rectangle of the scene fits into the view at this zoom."""
        shown = self.travel.target.box_to_view(box.grown(cameras.FIT_MARGIN / 2))
        return shown.width <= self.viewport().width() and shown.height <= self.viewport().height()

    def open_view(self) -> None:
        """Look as at a document that was just opened."""
        self.opened, self.shows_all = True, False
        self.look_again()

    def open_inside(self) -> None:
        """Look as at a group that was just stepped into: at all of it, unless its names could not be told then."""
        box = self.board.extent()
        size = self.viewport().width(), self.viewport().height()
        self.opened, self.fitted_to = box is None or cameras.fitting(box, *size).zoom < LEAST_INSIDE, frozenset()
        self.look_again()

    def look_from(self, camera: Camera) -> None:
        """Look where somebody looked before."""
        self.travel.go(camera)

    def is_seen(self, item: ItemId, covered_px: float = 0.0) -> bool:
        """Whether most of a card can be seen, its header included; `covered_px` as above."""
        box = self.board.box(item)
        if box is None:
            return False
        width, height, shown = self.viewport().width(), self.viewport().height(), self.travel.target.box_to_view(box)
        across = min(shown.right, width) - max(shown.x, 0.0)
        down = min(shown.bottom, height) - max(shown.y, covered_px)
        least_x, least_y = min(shown.width, width) * MOST_OF_IT, min(shown.height, height - covered_px) * MOST_OF_IT
        return across >= least_x and down >= least_y

    def is_whole(self, item: ItemId, covered_px: float = 0.0) -> bool:
        """Whether all of a card can be seen, beside the minimap; of one that is larger than the view, most of it."""
        box, covered = self.board.box(item), self.minimap.box_from(self.travel.target)
        if box is None or not self.is_seen(item, covered_px):
            return False
        if covered is not None and self.travel.target.box_to_view(box).meets(covered):
            return False
        width, height, shown = self.viewport().width(), self.viewport().height(), self.travel.target.box_to_view(box)
        across = shown.width > width or (shown.x >= 0.0 and shown.right <= width)
        return across and (shown.height > height - covered_px or (shown.y >= covered_px and shown.bottom <= height))

    def free_place(self, key: str = "") -> tuple[float, float]:
        """A scene point near the middle where a fresh card of an operator covers nothing."""
        board, view = self.board, self.viewport()
        size = fresh_size(board, key)
        seen = self.camera.seen(view.width(), view.height())
        taken = [geometry.Box(a, b, c - a, d - b) for a, b, c, d in board.bounds.tolist()]
        taken += [frame.box for frame in board.frames.values()] + [note.box for note in board.notes.values()]
        return geometry.free_corner(seen, size, [box.grown(FREE_GAP) for box in taken])

    def fit_selection(self) -> None:
        """Show the selection, or everything."""
        self.opened, self.fitted_to = False, self.attention.selection
        self._fit(self.board.extent(self.fitted_to) or self.board.extent())

    def zoom_in(self) -> None:
        """One step closer, at the middle."""
        self._zoom_at_middle(WHEEL_STEP)

    def zoom_out(self) -> None:
        """One step farther, at the middle."""
        self._zoom_at_middle(1 / WHEEL_STEP)

    def zoom_to(self, zoom: float) -> None:
        """Exactly so near, 1 is 100 %; the middle stays in the middle."""
        width, height = self.viewport().width(), self.viewport().height()
        here = self.travel.target
        self.travel.go(here.zoomed(zoom * self.text_scale / here.zoom, width / 2, height / 2))

    def zoom_reset(self) -> None:
        """100 %."""
        self.zoom_to(1.0)

    def view_state(self) -> tuple[float, float, float]:
        """Zoom and the scene point in the middle, as files keep it."""
        camera = self.travel.target
        x, y = camera.to_scene(self.viewport().width() / 2, self.viewport().height() / 2)
        return camera.zoom, x, y

    def restore_view(self, zoom: float, x: float, y: float) -> None:
        """Take up what `view_state` gave; again at every size the window takes, until the person looks elsewhere."""
        width, height = self.viewport().width(), self.viewport().height()
        self._jump(Camera(zoom, x - width / zoom / 2, y - height / zoom / 2))
        self.fit_pending = self.fitted = False
        self.kept = (zoom, x, y)

    def reveal(self, item: ItemId) -> None:
        """Bring an item into view without changing the zoom, unless it is too small to read."""
        box = self.board.box(item)
        if box is None:
            return
        width, height = self.viewport().width(), self.viewport().height()
        here = self.travel.target
        shown = here.box_to_view(box)
        if here.zoom < 0.5 or shown.x < 0 or shown.y < 0 or shown.right > width or shown.bottom > height:
            self.travel.go(cameras.centered(box, width, height, max(here.zoom, 0.8)))

    def visible_items(self) -> tuple[ItemId, ...]:
        """Nodes whose cards can be seen: the engine summarises them first."""
        seen = self.camera.seen(self.viewport().width(), self.viewport().height())
        cards = (self.board.ids[k] for k in np.nonzero(geometry.visible(self.board.bounds, seen))[0].tolist())
        return tuple(self.board.whole(cards))

    def _fit(self, box: Box | None, at_once: bool = False) -> None:
        if box is None:
            return
        nearest = cameras.FIT_MAXIMUM * self.text_scale
        camera = cameras.fitting(box, self.viewport().width(), self.viewport().height(), nearest)
        if at_once:
            self._jump(camera)
            self._on_fitted()
        else:
            self.travel.go(camera, self._on_fitted)

    def _on_fitted(self) -> None:
        self.fit_pending, self.fitted, self.kept = False, True, None

    def _jump(self, camera: Camera) -> None:
        """A change of view at once, sharp."""
        self.travel.stop()
        self.be_at(camera)

    def _zoom_at_middle(self, factor: float) -> None:
        self.set_camera(self.travel.target.zoomed(factor, self.viewport().width() / 2, self.viewport().height() / 2))

    def _whole_pixels(self, camera: Camera) -> Camera:
        step = self.camera.zoom * self.devicePixelRatioF()
        dx, dy = round((camera.x - self.camera.x) * step) / step, round((camera.y - self.camera.y) * step) / step
        return Camera(camera.zoom, self.camera.x + dx, self.camera.y + dy)
