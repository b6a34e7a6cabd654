"""The part of a card that follows from the graph alone: header, ports, fields. Plain records, no Qt.

Coordinates are scene pixels from the card's top left corner.
"""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from gradstudio.graph.analysis import module_modes
from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.card_grouping import CALLED, makes_module
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.ports.item_ports import OutputPort, Port, PortState, input_ports, operator_of, output_ports
from gradstudio.graph.text.code_records import CODE, FREE_METHOD, FREE_PATH, shown_lines
from gradstudio.graph.text.item_titles import title_with_target
from gradstudio.operators.errors import LiteralError
from gradstudio.operators.literals.parser import family_of
from gradstudio.operators.model import Family, Kind, Parameter
from gradstudio.scene.card.display_flags import PLAIN, DisplayFlags
from gradstudio.scene.card.group_card import card_rows, is_group, uses_of
from gradstudio.scene.card.undrawn_inputs import UNDRAWN, captions_of, ports_with_rows
from gradstudio.scene.card.visible_ports import foldable, visible_ports
from gradstudio.scene.geometry import Box

HEADER: Final = 24.0
ROW: Final = 18.0
MORE_ROW: Final = ROW
MORE_WIDTH: Final = 64.0
"""Of what unfolds the rest, where it stands left of an output."""
CODE_ROW: Final = 18.0
"""Of a line of code that a card shows."""
PADDING: Final = 12.0
BODY_EDGE: Final = 4.0
FIELD_HEIGHT: Final = 15.0
MINIMUM_WIDTH: Final = 196.0
MAXIMUM_WIDTH: Final = 300.0
MINIMUM_FIELD: Final = 64.0
WIDE_FIELD: Final = 96.0
DATA_FIELD: Final = 120.0
MODULE_WIDTH: Final = 232.0
"""Of the card of a module and its call at least: the names and shapes of leaves need room."""
LABEL_ROOM: Final = 84.0
"""Longer labels beside a field are shortened."""
WIDTH_STEP: Final = 4.0
NAME_ROOM: Final = 72.0
"""Room for the name before an operator's title."""
HINT_ROOM: Final = 56.0
"""Room for an output's shape beside the field of an input in the same row."""
BADGE: Final = 26.0

NOBODY: Final = ItemId("")
SWITCH: Final = 42.0
"""Width of the switch between training and evaluation."""

Measure = Callable[[str, str], float]
"""Width of a text in a font role ("title", "subtitle", "label", "mono"), scene pixels."""

WITHOUT_FIELD = frozenset(
    {Kind.TENSOR, Kind.TENSORS, Kind.MODULE, Kind.MODULES, Kind.OPTIMIZER, Kind.ARRAY, Kind.GENERATOR, Kind.OBJECT}
)
"""Kinds that only a wire can fill."""
WIDE_KINDS = frozenset({Kind.DATA, Kind.SHAPE, Kind.DTYPE, Kind.DEVICE, Kind.TEXT, Kind.ANY})
"""Kinds whose literals are long."""
BESIDE_OUTPUTS = frozenset({Kind.TENSOR_OR_NUMBER, Kind.ANY})
"""Kinds whose short literals leave room for an output in the same row."""
WITH_LIST = frozenset({Kind.BOOL, Kind.DTYPE, Kind.DEVICE})
"""Kinds whose literals are chosen from a list."""
_FAMILIES = {
    Kind.TENSOR: Family.TENSOR,
    Kind.TENSOR_OR_NUMBER: Family.TENSOR,
    Kind.MODULE: Family.MODULE,
    Kind.OPTIMIZER: Family.OPTIMIZER,
    Kind.ARRAY: Family.ARRAY,
    Kind.OBJECT: Family.OBJECT,
    Kind.GENERATOR: Family.OBJECT,
    Kind.ANY: Family.UNKNOWN,
}
_NUMBERS = frozenset({Kind.NUMBER, Kind.INT, Kind.FLOAT, Kind.COMPLEX, Kind.BOOL})
_LISTS = frozenset(
    {Kind.SHAPE, Kind.INTS, Kind.NUMBERS, Kind.INDEX, Kind.TENSORS, Kind.VALUES, Kind.MODULES, Kind.DATA}
)


class InputRow(msgspec.Struct, frozen=True, gc=False):
    """An input port, its label, and the field that shows its literal.

    Attributes:
        owner: the item whose port it is: a card can show a module and its call.
        family: of the literal or of what the parameter takes: the port's shape while unwired.
        text: the literal as it is; `shown` is what stands in the field.
        faint: `shown` is a default or a hint, not a literal.
        x, y: of the port.
    """

    path: str
    label: str
    parameter: Parameter
    state: PortState
    family: Family
    text: str = ""
    shown: str = ""
    faint: bool = False
    required: bool = False
    x: float = 0.0
    y: float = 0.0
    field: Box | None = None
    owner: ItemId = NOBODY

    @property
    def has_list(self) -> bool:
        """Whether its editor is a list instead of a line to type into."""
        return bool(self.parameter.choices) or self.parameter.kind in WITH_LIST


