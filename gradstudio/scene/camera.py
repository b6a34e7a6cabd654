"""From scene to view pixels and back: zoom and the scene point at the view's top left. No Qt."""

from collections.abc import Sequence
from typing import Final

import msgspec

from gradstudio.scene.geometry import Box, Corners

MINIMUM_ZOOM: Final = 0.05
MAXIMUM_ZOOM: Final = 3.0
FIT_MAXIMUM: Final = 1.0
"""Fitting never enlarges beyond this."""
FIT_MARGIN: Final = 18.0
FIT_TOP: Final = 34.0
"""More at the upper edge: the band that says "looking back" lies there."""
LEAST_READABLE: Final = 2 / 3
"""Farther away, rows have no room for their letters: cards are plates."""
LEAST_MARGIN: Final = 4.0
"""Enough around a document that can just be read as a whole."""
ROUNDING: Final = 0.01
"""View pixels: what was just pushed to the edge of a view stands there but for this."""
LEAST_WHOLE: Final = 0.42
"""A document opens as a whole when that needs no smaller zoom: plates tell names, values and gradients."""
OPENING_ZOOM: Final = LEAST_READABLE
"""Else its beginning at this zoom: as many cards as can be read."""


class Camera(msgspec.Struct, frozen=True):
    """What of the scene is seen: `view = (scene - (x, y)) * zoom`."""

    zoom: float = 1.0
    x: float = 0.0
    y: float = 0.0

    def is_near(self, other: "Camera") -> bool:
        """Whether hardly a pixel lies between both."""
        away = max(abs(self.x - other.x), abs(self.y - other.y)) * self.zoom
        return away < 1.5 and abs(self.zoom / other.zoom - 1) < 1e-3

    def to_view(self, x: float, y: float) -> tuple[float, float]:
        """View pixels of a scene point."""
        return (x - self.x) * self.zoom, (y - self.y) * self.zoom

    def to_scene(self, x: float, y: float) -> tuple[float, float]:
        """Scene point of view pixels."""
        return x / self.zoom + self.x, y / self.zoom + self.y

    def box_to_view(self, box: Box) -> Box:
        """A scene rectangle in view pixels."""
        x, y = self.to_view(box.x, box.y)
        return Box(x, y, box.width * self.zoom, box.height * self.zoom)

    def box_to_scene(self, box: Box) -> Box:
        """A rectangle of the view in scene pixels."""
        x, y = self.to_scene(box.x, box.y)
        return Box(x, y, box.width / self.zoom, box.height / self.zoom)

    def seen(self, width: float, height: float) -> Box:
        """The scene rectangle that a view of that size shows."""
        return Box(self.x, self.y, width / self.zoom, height / self.zoom)

    def zoomed(self, factor: float, at_x: float, at_y: float) -> "Camera":
        """Closer or farther; the scene point under the view point (at_x, at_y) stays there."""
        zoom = min(max(self.zoom * factor, MINIMUM_ZOOM), MAXIMUM_ZOOM)
        x, y = self.to_scene(at_x, at_y)
        return Camera(zoom, x - at_x / zoom, y - at_y / zoom)

    def panned(self, dx: float, dy: float) -> "Camera":
        """The scene moved by view pixels, as a hand would push paper."""
        return Camera(self.zoom, self.x - dx / self.zoom, self.y - dy / self.zoom)


def fit_box(box: Box, width: float, height: float, maximum: float = FIT_MAXIMUM) -> Camera:
    """The camera that shows the whole box in the middle of a view."""
    room_x, room_y = max(width - 2 * FIT_MARGIN, 50.0), max(height - FIT_TOP - FIT_MARGIN, 50.0)
    zoom = max(min(room_x / max(box.width, 1.0), room_y / max(box.height, 1.0), maximum), MINIMUM_ZOOM)
    least_y = box.y - FIT_TOP / zoom
    camera = center_on(box, width, height, zoom)
    return Camera(zoom, camera.x, min(camera.y, least_y))


