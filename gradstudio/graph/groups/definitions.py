"""Definitions of groups: whether one can be called, its inside as a graph, and which part of it is set-up."""

from collections.abc import Iterable, Iterator, Mapping

from gradstudio.graph.card_grouping import CALL, CALLED
from gradstudio.graph.graph_index import graphs_of, index_of
from gradstudio.graph.memo_table import MemoTable
from gradstudio.graph.model import (
    DEFINITION_INPUTS,
    DEFINITION_OUTPUTS,
    ROOT,
    BodyId,
    Definition,
    Edges,
    Graph,
    Header,
    ItemId,
    Node,
    StoredTensor,
)
from gradstudio.graph.names import fresh_name
from gradstudio.graph.operator_rows import GROUP, called_in, row_of
from gradstudio.graph.text import name_bindings
from gradstudio.graph.text.code_records import CODE, is_members
from gradstudio.graph.text.record_checks import names_reason
from gradstudio.graph.text.statements import SELF
from gradstudio.operators.families import default_names
from gradstudio.operators.model import Effect, Family

PARAMETER_KEYS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
"""What makes a leaf by itself."""
INIT_PREFIX = "torch.nn.init."
_Around = tuple[dict[str, Definition], Header, dict[str, StoredTensor]]
_insides: MemoTable[tuple[_Around, Graph]] = MemoTable()


def definition_graph(graph: Graph, name: str) -> Graph:
    """The inside of a definition as a graph that knows its edges and the program's definitions; do not edit it.

    The same graph comes back until the definition, or what it may call, is another one; so analysis is kept.
    """
    definition = graph.definitions[name]
    around: _Around = dict(graph.definitions), graph.header, dict(graph.tensors)
    known = _insides.get(definition)
    if known is not None and known[0] == around:
        return known[1]
    inner = definition.graph.copy()
    inner.definitions = dict(graph.definitions)
    inner.header = graph.header
    inner.tensors = dict(graph.tensors)
    inner.edges = Edges(definition.inputs, definition.outputs, attributes_of(definition))
    _insides[definition] = around, inner
    return inner


def bare_definition(inner: Graph) -> Graph:
    """What a definition holds of the graph that its inside is edited as."""
    plain = inner.copy()
    plain.definitions = {}
    plain.tensors = {}
    plain.header = Header()
    plain.edges = None
    return plain


def group_holding(graph: Graph, item: ItemId) -> str:
    """The name of the group that an item is inside of; "" when it is in the program, or nowhere."""
    if item in graph:
        return ""
    return next((name for name, definition in graph.definitions.items() if item in definition.graph), "")


def all_ids(graph: Graph) -> set[ItemId]:
    """The ids of all items of a document, those inside definitions included."""
    return {item for one in graphs_of(graph) for item in (*one.nodes, *one.blocks)}


def callers(graph: Graph, name: str) -> Iterator[str | None]:
    """Who calls or constructs a definition: names of others, and None for the program itself."""
    if name in called_in(graph):
        yield None
    for other, definition in graph.definitions.items():
        if name in called_in(definition.graph):
            yield other


def call_order(graph: Graph) -> tuple[str, ...]:
    """The definitions that can be called, each behind those that it calls itself."""
    found: dict[str, None] = {}

    def visit(names: Iterable[str]) -> None:
        for name in names:
            if name not in found and name in graph.definitions and definition_reason(graph, GROUP + name) is None:
                visit(called_in(graph.definitions[name].graph))
                found[name] = None

    visit((*called_in(graph), *sorted(graph.definitions)))
    return tuple(found)


def uncalled(graph: Graph) -> tuple[str, ...]:
    """The definitions that nothing drawn calls, as the text has them: code may call them, or what imports the file."""
    inside = {name for one in graph.definitions.values() for name in called_in(one.graph)}
    called = inside.union(called_in(graph)) if graph.definitions else inside
    return tuple(name for name in graph.definitions if name not in called)


def definition_reason(graph: Graph, operator_key: str) -> str | None:
    """Why a definition cannot be called; None when it can."""
    name = operator_key.removeprefix(GROUP)
    definition = graph.definitions.get(name)
    if definition is None:
        return f"there is no group '{name[:60]}'"
    if calls_transitively(graph, [name], name):
        return "the group calls itself"
    if definition.name != name or name == "_":
        return "the group has another name"
    if not graph.definitions.keys().isdisjoint(definition.inputs):
        return "one of its inputs has the name of a group"
    if len(set(definition.inputs)) < len(definition.inputs):
        return "two of its inputs have the same name"
    if definition.is_module and "self" in definition.inputs:
        return "one of its inputs is called 'self', as the module itself is in its code"
    if late := late_input(definition.inputs, definition.defaults, definition.settings):
        return f"its input '{late}' has no default and stands behind one that has"
    return names_reason((name, *definition.inputs)) or names_reason(definition.outputs)


