"""What is painted over the scene and changes with the mouse and the run: selection, hover, running, targets."""

import math
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from gradstudio.graph.model import ItemId, Wire
from gradstudio.scene.camera import Camera
from gradstudio.scene.geometry import Box
from gradstudio.scene.items import PortRef
from gradstudio.scene.results import at_work
from gradstudio.scene.scene import Scene
from gradstudio.scene.wire.wire_labels import WireLabels, brief
from gradstudio.ui.canvas.paint.card.card_painter import paint_input_port, paint_output_port
from gradstudio.ui.canvas.paint.card.parameter_row_painter import paint_leaf_ports
from gradstudio.ui.canvas.paint.frame_painter import paint_progress
from gradstudio.ui.canvas.paint.level_of_detail import DISTANT
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.canvas.paint.wire_label_painter import paint_labels, paint_lit_label
from gradstudio.ui.canvas.paint.wire_painter import blend_with_ground, draw_paths, paint_dots, paint_wires

SELECTED_WIRE: Final = (("accent", 0.3, 13.0), ("accent", 0.55, 8.0), ("accent", 1.0, 5.0), ("text", 1.0, 1.6))
"""Role, share of it over the canvas, and width of the lines that make up a selected wire."""
RADIUS: Final = 8.0
LABEL_REACH: Final = 60.0
"""View pixels beside the view in which a wire's label still reaches into it."""
PLATE_PX: Final = 20.0
HINT_LINES: Final = (
    "Double-click, or press Tab, to search for an operator,",
    "or drag one here from the Library (Ctrl+Shift+F).",
)
HINT_MORE: Final = "Or paste Python here (Ctrl+V), or type it into the Code dock (F4)."


class OverlayState(msgspec.Struct):
    """What is lit just now; `pointed` is the node that the pointer is over on another panel."""

    selection: frozenset[ItemId] = frozenset()
    selected_wires: frozenset[Wire] = frozenset()
    selected_note: ItemId | None = None
    selected_dots: frozenset[str] = frozenset()
    hovered_item: ItemId | None = None
    hovered_port: PortRef | None = None
    hovered_wire: Wire | None = None
    drop_frame: ItemId | None = None
    pointed: ItemId | None = None


