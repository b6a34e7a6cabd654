"""Rows: what the catalogue, or a definition of the program, says of a node's operator."""

from collections.abc import Iterator
from functools import lru_cache

from gradstudio.graph.boundary_cards import card_operator
from gradstudio.graph.graph_index import index_of
from gradstudio.graph.memo_table import MemoTable
from gradstudio.graph.model import Definition, Graph, ItemId, Node
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Effect, Face, Family, Kind, Operator, Parameter, Result

GROUP = "group:"
"""How the key of an operator begins that a definition of the program stands for."""
AUTOGRAD = "autograd."
"""How the key of an operator begins that is a node of autograd's graph: it is looked at, and no statement."""
NEXT = "next"
"""Under this word such a node says how many functions follow in its backward: ports ``next_0``, ``next_1``."""
LEAF, CONSTANT = f"{AUTOGRAD}AccumulateGrad", f"{AUTOGRAD}constant"
_SUMMARIES = {
    LEAF: "A leaf: what comes back to it is added to its .grad.",
    CONSTANT: "What a function keeps for its backward, and no gradient goes to.",
}
CATEGORY = "Groups"
_FARTHEST = 50
_rows: MemoTable[tuple[tuple[tuple[str, Definition | None], ...], Operator]] = MemoTable()
"""A memo of `_made`, with the definitions that each is made of."""


def row_of(graph: Graph, node: Node) -> Operator | None:
    """The row of a node; None when its operator is unknown."""
    return row_of_key(graph, node.operator) or card_operator(node) or _autograd_row_of(node)


def row_of_key(graph: Graph, key: str) -> Operator | None:
    """The row of an operator: of the catalogue, or of a definition; None when it is unknown."""
    if not key.startswith(GROUP):
        return load().get(key)
    definition = graph.definitions.get(key.removeprefix(GROUP))
    return _definition_row(graph, definition) if definition is not None else None


def holds_autograd(graph: Graph) -> bool:
    """Whether a graph is one of autograd's nodes alone, and so no program."""
    return bool(graph.nodes) and not graph.blocks and all(is_of_autograd(graph, item) for item in graph.nodes)


def is_of_autograd(graph: Graph, item: ItemId) -> bool:
    """Whether it is a node of autograd's graph, which is no statement of the program."""
    node = graph.nodes.get(item)
    return node is not None and node.operator.startswith(AUTOGRAD)


def _autograd_row_of(node: Node) -> Operator | None:
    if not node.operator.startswith(AUTOGRAD):
        return None
    return _autograd_row(node.operator, node.lengths.get(NEXT, 0), len(node.names))


@lru_cache(maxsize=1024)
def _autograd_row(key: str, inputs: int, outputs: int) -> Operator:
    return Operator(
        key=key,
        title=key.removeprefix(AUTOGRAD),
        face=Face.FUNCTION,
        category="Autograd",
        summary=_SUMMARIES.get(key, "A function of autograd's graph: what was made by its forward."),
        target=key.removeprefix(AUTOGRAD),
        parameters=tuple(Parameter(f"{NEXT}_{place}", Kind.TENSOR) for place in range(inputs)),
        results=tuple(Result(str(place)) for place in range(outputs)),
    )


def _definition_row(graph: Graph, definition: Definition) -> Operator:
    known = _rows.get(definition)
    if known is None or any(graph.definitions.get(name) is not one for name, one in known[0]):
        inner = dict(_called(graph, definition, _FARTHEST))
        known = _rows[definition] = (tuple(inner.items()), _made(definition, inner))
    return known[1]


def _called(graph: Graph, definition: Definition, depth: int) -> Iterator[tuple[str, Definition | None]]:
    """The definitions that one calls, straight or by way of others."""
    for name in dict.fromkeys(called_in(definition.graph)):
        inner = graph.definitions.get(name)
        yield name, inner
        if inner is not None and inner is not definition and depth:
            yield from _called(graph, inner, depth - 1)


def called_in(graph: Graph) -> Iterator[str]:
    """The names of the definitions that nodes of a graph call or construct, in program order."""
    by_operator = index_of(graph).by_operator
    calls = {item: key for key in by_operator if key.startswith(GROUP) for item in by_operator[key]}
    for item in graph.order() if calls else ():
        if item in calls:
            yield calls[item].removeprefix(GROUP)


def _made(definition: Definition, inner: dict[str, Definition | None]) -> Operator:
    parameters = {name: _parameter(definition, name) for name in definition.inputs}
    results = tuple(Result(name, Family.UNKNOWN) for name in definition.outputs)
    own = [definition.graph, *(one.graph for one in inner.values() if one is not None)]
    effects = tuple(dict.fromkeys(effect for graph in own for effect in _effects(graph)))
    row = Operator(
        key=GROUP + definition.name,
        title=definition.name,
        face=Face.GROUP,
        category=CATEGORY,
        summary="",
        parameters=tuple(parameters.values()),
        results=results,
        effects=effects,
    )
    if not definition.is_module:
        return row
    return Operator(
        key=row.key,
        title=row.title,
        face=Face.GROUP,
        category=CATEGORY,
        summary="",
        parameters=tuple(parameters[name] for name in definition.settings if name in parameters),
        results=(Result(instance_name(definition.name), Family.MODULE),),
        effects=(Effect.RANDOM,) if Effect.RANDOM in effects else (),
        calls=results,
        takes=tuple(parameters[name] for name in definition.taken),
    )


def _parameter(definition: Definition, name: str) -> Parameter:
    return Parameter(name, Kind.ANY, default=definition.defaults.get(name))


def instance_name(name: str) -> str:
    """What an object of a class is called: ``net`` of ``Net``, ``two_layers`` of ``TwoLayers``."""
    word = "".join(f"_{c.lower()}" if c.isupper() and k and not name[k - 1].isupper() else c.lower()
                   for k, c in enumerate(name))  # fmt: skip
    return word.strip("_") if word.strip("_") != name else f"{name}_1"


def class_name(name: str) -> str:
    """A name as classes have it: ``TwoLayers`` of ``two_layers``."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_")) or name


def _effects(graph: Graph) -> Iterator[Effect]:
    for node in graph.nodes.values():
        operator = load().get(node.operator)
        yield from operator.effects if operator is not None else ()