def late_input(inputs: tuple[str, ...], defaults: Iterable[str], settings: tuple[str, ...]) -> str:
    """The first input without a default behind one that has one, where Python takes none; "": no such input.

    A module's settings are the arguments of its `__init__`, all else those of its `forward`.
    """
    have, ahead = set(defaults), set[bool]()
    for name in inputs:
        if name in have:
            ahead.add(name in settings)
        elif (name in settings) in ahead:
            return name
    return ""


def inputs_in_order(inputs: tuple[str, ...], defaults: Iterable[str], settings: tuple[str, ...]) -> tuple[str, ...]:
    """The inputs as Python takes them: as they are, or else those with a default behind all others."""
    have = set(defaults)
    return tuple(sorted(inputs, key=have.__contains__)) if late_input(inputs, have, settings) else inputs


def calls_transitively(graph: Graph, begin: Iterable[str], goal: str) -> bool:
    """Whether some of the definitions calls the goal, directly or through others."""
    seen: set[str] = set()
    stack = list(begin)
    while stack:
        definition = graph.definitions.get(stack.pop())
        for name in called_in(definition.graph) if definition is not None else ():
            if name == goal:
                return True
            if name not in seen:
                seen.add(name)
                stack.append(name)
    return False


# -------------------------------------------------------------------- __init__ and forward


def setup_of(definition: Definition) -> tuple[ItemId, ...]:
    """The outermost statements of a module's `__init__`: those said to be, as far as no call's input reaches them."""
    if not definition.is_module:
        return ()
    graph, asked = definition.graph, set(definition.setup)
    late = frozenset(k for k, name in enumerate(definition.inputs) if name not in definition.settings)
    found: dict[ItemId, None] = {}
    for item in graph.bodies[ROOT]:
        if item in asked and not any(_is_late(graph, item, source, late, found) for source in _sources(graph, item)):
            found[item] = None
    return tuple(found)


def _is_late(
    graph: Graph, item: ItemId, source: tuple[ItemId, int], late: frozenset[int], found: dict[ItemId, None]
) -> bool:
    """Whether a value comes when the module is called, and not when it is made."""
    if source[0] == DEFINITION_INPUTS:
        return source[1] in late
    top = top_of(graph, source[0])
    return top != item and top not in found


def _sources(graph: Graph, item: ItemId) -> Iterator[tuple[ItemId, int]]:
    members = (item, *graph.order(BodyId(item))) if item in graph.blocks else (item,)
    return ((wire.source, wire.output) for member in members for wire in graph.wires_to(member))


def top_of(graph: Graph, item: ItemId) -> ItemId:
    """The outermost statement that is, or holds, an item."""
    while graph.parents.get(item, ROOT) != ROOT:
        item = ItemId(graph.parents[item])
    return item


def members_of(inner: Graph) -> tuple[ItemId, ...]:
    """Of a module's inside, what stands in its class beside `__init__` and `forward`, as code."""
    if CODE not in index_of(inner).by_operator:
        return ()
    return tuple(item for item in inner.bodies[ROOT] if item in inner.nodes and is_members(inner.nodes[item]))


def attributes_of(definition: Definition) -> frozenset[ItemId]:
    """The nodes of a module's `__init__` that are its attributes: those kept, and those that `forward` reads."""
    graph, setup = definition.graph, set(setup_of(definition))
    read = {
        wire.source
        for wire in graph.wires.values()
        if wire.source in graph.nodes
        and top_of(graph, wire.source) in setup
        and (wire.target == DEFINITION_OUTPUTS or top_of(graph, wire.target) not in setup)
    }
    kept = {item for item in definition.kept if item in graph.nodes and top_of(graph, item) in setup}
    return frozenset(read | kept)


def is_seed(graph: Graph, node: Node) -> bool:
    """Whether a node makes a layer or a leaf, which a module makes once: in its `__init__`."""
    operator = row_of(graph, node)
    if operator is None or node.nested:
        return False
    makes_module = operator.constructs and operator.results[0].family is Family.MODULE
    leaf = operator.key in PARAMETER_KEYS or node.literals.get("requires_grad") == "True"
    return makes_module or (leaf and operator.key != "torch.nn.Module.requires_grad_")


def setup_statements(graph: Graph, known: Iterable[ItemId], late: frozenset[int]) -> tuple[ItemId, ...]:
    """The outermost statements that belong to `__init__`: those known, what makes layers and leaves, what they need.

    Args:
        graph: the inside.
        known: statements that are said to belong to it.
        late: numbers of the inputs that only a call brings.
    """
    tops = graph.bodies[ROOT]
    early: set[ItemId] = set()
    for item in tops:
        sources = list(_sources(graph, item))
        inputs = all(output not in late for source, output in sources if source == DEFINITION_INPUTS)
        if inputs and all(top_of(graph, s) in early | {item} for s, _ in sources if s != DEFINITION_INPUTS):
            early.add(item)
    begin = set(known) | {item for item in tops if item in graph.nodes and is_seed(graph, graph.nodes[item])}
    needed = _needed(graph, begin & early)
    for item in tops:
        if item in early and item not in needed and _prepares(graph, item, needed):
            needed |= _needed(graph, {item})
    return tuple(item for item in tops if item in needed)


