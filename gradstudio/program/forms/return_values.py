"""Returning: which values `forward` returns: the root, the prediction behind it, and what is read outside."""

from gradstudio.graph.analysis.module_modes import has_parameters
from gradstudio.graph.model import BodyId, ItemId, Node
from gradstudio.graph.ports.module_calls import origin
from gradstudio.operators.model import Family
from gradstudio.program.forms.statement_units import Units, Value


def return_values(
    units: Units, forward: tuple[ItemId, ...], root: Value, body: BodyId
) -> tuple[tuple[Value, ...], frozenset[Value]]:
    """What `forward` returns, the root first, and the named values of it that nobody gets to see."""
    inside = {item for unit in forward for item in units.members(unit)}
    read, outer = _read(units, inside)
    named = _last_named(units, inside)
    unread = _unread(named, read)
    found = {prediction_of(units, forward, root), *_carried_on(units, named, inside)} & {*named.values()}
    others = outer | {value for value in unread | found if _always_runs(units, value, body)}
    ordered = sorted(others - {root}, key=lambda value: (units.position[value[0]], value[1]))
    return (root, *ordered), frozenset(unread - others - {root})


def is_trained(units: Units, value: Value) -> bool:
    """Whether a value is a module, or a tensor that may require grad."""
    operator = units.operator(value[0])
    if operator is not None and operator.results and operator.results[0].family is Family.MODULE:
        return True
    return value in units.may_require_grad


def _read(units: Units, inside: set[ItemId]) -> tuple[set[Value], set[Value]]:
    """The values that anything reads, and those made inside `forward` that are read outside."""
    read: set[Value] = set()
    outer: set[Value] = set()
    for item in units.position:
        if not units.validity.is_live(item):
            continue
        for wire in units.graph.incoming.get(item, ()):
            value = units.validity.binding(wire.source, wire.output)
            read.add(value)
            if value[0] in inside and item not in inside and not wire.port.startswith("first."):
                outer.add(value)
    return read, outer


def _last_named(units: Units, inside: set[ItemId]) -> dict[str, Value]:
    """The values of `forward` that have a name and keep it to its end."""
    last: dict[str, Value] = {}
    for item in sorted(inside, key=units.position.__getitem__):
        node = units.graph.nodes.get(item)
        for k, name in enumerate(node.names if node is not None else ()):
            if name != "_":
                last[name] = item, k
    return last


def _unread(named: dict[str, Value], read: set[Value]) -> set[Value]:
    """Those of them that nothing reads."""
    return {value for value in named.values() if value not in read}


def _carried_on(units: Units, named: dict[str, Value], inside: set[ItemId]) -> set[Value]:
    """Those whose name is also that of something outside, whose place they take: the state of a recurrence."""
    outside = {name for item in units.position if item not in inside for name in _names(units, item)}
    return {value for name, value in named.items() if name in outside}


def _names(units: Units, item: ItemId) -> tuple[str, ...]:
    node = units.graph.nodes.get(item)
    return node.names if node is not None and units.validity.is_live(item) else ()


def prediction_of(units: Units, forward: tuple[ItemId, ...], root: Value) -> Value:
    """The one value that all computing with parameters comes to, from which the rest makes the loss; else the root."""
    waiting = [root]
    found = set[Value]()
    seen = set[Value]()
    while waiting:
        value = waiting.pop()
        unit = units.unit(value[0], units.scope(forward[-1]))
        if unit not in forward or value in seen:
            continue
        seen.add(value)
        sources = [one for one in units.reads(unit) if one[0] in units.repeated and is_trained(units, one)]
        if _uses_parameters(units, unit) or unit not in units.graph.nodes:
            found.add(value)
        else:
            waiting.extend(sources)
    return found.pop() if len(found) == 1 else root


def _uses_parameters(units: Units, unit: ItemId) -> bool:
    """Whether a unit computes with parameters, or calls a module that may have some."""
    for value in units.reads(unit):
        if not is_trained(units, value) or value[0] in units.repeated:
            continue
        maker = _maker(units, value)
        if maker is None or has_parameters(units.graph, maker.id):
            return True
    return False


def _maker(units: Units, value: Value) -> Node | None:
    """The constructor of a module; None for all else."""
    node = units.graph.nodes.get(value[0])
    operator = units.operator(value[0])
    is_module = operator is not None and operator.results[:1] != () and operator.results[0].family is Family.MODULE
    return origin(units.graph, node) if node is not None and is_module else None


def _always_runs(units: Units, value: Value, scope: BodyId) -> bool:
    """Whether a value is there at the end of a scope: in no condition, in no loop but those that carry its name."""
    node = units.graph.nodes[value[0]]
    around = units.scopes(value[0])
    for body in around[: around.index(scope)]:
        block = units.graph.blocks[ItemId(body)]
        if block.kind == "if" or (block.kind == "for" and node.names[value[1]] not in block.carried):
            return False
    return True
