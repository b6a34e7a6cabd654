"""Bindings: which statement a name means at each place, and fresh names where a wire says otherwise."""

from collections.abc import Iterator

import msgspec

from gradstudio.graph.edits import Edits, ReplaceNode
from gradstudio.graph.graph_index import index_of
from gradstudio.graph.model import DEFINITION_INPUTS, DEFINITION_OUTPUTS, ROOT, Block, BodyId, Graph, ItemId, Wire
from gradstudio.graph.names import bound_names, fresh_name
from gradstudio.graph.shared_storage import receiver_wire
from gradstudio.graph.text.loop_targets import loop_target, targets
from gradstudio.graph.text.statements import inputs_of, own_names

Binding = tuple[ItemId, int]
MAX_ROUNDS = 50


def binding_of(graph: Graph, item: ItemId, output: int) -> Binding:
    """The binding whose name stands for this output; in place without a name, that of the object written into."""
    while (node := graph.nodes.get(item)) is not None and not node.names:
        wire = receiver_wire(graph, item, output)
        if wire is None:
            break
        item, output = wire.source, wire.output
    return item, output


def name_of(graph: Graph, binding: Binding) -> str:
    """The name of a binding; "" for a part that has none."""
    item, output = binding
    if (block := graph.blocks.get(item)) is not None:
        return (block.variable, *block.carried)[output]
    if item == DEFINITION_INPUTS:
        names = inputs_of(graph)
        return names[output] if output < len(names) else ""
    names = own_names(graph, item) if item in graph.nodes else ()
    return names[output] if output < len(names) else ""


def binding_edits(graph: Graph, keep: frozenset[ItemId] = frozenset()) -> Edits:
    """Renames after which the text reads, at every wire, the binding that the wire says.

    Args:
        graph: a draft; it is not changed.
        keep: items whose names stay if either of two could be renamed.
    """
    if _is_plain(graph):
        return ()
    draft = graph.copy()
    renamed: dict[ItemId, None] = {}
    for binding in [*_like_definitions(graph)]:
        _rename(draft, binding)
        renamed[binding[0]] = None
    for _ in range(MAX_ROUNDS):
        clash = _first_clash(draft)
        if clash is None:
            break
        meant, found = clash
        loser = found if meant[0] in keep and found is not None and found[0] in draft.nodes else meant
        if loser[0] not in draft.nodes and found is not None:
            loser = found
        if loser[0] not in draft.nodes:
            break
        _rename(draft, loser)
        renamed[loser[0]] = None
    return tuple(ReplaceNode(draft.nodes[item]) for item in renamed)


def _is_plain(graph: Graph) -> bool:
    """Whether every name is bound once, before it is read: then no wire can mean another binding."""
    index = index_of(graph)
    if graph.edges is not None or graph.definitions or index.loops or index.shared:
        return False
    return index.is_forward and not any(graph.outgoing.get(item) for item in index.unnamed)


def _like_definitions(graph: Graph) -> Iterator[Binding]:
    """The results that are called as a definition is, which nothing could call behind them."""
    if not graph.definitions:
        return
    for node in graph.nodes.values():
        yield from ((node.id, k) for k, name in enumerate(node.names) if name in graph.definitions)


def _rename(draft: Graph, binding: Binding) -> None:
    item, output = binding
    node = draft.nodes[item]
    name = fresh_name({*bound_names(draft), *draft.definitions}, node.names[output].rstrip("0123456789") or "x")
    names = tuple(name if k == output else old for k, old in enumerate(node.names))
    draft.nodes[item] = msgspec.structs.replace(node, names=names)


Clash = tuple[Binding, Binding | None]


def _first_clash(graph: Graph) -> Clash | None:
    """The first wire, in program order, whose name means another binding there."""
    environment: dict[str, Binding] = {name: (DEFINITION_INPUTS, k) for k, name in enumerate(inputs_of(graph))}
    clash = _walk(graph, ROOT, environment)
    return clash or _read(graph, graph.wires_to(DEFINITION_OUTPUTS), environment, skip_next=False)


def _walk(graph: Graph, body: BodyId, environment: dict[str, Binding]) -> Clash | None:
    nameless = _within_head(graph, body)
    for item in graph.bodies[body]:
        clash = None
        if item not in nameless:
            clash = _read(graph, graph.wires_to(item), environment, skip_next=True)
        if clash is None:
            block = graph.blocks.get(item)
            clash = _walk_block(graph, block, environment) if block is not None else None
        if clash is not None:
            return clash
        if item in graph.nodes:
            for k, name in enumerate(own_names(graph, item)):
                if name != "_":
                    environment[name] = (item, k)
    return None


def _within_head(graph: Graph, body: BodyId) -> frozenset[ItemId]:
    """The statements that are targets within the target of a loop: ``for i, (a, b) in …`` gives no pair a name."""
    block = graph.blocks.get(ItemId(body))
    target = loop_target(graph, block) if block is not None else None
    return frozenset(one.node for one in targets(target) if one is not target) if target is not None else frozenset()


def _walk_block(graph: Graph, block: Block, environment: dict[str, Binding]) -> Clash | None:
    """A loop's body is walked twice, so that its second turn is judged too."""
    for _ in range(2 if block.kind == "for" else 1):
        for k, name in enumerate((block.variable, *block.carried)):
            if name:
                environment[name] = (block.id, k)
        clash = _walk(graph, BodyId(block.id), environment)
        if clash is None:
            nexts = tuple(wire for wire in graph.wires_to(block.id) if wire.port.startswith("next."))
            clash = _read(graph, nexts, environment, skip_next=False)
        if clash is not None:
            return clash
    return None


def _read(graph: Graph, wires: tuple[Wire, ...], environment: dict[str, Binding], skip_next: bool) -> Clash | None:
    for wire in wires:
        if skip_next and wire.port.startswith("next."):
            continue
        meant = binding_of(graph, wire.source, wire.output)
        name = name_of(graph, meant)
        if name and environment.get(name) != meant:
            return meant, environment.get(name)
    return None
