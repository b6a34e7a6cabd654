"""What lies under a point: port, field, card, note, wire, frame or nothing. No Qt."""

from typing import Final
from typing import Literal as OneOf

import msgspec

from gradstudio.graph.model import ItemId, Wire
from gradstudio.protocol.messages.records import ModuleRecord, Record, TensorRecord
from gradstudio.scene.camera import LEAST_READABLE
from gradstudio.scene.card.card_layout import HEADER, ROW, CardLayout, InputRow
from gradstudio.scene.card.frame_titles import LINES, title_from_afar
from gradstudio.scene.card.parameter_rows import MORE
from gradstudio.scene.geometry import FRAME_TITLE, Box
from gradstudio.scene.items import LEAF_EDGE, Card, Frame, PortRef
from gradstudio.scene.scene import Scene
from gradstudio.scene.value_format import element_count

PORT_REACH: Final = 11.0
"""View pixels around a port that still hit it."""
WIRE_REACH: Final = 6.0
DOT_REACH: Final = 8.0
LEAST_FIELD_ZOOM: Final = LEAST_READABLE
"""Below it cards are plates without fields."""
LEAST_PORT_ZOOM: Final = 0.25
PLATE_HEAD: Final = 15.0
"""Of a plate, view pixels at least, where it is so wide that it has texts at all."""
PLATE_LINE: Final = 13.0
PLATE_PICTURE: Final = 72.0
"""What a picture and what stands above and below it need on a plate, view pixels."""
LEGIBLE_WIDTH: Final = 30.0
"""A plate at least so many view pixels wide gets texts."""
CROSS_REACH: Final = 24.0

NOWHERE: Final = ItemId("")
HitKind = OneOf[
    "port",
    "field",
    "more",
    "more_leaves",
    "switch",
    "drop_what_if",
    "card",
    "note",
    "title",
    "dot",
    "wire",
    "frame",
    "empty",
]


class Hit(msgspec.Struct, frozen=True):
    """The topmost thing under a point.

    Attributes:
        header: on a card's header.
        row: of a field.
        label: on the words of this argument, beside its port.
        dot: key of the dot on the wire.
        leaf: path of the parameter or buffer whose row it is.
        cell: row and column, of a confusion matrix.
    """

    kind: HitKind
    item: ItemId = NOWHERE
    port: PortRef | None = None
    row: InputRow | None = None
    label: InputRow | None = None
    leaf: str = ""
    wire: Wire | None = None
    dot: str = ""
    header: bool = False
    cell: tuple[int, int] | None = None


EMPTY: Final = Hit("empty")


def hit(scene: Scene, x: float, y: float, zoom: float) -> Hit:
    """What is under the scene point at this zoom."""
    near = zoom >= LEAST_FIELD_ZOOM
    return (
        (_port(scene, x, y, zoom) if zoom >= LEAST_PORT_ZOOM else None)
        or (_plate_field(scene, x, y, zoom) if LEAST_PORT_ZOOM <= zoom < LEAST_FIELD_ZOOM else None)
        or _card(scene, x, y, near)
        or _frame_head(scene, x, y, zoom)
        or _note(scene, x, y)
        or _dot(scene, x, y, zoom)
        or _wire(scene, x, y, zoom)
        or _frame(scene, x, y)
        or EMPTY
    )


def port_at(scene: Scene, x: float, y: float, reach: float) -> PortRef | None:
    """The nearest port, not farther than `reach` scene pixels."""
    return scene.ports.nearest(x, y, reach)


def card_at(scene: Scene, x: float, y: float) -> ItemId | None:
    """The topmost card under the point."""
    k = scene.placement.topmost(x, y)
    if k is None or y > scene.placement.corners[k][1] + scene.stack.cards[scene.stack.ids[k]].drawn_height:
        return None
    return scene.stack.ids[k]


def frame_at(scene: Scene, x: float, y: float, without: frozenset[ItemId] = frozenset()) -> ItemId | None:
    """The innermost frame around the point."""
    found = None
    for item, frame in scene.placement.frames.items():
        if item not in without and frame.box.contains(x, y):
            found = item
    return found


def field_box(scene: Scene, item: ItemId, row: InputRow) -> Box | None:
    """Where a field stands, scene pixels."""
    box = scene.placement.box(item)
    return row.field.moved(box.x, box.y) if box is not None and row.field is not None else None


