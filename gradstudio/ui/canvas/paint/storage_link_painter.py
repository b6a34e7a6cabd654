"""Edges that are no wires: which values share a storage, and which write clashes with what was saved."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from gradstudio.graph.analysis import program_analysis
from gradstudio.graph.model import ItemId
from gradstudio.graph.text.item_titles import title
from gradstudio.operators.model import Effect
from gradstudio.protocol.messages.debugging import Clash
from gradstudio.scene.camera import Camera
from gradstudio.scene.geometry import Box
from gradstudio.scene.scene import Scene
from gradstudio.scene.wire.wire_labels import WireLabels
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle

LEGIBLE: Final = 0.5
"""Below this zoom edges have no words."""
SIGN: Final = 9.0
HEIGHT: Final = 18.0
"""Of words, view pixels."""
CLEAR: Final = 2.0
"""Least distance of words to what they must not cover."""
EdgeWords = tuple[QPainterPath, str, Box | None]
"""An edge, its words, and where they stand, view pixels; None: there is no room."""
SHARES: Final = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8)
LIFTS: Final = (0.0, 20.0, -20.0, 40.0, -40.0)
"""Places along an edge, and so far below it, that are tried for its words."""


def paint_storage(
    painter: QPainter, style: CanvasStyle, scene: Scene, camera: Camera, seen: Box, labels: WireLabels
) -> None:
    """A dashed edge from each base to what shares its storage; then words, where they cover nothing."""
    color, placed = style.color("info"), storage_words(style, scene, camera, seen, labels)
    for path, _, _ in placed:
        _draw(painter, camera, path, color)
    for _, words, box in placed:
        if box is not None:
            painter.setFont(style.meter.font("badge"))
            plate(painter, style, QRectF(box.x, box.y, box.width, box.height), words, color)


def storage_words(style: CanvasStyle, scene: Scene, camera: Camera, seen: Box, labels: WireLabels) -> list[EdgeWords]:
    """Each edge of the storage overlay, its words, and where they stand, view pixels; None: there is no room."""
    from gradstudio.scene.wire.label_placement import occupied

    taken = [box.grown(CLEAR) for box in occupied(scene, camera, seen, labels)]
    found, view = list[EdgeWords](), camera.box_to_view(seen)
    for base, other in scene.results.shared_storage():
        path = _path(scene, camera, seen, (base, other))
        if path is None:
            continue
        writes = Effect.IN_PLACE in program_analysis.effects(scene.graph, other)
        words = "same memory" if writes else f"view of {title(scene.graph, base)}"
        width = style.meter.width(words, "badge") + 14
        box = _free_place(path, width, taken, view) if camera.zoom >= LEGIBLE else None
        taken.extend([box.grown(2 * CLEAR)] if box is not None else ())
        found.append((path, words, box))
    return found


def _free_place(path: QPainterPath, width: float, taken: Sequence[Box], view: Box) -> Box | None:
    """The first place on a path, or just above or below it, where words are seen whole and cover nothing."""
    for lift in LIFTS:
        for share in SHARES:
            at = path.pointAtPercent(share)
            place = Box(at.x() - width / 2, at.y() - HEIGHT / 2 + lift, width, HEIGHT)
            is_whole = view.contains(place.x, place.y) and view.contains(place.right, place.bottom)
            if is_whole and not any(place.meets(box) for box in taken):
                return place
    return None


def paint_clashes(
    painter: QPainter, style: CanvasStyle, scene: Scene, camera: Camera, seen: Box, labels: WireLabels
) -> None:
    """Who wrote (a pen) into what was saved for a backward (a broken link), with the versions."""
    danger = style.color("danger")
    for path, words, box in clash_words(style, scene, camera, seen, labels):
        _draw(painter, camera, path, danger)
        if box is not None:
            painter.setFont(style.meter.font("badge"))
            plate(painter, style, QRectF(box.x, box.y, box.width, box.height), words, danger)
    for clash in _clashes(scene):
        for culprit in clash.culprits:
            _edge_sign(painter, style, scene, camera, culprit.node, "pen")
        if clash.victim:
            _edge_sign(painter, style, scene, camera, clash.victim, "broken")


def clash_words(style: CanvasStyle, scene: Scene, camera: Camera, seen: Box, labels: WireLabels) -> list[EdgeWords]:
    """Each edge from who wrote to what was saved, its words, and where they stand, view pixels; None: no room."""
    clashes = _clashes(scene)
    if not clashes:
        return []
    from gradstudio.scene.wire.label_placement import occupied

    taken = [box.grown(CLEAR) for box in occupied(scene, camera, seen, labels)]
    if scene.state.shown.storage:
        sharing = storage_words(style, scene, camera, seen, labels)
        taken += [box.grown(CLEAR) for _, _, box in sharing if box is not None]
    found, view = list[EdgeWords](), camera.box_to_view(seen)
    for clash in clashes:
        saved = f"saved at v{clash.saved_version}, now v{clash.version}"
        words = saved if clash.autograd else "a leaf was written to"
        for culprit in clash.culprits:
            path = None
            if clash.victim and culprit.node != clash.victim:
                path = _path(scene, camera, seen, (culprit.node, clash.victim))
            if path is None:
                continue
            box = None
            if camera.zoom >= LEGIBLE:
                box = _free_place(path, style.meter.width(words, "badge") + 14, taken, view)
            taken.extend([box.grown(CLEAR)] if box is not None else ())
            found.append((path, words, box))
    return found


def edge_words(style: CanvasStyle, scene: Scene, camera: Camera, seen: Box, labels: WireLabels) -> list[EdgeWords]:
    """Both kinds of edges, those of the storage where it is shown."""
    found = clash_words(style, scene, camera, seen, labels)
    return found + storage_words(style, scene, camera, seen, labels) if scene.state.shown.storage else found


def _clashes(scene: Scene) -> list[Clash]:
    """Those to be shown: at an earlier moment only when those had run that clash, for before, nothing is wrong yet."""
    found = (failure.failed.clash for failure in scene.results.failures)
    return [clash for clash in found if clash is not None and _stands(scene, clash)]


def _stands(scene: Scene, clash: Clash) -> bool:
    if scene.results.moment is None:
        return True
    parts = [culprit.node for culprit in clash.culprits] + [clash.victim]
    return all(scene.results.row(node) is not None for node in parts if node)


def _path(scene: Scene, camera: Camera, seen: Box, ends: tuple[ItemId, ItemId]) -> QPainterPath | None:
    """From one card to the other, view pixels; None when it does not show."""
    one, other = scene.placement.box(ends[0]), scene.placement.box(ends[1])
    if one is None or other is None or not _around(one, other).meets(seen):
        return None
    start, stop, bend = _route(camera.box_to_view(one), camera.box_to_view(other))
    path = QPainterPath(start)
    path.cubicTo(start + bend[0], stop + bend[1], stop)
    return path


def _draw(painter: QPainter, camera: Camera, path: QPainterPath, color: QColor) -> None:
    """A dashed line between two dots."""
    pen = QPen(color, 1.8 if camera.zoom >= LEGIBLE else 1.2, Qt.PenStyle.DashLine)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPath(path)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    for share in (0.0, 1.0):
        painter.drawEllipse(path.pointAtPercent(share), 3.0, 3.0)


def plate(painter: QPainter, style: CanvasStyle, rect: QRectF, words: str, color: QColor) -> None:
    """Words in a colour on a ground of their own; the font is the painter's."""
    painter.setPen(QPen(color, 1.0))
    painter.setBrush(style.color("canvas"))
    painter.drawRoundedRect(rect, rect.height() / 2, rect.height() / 2)
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, words)


