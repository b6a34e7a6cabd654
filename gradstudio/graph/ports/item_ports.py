"""Ports: which inputs and outputs an item has, as the catalogue and its own literals say."""

from typing import Literal as OneOf

import msgspec

from gradstudio.graph.boundary_cards import INPUTS_KEY, MORE, MORE_PARAMETER, OUTPUTS_KEY
from gradstudio.graph.model import (
    DEFINITION_INPUTS,
    DEFINITION_OUTPUTS,
    DOCUMENT_DEVICE,
    Block,
    Graph,
    ItemId,
    Node,
    Wire,
)
from gradstudio.graph.operator_rows import row_of
from gradstudio.graph.ports.arguments import BLOCK_PARAMETERS, SLICE_PARTS, find_operator, slice_parts
from gradstudio.graph.ports.module_calls import maker_of, taker_of
from gradstudio.graph.text.code_records import FREE, FREE_CALL, FREE_METHOD, READ, names_wanted
from gradstudio.operators.calls.call_signature import INPUTS, MODULE, forward_parameters, input_parameter
from gradstudio.operators.families import call_results, element_parameter, is_list_like, result_families
from gradstudio.operators.model import Face, Family, Kind, Operator, Parameter

PortState = OneOf["wired", "literal", "document_device", "empty"]
GROWING = frozenset({Kind.TENSORS, Kind.VALUES, Kind.MODULES})
"""List-like arguments that offer one port more than they have elements."""


_CALLED_CODE = {FREE_CALL: "function", FREE_METHOD: "object"}
"""What a call of code calls, or calls something of."""
_RANGE = Parameter("range", Kind.SHAPE, hint="stop, or start, stop, step")
_RANGE_WORDS = {1: ("turns",), 2: ("start", "stop"), 3: ("start", "stop", "step")}
"""What stands beside the ports of a `for`, by how many there are: ``range(200)`` is 200 turns."""
_BOUNDS = {
    "start": Parameter("start", Kind.INT, default="None", nullable=True, hint="from this position on"),
    "stop": Parameter("stop", Kind.INT, default="None", nullable=True, hint="up to before this position"),
    "step": Parameter("step", Kind.INT, default="None", nullable=True, hint="every so many positions"),
}
_OVER = Parameter("over", Kind.ANY, hint="a list, a tuple or an iterator")


