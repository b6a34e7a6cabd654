"""Paints the moment that is looked at: the active node, what flows through its wires, and what had not run yet."""

import math
from typing import Final

import msgspec
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from gradstudio.graph.model import Wire
from gradstudio.protocol.timeline.model import BackwardStep
from gradstudio.scene.camera import Camera
from gradstudio.scene.geometry import Box, union
from gradstudio.scene.items import PortRef
from gradstudio.scene.scene import Scene
from gradstudio.scene.wire.label_placement import occupied, place_label
from gradstudio.scene.wire.wire_labels import WireLabels, adds_up, arrival_words, brief, summed
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.canvas.paint.primitives.glyphs import paint_arrow
from gradstudio.ui.canvas.paint.storage_link_painter import storage_words
from gradstudio.ui.canvas.paint.wire_label_painter import paint_lit_label
from gradstudio.ui.canvas.paint.wire_painter import draw_paths

ARROWS: Final = (4, 9, 14)
"""Points of a lit path that carry an arrow."""
TAB: Final = 19.0
COVERED: Final = 30.0
"""The band that says "looking back" lies over so much of the view's upper edge."""
LEGIBLE: Final = 0.3
"""Below this zoom the numbers at ports are left out."""
GLOW: Final = ((10.0, 0.14), (6.0, 0.3))


class Stage(msgspec.Struct, frozen=True):
    """What has to be known to paint over the scene: where it is seen, how, and what the active card's tab says."""

    painter: QPainter
    style: CanvasStyle
    scene: Scene
    camera: Camera
    seen: Box
    labels: WireLabels
    tab: str = ""

    @property
    def tab_width(self) -> float:
        """Of the tab, view pixels."""
        return 24.0 + (self.style.meter.width(self.tab, "badge") + 6 if self.tab else 0.0)


def paint_moment(stage: Stage) -> None:
    """Everything about the active node."""
    active = stage.scene.results.active
    if active is None or (active.node and active.node not in stage.scene.stack.index):
        return  # the node of that moment was deleted since
    role = active.phase
    step = stage.scene.results.backward_step() if role == "backward" else None
    arriving, leaving = active_wires(stage.scene, step) if step is not None else ([], [])
    numbers = _paint_flow_back(stage, arriving, leaving) if step is not None else []
    if step is None:
        wires = [wire for wire in stage.scene.looks.wires_of(active.node) if wire.target == active.node]
        _light(stage, wires, stage.style.color("forward"), back=False)
    box = stage.scene.placement.box(active.node) if active.node else None
    if box is not None and box.grown(30).meets(stage.seen):
        _mark(stage, stage.camera.box_to_view(box), role, numbers)
    if step is not None and stage.camera.zoom >= LEGIBLE:
        _paint_forming(stage, leaving)
        _paint_arrivals(stage, step, arriving)


def active_wires(scene: Scene, step: BackwardStep) -> tuple[list[Wire], list[Wire]]:
    """The wires whose gradients arrive at the step's node, and those along which it sends some back."""
    leaving = {(sent.source, sent.output, sent.port) for sent in step.wires}
    out = [
        w for w in scene.looks.wires_of(step.node) if w.target == step.node and (w.source, w.output, w.port) in leaving
    ]
    arrived = {arrival.value.output for arrival in step.arrivals if arrival.value is not None}
    sent = (w for w in scene.looks.wires_of(step.node) if w.source == step.node and w.output in arrived)
    return [wire for wire in sent if scene.results.wire_grad(wire) is not None], out


def _paint_flow_back(stage: Stage, arriving: list[Wire], leaving: list[Wire]) -> list[Box]:
    """Wires that are lit, and their numbers, whose boxes are handed back, view pixels."""
    color = stage.style.color("backward")
    _light(stage, arriving, color, back=True, width=2.6)
    _light(stage, leaving, color, back=True, width=4.2)
    arrived = [_paint_wire_number(stage, wire, hollow=True) for wire in arriving]
    left = [_paint_wire_number(stage, wire, hollow=False) for wire in leaving]
    return [box for box in arrived + left if box is not None]


def _light(stage: Stage, wires: list[Wire], color: QColor, *, back: bool, width: float = 3.6) -> None:
    """Wires in a colour, with arrows in the direction of the flow."""
    if not wires:
        return
    paths = stage.scene.routes.paths[[stage.scene.wiring.ends[wire.target, wire.port] for wire in wires]]
    draw_paths(stage.painter, stage.camera, stage.seen, paths, color, width)
    size = 5.0 * min(1.3, max(0.7, stage.camera.zoom))
    for path in paths:
        for k in ARROWS:
            here, there = path[k], path[k - 1] if back else path[min(k + 1, len(path) - 1)]
            x, y = stage.camera.to_view(float(here[0]), float(here[1]))
            angle = math.degrees(math.atan2(there[1] - here[1], there[0] - here[0]))
            stage.painter.save()
            stage.painter.translate(x, y)
            stage.painter.rotate(angle)
            paint_arrow(stage.painter, color, QPointF(0, 0), size, back=False)
            stage.painter.restore()


def _paint_wire_number(stage: Stage, wire: Wire, *, hollow: bool) -> Box | None:
    sent = stage.scene.results.wire_grad(wire)
    if sent is None:
        return None
    found = stage.labels.whole(wire, brief(sent.grad), stage.camera.zoom)
    paint_lit_label(stage.painter, stage.style, stage.camera, found, hollow=hollow)
    return stage.camera.box_to_view(found.box)


