"""Calls of modules: who made what is called, and so what the call takes."""

from gradstudio.graph.card_grouping import CALL
from gradstudio.graph.model import Graph, ItemId, Node
from gradstudio.graph.operator_rows import row_of
from gradstudio.graph.text.code_records import CODE, FREE_METHOD, FREE_PATH, READ
from gradstudio.operators.calls.call_signature import INPUTS, MODULE, called_row, forward_parameters, input_parameter
from gradstudio.operators.model import Operator

SAME_MODULE = {"python.alias": "value"}
SAME_MODULE |= {f"torch.nn.Module.{word}": "self" for word in (
    "train eval requires_grad_ to cpu cuda float double half bfloat16 type share_memory apply".split()
)}  # fmt: skip
"""What gives back the module that it is given, and the port that it comes by."""
FARTHEST = 100


def maker_of(graph: Graph, call: Node) -> Operator | None:
    """The row of what constructs the module that a node calls, seen through second names; None when unknown."""
    wire = graph.wires.get((call.id, MODULE))
    node = graph.nodes.get(wire.source) if wire is not None else None
    node = origin(graph, node) if node is not None else None
    found = row_of(graph, node) if node is not None else None
    return found if found is not None and found.constructs else None


def before_loops(graph: Graph, source: ItemId, output: int) -> tuple[ItemId, int]:
    """The result that another comes from, seen through loops that carry it: what they are given for it."""
    for _ in range(FARTHEST):
        loop = graph.blocks.get(source)
        port = f"first.{loop.carried[output - 1]}" if loop is not None and output else "over"
        wire = graph.wires.get((source, port)) if loop is not None else None
        if wire is None:
            break
        source, output = wire.source, wire.output
    return source, output


def taker_of(graph: Graph, call: Node) -> Operator | None:
    """The maker whose `forward` says what a call takes; None also where one value brings all inputs."""
    is_whole = bool(call.literals.get(INPUTS)) or (call.id, INPUTS) in graph.wires
    return None if is_whole else maker_of(graph, call)


def label_at(graph: Graph, item: ItemId, path: str) -> str:
    """A port's path as its card shows it: "query" or "inputs[0]" for "inputs.0"."""
    head, _, number = path.partition(".")
    node = graph.nodes.get(item)
    if head == INPUTS and number.isdigit() and node is not None and node.operator == CALL:
        known = input_parameter(taker_of(graph, node), int(number))
        if known is not None:
            return known.name
    if node is not None and node.operator == CODE:
        return path.removeprefix(READ)
    return port_label(path)


def described_by(graph: Graph, item: ItemId) -> str:
    """The key of the row that describes a node's arguments: of a call, that of what makes its module."""
    node = graph.nodes.get(item)
    if node is None:
        return ""
    maker = taker_of(graph, node) if node.operator == CALL else None
    return maker.key if maker is not None and forward_parameters(maker) else node.operator


def port_label(path: str) -> str:
    """A port's path with its number in brackets: "inputs[0]" for "inputs.0"."""
    head, _, number = path.partition(".")
    return f"{head}[{number}]" if number.isdigit() else path


def origin(graph: Graph, node: Node) -> Node | None:
    """The node that made what a node gives, seen through second names."""
    for _ in range(FARTHEST):
        path = SAME_MODULE.get(node.operator)
        if path is None:
            return node
        wire = graph.wires.get((node.id, path))
        source = graph.nodes.get(wire.source) if wire is not None else None
        if source is None:
            return None
        node = source
    return None


def is_direct(graph: Graph, call: Node) -> bool:
    """Whether a node calls what the node before it constructs itself, so that its row depends on no other."""
    wire = graph.wires.get((call.id, MODULE))
    maker = graph.nodes.get(wire.source) if wire is not None else None
    return call.operator == CALL and maker is not None and maker.operator not in SAME_MODULE


def named_arguments(graph: Graph, call: Node) -> tuple[str, ...]:
    """The names of what a call is given by keyword, in their order where that is told (`**` has it)."""
    ports = {*call.literals, *call.lengths, *(wire.port for wire in graph.wires_to(call.id))}
    own = {MODULE, INPUTS, "name"} if call.operator in (FREE_METHOD, FREE_PATH) else {MODULE, INPUTS}
    names = sorted({port.partition(".")[0] for port in ports} - own)
    if call.positional is None or len(names) < 2:
        return tuple(names)
    order = {name: place for place, name in enumerate(call.positional)}
    return tuple(sorted(names, key=lambda name: order.get(name, len(order))))


def row_of_call(graph: Graph, call: Node, row: Operator) -> Operator:
    """The row of a call with everything that its module takes."""
    return called_row(row, taker_of(graph, call), call.lengths.get(INPUTS, 0), named_arguments(graph, call))
