"""Where the canvas looks: pan, zoom, fit, reveal."""

from collections.abc import Callable, Iterable
from typing import Final

from PySide6.QtCore import QTimer

from gradstudio.graph.model import ItemId
from gradstudio.scene import camera as cameras
from gradstudio.scene import geometry
from gradstudio.scene.camera import Camera
from gradstudio.scene.entry_point import first_box, ways_to_loss
from gradstudio.scene.geometry import Box, Corners
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.paint.screen_cache import SETTLE_MS
from gradstudio.ui.canvas.view_animation import FollowedCard, ViewAnimation
from gradstudio.ui.canvas.wheel import WHEEL_STEP

MOST_OF_IT: Final = 0.7
"""A card that is seen has so much of its width and height in view."""
LEAST_MARK: Final = 24.0
"""View pixels of a card's header that are noticed at the edge of the view."""
LEAST_INSIDE: Final = 0.35
"""A group is shown as a whole when that needs no smaller zoom."""
FREE_GAP: Final = 24.0
"""Scene pixels kept free around a card that is added without a place of its own."""


class Viewport:
    """Moves the camera of one canvas.

    Attributes:
        covered_box: asked for what lies over the view that looks from a camera, view pixels.
        text_scale: 100 % is so much nearer than usual.
        zooming: the picture is not sharp yet; it is when `settle_timer` ends.
        fit_pending: what was fitted, or opened, is to be fitted when the canvas is painted next.
        fitted, fitted_to: whether that is seen which was fitted, and which items; none: everything.
        opened: the view is the one in which the document opened.
        kept: zoom and middle to be taken up again at another size.
        travel: moves the camera step by step where it jumps.
        followed: the current card, which the view follows.
    """

    def __init__(self, canvas: CanvasContext) -> None:
        """Everything is to be seen when the canvas is painted for the first time."""
        self._canvas = canvas
        self._scene, self._attention = canvas.scene, canvas.attention
        self.covered_box: Callable[[Camera], Box | None] = _nothing
        self.text_scale = 1.0
        self.zooming = False
        self.fit_pending = True
        self.fitted = False
        self.opened = True
        self.fitted_to = frozenset[ItemId]()
        self.kept: tuple[float, float, float] | None = None
        self.travel = ViewAnimation(canvas, self.move_camera, self.be_at)
        self.followed = FollowedCard(canvas, self.travel)
        self.settle_timer = QTimer(canvas.widget)
        self.settle_timer.setSingleShot(True)
        self.settle_timer.setInterval(SETTLE_MS)

    @property
    def zoom(self) -> float:
        """View pixels per scene pixel."""
        return self._canvas.camera.zoom

    def scale_text(self, factor: float) -> None:
        """Let 100 % be so much nearer than usual; what is seen comes nearer, too."""
        if factor != self.text_scale:
            nearer, self.text_scale = factor / self.text_scale, factor
            self._zoom_at_middle(nearer)
            self._canvas.view_changed.emit()

    def set_camera(self, camera: Camera) -> None:
        """Look elsewhere at once."""
        self.travel.stop()
        self.move_camera(camera)
        self.followed.note()

    def move_camera(self, camera: Camera) -> None:
        """A step of a way; pans land on whole device pixels, so that the picture can be scrolled."""
        self._canvas.close_editor()
        if camera.zoom == self._canvas.camera.zoom:
            camera = self._whole_pixels(camera)
        else:
            self.zooming = True
            self.settle_timer.start()
        if camera != self._canvas.camera:
            self._canvas.camera = camera
            self.fit_pending = self.fitted = False
            self.kept = None
            self._canvas.viewport().update()
            self._canvas.view_changed.emit()

    def be_at(self, camera: Camera) -> None:
        """The end of a way: sharp."""
        self.move_camera(camera)
        self.zooming = False
        self.settle_timer.stop()
        self._canvas.viewport().update()

    def fit_all(self) -> None:
        """Show everything; nothing is enlarged beyond 100 %."""
        self.opened, self.fitted_to = False, frozenset()
        self._fit(self._scene.placement.extent())

    def land(self, items: Iterable[ItemId] = ()) -> None:
        """Show everything where that can be read, else where these items begin, or the program, to be read there."""
        box = self._scene.placement.extent()
        size = self._canvas.viewport().width(), self._canvas.viewport().height()
        if box is None or cameras.fit_box(box, *size).zoom >= cameras.LEAST_WHOLE * self.text_scale:
            self.fit_all()
            return
        self.opened = self.fitted = False
        first = self._scene.placement.extent(items)
        to_loss = () if first else ways_to_loss(self._scene.graph, self._scene.placement)
        first = first or first_box(self._scene.graph, self._scene.placement) or box
        self.look_from(cameras.opening_camera(box, first, *size, self.text_scale, to_loss))

    def look_again(self) -> None:
        """Fit what was fitted, or take the view in which the document opened: the window has another size."""
        self.fit_pending = False
        box, view = self._scene.placement.extent(), self._canvas.viewport()
        if box is None:
            self._jump(Camera())
        elif self.opened:
            graph, placement = self._scene.graph, self._scene.placement
            first, size = first_box(graph, placement) or box, (view.width(), view.height())
            first = cameras.with_rows_above(first, self._all_bounds(), *size)
            to_loss = ways_to_loss(graph, placement)
            self._jump(cameras.opening_camera(box, first, *size, self.text_scale, to_loss))
            self.fitted = True
        else:
            self._fit(self._scene.placement.extent(self.fitted_to) or box, at_once=True)
        self._canvas.view_changed.emit()  # also where the camera is the same: the view has another size

    def _all_bounds(self) -> list[Corners]:
        """Left, top, right, bottom of each card, frame and note."""
        boxes = [frame.box for frame in self._scene.placement.frames.values()] + [
            note.box for note in self._scene.placement.notes.values()
        ]
        return [*self._scene.placement.corners, *((box.x, box.y, box.right, box.bottom) for box in boxes)]

    def bring_into_view(self, item: ItemId, covered_px: float = 0.0) -> None:
        """Push the scene as little as shows the whole card; the zoom stays.

        Something lies over `covered_px` view pixels at the upper edge.
        """
        box = self._scene.placement.box(item)
        if box is not None:
            above = covered_px / self.travel.target.zoom
            self._push_to(Box(box.x, box.y - above, box.width, box.height + above))

    def _push_to(self, box: Box) -> None:
        """Push the scene as little as shows a rectangle of it that lies under nothing; the zoom stays."""
        size = self._canvas.viewport().width(), self._canvas.viewport().height()
        there = cameras.pan_to_box(self.travel.target, box, *size)
        covered = self.covered_box(there)
        self.look_from(cameras.clear_of(there, box, covered, *size) if covered is not None else there)

    def follow_current(self) -> None:
        """Bring the current card into view again where it was whole and has grown, or was pushed, out of it since.

        It is asked at each painting. The room that is kept for results counts, so that a run moves nothing. Whoever
        has moved the view meanwhile, by hand or by a command, wants what is there.
        """
        box = self.followed.box_out_of_view()
        if box is not None and self._canvas.input_dispatcher.gesture is None:
            self._push_to(box)

    def show_items(self, items: Iterable[ItemId]) -> None:
        """Push the scene as little as shows these whole; farther away where they are larger than the view."""
        box = self._scene.placement.extent(items)
        if box is not None:
            self._show_whole(box)

    def show_with_neighbours(self, item: ItemId) -> None:
        """Show a card that was added with what it is wired to, else alone: the zoom stays while both fit into it.

        Farther away only where they do not fit and can be read there; nothing moves while both are in view.
        """
        graph = self._scene.graph
        wired = {wire.source for wire in graph.wires_to(item)} | {wire.target for wire in graph.wires_from(item)}
        box, room = self._scene.placement.extent({item, *wired}), self._scene.placement.room(item)
        width, height = self._canvas.viewport().width(), self._canvas.viewport().height()
        here, least = self.travel.target, cameras.LEAST_READABLE * self.text_scale
        if box is not None and cameras.fit_box(box, width, height, here.zoom).zoom >= min(here.zoom, least):
            self._show_whole(box)
        elif room is not None:
            self._push_to(room)

    def _show_whole(self, box: Box) -> None:
        if self.has_room_for(box):
            self.show_box(box)
        else:
            width, height, nearest = (
                self._canvas.viewport().width(),
                self._canvas.viewport().height(),
                self.travel.target.zoom,
            )
            self.look_from(cameras.fit_box(box, width, height, nearest))

    def show_box(self, box: Box) -> None:
        """Push the scene as little as shows a rectangle of it, not at all where it is seen; the zoom stays."""
        size = self._canvas.viewport().width(), self._canvas.viewport().height()
        if not cameras.shows_whole(self.travel.target, box, *size):
            self.look_from(cameras.pan_to_box(self.travel.target, box, *size))

    def has_room_for(self, box: Box) -> bool:
        """Whether a rectangle of the scene fits into the view at this zoom."""
        shown = self.travel.target.box_to_view(box.grown(cameras.FIT_MARGIN / 2))
        return shown.width <= self._canvas.viewport().width() and shown.height <= self._canvas.viewport().height()

    def begin_anew(self) -> None:
        """Another document is shown: its view opens when the canvas is painted next."""
        self.kept = None
        self.fit_pending = True
        self.opened = True

    def open_view(self) -> None:
        """Look as at a document that was just opened."""
        self.opened = True
        self.look_again()

    def open_inside(self) -> None:
        """Look as at a group that was just stepped into: at all of it, unless its names could not be told then."""
        box = self._scene.placement.extent()
        size = self._canvas.viewport().width(), self._canvas.viewport().height()
        self.opened, self.fitted_to = box is None or cameras.fit_box(box, *size).zoom < LEAST_INSIDE, frozenset()
        self.look_again()

    def look_from(self, camera: Camera, then: Callable[[], None] | None = None) -> None:
        """Glide to where it is looked from; `then` is called on arrival."""
        self.travel.go(camera, then)
        self.followed.note()

    def is_seen(self, item: ItemId, covered_px: float = 0.0) -> bool:
        """Whether most of a card can be seen, its header included; `covered_px` as above."""
        box = self._scene.placement.box(item)
        if box is None:
            return False
        width, height, shown = (
            self._canvas.viewport().width(),
            self._canvas.viewport().height(),
            self.travel.target.box_to_view(box),
        )
        across = min(shown.right, width) - max(shown.x, 0.0)
        down = min(shown.bottom, height) - max(shown.y, covered_px)
        least_x, least_y = min(shown.width, width) * MOST_OF_IT, min(shown.height, height - covered_px) * MOST_OF_IT
        return across >= least_x and down >= least_y

    def shows_mark(self, item: ItemId) -> bool:
        """Whether so much of a card's header is in view that a mark at its title is noticed."""
        box = self._scene.placement.box(item)
        if box is None:
            return False
        width, height = self._canvas.viewport().width(), self._canvas.viewport().height()
        shown = self.travel.target.box_to_view(box)
        across = min(shown.right, width) - max(shown.x, 0.0)
        return across >= min(LEAST_MARK, shown.width) and 0.0 <= shown.y <= height - LEAST_MARK

    def is_whole(self, item: ItemId, covered_px: float = 0.0) -> bool:
        """Whether all of a card can be seen, beside the minimap; of one that is larger than the view, most of it."""
        box, covered = self._scene.placement.box(item), self.covered_box(self.travel.target)
        if box is None or not self.is_seen(item, covered_px):
            return False
        if covered is not None and self.travel.target.box_to_view(box).meets(covered):
            return False
        width, height, shown = (
            self._canvas.viewport().width(),
            self._canvas.viewport().height(),
            self.travel.target.box_to_view(box),
        )
        across = shown.width > width or (shown.x >= 0.0 and shown.right <= width)
        return across and (shown.height > height - covered_px or (shown.y >= covered_px and shown.bottom <= height))

    def free_place(self, key: str = "") -> tuple[float, float]:
        """A scene point near the middle where a fresh card of an operator covers nothing."""
        from gradstudio.scene.edit.new_card_size import new_card_size

        scene, view = self._scene, self._canvas.viewport()
        size = new_card_size(scene, key)
        seen = self._canvas.camera.seen(view.width(), view.height())
        taken = [geometry.Box(a, b, c - a, d - b) for a, b, c, d in scene.placement.corners]
        taken += [frame.box for frame in scene.placement.frames.values()] + [
            note.box for note in scene.placement.notes.values()
        ]
        return geometry.free_corner(seen, size, [box.grown(FREE_GAP) for box in taken])

    def fit_selection(self) -> None:
        """Show the selection, or everything."""
        self.opened, self.fitted_to = False, self._attention.selection
        self._fit(self._scene.placement.extent(self.fitted_to) or self._scene.placement.extent())

    def zoom_in(self) -> None:
        """One step closer, at the middle."""
        self._zoom_at_middle(WHEEL_STEP)

    def zoom_out(self) -> None:
        """One step farther, at the middle."""
        self._zoom_at_middle(1 / WHEEL_STEP)

    def zoom_to(self, zoom: float) -> None:
        """Exactly so near, 1 is 100 %; the middle stays in the middle."""
        width, height = self._canvas.viewport().width(), self._canvas.viewport().height()
        here = self.travel.target
        self.look_from(here.zoomed(zoom * self.text_scale / here.zoom, width / 2, height / 2))

    def zoom_reset(self) -> None:
        """100 %."""
        self.zoom_to(1.0)

    def view_state(self) -> tuple[float, float, float]:
        """Zoom and the scene point in the middle, as files keep it."""
        camera = self.travel.target
        x, y = camera.to_scene(self._canvas.viewport().width() / 2, self._canvas.viewport().height() / 2)
        return camera.zoom, x, y

    def restore_view(self, zoom: float, x: float, y: float) -> None:
        """Take up what `view_state` gave; again at every size the window takes, until the person looks elsewhere."""
        width, height = self._canvas.viewport().width(), self._canvas.viewport().height()
        self._jump(Camera(zoom, x - width / zoom / 2, y - height / zoom / 2))
        self.fit_pending = self.fitted = False
        self.kept = (zoom, x, y)

    def reveal(self, item: ItemId) -> None:
        """Bring an item into view without changing the zoom, unless it is too small to read."""
        box = self._scene.placement.box(item)
        if box is None:
            return
        width, height = self._canvas.viewport().width(), self._canvas.viewport().height()
        here = self.travel.target
        shown = here.box_to_view(box)
        if here.zoom < 0.5 or shown.x < 0 or shown.y < 0 or shown.right > width or shown.bottom > height:
            zoom = here.zoom if here.zoom >= 0.5 else 0.8
            self.look_from(cameras.center_on(box, width, height, zoom))

    def visible_items(self) -> tuple[ItemId, ...]:
        """Nodes whose cards can be seen: the engine summarises them first."""
        seen = self._canvas.camera.seen(self._canvas.viewport().width(), self._canvas.viewport().height())
        cards = (self._scene.stack.ids[k] for k in self._scene.placement.cards_in(seen))
        return tuple(self._scene.state.card_groups.whole(cards))

    def _fit(self, box: Box | None, at_once: bool = False) -> None:
        if box is None:
            return
        nearest = cameras.FIT_MAXIMUM * self.text_scale
        camera = cameras.fit_box(box, self._canvas.viewport().width(), self._canvas.viewport().height(), nearest)
        if at_once:
            self._jump(camera)
            self._on_fitted()
        else:
            self.look_from(camera, self._on_fitted)

    def _on_fitted(self) -> None:
        self.fit_pending, self.fitted, self.kept = False, True, None

    def _jump(self, camera: Camera) -> None:
        """A change of view at once, sharp."""
        self.travel.stop()
        self.be_at(camera)
        self.followed.note()

    def _zoom_at_middle(self, factor: float) -> None:
        self.set_camera(
            self.travel.target.zoomed(factor, self._canvas.viewport().width() / 2, self._canvas.viewport().height() / 2)
        )

    def _whole_pixels(self, camera: Camera) -> Camera:
        step = self._canvas.camera.zoom * self._canvas.widget.devicePixelRatioF()
        dx, dy = (
            round((camera.x - self._canvas.camera.x) * step) / step,
            round((camera.y - self._canvas.camera.y) * step) / step,
        )
        return Camera(camera.zoom, self._canvas.camera.x + dx, self._canvas.camera.y + dy)


def _nothing(_camera: Camera) -> Box | None:
    """Nothing lies over the view."""
    return None
