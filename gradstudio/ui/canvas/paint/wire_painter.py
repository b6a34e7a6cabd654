"""Paints the wires of a scene: in the colour of what flows, muted ones dashed and grey, idle ones dashed."""

from __future__ import annotations

import math
from array import array
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from gradstudio.scene.camera import Camera
from gradstudio.scene.card.port_style import PortStyle
from gradstudio.scene.geometry import Box, Floats
from gradstudio.scene.scene import Scene
from gradstudio.scene.wire.few_wires import Path
from gradstudio.ui.canvas.paint.primitives.batch_drawing import draw_line_array, draw_lines
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

THICK: Final = 2.0
JOIN: Final = 0.45
"""Flat segments overlap by so many pixels, else light shows between them."""
LONG: Final = 700.0
"""Scene pixels from end to end of a wire that can be faded."""
ENDS: Final = 7
"""Points at each end of it that stay clear."""
FAINT: Final = 0.28
LEAST_FADE_ZOOM: Final = 0.16
DOT: Final = 5.5
"""Radius of a dot, scene pixels."""
LEAST_DOT_ZOOM: Final = 0.2
DASH: Final = 7.0
GAP: Final = 6.0
"""Of a muted wire, scene pixels."""
IDLE_OPACITY: Final = 0.6
"""Of wires along which nothing flows, for one of their ends is left out."""


def paint_wires(
    painter: QPainter, style: CanvasStyle, scene: Scene, camera: Camera, seen: Box, chosen: NDArray[np.bool_],
    width: float = THICK,
) -> None:  # fmt: skip
    """Those of the scene's wires that are chosen."""
    import numpy as np

    for code in np.flatnonzero(np.bincount(scene.looks.codes[chosen])).tolist():
        known = scene.looks.by_code[code]
        paths = scene.routes.paths[chosen & (scene.looks.codes == code)]
        if known.muted or known.idle:
            _draw_dashed(painter, camera, seen, paths, wire_color(style, known), width)
        elif scene.wiring.view.fade_long and camera.zoom >= LEAST_FADE_ZOOM:
            _draw_faded(painter, style, camera, seen, paths, wire_color(style, known), width)
        else:
            draw_paths(painter, camera, seen, paths, wire_color(style, known), width)


def _draw_faded(
    painter: QPainter, style: CanvasStyle, camera: Camera, seen: Box, paths: Floats, color: QColor, width: float
) -> None:
    """Paths of which the middle is faint where they are long."""
    import numpy as np

    long = np.hypot(*(paths[:, -1] - paths[:, 0]).T) > LONG
    faint = blend_with_ground(style.color("canvas"), color, FAINT)
    draw_paths(painter, camera, seen, paths[long, ENDS - 1 : 1 - ENDS], faint, width)
    for part in (paths[long, :ENDS], paths[long, -ENDS:], paths[~long]):
        draw_paths(painter, camera, seen, part, color, width)


def blend_with_ground(ground: QColor, color: QColor, share: float) -> QColor:
    """The colour over the ground, opaque: pieces of a path overlap."""
    parts = (ground.red(), color.red()), (ground.green(), color.green()), (ground.blue(), color.blue())
    return QColor(*(round(under + (over - under) * share) for under, over in parts))


def paint_dots(
    painter: QPainter, style: CanvasStyle, scene: Scene, camera: Camera, seen: Box, chosen: NDArray[np.bool_]
) -> None:
    """The dots of the chosen wires, as discs in their colour."""
    radius = DOT * max(camera.zoom, 0.55)
    for end, keys in scene.dots.by_end.items() if camera.zoom >= LEAST_DOT_ZOOM else ():
        k = scene.wiring.ends.get(end)
        if k is None or not chosen[k]:
            continue
        painter.setPen(QPen(style.color("canvas"), 1.6))
        painter.setBrush(wire_color(style, scene.looks.by_code[scene.looks.codes[k]]))
        for x, y in map(scene.dots.place, keys):
            if seen.grown(DOT).contains(x, y):
                painter.drawEllipse(QPointF(*camera.to_view(x, y)), radius, radius)


