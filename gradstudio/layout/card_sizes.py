"""How large a card is, as far as can be known without a canvas: the canvas passes true sizes instead."""

import textwrap
from collections.abc import Sequence

from gradstudio.graph.card_grouping import CALLED, card_groups
from gradstudio.graph.groups.definitions import group_of
from gradstudio.graph.model import Graph, ItemId, Node
from gradstudio.graph.ports.item_ports import (
    OutputPort,
    Port,
    input_ports,
    operator_of,
    output_family,
    output_ports,
    written_wire,
)
from gradstudio.graph.text.code_records import CODE, FREE_PATH, PRINT, may_draw, may_print, shown_lines
from gradstudio.graph.text.item_titles import title_with_target
from gradstudio.graph.text.notes import note_of
from gradstudio.operators.model import Family, Kind

Size = tuple[float, float]

NARROWEST = 196.0
WIDEST = 300.0
CHARACTER = 7.0
HEADER = 28.0
ROW = 18.0
MORE_ROW = 15.0
CODE_ROW = 18.0
"""As a port's: at small scales letters stay as large as can be read, and would stand in one another."""
PRINTED, FIGURE = 35.0, 145.0
"""Room for what a code prints and draws; of a print's own card `PRINT_ROOM`."""
PRINT_ROOM = 70.0
FOOT = 4.0
VALUES = {Family.MODULE: 92.0, Family.NUMBER: 30.0, Family.NONE: 0.0, Family.TENSOR: 78.0, Family.UNKNOWN: 78.0}
"""Room for the values of one result, pixels; of a module, for as many leaves as a folded card has at most."""
OTHER_VALUES = 27.0
MOST_RESULTS = 3
LEAVES = 63.0
"""Room for a weight and a bias, with their gradients."""
SWITCH = 42.0
FIELD = 64.0
WIDE_FIELD = 96.0
DATA_FIELD = 120.0
LABEL_ROOM = 84.0
NAME_ROOM = 122.0
STORED = "python.stored"
NOTE_WIDTH = 232.0
NOTE_LINE = 19.0
NOTE_EDGE = 9.0
NOTE_CHARACTER = 8.2
ONLY_WIRED = frozenset({Kind.TENSOR, Kind.TENSORS, Kind.MODULE, Kind.MODULES, Kind.OPTIMIZER, Kind.ARRAY, Kind.OBJECT})
WIDE_KINDS = frozenset({Kind.DATA, Kind.SHAPE, Kind.DTYPE, Kind.DEVICE, Kind.TEXT, Kind.ANY})
BESIDE_OUTPUTS = frozenset({Kind.TENSOR_OR_NUMBER, Kind.ANY})
NEVER_FOLDED = frozenset({"requires_grad", "dim", "lr"})


def card_size(graph: Graph, item: ItemId, values: float | None = None) -> Size:
    """Width and height of a node's card with room for its values, pixels; `values` where that is known better."""
    module = card_groups(graph).modules.get(item)
    if module is not None:
        return _joined_size(graph, item, module)
    every, outputs = _ports(graph, item), output_ports(graph, item)
    ports = _unfolded(every)
    rows = max(_first_row(outputs, ports) + len(ports), len(outputs), 2 * _is_stored(graph, item))
    more = MORE_ROW if len(ports) < len(every) else 0.0
    if values is None or not outputs:
        values = sum(VALUES.get(family, OTHER_VALUES) for family in _shown_families(graph, item, outputs))
    code = _code_height(graph.nodes[item]) if item in graph.nodes else 0.0
    return _width(graph, item, every), HEADER + ROW * rows + more + code + FOOT + values


def _shown_families(graph: Graph, item: ItemId, outputs: Sequence[OutputPort]) -> list[Family]:
    """Of the values that stand on a card: its results, else what it writes into."""
    written = None if outputs else written_wire(graph, item)
    if written is not None:
        is_known = written.source in graph or graph.edges is not None  # what a definition is given, seen from outside
        return [output_family(graph, written.source, written.output) if is_known else Family.UNKNOWN]
    return [output.family for output in outputs[:MOST_RESULTS]]