class OutputRow(msgspec.Struct, frozen=True, gc=False):
    """An output port; `label` is shown where several results need telling apart; `owner` as of an input."""

    index: int
    name: str
    label: str
    family: Family
    x: float = 0.0
    y: float = 0.0
    owner: ItemId = NOBODY


class CardLayout(msgspec.Struct, frozen=True, gc=False):
    """A card (or the head of a block's frame) without results.

    Attributes:
        names: what the node binds, as text; `title` is the operator's.
        hidden: optional inputs folded away; `more` is the row that unfolds them.
        height: of header and ports; results are added below.
        captions: lines of words in place of inputs; `code`: lines of Python below the inputs.
        module: the constructor whose leaves the card shows: the item itself, or what its call is joined with.
        mode: "train" or "eval" where that makes a difference, with the `switch` that changes it.
        frozen: nothing of the module learns; `display_flags`: what its place says of it; `is_group`: it has an inside.
    """

    item: ItemId
    names: str
    title: str
    category: str
    inputs: tuple[InputRow, ...]
    outputs: tuple[OutputRow, ...]
    width: float
    height: float
    hidden: int = 0
    more: Box | None = None
    expanded: bool = False
    unknown: bool = False
    muted: bool = False
    bypassed: bool = False
    is_block: bool = False
    captions: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    module: ItemId | None = None
    mode: module_modes.Mode = ""
    switch: Box | None = None
    frozen: bool = False
    display_flags: DisplayFlags = PLAIN
    is_group: bool = False

    @property
    def is_joined(self) -> bool:
        """Whether a module and its call share the card."""
        return self.module is not None and self.module != self.item

    @property
    def subtitle(self) -> str:
        """What stands behind the names: the operator's title, unless they say it already."""
        return self.title if self.names and self.names != self.title else ""

    @property
    def results(self) -> tuple[OutputRow, ...]:
        """The outputs of the item itself, without the module that shares its card."""
        return tuple(row for row in self.outputs if row.owner == self.item)

    def input(self, path: str) -> InputRow | None:
        """The input row of that path, folded ones included as None."""
        return next((row for row in self.inputs if row.path == path), None)

    def fields(self) -> tuple[InputRow, ...]:
        """The rows whose literal can be edited in place, top to bottom."""
        return tuple([row for row in self.inputs if row.field is not None])


def card_layout(
    graph: Graph, item: ItemId, measure: Measure, expanded: bool = False, module: ItemId | None = None
) -> CardLayout:
    """The card of a node; of a call also that of its `module`, where the two share one."""
    head = graph.nodes[item if module is None else module]
    node, operator = graph.nodes[item], operator_of(graph, head.id)
    taken = input_ports(graph, item) if module is not None else ()
    ports = ports_with_rows(graph, head) if head.operator in UNDRAWN else input_ports(graph, head.id)
    asked = _asked_ports(taken)
    called = _called_ports(taken, asked, expanded)
    folded = max(len(foldable(ports)), len(foldable(asked)))
    shown = visible_ports(ports, expanded)
    own = card_rows((input_row(graph, port, head.id) for port in shown), item)
    rows = (*(_call_row(graph, port, item) for port in called), *own)
    outputs = output_rows(output_ports(graph, item), item, always=module is not None or item in CARDS)
    names = ", ".join(head.names) if any(name != "_" for name in head.names) else ""
    title = title_with_target(graph, head.id, operator) if operator else head.operator.rsplit(".", 1)[-1]
    title += uses_of(graph, head.operator)
    constructor = head.id if makes_module(operator) else None
    mode, frozen = module_modes.mode_of(graph, constructor)
    is_named = operator is not None and operator.key not in (FREE_METHOD, FREE_PATH)
    width = _width(operator.title if operator and is_named else title, ports, outputs, measure, SWITCH if mode else 0.0)
    width = max(width, MODULE_WIDTH) if module is not None else width
    code = head.operator == CODE
    width = MAXIMUM_WIDTH if code else width
    hidden = len(ports) - len(shown) + len(asked) - len(visible_ports(asked, expanded))
    layout = CardLayout(
        item=item, names=names, title=title, category=operator.category if operator else "", inputs=rows,
        outputs=outputs, width=width, height=0.0, hidden=hidden, expanded=expanded and folded > 1,
        unknown=operator is None, muted=node.muted, bypassed=node.bypassed, captions=captions_of(graph, node),
        code=shown_lines(head) if code else (), module=constructor, mode=mode, frozen=frozen,
        is_group=is_group(head.operator),
    )  # fmt: skip
    return place_rows(layout, measure)