def opening_camera(
    box: Box, first: Box, width: float, height: float, scale: float = 1.0, to_loss: Sequence[Box] = ()
) -> Camera:
    """The camera for a document without a view: all of it where that can be read, else its beginning.

    `to_loss`: from the beginning to the loss, with more and with less between: what can be read whole is seen whole.
    `scale` is how much larger than usual text must be.
    """
    whole, zoom = fit_box(box, width, height, FIT_MAXIMUM * scale), OPENING_ZOOM * scale
    least = LEAST_READABLE * scale
    around = box.grown(LEAST_MARGIN / least)
    if whole.zoom < least and around.width * least <= width and around.height * least <= height:
        return center_on(box, width, height, least)
    if whole.zoom >= LEAST_WHOLE * scale:
        return whole
    for way in to_loss:
        if (seen := fit_box(way, width, height).zoom) >= LEAST_WHOLE * scale:
            first, zoom = way, min(zoom, seen)
            break
    margin, top = FIT_MARGIN / zoom, FIT_TOP / zoom
    room_x, room_y = width / zoom, height / zoom
    x = _start(first.x - margin, first.right, box.x - margin, box.right + margin, room_x)
    y = _start(first.y - top, first.bottom, box.y - top, box.bottom + top, room_y)
    return Camera(zoom, x, y)


def with_rows_above(first: Box, bounds: Sequence[Corners], width: float, height: float) -> Box:
    """The beginning of a program with as many whole rows of things above it as a view has room for."""
    margin, room = FIT_MARGIN / OPENING_ZOOM, height / OPENING_ZOOM
    near = [(top, end) for left, top, _, end in bounds if left < first.x + width / OPENING_ZOOM and top < first.y]
    for top in sorted(top for top, _ in near):
        is_cut = any(other < top and end > top - margin / 2 for other, end in near)
        if not is_cut and first.bottom <= top - margin + room:
            return Box(first.x, top, first.width, first.bottom - top)
    return first


def _start(wish: float, wish_end: float, low: float, high: float, room: float) -> float:
    """Where a view begins: everything in its middle where that fits, or with everything, where what is wished fits too.

    Else as wished, with no room wasted.
    """
    if high <= low + room:
        return (low + high - room) / 2
    if wish_end <= low + room:
        return low
    return max(low, min(wish, max(high - room, low)))


def shows_whole(camera: Camera, box: Box, width: float, height: float) -> bool:
    """Whether all of a rectangle of the scene is in view."""
    shown = camera.box_to_view(box)
    return min(shown.x, shown.y) >= 0 and shown.right <= width and shown.bottom <= height


def pan_to_box(camera: Camera, box: Box, width: float, height: float) -> Camera:
    """The camera pushed as little as brings a box into view, its top left corner first."""
    shown = camera.box_to_view(box.grown(FIT_MARGIN / 2))
    dx = min(0.0, width - shown.right)
    dy = min(0.0, height - shown.bottom)
    return camera.panned(max(dx, -shown.x), max(dy, -shown.y))


def clear_of(camera: Camera, box: Box, over: Box, width: float, height: float) -> Camera:
    """The camera pushed the shortest way on which a box that is in view comes out from under a part of the view."""
    shown = camera.box_to_view(box.grown(FIT_MARGIN / 2))
    if not shown.meets(over):
        return camera
    ways = (
        (0, over.y - shown.bottom),
        (over.x - shown.right, 0),
        (0, over.bottom - shown.y),
        (over.right - shown.x, 0),
    )
    inside = [
        (dx, dy)
        for dx, dy in ways
        if min(shown.x + dx, shown.y + dy) >= -ROUNDING
        and shown.right + dx <= width + ROUNDING
        and shown.bottom + dy <= height + ROUNDING
    ]
    return camera.panned(*min(inside, key=lambda way: abs(way[0]) + abs(way[1]))) if inside else camera


def center_on(box: Box, width: float, height: float, zoom: float) -> Camera:
    """The camera with that zoom whose middle is the box's middle."""
    x, y = box.center
    return Camera(zoom, x - width / zoom / 2, y - height / zoom / 2)


def interpolate(start: Camera, end: Camera, part: float, width: float) -> Camera:
    """A camera on the way from one to another, 0 ≤ part ≤ 1: what is seen slides and grows evenly."""
    zoom = start.zoom * (end.zoom / start.zoom) ** part
    near, far = width / start.zoom, width / end.zoom
    share = (width / zoom - near) / (far - near) if abs(far - near) > 1e-6 else part
    return Camera(zoom, start.x + (end.x - start.x) * share, start.y + (end.y - start.y) * share)
