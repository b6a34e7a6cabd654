"""How large a card is, as far as can be known without a canvas: the canvas passes true sizes instead."""

import textwrap

from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.ports import Port, input_ports, operator_of, output_ports
from gradstudio.operators.model import Kind

Size = tuple[float, float]

NARROWEST = 196.0
WIDEST = 300.0
CHARACTER = 7.0
HEADER = 36.0
ROW = 22.0
FOOT = 24.0
VALUES = 90.0
NOTE_WIDTH = 232.0
NOTE_LINE = 17.0
NOTE_EDGE = 9.0
NOTE_CHARACTER = 6.6
BLOCK_SIDE = 30.0
BLOCK_TOP = 50.0
BLOCK_BOTTOM = 26.0
EMPTY_BLOCK: Size = (240.0, 110.0)
ONLY_WIRED = frozenset({Kind.TENSOR, Kind.TENSORS, Kind.MODULE, Kind.MODULES, Kind.OPTIMIZER, Kind.ARRAY, Kind.OBJECT})
NEVER_FOLDED = frozenset({"requires_grad", "dim", "lr"})


def card_size(graph: Graph, item: ItemId) -> Size:
    """Width and height of a node's card with room for its values, pixels."""
    ports = _shown(graph, item)
    rows = max(_first_row(graph, item, ports) + len(ports), len(output_ports(graph, item)), 1)
    return _width(graph, item, ports), HEADER + ROW * rows + FOOT + VALUES


def note_size(graph: Graph, item: ItemId) -> Size:
    """Width and height of an item's note, pixels; no size when it has none."""
    text = (graph.nodes.get(item) or graph.blocks[item]).note
    if not text:
        return 0.0, 0.0
    place = graph.places.get(f"note:{item}")
    width = place.width if place is not None and place.width else NOTE_WIDTH
    columns = max(1, int((width - 2 * NOTE_EDGE) / NOTE_CHARACTER))
    lines = sum(len(textwrap.wrap(line, columns)) or 1 for line in text.split("\n"))
    return width, NOTE_LINE * lines + 2 * NOTE_EDGE


def port_offsets(graph: Graph, item: ItemId) -> tuple[dict[str, float], dict[int, float]]:
    """How far below the top of the card each input and each output stands, pixels."""
    ports = _shown(graph, item)
    first = _first_row(graph, item, ports)
    inputs = {port.path: HEADER + ROW * (first + k + 0.5) for k, port in enumerate(ports)}
    outputs = {port.index: HEADER + ROW * (k + 0.5) for k, port in enumerate(output_ports(graph, item))}
    return inputs, outputs


def _shown(graph: Graph, item: ItemId) -> list[Port]:
    """The inputs that are not folded away."""
    ports = input_ports(graph, item)
    folded = {port.path for port in ports if _foldable(port)}
    return [port for port in ports if len(folded) < 2 or port.path not in folded]


def _foldable(port: Port) -> bool:
    touched = port.required or port.state in ("wired", "literal") or port.element is not None
    return not touched and port.parameter.name not in NEVER_FOLDED


def _first_row(graph: Graph, item: ItemId, ports: list[Port]) -> int:
    """Rows above the first input: outputs stand beside inputs that have no field, else above."""
    count = len(output_ports(graph, item))
    return count if any(_has_field(port) for port in ports[:count]) else 0


def _has_field(port: Port) -> bool:
    return port.state != "wired" and port.parameter.kind not in ONLY_WIRED


def _width(graph: Graph, item: ItemId, ports: list[Port]) -> float:
    operator, node = operator_of(graph, item), graph.nodes.get(item)
    title = operator.title if operator is not None else ""
    head = len(", ".join(node.names) + title if node is not None else title) * CHARACTER + 66
    label = max((len(port.label) for port in ports if _has_field(port)), default=0)
    field = max((len(port.literal) for port in ports if _has_field(port)), default=0)
    body = label * CHARACTER + min(max(field * CHARACTER + 16, 64.0), 150.0) + 32
    return min(max(head, body, NARROWEST), WIDEST)