def wire_color(style: CanvasStyle, known: PortStyle) -> QColor:
    """The colour of wires that leave a port of this look."""
    if known.muted:
        return style.color("text_dim")
    color = style.family(known.family, known.dtype) if known.known else style.color("unknown_value")
    if known.idle:
        color = QColor(color)
        color.setAlphaF(IDLE_OPACITY)
    return color


def paint_few_wires(painter: QPainter, style: CanvasStyle, scene: Scene, camera: Camera, seen: Box) -> bool:
    """All wires, where they are few and plain: the same lines without numpy; False where they are not."""
    few, looks, view = scene.routes.few, scene.looks, scene.wiring.view
    if few is None or view.fade_long:
        return False
    by_look: dict[int, list[Path]] = {}
    for k in scene.routes.wires_in(seen):
        by_look.setdefault(looks.code_list[k], []).append(few[k])
    if any(looks.by_code[code].muted or looks.by_code[code].idle for code in by_look):
        return False
    for code, paths in sorted(by_look.items()):
        thickness = _thickness(camera, THICK)
        _take_pen(painter, wire_color(style, looks.by_code[code]), thickness)
        draw_line_array(painter, _few_lines(paths, camera, seen.grown(4), JOIN if thickness > 1.0 else 0.0))
    return True


def _few_lines(paths: Sequence[Path], camera: Camera, view: Box, by: float) -> array[float]:
    """The segments of paths that can show in the view, in view pixels, longer by so much at both ends."""
    lines, zoom = array("d"), camera.zoom
    for path in paths:
        for (x, y), (next_x, next_y) in pairwise(path[:: _stride(zoom)]):
            if min(x, next_x) > view.right or max(x, next_x) < view.x:
                continue
            if min(y, next_y) > view.bottom or max(y, next_y) < view.y:
                continue
            along_x, along_y = (next_x - x) * zoom, (next_y - y) * zoom
            share = by / max(math.hypot(along_x, along_y), 1e-9)
            dx, dy = along_x * share, along_y * share
            from_x, from_y = (x - camera.x) * zoom, (y - camera.y) * zoom
            lines.extend((from_x - dx, from_y - dy, from_x + along_x + dx, from_y + along_y + dy))
    return lines


def _stride(zoom: float) -> int:
    """Every so-manieth point of a path is drawn."""
    if zoom >= 0.3:
        return 1
    if zoom >= 0.16:
        return 3
    return 7


def _thickness(camera: Camera, width: float) -> float:
    return max(1.4, width * min(camera.zoom, 1.6)) if camera.zoom >= 0.25 else 1.0


def _take_pen(painter: QPainter, color: QColor, thickness: float) -> None:
    pen = QPen(color, max(1.0, thickness))
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    painter.setPen(pen)


def draw_paths(
    painter: QPainter, camera: Camera, seen: Box, paths: Floats, color: QColor, width: float = THICK
) -> None:
    """Paths in scene pixels by one `drawLines` over numpy memory, with flat caps.

    WORKAROUND(Qt strokes a path wider than a device pixel 8 to 9 times slower than flat segments).
    """
    from gradstudio.scene import arrays

    lines = arrays.segments(paths, _stride(camera.zoom), seen.grown(4))
    _draw(painter, camera, lines, color, width, joined=True)


def _draw_dashed(painter: QPainter, camera: Camera, seen: Box, paths: Floats, color: QColor, width: float) -> None:
    """Paths as dashes of the same length everywhere."""
    import numpy as np

    from gradstudio.scene import arrays

    lines = np.concatenate([arrays.dashes(path, DASH, GAP) for path in paths])
    _draw(painter, camera, arrays.clip_lines(lines, seen.grown(4)), color, width, joined=False)


def _draw(painter: QPainter, camera: Camera, lines: Floats, color: QColor, width: float, *, joined: bool) -> None:
    """Segments in scene pixels, which are changed in place."""
    if not len(lines):
        return
    zoom = camera.zoom
    lines -= (camera.x, camera.y, camera.x, camera.y)
    lines *= zoom
    thickness = _thickness(camera, width)
    if thickness > 1.0 and joined:
        from gradstudio.scene import arrays

        arrays.lengthen(lines, JOIN)
    _take_pen(painter, color, thickness)
    draw_lines(painter, lines)