def _asked_ports(taken: Sequence[Port]) -> tuple[Port, ...]:
    """What a call takes beside its module."""
    return tuple([port for port in taken if port.path != CALLED and not port.grows])


def _called_ports(taken: Sequence[Port], asked: Sequence[Port], expanded: bool) -> tuple[Port, ...]:
    """The inputs of a call that have a row; one more is offered on the unfolded card where anything may be given."""
    given = list(visible_ports(asked, expanded))
    if len(given) == 1 and given[0].element is not None:
        given[0] = replace(given[0], label="input")
    more = (port for port in taken if port.grows)
    return tuple(given + [port for port in more if expanded or not given])


def _call_row(graph: Graph, port: Port, call: ItemId) -> InputRow:
    """A module is called with tensors first: what may be anything has no field, unless a literal stands there."""
    row = input_row(graph, port, call)
    if port.literal or port.parameter.kind not in (Kind.ANY, Kind.OBJECT) or not port.required:
        return row
    return replace(row, parameter=replace(port.parameter, kind=Kind.TENSOR), family=Family.TENSOR)


def _with_module(layout: CardLayout) -> CardLayout:
    """The port of the module itself, in the header of a joined card, and the switch of its mode left of it."""
    right = layout.width - 8.0
    if layout.is_joined and layout.module is not None:
        own = OutputRow(0, "", "", Family.MODULE, x=layout.width, y=HEADER / 2, owner=layout.module)
        layout, right = replace(layout, outputs=(*layout.outputs, own)), layout.width - 14.0
    switch = Box(right - SWITCH, (HEADER - 16.0) / 2, SWITCH, 16.0) if layout.mode else None
    return replace(layout, switch=switch) if switch != layout.switch else layout


def input_row(graph: Graph, port: Port, owner: ItemId) -> InputRow:
    """An input port as a row, without a place."""
    shown, faint = _field_text(graph, port)
    return InputRow(
        path=port.path, label=port.label, parameter=port.parameter, state=port.state, family=_family(port),
        text=port.literal, shown=shown, faint=faint, required=port.required, owner=owner,
    )  # fmt: skip


def _field_text(graph: Graph, port: Port) -> tuple[str, bool]:
    match port.state:
        case "document_device":
            return graph.header.device, True
        case "literal":
            return port.literal, False
        case _:
            if port.grows:
                return "+", True
            default = port.parameter.default
            return ("needed" if port.required else default or "default"), True


def _family(port: Port) -> Family:
    kind = port.parameter.kind
    if port.state == "literal":
        try:
            return family_of(port.literal)
        except LiteralError:
            return Family.UNKNOWN
    if kind in _NUMBERS:
        return Family.NUMBER
    return Family.TUPLE if kind in _LISTS else _FAMILIES.get(kind, Family.TEXT)


def output_rows(ports: Sequence[OutputPort], owner: ItemId, always: bool = False) -> tuple[OutputRow, ...]:
    """Output ports as rows, without places; labelled where there are several, or `always`."""
    rows = ((port, port.name if always or len(ports) > 1 else "") for port in ports)
    return tuple(OutputRow(port.index, port.name, label, port.family, owner=owner) for port, label in rows)


def has_field(row: InputRow) -> bool:
    """Whether a literal can be written beside the port."""
    return row.state != "wired" and row.parameter.kind not in WITHOUT_FIELD


def _may_have_field(parameter: Parameter) -> bool:
    """Whether a literal could stand beside the port, wired or not: sizes follow from this, so that none changes."""
    return parameter.kind not in WITHOUT_FIELD


def _shares_rows(inputs: Sequence[InputRow], outputs: Sequence[OutputRow]) -> bool:
    """Whether the outputs stand beside the first inputs instead of above them."""
    return not any(
        _may_have_field(row.parameter) and row.parameter.kind not in BESIDE_OUTPUTS for row in inputs[: len(outputs)]
    )


def _width(
    title: str, ports: Sequence[Port], outputs: Sequence[OutputRow], measure: Measure, switch: float = 0.0
) -> float:
    """One width for all cards of an operator: names and literals are shortened to it."""
    head = NAME_ROOM + measure(f"  {title}", "subtitle") + 2 * PADDING + BADGE + switch
    label = max((measure(port.label, "label") for port in ports if _may_have_field(port.parameter)), default=0.0)
    label = min(label, LABEL_ROOM)
    field = max((_field_width(port.parameter.kind) for port in ports), default=0.0)
    body = label + 8 + field + 2 * PADDING if label else 0.0
    beside = max((measure(row.label, "label") for row in outputs), default=0.0)
    shared = max((measure(port.label, "label") for port in ports), default=0.0) + beside + 2 * PADDING + 70
    return float(round(min(max(head, body, shared, MINIMUM_WIDTH), MAXIMUM_WIDTH) / WIDTH_STEP) * WIDTH_STEP)