def _paint_forming(stage: Stage, leaving: list[Wire]) -> None:
    """The sums that are being formed where a value that the step sends a part to has several users."""
    for source, output in dict.fromkeys((wire.source, wire.output) for wire in leaving):
        parts, total = stage.scene.results.forming(source, output)
        if total > 1 and parts:
            port = PortRef(source, "output", "", output)
            found = [part.grad for part in parts]
            sign = "Σ " if adds_up(found) else ""
            _plate(stage, port, f"{sign}{summed(found, total)}", upward=True)


def _paint_arrivals(stage: Stage, step: BackwardStep, arriving: list[Wire]) -> None:
    """What arrives at the results of the active node, where no wire says it already."""
    seen: set[int] = set()
    for arrival in step.arrivals:
        value = arrival.value
        if value is None or value.node != step.node or value.path or value.output in seen:
            continue
        seen.add(value.output)
        along = [wire for wire in arriving if wire.output == value.output]
        if len(along) != 1 or len(arrival.parts) > 1:
            port = PortRef(step.node, "output", "", value.output)
            _plate(stage, port, arrival_words(arrival.grad, [part.grad for part in arrival.parts]), upward=False)


def _plate(stage: Stage, port: PortRef, text: str, *, upward: bool) -> None:
    """Words near an output port, where they cover nothing, and a line to it when they stand farther away."""
    meter = stage.style.meter
    painter = stage.painter
    style = stage.style
    card = stage.scene.placement.box(port.item)
    if card is None:
        return
    x, y = stage.camera.to_view(*stage.scene.placement.anchor(port))
    width = meter.width(text, "mono_label") + 14
    shown = stage.camera.box_to_view(card)
    view = stage.camera.box_to_view(stage.seen)
    view = Box(view.x, view.y + COVERED, view.width, view.height - COVERED)
    box = place_label((x, y), shown, width, _taken(stage, shown), view, upward=upward)
    rect = QRectF(box.x, box.y, box.width, box.height)
    color = style.color("backward")
    if not rect.adjusted(-14, -14, 14, 14).contains(x, y):
        painter.setPen(QPen(color, 1.0, Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(x, y), QPointF(min(max(x, rect.left() + 6), rect.right() - 6), rect.center().y()))
    painter.setPen(QPen(color, 1.3))
    painter.setBrush(style.color("surface_raised"))
    painter.drawRoundedRect(rect, 5, 5)
    painter.setFont(meter.font("mono_label"))
    painter.setPen(style.color("text"))
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)


def _taken(stage: Stage, card: Box) -> list[Box]:
    """What a plate must not cover, view pixels: what stands there already, the tab of the active card."""
    scene = stage.scene
    boxes = occupied(scene, stage.camera, stage.seen, stage.labels)
    if scene.state.shown.storage:
        links = storage_words(stage.style, scene, stage.camera, stage.seen, stage.labels)
        boxes += [box for _, _, box in links if box is not None]
    return [*boxes, Box(card.x, card.y - TAB, max(70.0, stage.tab_width + 10), TAB)]


def _label_boxes(stage: Stage) -> list[Box]:
    """The numbers on wires, view pixels."""
    if not stage.scene.state.shown.wire_gradients:
        return []
    return [stage.camera.box_to_view(label.box) for _, label in stage.labels.near(stage.seen, stage.camera.zoom)]


def _mark(stage: Stage, box: Box, role: str, numbers: list[Box]) -> None:
    """A strong outline and a tab above the card, or below it: "▶" forward, "◀ 3/7" in a backward."""
    painter, color = stage.painter, stage.style.color(role)
    radius = 8.0 * stage.camera.zoom
    painter.setBrush(Qt.BrushStyle.NoBrush)
    glow = QColor(color)
    for width, alpha in GLOW:
        glow.setAlphaF(alpha)
        painter.setPen(QPen(glow, width))
        painter.drawRoundedRect(QRectF(box.x, box.y, box.width, box.height), radius, radius)
    pen_style = Qt.PenStyle.SolidLine if role == "forward" else Qt.PenStyle.DashLine
    painter.setPen(QPen(color, 3.0, pen_style))
    painter.drawRoundedRect(QRectF(box.x, box.y, box.width, box.height), radius, radius)
    place = tab_place(stage, box, numbers)
    tab = QRectF(place.x, place.y, place.width, place.height)
    painter.setPen(QPen(stage.style.color("canvas"), 1.0))
    painter.setBrush(color)
    painter.drawRoundedRect(tab, 4, 4)
    ink = stage.style.color("canvas")
    paint_arrow(painter, ink, QPointF(tab.x() + 12, tab.center().y()), 5.0, back=role == "backward")
    painter.setFont(stage.style.meter.font("badge"))
    painter.setPen(ink)
    painter.drawText(tab.adjusted(22, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, stage.tab)


def tab_place(stage: Stage, box: Box, numbers: list[Box]) -> Box:
    """Where the tab of a card covers nothing: above it or below it, at its left or its right; else below it."""
    width, height = stage.tab_width, TAB - 3
    lefts, tops = (box.x + 10, box.right - 10 - width), (box.y - height, box.bottom)
    places = [Box(left, top, width, height) for top in tops for left in lefts]
    placement, around = stage.scene.placement, stage.camera.box_to_scene(union(places) or box)
    near = [placement.corners[k] for k in placement.cards_in(around)]
    cards = [stage.camera.box_to_view(Box(left, top, right - left, low - top)) for left, top, right, low in near]
    others = [card for card in cards if not card.contains(*box.center)]
    taken = [*numbers, *_label_boxes(stage), *others]
    for place in places:
        if place.y >= COVERED and not any(map(place.meets, taken)):
            return place
    return places[2]
