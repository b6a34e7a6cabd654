"""Training or evaluating, learning or frozen: what the text says of a module (semantics §10)."""

from collections.abc import Iterator
from typing import Literal as OneOf

from gradstudio.graph.card_grouping import CALLED, EVAL, FREEZE, SELF, TRAIN, card_groups, makes_module
from gradstudio.graph.graph_index import index_of, nodes_of
from gradstudio.graph.model import Graph, ItemId, Wire
from gradstudio.graph.operator_rows import row_of, row_of_key
from gradstudio.operators.model import Kind, Parameter

Mode = OneOf["", "train", "eval"]
_DIFFER = ("dropout", "batchnorm", "instancenorm", "rrelu", "multiheadattention", "transformer")
_COUNTING = ("batchnorm", "instancenorm")
_HELD = frozenset({Kind.MODULE, Kind.MODULES})
_NO_PARAMETERS = _HELD | {
    Kind.TENSOR, Kind.NUMBER, Kind.NUMBERS, Kind.INT, Kind.INTS, Kind.FLOAT, Kind.BOOL, Kind.TEXT, Kind.SHAPE,
    Kind.DTYPE,
}  # fmt: skip
"""What a constructor may be given without getting parameters by it; a single tensor becomes a buffer."""
_RECURRENT = frozenset({"RNN", "LSTM", "GRU"})


def is_training(graph: Graph, module: ItemId) -> bool:
    """Whether a module is in training mode when it is called first, as the text has it."""
    is_on = True
    for item in mode_statements(graph, module):
        node = graph.nodes[item]
        is_on = node.operator == TRAIN and node.literals.get("mode", "True") != "False"
    return is_on


def is_frozen(graph: Graph, module: ItemId) -> bool:
    """Whether the text switches learning off for all parameters of a module, by ``requires_grad_(False)``."""
    found = _statements(graph, module, frozenset({FREEZE}))
    last = found[-1] if found else None
    return last is not None and graph.nodes[last].literals.get("requires_grad") == "False"


def mode_of(graph: Graph, module: ItemId | None) -> tuple[Mode, bool]:
    """The mode of a module that behaves differently in it, or was switched; whether it is frozen."""
    if module is None:
        return "", False
    mode: Mode = ""
    if is_shown(graph, module):
        mode = "train" if is_training(graph, module) else "eval"
    return mode, is_frozen(graph, module)


def mode_statements(graph: Graph, module: ItemId) -> tuple[ItemId, ...]:
    """``train()`` and ``eval()`` of a module, or of what holds it, before its first call; in program order."""
    return _statements(graph, module, frozenset({EVAL, TRAIN}))


def freeze_statements(graph: Graph, module: ItemId) -> tuple[ItemId, ...]:
    """``requires_grad_(…)`` of a module, or of what holds it, before its first call; in program order."""
    return _statements(graph, module, frozenset({FREEZE}))


def holders(graph: Graph, module: ItemId) -> tuple[ItemId, ...]:
    """The constructors that a module is given to, from the inside outwards."""
    found: dict[ItemId, None] = {}
    waiting = [module]
    while waiting:
        for wire in graph.wires_from(waiting.pop()):
            if wire.target not in found and _holds(graph, wire.target):
                found[wire.target] = None
                waiting.append(wire.target)
    return tuple(found)


def children(graph: Graph, module: ItemId) -> tuple[ItemId, ...]:
    """The modules that a container was given, in their order."""
    wires = sorted(graph.wires_to(module), key=lambda wire: _place(wire.port))
    return tuple(wire.source for wire in wires if _is_constructor(graph, wire.source))


def top_level(graph: Graph) -> tuple[ItemId, ...]:
    """The modules that no other one holds, in program order."""
    making = [key for key in index_of(graph).by_operator if makes_module(row_of_key(graph, key))]
    made = [node.id for node in nodes_of(graph, making) if not holders(graph, node.id)]
    return tuple(sorted(made, key=graph.numbers().__getitem__) if made else ())


def depends_on_mode(graph: Graph, module: ItemId) -> bool:
    """Whether a module computes something else in training than in evaluation, itself or by what it holds."""
    node = graph.nodes.get(module)
    if node is None or not _is_constructor(graph, module):
        return False
    word = node.operator.rsplit(".", 1)[-1]
    drops = word in _RECURRENT and node.literals.get("dropout", "0.0") not in ("0", "0.0")
    own = drops or any(part in word.lower() for part in _DIFFER)
    return own or any(depends_on_mode(graph, child) for child in children(graph, module))