def _needed(graph: Graph, items: set[ItemId]) -> set[ItemId]:
    found, waiting = set(items), list(items)
    while waiting:
        item = waiting.pop()
        tops = {top_of(graph, source) for source, _ in _sources(graph, item) if source != DEFINITION_INPUTS}
        waiting.extend(tops - found)
        found |= tops
    return found


def _prepares(graph: Graph, item: ItemId, setup: set[ItemId]) -> bool:
    """Whether a statement initialises, freezes or switches what `__init__` makes."""
    node = graph.nodes.get(item)
    operator = row_of(graph, node) if node is not None else None
    if operator is None:
        return False
    prepares = operator.key.startswith(INIT_PREFIX) or Effect.MODE in operator.effects
    return prepares and any(top_of(graph, source) in setup for source, _ in _sources(graph, item))


def definition_with_body(
    before: Definition, inputs: tuple[str, ...], outputs: tuple[str, ...], inner: Graph, names: Mapping[str, str]
) -> Definition:
    """A definition whose inside is another one; `inner` is the definition's from now on.

    Args:
        names: what the inputs that stay are called now, by their old names.
    """
    settings = tuple(names[name] for name in before.settings if name in names)
    defaults = {names[name]: text for name, text in before.defaults.items() if name in names}
    made = before.but(inputs=inputs, outputs=outputs, graph=inner, settings=settings, defaults=defaults)
    if not before.is_module:
        return _promoted(before, made)
    late = frozenset(k for k, name in enumerate(inputs) if name not in settings)
    setup = setup_statements(inner, [item for item in before.setup if item in inner], late)
    setup_first(inner, setup)
    known = set(before.setup) & set(setup)
    fresh = [item for item in setup if item in inner.nodes and item not in known and inner.nodes[item].names]
    return made.but(setup=setup, kept=(*(item for item in before.kept if item in inner.nodes), *fresh))


def _promoted(before: Definition, made: Definition) -> Definition:
    """A function into which a layer or a leaf was put is a module: its calls are split by `call_updates`."""
    inner = made.graph
    tops = [node for item in inner.bodies[ROOT] if (node := inner.nodes.get(item)) is not None]
    if not any(node.id not in before.graph and is_seed(inner, node) for node in tops):
        return made
    first = set(setup_statements(inner, (), frozenset()))
    needs = {wire.output for wire in inner.wires_from(DEFINITION_INPUTS) if top_of(inner, wire.target) in first}
    settings = tuple(made.inputs[k] for k in sorted(needs))
    setup = setup_statements(inner, (), frozenset(range(len(made.inputs))) - needs)
    setup_first(inner, setup)
    kept = tuple(item for item in setup if item in inner.nodes and inner.nodes[item].names)
    return made.but(is_module=True, settings=settings, setup=setup, kept=kept)


def setup_first(graph: Graph, setup: Iterable[ItemId]) -> None:
    """Put the statements of `__init__` in front, in a graph that nobody else has yet."""
    first = dict.fromkeys(setup)
    rest = tuple(item for item in graph.bodies[ROOT] if item not in first)
    graph.bodies[ROOT] = (*(item for item in graph.bodies[ROOT] if item in first), *rest)
    graph.revision += 1


def result_words(graph: Graph, returned: Iterable[tuple[ItemId, int]]) -> tuple[str, ...]:
    """What the outputs of a definition are called after what they give, each by a name of its own."""
    taken = set[str]()
    return tuple([fresh_name(taken, result_word(graph, item, output)) for item, output in returned])


def result_word(graph: Graph, item: ItemId, output: int) -> str:
    """What an output of a definition is called: as what it gives, or else as a result of that is by custom."""
    meant = name_bindings.binding_of(graph, item, output)
    name = name_bindings.name_of(graph, meant).removeprefix(SELF)
    if name and name != "_":
        return name
    node = graph.nodes.get(item)
    operator = row_of(graph, node) if node is not None else None
    names = default_names(operator) if operator is not None else ()
    return names[output] if output < len(names) else "x"


def group_of(graph: Graph, item: ItemId) -> str:
    """The definition that an item calls or constructs; "" when it does neither."""
    node = graph.nodes.get(item)
    if node is None:
        return ""
    if node.operator.startswith(GROUP):
        return node.operator.removeprefix(GROUP)
    wire = graph.wire_into(item, CALLED) if node.operator == CALL else None
    module = graph.nodes.get(wire.source) if wire is not None else None
    if module is None or not module.operator.startswith(GROUP):
        return ""
    name = module.operator.removeprefix(GROUP)
    known = graph.definitions.get(name)
    return name if known is None or known.is_module else ""  # what a function gives is not the function