class Port(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """An input port of an item as it stands now.

    Attributes:
        path: "size", or "size.0" for one element of a list-like argument.
        label: what stands beside it.
        parameter: what it takes; of one element when `element` is not None.
        element: number of the element within its list-like argument.
        literal: Python text of an unwired port; "" when empty.
        required: the node cannot run while this is empty.
        grows: not there yet: a wire into it makes the list one element longer.
    """

    path: str
    label: str
    parameter: Parameter
    state: PortState = "empty"
    literal: str = ""
    element: int | None = None
    required: bool = False
    grows: bool = False


class OutputPort(msgspec.Struct, frozen=True, gc=False):
    """An output port: its number, the name it binds ("" when none) and what flows from it."""

    index: int
    name: str
    family: Family


def operator_of(graph: Graph, item: ItemId) -> Operator | None:
    """The row of a node, also of one that calls a group; None for blocks and unknown operators."""
    node = graph.nodes.get(item)
    return find_operator(graph, node) if node is not None else None


def input_ports(graph: Graph, item: ItemId) -> tuple[Port, ...]:
    """The input ports of a node or block, in the order of its arguments."""
    return tuple(_ports(graph, item))


def find_port(graph: Graph, item: ItemId, path: str) -> Port | None:
    """The input port of that path, or None."""
    return next((port for port in _ports(graph, item) if port.path == path), None)


def output_ports(graph: Graph, item: ItemId) -> tuple[OutputPort, ...]:
    """The output ports of a node or block, in the order of its results."""
    if (block := graph.blocks.get(item)) is not None:
        return _block_outputs(graph, block)
    if item == DEFINITION_INPUTS and graph.edges is not None:
        return tuple(OutputPort(k, name, Family.UNKNOWN) for k, name in enumerate(graph.edges.inputs))
    node = graph.nodes[item]
    operator = row_of(graph, node)
    if operator is None:
        return _unknown_outputs(graph, node)
    if operator.face is Face.CALL and operator.key not in FREE:
        families = _call_families(graph, node)
    else:
        families = result_families(operator, node.names, node.literals)
    names = node.names
    ports = tuple([OutputPort(k, names[k] if k < len(names) else "", family) for k, family in enumerate(families)])
    return (*ports, OutputPort(len(ports), MORE, Family.UNKNOWN)) if operator.key == INPUTS_KEY else ports


def _call_families(graph: Graph, node: Node) -> tuple[Family, ...]:
    """What a call gives, as its module's constructor says; one name for several results holds a tuple."""
    results = call_results(maker_of(graph, node))
    if len(results) > 1 and len(node.names) == 1:
        return (Family.TUPLE,)
    known = tuple(result.family for result in results)
    return known + (Family.UNKNOWN,) * (len(node.names) - len(known))


def target_port(operator: Operator) -> str:
    """The parameter of what an operator writes into, or sets an attribute or element of."""
    return operator.writes[0] if operator.writes else operator.parameters[0].name


def written_wire(graph: Graph, item: ItemId) -> Wire | None:
    """The wire of what a node without outputs writes into; None where it writes into nothing that is wired."""
    node = graph.nodes.get(item)
    operator = row_of(graph, node) if node is not None else None
    if operator is None or not (operator.writes or operator.face is Face.SET_ATTRIBUTE):
        return None
    return graph.wires.get((item, target_port(operator)))


def output_family(graph: Graph, item: ItemId, output: int) -> Family:
    """What flows from an output; unknown when the item or the output is."""
    if item not in graph and item != DEFINITION_INPUTS:
        return Family.UNKNOWN
    ports = output_ports(graph, item)
    return ports[output].family if output < len(ports) else Family.UNKNOWN


def _ports(graph: Graph, item: ItemId) -> list[Port]:
    if (block := graph.blocks.get(item)) is not None:
        parameters = _block_parameters(graph, block)
        owner: Node | Block = block
    elif item == DEFINITION_OUTPUTS and graph.edges is not None:
        return _returned(graph, graph.edges.outputs)
    else:
        owner = graph.nodes[item]
        operator = operator_of(graph, item)
        if operator is None:
            return _unknown_inputs(graph, owner)
        if operator.face is Face.CALL:
            return _call_ports(graph, owner, operator)
        if operator.face is Face.CODE:
            return _code_ports(graph, owner, operator)
        parameters = operator.parameters
    ports = list[Port]()
    for parameter in parameters:
        _add_parameter_ports(ports, graph, owner, parameter)
    if isinstance(owner, Node) and owner.operator.startswith(OUTPUTS_KEY):
        ports.append(Port(MORE, MORE, MORE_PARAMETER, grows=True))
    return ports


def _returned(graph: Graph, names: tuple[str, ...]) -> list[Port]:
    """What the inside of a definition gives back: a port for each of its outputs."""
    ports = list[Port]()
    for k, name in enumerate(names):
        state: PortState = "wired" if (DEFINITION_OUTPUTS, str(k)) in graph.wires else "empty"
        ports.append(Port(str(k), name, Parameter(name, Kind.ANY), state, required=True))
    return ports


def _call_ports(graph: Graph, call: Node, row: Operator) -> list[Port]:
    """The ports of a call; where its module is known, its inputs are called as `forward` calls them."""
    maker, ports = taker_of(graph, call), list[Port]()
    for parameter in row.parameters:
        if parameter.name != INPUTS or not forward_parameters(maker):
            _add_parameter_ports(ports, graph, call, parameter)
            if parameter.name == MODULE and call.operator in _CALLED_CODE:
                ports[-1] = msgspec.structs.replace(ports[-1], label=_CALLED_CODE[call.operator])
            continue
        by_position = list[Port]()
        _add_parameter_ports(by_position, graph, call, parameter)
        for port in by_position:
            if not port.grows:
                ports.append(_as_forward_calls_it(port, maker))
    return ports


def _as_forward_calls_it(port: Port, maker: Operator | None) -> Port:
    known = input_parameter(maker, port.element) if port.element is not None else None
    if known is None:
        return port
    given = msgspec.structs.replace(known, default=None)  # what stands by position cannot be left out
    return msgspec.structs.replace(port, label=known.name, parameter=given, element=None, required=True)


def _code_ports(graph: Graph, node: Node, row: Operator) -> list[Port]:
    """The code itself, and a port for each name that it reads and that the program may bind."""
    ports = [_port(graph, node, row.parameters[0], row.parameters[0].name, row.parameters[0].name, None)]
    wired = (wire.port.removeprefix(READ) for wire in graph.wires_to(node.id) if wire.port.startswith(READ))
    for name in dict.fromkeys((*names_wanted(node), *wired)):
        parameter = Parameter(name, Kind.ANY, default="None", hint="what its code calls so")
        state: PortState = "wired" if (node.id, READ + name) in graph.wires else "empty"
        ports.append(Port(READ + name, name, parameter, state))
    return ports


def _add_parameter_ports(ports: list[Port], graph: Graph, owner: Node | Block, parameter: Parameter) -> None:
    """Put the ports of a parameter behind those there are: one, or one for each element of a list."""
    count = owner.lengths.get(parameter.name)
    if count is None and parameter.name == INPUTS and _is_given_nothing(graph, owner):
        count = 0
    if count is None or not is_list_like(parameter):
        ports.append(_port(graph, owner, parameter, parameter.name, parameter.name, None))
        return
    element = element_parameter(parameter)
    for k in range(count):
        path, label = f"{parameter.name}.{k}", f"{parameter.name}[{k}]"
        if parameter is _RANGE and count in _RANGE_WORDS:
            label = _RANGE_WORDS[count][k]
        if parameter.kind is Kind.INDEX and (given := slice_parts(graph, owner, path)):
            ports += _slice_ports(graph, owner, path, label, k, given)
        else:
            ports.append(_port(graph, owner, element, path, label, k))
    if parameter.kind in GROWING:
        ports.append(Port(f"{parameter.name}.{count}", "+", element, element=count, grows=True))


def _is_given_nothing(graph: Graph, owner: Node | Block) -> bool:
    """Whether a call of code, which may be given anything, is given nothing."""
    is_free = isinstance(owner, Node) and owner.operator in FREE
    return is_free and not owner.literals.get(INPUTS) and (owner.id, INPUTS) not in graph.wires


def _slice_ports(
    graph: Graph, owner: Node | Block, path: str, label: str, element: int, given: tuple[str, ...]
) -> list[Port]:
    """A port for each bound of a slice between values: its start and stop, and its step where there is one."""
    ports = list[Port]()
    for part in SLICE_PARTS:
        if part != "step" or f"{path}.step" in given:
            ports.append(_port(graph, owner, _BOUNDS[part], f"{path}.{part}", f"{label} {part}", element))
    return ports


def _port(graph: Graph, owner: Node | Block, parameter: Parameter, path: str, label: str, element: int | None) -> Port:
    literal = owner.literals.get(path, "")
    state: PortState = "literal" if literal else "empty"
    if literal == DOCUMENT_DEVICE and parameter.name == "device":
        state = "document_device"
    if (owner.id, path) in graph.wires:
        state = "wired"
    required = parameter.default is None
    return Port(path, label, parameter, state, literal, element, required)


def counts(graph: Graph, block: Block) -> bool:
    """Whether a `for` goes over a range, so that its variable is a number."""
    return "range" in block.lengths or "range" in block.literals or (block.id, "range") in graph.wires


def _block_parameters(graph: Graph, block: Block) -> tuple[Parameter, ...]:
    match block.kind:
        case "for":
            over: tuple[Parameter, ...] = (_RANGE, _OVER)
            if block.endless:
                over = ()
            elif counts(graph, block):
                over = (_RANGE,)
            elif block.literals.get("over") or (block.id, "over") in graph.wires:
                over = (_OVER,)
            firsts = tuple(Parameter(f"first.{name}", Kind.ANY, hint="before the loop") for name in block.carried)
            nexts = tuple(Parameter(f"next.{name}", Kind.ANY, hint="at the end of a turn") for name in block.carried)
            return (*over, *firsts, *nexts)
        case _:
            return BLOCK_PARAMETERS.get(block.kind, ())


def _block_outputs(graph: Graph, block: Block) -> tuple[OutputPort, ...]:
    if block.kind != "for":
        return ()
    family = Family.NUMBER if counts(graph, block) else Family.UNKNOWN
    carried = (OutputPort(k + 1, name, Family.UNKNOWN) for k, name in enumerate(block.carried))
    return (OutputPort(0, block.variable, family), *carried)


def shown_outputs(graph: Graph, item: ItemId) -> tuple[OutputPort, ...]:
    """What an item gives that can be wired: an endless loop has no variable."""
    ports = output_ports(graph, item)
    return ports[1:] if has_no_variable(graph, item) else ports


def has_no_variable(graph: Graph, item: ItemId) -> bool:
    """Whether an item is an endless loop, whose first result is nothing."""
    block = graph.blocks.get(item)
    return block is not None and block.endless


def _unknown_inputs(graph: Graph, node: Node) -> list[Port]:
    paths = dict.fromkeys((*node.literals, *(wire.port for wire in graph.wires_to(node.id))))
    return [_port(graph, node, Parameter(path, Kind.ANY, default="None"), path, path, None) for path in paths]


def _unknown_outputs(graph: Graph, node: Node) -> tuple[OutputPort, ...]:
    used = max((wire.output + 1 for wire in graph.wires_from(node.id)), default=0)
    count = max(len(node.names), used)
    return tuple(OutputPort(k, node.names[k] if k < len(node.names) else "", Family.UNKNOWN) for k in range(count))