def switched_together(graph: Graph) -> tuple[ItemId, ...]:
    """The modules that the document's switch is about: no other holds them, and the mode may matter to them."""
    return tuple(item for item in top_level(graph) if depends_on_mode(graph, item) or _holds_unknown(graph, item))


def has_parameters(graph: Graph, module: ItemId) -> bool:
    """Whether a module may have parameters: torch asks for a device where it makes some, and others are handed in."""
    node = graph.nodes.get(module)
    if node is None or not _is_constructor(graph, module):
        return True
    parameters = {parameter.name: parameter.kind for parameter in _parameters(graph, module)}
    given = [(wire.source, parameters.get(wire.port.partition(".")[0])) for wire in graph.wires_to(module)]
    handed_in = (kind not in _NO_PARAMETERS or (kind in _HELD and has_parameters(graph, one)) for one, kind in given)
    return "device" in parameters or any(handed_in)


def has_buffers(graph: Graph, module: ItemId) -> bool:
    """Whether a module may keep tensors that are not trained: running statistics, or a tensor that was handed in."""
    node = graph.nodes.get(module)
    if node is None or not _is_constructor(graph, module):
        return True
    word = node.operator.rsplit(".", 1)[-1].lower()
    held = set(children(graph, module))
    others = any(wire.source not in held and _may_be_tensor(graph, wire) for wire in graph.wires_to(module))
    return others or any(part in word for part in _COUNTING) or any(has_buffers(graph, child) for child in held)


def _may_be_tensor(graph: Graph, wire: Wire) -> bool:
    name = wire.port.partition(".")[0]
    parameter = next((p for p in _parameters(graph, wire.target) if p.name == name), None)
    return parameter is None or parameter.kind in (_HELD | {Kind.TENSOR, Kind.ANY})


def is_shown(graph: Graph, module: ItemId) -> bool:
    """Whether a module's card tells its mode: it matters, or something says it."""
    said = any(card_groups(graph).switches.get(item) == module for item in mode_statements(graph, module))
    return said or not is_training(graph, module) or depends_on_mode(graph, module)


def _holds_unknown(graph: Graph, module: ItemId) -> bool:
    """Whether a module holds what nobody here sees into: it was given what is no constructor's."""
    holds = {p.name for p in _parameters(graph, module) if p.kind in (Kind.MODULES, Kind.MODULE)}
    given = [wire.source for wire in graph.wires_to(module) if wire.port.partition(".")[0] in holds]
    return any(not _is_constructor(graph, one) or _holds_unknown(graph, one) for one in given)


def _statements(graph: Graph, module: ItemId, keys: frozenset[str]) -> tuple[ItemId, ...]:
    owners = (module, *holders(graph, module))
    found = {
        wire.target
        for owner in owners
        for wire in graph.wires_from(owner)
        if wire.port == SELF and _is_one_of(graph, wire.target, keys)
    }
    if not found:
        return ()
    ordered = []
    calls = {item for owner in owners for item in _called(graph, owner)}
    for item in graph.order():
        if item in calls:
            break
        if item in found:
            ordered.append(item)
    return tuple(ordered)


def _called(graph: Graph, module: ItemId) -> Iterator[ItemId]:
    return (wire.target for wire in graph.wires_from(module) if wire.port == CALLED and wire.target in graph.nodes)


def _is_one_of(graph: Graph, item: ItemId, keys: frozenset[str]) -> bool:
    node = graph.nodes.get(item)
    return node is not None and node.operator in keys and not node.muted


def _holds(graph: Graph, item: ItemId) -> bool:
    """Whether an item is a module that is made of others."""
    node = graph.nodes.get(item)
    operator = row_of(graph, node) if node is not None else None
    return (
        makes_module(operator)
        and operator is not None
        and any(parameter.kind in (Kind.MODULES, Kind.MODULE) for parameter in operator.parameters)
    )


def _parameters(graph: Graph, item: ItemId) -> tuple[Parameter, ...]:
    operator = row_of(graph, graph.nodes[item])
    return operator.parameters if operator is not None else ()


def _is_constructor(graph: Graph, item: ItemId) -> bool:
    node = graph.nodes.get(item)
    return node is not None and makes_module(row_of(graph, node))


def _place(port: str) -> tuple[str, int]:
    name, _, number = port.rpartition(".")
    return (name, int(number)) if number.isdigit() else (port, -1)
