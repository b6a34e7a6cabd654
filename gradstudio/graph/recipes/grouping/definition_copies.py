"""Recipes that copy definitions: a copy of its own for one call, and definitions brought from elsewhere."""

import os
from collections.abc import Iterable, Mapping

import msgspec

from gradstudio.graph.edits import Edit, Edits, ReplaceNode, SetDefinition, SetTensor
from gradstudio.graph.errors import Refused
from gradstudio.graph.groups.definitions import all_ids, call_order, is_seed
from gradstudio.graph.model import BodyId, Definition, Graph, ItemId, Node, Wire
from gradstudio.graph.names import bound_names, check, fresh_name, suggest
from gradstudio.graph.operator_rows import GROUP, class_name
from gradstudio.graph.text.code_records import is_code
from gradstudio.graph.text.drawn_bodies import CALLED, bodies_in, body_name, is_body, with_body_names
from gradstudio.graph.text.item_titles import title


def unique_copy(graph: Graph, node: ItemId) -> Edits:
    """Give a call a copy of its group, so that edits inside change no other call.

    Raises:
        Refused: the node calls no group that there is.
    """
    call = graph.nodes[node]
    definition = graph.definitions.get(call.operator.removeprefix(GROUP))
    if definition is None or not call.operator.startswith(GROUP):
        raise Refused("Select the card of a group to make a copy of it.")
    name = fresh_name({*graph.definitions, *bound_names(graph)}, definition.name)
    copy = with_new_ids(definition, all_ids(graph)).but(name=name)
    return SetDefinition(name, copy), ReplaceNode(msgspec.structs.replace(call, operator=GROUP + name))


def renamed_group(graph: Graph, old: str, name: str) -> Edits:
    """Call a group otherwise, in its definition and at every call.

    Raises:
        Refused: the name is none, or another group has it.
    """
    checked = check(name)
    if checked == old:
        return ()
    if checked in graph.definitions:
        raise Refused(f"There is a group '{checked}' already. Choose another name.")
    if checked in set(bound_names(graph)):
        raise Refused(f"A value of the program is called '{checked}' already. Choose another name.")
    if old not in graph.definitions:
        raise Refused(f"There is no group '{old[:60]}' any more.")
    edits: list[Edit] = [SetDefinition(old, None), SetDefinition(checked, graph.definitions[old].but(name=checked))]
    called = {old: checked}
    for key, definition in graph.definitions.items():
        made = _calling(definition, called)
        if key != old and made.graph.nodes != definition.graph.nodes:
            edits.append(SetDefinition(key, made))
    calls = (node for node in graph.nodes.values() if node.operator == GROUP + old)
    edits += [ReplaceNode(msgspec.structs.replace(node, operator=GROUP + checked)) for node in calls]
    return tuple(edits)


def proposed_name(graph: Graph, items: frozenset[ItemId]) -> str:
    """What a group of these items might be called: as their frame is titled, else after what comes out last."""
    titles = (graph.blocks[one].title for one in items if one in graph.blocks)
    title = next(filter(None, titles), "")
    nodes = [graph.nodes[one] for one in graph.order() if one in items and one in graph.nodes]
    makes = any(is_seed(graph, node) for node in nodes)
    if title:
        base = suggest(title.lower())
    else:
        bound = [name for node in nodes for name in node.names if name != "_"]
        base = f"{'make' if makes else 'compute'}_{bound[-1] if bound else 'values'}"
    return fresh_name({*graph.definitions, *bound_names(graph)}, class_name(base) if makes else base)


def class_words(graph: Graph, items: Iterable[ItemId]) -> str:
    """Why a group of these items becomes a class, and what that means; "" when it becomes a function."""
    seeds = [title(graph, one) for one in sorted(items) if one in graph.nodes and is_seed(graph, graph.nodes[one])]
    if not seeds:
        return ""
    named = f"'{seeds[0]}'" + (f" and {len(seeds) - 1} more" if len(seeds) > 1 else "")
    return (
        f"It becomes a class, a torch.nn.Module with a capital name: {named} "
        f"{'is a leaf or a layer' if len(seeds) == 1 else 'are leaves or layers'}, made once, in its __init__"
    )