def _port(scene: Scene, x: float, y: float, zoom: float) -> Hit | None:
    port = port_at(scene, x, y, PORT_REACH / max(zoom, 0.7))
    if port is None or _is_under(scene, port, card_at(scene, x, y)):
        return None
    return Hit("port", port.item, port)


def _is_under(scene: Scene, port: PortRef, card: ItemId | None) -> bool:
    """Whether a card lies over a port of another one."""
    if card is None or card == scene.state.card_groups.home(port.item):
        return False
    box = scene.placement.box(card)
    return (
        box is not None
        and box.contains(*scene.placement.anchor(port))
        and scene.stack.index.get(port.item, -1) < scene.stack.index[card]
    )


def _card(scene: Scene, x: float, y: float, near: bool) -> Hit | None:
    item = card_at(scene, x, y)
    if item is None:
        return None
    box, layout = scene.placement.box(item), scene.stack.cards[item].layout
    assert box is not None
    if near:
        inside = _on_layout(layout, x - box.x, y - box.y)
        if inside is not None:
            return inside
        card = scene.stack.cards[item]
        if card.extras.changes and drops_what_if(card, x - box.x, y - box.y):
            return Hit("drop_what_if", item)
        if layout.module is not None and (inside := _on_leaves(scene, item, y - box.y - layout.height)) is not None:
            return inside
        well = scene.updates.well(item)
        if well.chart is not None:
            from gradstudio.scene.card.confusion_cells import cell_at

            cell = cell_at(well, layout.width, x - box.x, y - box.y - layout.height)
            if cell is not None:
                return Hit("card", item, cell=cell)
    return Hit(
        "card", item, header=y - box.y <= HEADER, label=_labelled(layout, x - box.x, y - box.y) if near else None
    )


def plate_literals(scene: Scene, item: ItemId, room_px: float) -> list[InputRow]:
    """The literals that a plate shows, a line each below its head: those that are written, while there is room.

    What a run computed has its room before them.
    """
    card, records = scene.stack.cards[item], scene.results.outputs(item)
    kept_px = PLATE_LINE if scene.results.incomplete(item) else 0.0
    if records:
        if card.extras.changes or card.extras.cost:
            return []
        kept_px = _room_of(records[0])
    count = int((room_px - kept_px + 2.0) / PLATE_LINE)
    return [row for row in card.layout.fields() if not row.faint][: max(count, 0 if records else 1)]


def _room_of(record: Record) -> float:
    """What a value and its gradient need on a plate, view pixels: a picture is not squeezed for a literal."""
    if isinstance(record, ModuleRecord) and not record.parameters:
        return 0.0  # its class stands in the head, and it has no more to say
    if isinstance(record, TensorRecord) and element_count(record.summary.shape) != 1:
        return PLATE_PICTURE
    return 2.5 * PLATE_LINE


def _plate_field(scene: Scene, x: float, y: float, zoom: float) -> Hit | None:
    """A literal on the plate of a card, in the lines below its head."""
    item = card_at(scene, x, y)
    box = scene.placement.box(item) if item is not None else None
    if item is None or box is None or box.width * zoom < LEGIBLE_WIDTH:
        return None
    head_px = max(HEADER * zoom, PLATE_HEAD)
    below_px = (y - box.y) * zoom - head_px
    if below_px < 0:
        return None
    rows = plate_literals(scene, item, box.height * zoom - head_px - 2.0)
    line = int(below_px / PLATE_LINE)
    return Hit("field", rows[line].owner, row=rows[line]) if line < len(rows) else None


def _labelled(layout: CardLayout, x: float, y: float) -> InputRow | None:
    """The argument whose label is there; it reaches to the middle of the card."""
    return next((row for row in layout.inputs if x <= layout.width / 2 and abs(y - row.y) <= ROW / 2), None)


def _on_leaves(scene: Scene, item: ItemId, y: float) -> Hit | None:
    """The row of a leaf at that distance below the fields, or the line that unfolds them."""
    leaves, y = scene.stack.leaves(item), y - LEAF_EDGE
    if not leaves.rows:
        return None
    if leaves.more and leaves.more_y <= y <= leaves.more_y + MORE:
        return Hit("more_leaves", item)
    row = leaves.at(y)
    return Hit("card", item, leaf=row.path) if row is not None else None