def paint_overlay(
    painter: QPainter, style: CanvasStyle, scene: Scene, camera: Camera, width: float, height: float,
    state: OverlayState, labels: WireLabels,
) -> None:  # fmt: skip
    """Everything that is lit, in view pixels; the labels of lit wires stand on top of them."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    seen = camera.seen(width, height)
    _paint_wires(painter, style, scene, camera, seen, state)
    _paint_labels(painter, style, scene, camera, seen, state, labels)
    for item in _selected_in(scene, seen, state):
        _outline_item(painter, style, scene, camera, item, style.color("accent"), seen)
        _repaint_ports(painter, style, scene, camera, item, seen)
    for item in state.selection & scene.placement.notes.keys():
        style.outlines.paint(painter, camera.box_to_view(scene.placement.notes[item].box), style.color("accent"), 3.0)
    for key in state.selected_dots:
        ring(painter, style.color("accent"), *camera.to_view(*scene.dots.place(key)), 10.0 * max(camera.zoom, 0.6))
    note = scene.placement.notes.get(state.selected_note) if state.selected_note is not None else None
    if note is not None:
        style.outlines.paint(painter, camera.box_to_view(note.box), style.color("accent"), 3.0)
    if state.drop_frame is not None:
        _dash_item(
            painter, scene, camera, state.drop_frame, QPen(style.color("ok"), 2.4, Qt.PenStyle.DashDotLine), seen
        )
    if state.pointed is not None and not _is_lit(scene, state, state.pointed):
        _dash_item(painter, scene, camera, state.pointed, QPen(style.color("info"), 2.4, Qt.PenStyle.DashLine), seen)
    _paint_run(painter, style, scene, camera, seen)
    if state.hovered_port is not None:
        x, y = camera.to_view(*scene.placement.anchor(state.hovered_port))
        ring(painter, style.color("accent"), x, y, 9.0 * max(camera.zoom, 0.7))


def _is_lit(scene: Scene, state: OverlayState, item: ItemId) -> bool:
    """Whether the card of an item is selected, or under the pointer."""
    on_card = scene.state.card_groups.whole((item,))
    return state.hovered_item in on_card or not on_card.isdisjoint(state.selection)


def _paint_wires(
    painter: QPainter, style: CanvasStyle, scene: Scene, camera: Camera, seen: Box, state: OverlayState
) -> None:
    """Wires of the selection a little stronger; selected and hovered ones in the accent."""
    if state.selection and scene.wiring.view.shown != "none":
        import numpy as np

        chosen = np.zeros(len(scene.wiring.wires), dtype=np.bool_)
        chosen[scene.wiring.lit_among(frozenset(state.selection), scene.routes.wires_in(seen))] = True
        paint_wires(painter, style, scene, camera, seen, chosen, 3.2)
        if scene.wiring.view.shown == "selection":
            paint_dots(painter, style, scene, camera, seen, chosen)
    hovered = scene.wiring.place_of(state.hovered_wire) if state.hovered_wire is not None else None
    if hovered is not None:
        draw_paths(painter, camera, seen, scene.routes.paths[[hovered]], style.color("accent"), 3.4)
        _ring_ends(painter, style, scene, camera, scene.wiring.wires[hovered])
    chosen_wires = [wire for wire in state.selected_wires if scene.wiring.place_of(wire) is not None]
    if chosen_wires:
        _paint_selected(painter, style, scene, camera, seen, chosen_wires)


def _selected_in(scene: Scene, seen: Box, state: OverlayState) -> list[ItemId]:
    """The cards in view on which something is selected, and the selected frames."""
    ids, whole = scene.stack.ids, scene.state.card_groups.whole
    cards = [ids[k] for k in scene.placement.cards_in(seen)] if state.selection else []
    chosen = [item for item in cards if not whole((item,)).isdisjoint(state.selection)]
    return [*chosen, *(item for item in scene.placement.frames if item in state.selection)]


def _paint_labels(
    painter: QPainter,
    style: CanvasStyle,
    scene: Scene,
    camera: Camera,
    seen: Box,
    state: OverlayState,
    labels: WireLabels,
) -> None:
    """What came back along lit wires: a lit wire is no bar through its own number."""
    if scene.state.shown.wire_gradients:
        lit = list[Wire]()
        if state.selection:
            near = scene.routes.wires_in(seen, LABEL_REACH / min(1.0, camera.zoom))
            lit = [scene.wiring.wires[k] for k in scene.wiring.lit_among(frozenset(state.selection), near)]
        wires = [wire for wire in (*lit, *state.selected_wires) if labels.of(wire) is not None]
        found = (label for wire in wires if (label := labels.of(wire)) is not None)
        paint_labels(painter, style, camera, found, stale=bool(wires) and scene.results.stale(wires[0].target))
    if state.hovered_wire is not None and scene.wiring.place_of(state.hovered_wire) is not None:
        _paint_hovered_number(painter, style, scene, camera, state.hovered_wire, labels)


def _paint_hovered_number(
    painter: QPainter, style: CanvasStyle, scene: Scene, camera: Camera, wire: Wire, labels: WireLabels
) -> None:
    """What came back along the wire under the pointer, also where labels have no room."""
    sent = scene.results.wire_grad(wire)
    if sent is not None:
        paint_lit_label(painter, style, camera, labels.whole(wire, brief(sent.grad), camera.zoom), "accent")


def _paint_selected(
    painter: QPainter, style: CanvasStyle, scene: Scene, camera: Camera, seen: Box, wires: Sequence[Wire]
) -> None:
    """A glow, a thick line with a light core, and rings at both ends."""
    paths = scene.routes.paths[[scene.wiring.ends[wire.target, wire.port] for wire in wires]]
    for role, share, width in SELECTED_WIRE:
        draw_paths(
            painter, camera, seen, paths, blend_with_ground(style.color("canvas"), style.color(role), share), width
        )
    for wire in wires:
        _ring_ends(painter, style, scene, camera, wire)


def _ring_ends(painter: QPainter, style: CanvasStyle, scene: Scene, camera: Camera, wire: Wire) -> None:
    """Where a wire begins and where it ends."""
    for end in (PortRef(wire.source, "output", "", wire.output), PortRef(wire.target, "input", wire.port)):
        ring(painter, style.color("accent"), *camera.to_view(*scene.placement.anchor(end)), 9.0 * max(camera.zoom, 0.7))


def _outline_item(
    painter: QPainter, style: CanvasStyle, scene: Scene, camera: Camera, item: ItemId, color: QColor, seen: Box
) -> None:
    box = scene.placement.box(item)
    if box is not None and box.meets(seen):
        style.outlines.paint(painter, camera.box_to_view(box), color, RADIUS * camera.zoom)


def _dash_item(painter: QPainter, scene: Scene, camera: Camera, item: ItemId, pen: QPen, seen: Box) -> None:
    """A broken line around an item: another line than that of the selection."""
    box = scene.placement.box(item)
    if box is not None and box.meets(seen):
        shown, radius = camera.box_to_view(box.grown(2.0)), RADIUS * camera.zoom
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(shown.x, shown.y, shown.width, shown.height), radius, radius)


def _repaint_ports(
    painter: QPainter, style: CanvasStyle, scene: Scene, camera: Camera, item: ItemId, seen: Box
) -> None:
    """Ports stand on top of the line around their card."""
    item = scene.state.card_groups.home(item)
    card, box = scene.stack.cards.get(item), scene.placement.box(item)
    if card is None or box is None or not box.meets(seen) or camera.zoom < DISTANT:
        return
    painter.save()
    painter.translate(*camera.to_view(box.x, box.y))
    painter.scale(camera.zoom, camera.zoom)
    wired = dict(scene.looks.input_looks(item))
    for row in card.layout.inputs:
        paint_input_port(painter, style, row, wired.get(row.path))
    for output in card.layout.outputs:
        paint_output_port(painter, style, output, scene.looks.look_of(output.owner, output.index))
    if card.layout.module is not None:
        paint_leaf_ports(painter, style, scene.stack.leaves(item), card.layout.height, card.layout.width)
    painter.restore()


def _paint_run(painter: QPainter, style: CanvasStyle, scene: Scene, camera: Camera, seen: Box) -> None:
    """The node that runs, with two pointers at it, and one at the node that runs next."""
    running, following = at_work(scene.results), scene.results.next_node
    if running:
        _outline_item(painter, style, scene, camera, running, style.color("ok"), seen)
    for item, count in ((running, 2), (following if following != running else None, 1)):
        box = scene.placement.box(item) if item else None
        if box is not None and box.meets(seen):
            _point_at(painter, style, camera, box, count)
    if loops := scene.results.loops:
        from gradstudio.scene.words.progress_plates import progress_plates

        for plate in progress_plates(loops, scene, camera, seen, is_far=camera.zoom < DISTANT):
            paint_progress(painter, style, plate)
    box = scene.placement.box(running) if running and scene.results.running_seconds else None
    if box is not None and box.meets(seen):
        _paint_patience(painter, style, camera, box, scene.results.running_seconds)


def _paint_patience(painter: QPainter, style: CanvasStyle, camera: Camera, box: Box, seconds: int) -> None:
    """A plate above the node that takes long, as large at every zoom: for how long; it covers no card beside it."""
    text, metrics = f"running for {seconds} s", style.meter.metrics("plate")  # the status bar says what ends it
    x, y = camera.to_view(box.x, box.y)
    plate = QRectF(x, y - PLATE_PX - 6, metrics.horizontalAdvance(text) + 16, PLATE_PX)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(style.color("ok"))
    painter.drawRoundedRect(plate, 5, 5)
    painter.setFont(style.meter.font("plate"))
    painter.setPen(style.color("canvas"))
    painter.drawText(plate, Qt.AlignmentFlag.AlignCenter, text)


def _point_at(painter: QPainter, style: CanvasStyle, camera: Camera, box: Box, count: int) -> None:
    """So many triangles in front of a box."""
    x, y = camera.to_view(box.x, box.y + 15)
    size, gap = 7.0 * max(camera.zoom, DISTANT), 9.0 * max(camera.zoom, DISTANT)
    painter.setPen(QPen(style.color("canvas"), 2.0))
    painter.setBrush(style.color("ok"))
    for number in range(count):
        tip = x - gap - number * 1.5 * size
        corners = [QPointF(tip - 2 * size, y - size), QPointF(tip, y), QPointF(tip - 2 * size, y + size)]
        painter.drawPolygon(QPolygonF(corners))


def ring(painter: QPainter, color: QColor, x: float, y: float, radius: float) -> None:
    """A lit port."""
    soft = QColor(color)
    soft.setAlphaF(0.28)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(soft)
    painter.drawEllipse(QPointF(x, y), radius, radius)
    painter.setPen(QPen(color, 1.8))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawEllipse(QPointF(x, y), radius * 0.8, radius * 0.8)


def veil(
    painter: QPainter,
    style: CanvasStyle,
    scene: Scene,
    camera: Camera,
    width: float,
    height: float,
    lit: Iterable[ItemId],
) -> None:
    """Dim every card that is not lit."""
    bright, seen = scene.state.card_groups.whole(lit), camera.seen(width, height)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(style.faded("canvas", 0.62))
    ids = scene.stack.ids
    for item in [ids[k] for k in scene.placement.cards_in(seen, 8.0 / camera.zoom)]:
        box = scene.placement.box(item) if item not in bright else None
        if box is not None and box.meets(seen):
            shown = camera.box_to_view(box.grown(8.0))
            radius = RADIUS * camera.zoom
            painter.drawRoundedRect(QRectF(shown.x, shown.y, shown.width, shown.height), radius, radius)


def paint_band(painter: QPainter, style: CanvasStyle, box: Box) -> None:
    """The rubber band, in view pixels."""
    painter.setBrush(style.faded("accent", 0.12))
    painter.setPen(QPen(style.faded("accent", 0.9), 1.0))
    painter.drawRect(QRectF(math.floor(box.x) + 0.5, math.floor(box.y) + 0.5, round(box.width), round(box.height)))


def hint_box(width: float, height: float) -> Box:
    """Where an empty canvas of that size says what to do with it, view pixels."""
    return Box(width / 2 - 250, height / 2 - 62, 500, 124)


def paint_hint(painter: QPainter, style: CanvasStyle, width: float, height: float) -> None:
    """What to do with an empty canvas."""
    meter, box = style.meter, hint_box(width, height)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    plate = QRectF(box.x, box.y, box.width, box.height)
    painter.setPen(QPen(style.faded("text_dim", 0.45), 1.4, Qt.PenStyle.DashLine))
    painter.setBrush(style.faded("card", 0.35))
    painter.drawRoundedRect(plate, 12, 12)
    rows = ((HINT_LINES[0], "title", "text"), (HINT_LINES[1], "label", "text"), (HINT_MORE, "small", "text_dim"))
    for number, (text, role, color) in enumerate(rows):
        painter.setFont(meter.font(role))
        painter.setPen(style.color(color))
        painter.drawText(
            QRectF(plate.x(), plate.y() + 18 + 30 * number, plate.width(), 28), Qt.AlignmentFlag.AlignCenter, text
        )