def bring(graph: Graph, source: Graph, name: str) -> tuple[Edits, str]:
    """Take a definition, and those it calls, from another document; one with the same content is used again.

    Returns:
        The edits, and what it is called here.

    Raises:
        Refused: the other document has no such definition.
    """
    if name not in source.definitions:
        raise Refused(f"There is no group '{name[:60]}' in that file any more.")
    wanted = _needed(source, name)
    known = dict(graph.definitions)
    taken = set(bound_names(graph))
    called: dict[str, str] = {}
    edits: list[SetDefinition] = []
    ids = all_ids(graph)
    for one in (*filter(is_body, source.definitions), *call_order(source)):
        if one not in wanted:
            continue
        brought = _calling(source.definitions[one], called)
        same = next((key for key, other in known.items() if are_equivalent(other, brought)), None)
        if same is None:
            same = body_name(fresh_name({*map(_path, known), *taken}, _path(one))) if is_body(one) else ""
            same = same or fresh_name({*known, *taken}, one)
            made = with_new_ids(brought, ids).but(name=same)
            ids |= set(made.graph.nodes) | set(made.graph.blocks)
            known[same] = made
            edits.append(SetDefinition(same, made))
        called[one] = same
    tensors = (SetTensor(digest, one) for digest, one in source.tensors.items() if digest not in graph.tensors)
    return (*(tensors if edits else ()), *edits), called[name]


def called_definitions(source: Graph, nodes: Iterable[Node]) -> dict[str, Definition]:
    """The definitions that these nodes call, and those which these call."""
    called = {name for node in nodes for name in _named_by(node)}
    found = {one for name in called if name in source.definitions for one in _needed(source, name)}
    return {name: definition for name, definition in source.definitions.items() if name in found}


def _path(name: str) -> str:
    return name.removesuffix(CALLED)


def are_equivalent(one: Definition, other: Definition) -> bool:
    """Whether two definitions compute the same under the same names, whatever their ids and places are."""
    return _content(one) == _content(other)


def with_new_ids(definition: Definition, taken: set[ItemId]) -> Definition:
    """The same definition with ids that nothing has."""
    ids: dict[ItemId, ItemId] = {}
    for item in definition.graph.order():
        made = item
        while made == item or made in taken:
            made = ItemId(("b" if item in definition.graph.blocks else "n") + os.urandom(4).hex())
        ids[item] = made
    return with_ids(definition, ids)


def _needed(source: Graph, name: str) -> set[str]:
    found = {name}
    waiting = [name]
    while waiting:
        for node in source.definitions[waiting.pop()].graph.nodes.values():
            for called in _named_by(node):
                if called in source.definitions and called not in found:
                    found.add(called)
                    waiting.append(called)
    return found


def _named_by(node: Node) -> tuple[str, ...]:
    """The definitions that a node calls, or whose lines stand in its code."""
    return (node.operator.removeprefix(GROUP),) if node.operator.startswith(GROUP) else bodies_in(node)


def _calling(definition: Definition, called: Mapping[str, str]) -> Definition:
    """The definition with calls of what its groups are called now."""
    inner = definition.graph.copy()
    for item, node in inner.nodes.items():
        name = node.operator.removeprefix(GROUP)
        if node.operator.startswith(GROUP) and called.get(name, name) != name:
            inner.nodes[item] = msgspec.structs.replace(node, operator=GROUP + called[name])
        elif is_code(node):
            inner.nodes[item] = with_body_names(node, called)
    return definition.but(graph=inner)


def with_ids(definition: Definition, ids: Mapping[ItemId, ItemId]) -> Definition:
    """The same definition under other ids."""
    old = definition.graph
    inner = Graph()

    def new(item: str) -> ItemId:
        return ids.get(ItemId(item), ItemId(item))

    inner.header = old.header
    inner.nodes = {new(k): msgspec.structs.replace(node, id=new(k)) for k, node in old.nodes.items()}
    inner.blocks = {new(k): msgspec.structs.replace(block, id=new(k)) for k, block in old.blocks.items()}
    inner.bodies = {BodyId(new(body)): tuple(new(item) for item in items) for body, items in old.bodies.items()}
    inner.parents = {new(item): BodyId(new(body)) for item, body in old.parents.items()}
    inner.tails = {BodyId(new(body)): text for body, text in old.tails.items()}
    inner.places = {_place_key(key, ids): place for key, place in old.places.items()}
    for wire in old.wires.values():
        made = Wire(new(wire.source), wire.output, new(wire.target), wire.port)
        inner.draw(made)
    return definition.but(
        graph=inner,
        setup=tuple(new(item) for item in definition.setup),
        kept=tuple(new(item) for item in definition.kept),
    )


def _place_key(key: str, ids: Mapping[ItemId, ItemId]) -> str:
    note, _, item = key.rpartition(":")
    return f"{note}:{ids.get(ItemId(item), item)}" if note else str(ids.get(ItemId(item), item))


def _content(definition: Definition) -> object:
    """All but ids and places, to be compared."""
    order = {item: ItemId(f"i{k}") for k, item in enumerate(definition.graph.order())}
    plain = with_ids(definition, order)
    graph = plain.graph
    nodes = {key: msgspec.structs.replace(node, covered={}) for key, node in graph.nodes.items()}
    return (
        (plain.inputs, plain.outputs, dict(plain.defaults), plain.is_module, plain.settings, plain.setup, plain.kept),
        (nodes, graph.blocks, graph.bodies, graph.wires, graph.tails),
    )