def _around(one: Box, other: Box) -> Box:
    x, y = min(one.x, other.x), min(one.y, other.y)
    return Box(x, y, max(one.right, other.right) - x, max(one.bottom, other.bottom) - y)


def _route(one: Box, other: Box) -> tuple[QPointF, QPointF, tuple[QPointF, QPointF]]:
    """From the edges of two cards that face one another, and how the curve leaves them."""
    if other.y >= one.bottom or one.y >= other.bottom:
        below = other.y >= one.bottom
        start = QPointF(one.center[0], one.bottom if below else one.y)
        stop = QPointF(other.center[0], other.y if below else other.bottom)
        pull = QPointF(0, max(20.0, abs(stop.y() - start.y()) / 2) * (1 if below else -1))
        return start, stop, (pull, -pull)
    to_right = other.center[0] >= one.center[0]
    start = QPointF(_near_side(one, right=to_right), one.bottom)
    stop = QPointF(_near_side(other, right=not to_right), other.bottom)
    low = max(one.bottom, other.bottom) + 34.0
    return start, stop, (QPointF(0, low - one.bottom), QPointF(0, low - other.bottom))


def _near_side(box: Box, *, right: bool) -> float:
    """A place at the lower edge near the side that faces the other card."""
    inset = min(28.0, box.width / 3)
    return box.right - inset if right else box.x + inset


def _edge_sign(painter: QPainter, style: CanvasStyle, scene: Scene, camera: Camera, item: ItemId, sign: str) -> None:
    """A sign in a disc on the upper edge of a card, clear of the numbers beside its ports."""
    box = scene.placement.box(item)
    if box is None:
        return
    shown = camera.box_to_view(box)
    at, danger = QPointF(shown.center[0], shown.y - 9), style.color("danger")
    painter.setPen(QPen(style.color("canvas"), 2.0))
    painter.setBrush(danger)
    painter.drawEllipse(at, SIGN + 2, SIGN + 2)
    ink = QPen(style.color("canvas"), 1.8, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
    painter.setPen(ink)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if sign == "pen":
        painter.drawLine(at + QPointF(-4, 4), at + QPointF(4, -4))
        painter.drawLine(at + QPointF(-4, 4), at + QPointF(-1, 4))
        painter.drawLine(at + QPointF(2, -5), at + QPointF(5, -2))
        return
    painter.drawArc(QRectF(at.x() - 6, at.y() - 3, 7, 7), 60 * 16, 240 * 16)
    painter.drawArc(QRectF(at.x() - 1, at.y() - 4, 7, 7), -120 * 16, 240 * 16)
    painter.drawLine(at + QPointF(-1, -6), at + QPointF(1, 6))