def _field_width(kind: Kind) -> float:
    if kind is Kind.DATA:
        return DATA_FIELD
    return WIDE_FIELD if kind in WIDE_KINDS else MINIMUM_FIELD


def place_rows(layout: CardLayout, measure: Measure) -> CardLayout:
    """The layout with a place for every port, field and row, and for what belongs to its module."""
    return _with_module(_placed_joined(layout, measure) if layout.is_joined else _placed(layout, measure))


def _placed(layout: CardLayout, measure: Measure) -> CardLayout:
    top = HEADER + BODY_EDGE
    first = 0 if _shares_rows(layout.inputs, layout.outputs) else len(layout.outputs)
    outputs = tuple(_placed_output(row, layout.width, top + ROW * (k + 0.5)) for k, row in enumerate(layout.outputs))
    left = _field_left(layout, measure)
    rooms = [] if first else [min(max(HINT_ROOM, measure(row.label, "label") + 8), layout.width / 2) for row in outputs]
    inputs = tuple(
        _placed_input(row, top + ROW * (first + k), left(row), layout.width - (rooms[k] if k < len(rooms) else 0.0))
        for k, row in enumerate(layout.inputs)
    )
    end = top + ROW * max(len(outputs), first + len(inputs), len(layout.captions))
    free = Box(PADDING, top, MORE_WIDTH, ROW) if first and not layout.captions else None
    return _closed(layout, inputs, outputs, end, free)


def _placed_joined(layout: CardLayout, measure: Measure) -> CardLayout:
    """What the call takes stands beside what it gives; the module's arguments stand below."""
    top, left = HEADER + BODY_EDGE, _field_left(layout, measure)
    outputs = tuple(_placed_output(row, layout.width, top + ROW * (k + 0.5)) for k, row in enumerate(layout.outputs))
    called = [row for row in layout.inputs if row.owner == layout.item]
    own = [row for row in layout.inputs if row.owner != layout.item]
    first = max(len(called), len(outputs))
    beside = [
        _placed_input(row, top + ROW * k, left(row), layout.width - (HINT_ROOM if k < len(outputs) else 0.0))
        for k, row in enumerate(called)
    ]
    below = [_placed_input(row, top + ROW * (first + k), left(row), layout.width) for k, row in enumerate(own)]
    return _closed(layout, (*beside, *below), outputs, top + ROW * (first + len(own)))


def _closed(
    layout: CardLayout, inputs: tuple[InputRow, ...], outputs: tuple[OutputRow, ...], y: float, free: Box | None = None
) -> CardLayout:
    """The layout with these rows, which end at `y`, and what unfolds the rest, if there is any: below, or in `free`."""
    more, below = None, 0.0
    if layout.hidden or layout.expanded:
        more = free or Box(PADDING, y, layout.width - 2 * PADDING, MORE_ROW)
        below = 0.0 if free else MORE_ROW
    height = y + below + CODE_ROW * len(layout.code) + BODY_EDGE
    return replace(layout, inputs=inputs, outputs=outputs, more=more, height=height)


def _field_left(layout: CardLayout, measure: Measure) -> Callable[[InputRow], float]:
    """Where each row's field begins: all in one column, but the numbers of a tensor need whatever room there is."""
    labels = max((measure(row.label, "label") for row in layout.inputs if _may_have_field(row.parameter)), default=0.0)
    column = min(PADDING + min(labels, LABEL_ROOM) + 8, layout.width - PADDING - MINIMUM_FIELD)
    alone = PADDING + 8
    return lambda row: min(column, alone + measure(row.label, "label")) if row.parameter.kind is Kind.DATA else column


def _placed_input(row: InputRow, y: float, left: float, width: float) -> InputRow:
    field = Box(left, y + (ROW - FIELD_HEIGHT) / 2, width - PADDING - left, FIELD_HEIGHT) if has_field(row) else None
    return InputRow(  # `replace` asks for every field by its name: felt where a thousand cards are made
        row.path, row.label, row.parameter, row.state, row.family, row.text, row.shown, row.faint, row.required,
        row.x, y + ROW / 2, field, row.owner,
    )  # fmt: skip


def _placed_output(row: OutputRow, x: float, y: float) -> OutputRow:
    return OutputRow(row.index, row.name, row.label, row.family, x, y, row.owner)