def drops_what_if(card: Card, x: float, y: float) -> bool:
    """Whether a point of a card, from its top left corner, is on the "x" of the *What if* band."""
    top = card.layout.height + card.drawn
    right = card.layout.width
    return right - CROSS_REACH <= x <= right and top <= y <= top + CROSS_REACH


def cause_at(scene: Scene, item: ItemId, y: float) -> ItemId | None:
    """The node that is responsible for the gradient state which stands on a card at that height of the scene."""
    box, card = scene.placement.box(item), scene.stack.cards.get(item)
    if box is None or card is None:
        return None
    top = box.y + card.layout.height + scene.updates.well(item).leaves.height
    for output, section in enumerate(scene.updates.well(item).sections):
        if top <= y <= top + section.height:
            row = scene.results.grad(item, output)
            return row.cause if row is not None and row.cause in scene.graph else None
        top += section.height
    return None


def _on_layout(layout: CardLayout, x: float, y: float) -> Hit | None:
    for row in layout.fields():
        if row.field is not None and row.field.contains(x, y):
            return Hit("field", row.owner, row=row)
    if layout.switch is not None and layout.switch.contains(x, y):
        return Hit("switch", layout.item)
    return Hit("more", layout.item) if layout.more is not None and layout.more.contains(x, y) else None


def _frame_head(scene: Scene, x: float, y: float, zoom: float) -> Hit | None:
    near = zoom >= LEAST_FIELD_ZOOM
    for item, frame in reversed(scene.placement.frames.items()):
        if not near and _on_distant_title(scene, frame, x, y, zoom):
            return Hit("title", item)
        if not frame.box.contains(x, y):
            continue
        if y - frame.box.y <= FRAME_TITLE:
            return Hit("title", item)
        inside = _on_layout(frame.layout, x - frame.box.x, y - frame.box.y) if near else None
        if inside is not None:
            return inside
    return None


def _on_distant_title(scene: Scene, frame: Frame, x: float, y: float, zoom: float) -> bool:
    """Whether a point is on the title of a frame that is seen from afar, whose letters do not shrink with it."""
    box, highest = frame.box, LINES[0][1] / zoom
    if not (box.x <= x <= box.right and -highest <= y - box.y <= max(highest, FRAME_TITLE)):
        return False
    title = title_from_afar(frame, scene, zoom)
    return title is not None and title.top <= (y - box.y) * zoom <= title.top + title.height


def _note(scene: Scene, x: float, y: float) -> Hit | None:
    item = next((item for item, note in reversed(scene.placement.notes.items()) if note.box.contains(x, y)), None)
    return Hit("note", item) if item is not None else None


def _dot(scene: Scene, x: float, y: float, zoom: float) -> Hit | None:
    found = scene.dots.at(x, y, DOT_REACH / max(zoom, 0.5)) if zoom >= LEAST_PORT_ZOOM else None
    return Hit("dot", wire=found[1], dot=found[0]) if found is not None and scene.wiring.is_drawn(found[1]) else None


def wire_at(scene: Scene, x: float, y: float, reach: float) -> Wire | None:
    """The nearest wire, not farther than `reach` scene pixels, whatever lies over it."""
    k = _nearest_wire(scene, x, y, reach)
    return scene.wiring.wires[k] if k is not None else None


def _nearest_wire(scene: Scene, x: float, y: float, reach: float) -> int | None:
    if not scene.routes.wires_in(Box(x, y, 0.0, 0.0), reach):
        return None
    from gradstudio.scene import arrays

    return arrays.nearest_wire(scene.routes.paths, scene.routes.bounds, x, y, reach)


def _wire(scene: Scene, x: float, y: float, zoom: float) -> Hit | None:
    k = _nearest_wire(scene, x, y, WIRE_REACH / zoom)
    return (
        Hit("wire", wire=scene.wiring.wires[k])
        if k is not None and scene.wiring.is_drawn(scene.wiring.wires[k])
        else None
    )


def _frame(scene: Scene, x: float, y: float) -> Hit | None:
    item = frame_at(scene, x, y)
    return Hit("frame", item) if item is not None else None