def _joined_size(graph: Graph, call: ItemId, module: ItemId) -> Size:
    """Of the card of a module and its call: inputs and results above the arguments, leaves above the values."""
    asked = [port for port in input_ports(graph, call) if port.path != CALLED and not port.grows]
    given = len(_unfolded(asked))
    every, outputs = _ports(graph, module), output_ports(graph, call)
    ports = _unfolded(every)
    more = MORE_ROW if len(ports) < len(every) or given < len(asked) else 0.0
    values = sum(VALUES.get(output.family, OTHER_VALUES) for output in outputs[:MOST_RESULTS])
    rows = max(given, len(outputs)) + len(ports)
    width = min(_width(graph, module, every) + SWITCH, WIDEST)
    leaves = VALUES[Family.MODULE] if group_of(graph, module) else LEAVES
    return width, HEADER + ROW * rows + more + FOOT + leaves + values


def note_size(graph: Graph, item: ItemId) -> Size:
    """Width and height of an item's note, pixels; no size when it has none."""
    text = note_of(graph.nodes.get(item) or graph.blocks[item])
    if not text:
        return 0.0, 0.0
    place = graph.places.get(f"note:{item}")
    width = place.width if place is not None and place.width else NOTE_WIDTH
    columns = max(1, int((width - 2 * NOTE_EDGE) / NOTE_CHARACTER))
    lines = sum(len(textwrap.wrap(line, columns)) or 1 for line in text.split("\n"))
    return width, NOTE_LINE * lines + 2 * NOTE_EDGE


def port_offsets(graph: Graph, item: ItemId) -> tuple[dict[str, float], dict[int, float]]:
    """How far below the top of the card each input and each output stands, pixels."""
    ports, outputs = _unfolded(_ports(graph, item)), output_ports(graph, item)
    first = _first_row(outputs, ports)
    inputs = {port.path: HEADER + ROW * (first + k + 0.5) for k, port in enumerate(ports)}
    for wire in graph.wires_to(item):  # of the module that shares its call's card
        inputs.setdefault(wire.port, HEADER + ROW * (len(ports) + 0.5))
    return inputs, {port.index: HEADER + ROW * (k + 0.5) for k, port in enumerate(outputs)}


def _code_height(node: Node) -> float:
    """Of the lines of a code, and of what a node may print and draw."""
    if node.operator == PRINT:
        return PRINT_ROOM
    said = PRINTED * may_print(node) + FIGURE * may_draw(node)
    return CODE_ROW * len(shown_lines(node)) + said


def _is_stored(graph: Graph, item: ItemId) -> bool:
    node = graph.nodes.get(item)
    return node is not None and node.operator == STORED


def _is_code(graph: Graph, item: ItemId) -> bool:
    node = graph.nodes.get(item)
    return node is not None and node.operator == CODE


def _ports(graph: Graph, item: ItemId) -> tuple[Port, ...]:
    """All inputs; a stored tensor has words instead, and code its lines."""
    if _is_stored(graph, item):
        return ()
    ports = input_ports(graph, item)
    return tuple([port for port in ports if port.path != "code"]) if _is_code(graph, item) else ports


def _unfolded(ports: Sequence[Port]) -> list[Port]:
    """The inputs that are not folded away; optional ones stand last."""
    optional = [port for port in ports if _is_optional(port)]
    if len(optional) < 2:
        return list(ports)
    first = [port for port in ports if not _is_optional(port)]
    return first + [port for port in optional if port.state in ("wired", "literal")]


def _is_optional(port: Port) -> bool:
    return not port.required and port.element is None and port.parameter.name not in NEVER_FOLDED


def _first_row(outputs: Sequence[OutputPort], ports: list[Port]) -> int:
    """Rows above the first input: outputs stand beside inputs of tensors, else above."""
    count = len(outputs)
    beside = (port.parameter.kind in ONLY_WIRED or port.parameter.kind in BESIDE_OUTPUTS for port in ports[:count])
    return 0 if all(beside) else count


def _width(graph: Graph, item: ItemId, ports: Sequence[Port]) -> float:
    if _is_code(graph, item):
        return WIDEST
    operator = operator_of(graph, item)
    title = operator.title if operator is not None else ""
    if operator is not None and operator.key == FREE_PATH:
        title = title_with_target(graph, item, operator)
    literal = [port for port in ports if port.parameter.kind not in ONLY_WIRED]
    label = max((len(port.label) for port in literal), default=0)
    kinds = {port.parameter.kind for port in literal}
    if Kind.DATA in kinds:
        field = DATA_FIELD
    elif kinds & WIDE_KINDS:
        field = WIDE_FIELD
    else:
        field = FIELD
    body = min(label * CHARACTER, LABEL_ROOM) + 8 + field + 24 if literal else 0.0
    return min(max(NAME_ROOM + len(title) * CHARACTER, body, NARROWEST), WIDEST)
