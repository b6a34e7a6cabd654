"""Edits: frozen records; applying one changes the graph and returns its inverse."""

from typing import TypeVar, assert_never

import msgspec

from gradstudio.graph.errors import EditError
from gradstudio.graph.model import (
    DEFINITION_INPUTS,
    DEFINITION_OUTPUTS,
    Block,
    BodyId,
    Definition,
    Graph,
    Header,
    ItemId,
    Node,
    Place,
    StoredTensor,
    Wire,
)


class AddNode(msgspec.Struct, frozen=True):
    """Put a node into a body at an index."""

    node: Node
    body: BodyId
    index: int


class RemoveNode(msgspec.Struct, frozen=True):
    """Take out a node that has no wires left."""

    id: ItemId


class ReplaceNode(msgspec.Struct, frozen=True):
    """Give a node other names, literals or marks; its id stays."""

    node: Node


class AddBlock(msgspec.Struct, frozen=True):
    """Put an empty block into a body at an index."""

    block: Block
    body: BodyId
    index: int


class RemoveBlock(msgspec.Struct, frozen=True):
    """Take out a block that is empty and has no wires left."""

    id: ItemId


class ReplaceBlock(msgspec.Struct, frozen=True):
    """Change a block's title, literals or carried names; its id and kind stay."""

    block: Block


class AddWire(msgspec.Struct, frozen=True):
    """Draw a wire into a free input."""

    wire: Wire


class RemoveWire(msgspec.Struct, frozen=True):
    """Take a wire away."""

    wire: Wire


class MoveItem(msgspec.Struct, frozen=True):
    """Move an item to another place in the order; `index` counts after it was taken out."""

    item: ItemId
    body: BodyId
    index: int


class SetPlaces(msgspec.Struct, frozen=True):
    """Put items (or notes, "note:<item>") somewhere on the canvas; None forgets the place."""

    places: dict[str, Place | None]


class SetHeader(msgspec.Struct, frozen=True):
    """Change seed, device or default dtype."""

    header: Header


class SetTail(msgspec.Struct, frozen=True):
    """Set the comment after the last statement of a body; "" removes it."""

    body: BodyId
    text: str


class SetTensor(msgspec.Struct, frozen=True):
    """Keep stored data under its digest; None drops it."""

    digest: str
    tensor: StoredTensor | None


class SetDefinition:
    """Keep a definition under its name; None drops it."""

    def __init__(self, name: str, definition: Definition | None) -> None:
        """Hold the new definition of `name`."""
        self.name, self.definition = name, definition


Edit = (
    AddNode
    | RemoveNode
    | ReplaceNode
    | AddBlock
    | RemoveBlock
    | ReplaceBlock
    | AddWire
    | RemoveWire
    | MoveItem
    | SetPlaces
    | SetHeader
    | SetTail
    | SetTensor
    | SetDefinition
)
Edits = tuple[Edit, ...]
LONGEST_TRAIL = 2000
"""So many edits at least are remembered of a graph: more at once touch so much that all may be looked at anew."""
K = TypeVar("K")
V = TypeVar("V")


def apply(graph: Graph, edit: Edit) -> Edit:
    """Change the graph and return the edit that undoes it.

    Raises:
        EditError: the edit does not fit this graph; the graph is unchanged.
    """
    inverse = _dispatch(graph, edit)
    graph.revision += 1
    graph.trail.append((graph.revision, edit, inverse))
    if len(graph.trail) > 2 * LONGEST_TRAIL:
        del graph.trail[:LONGEST_TRAIL]
    return inverse


def edits_since(graph: Graph, revision: int) -> Edits | None:
    """The edits that made of an earlier revision what the graph is now; None when not all of them are remembered."""
    count = graph.revision - revision
    if not 0 <= count <= len(graph.trail):
        return None
    newest = graph.trail[len(graph.trail) - count :]
    is_whole = not newest or (newest[0][0], newest[-1][0]) == (revision + 1, graph.revision)
    return tuple(edit for _, edit, _ in newest) if is_whole else None


def is_taken_back(graph: Graph, revision: int) -> bool:
    """Whether all edits since an earlier revision were undone one by one: the graph is as it was then."""
    count = graph.revision - revision
    if edits_since(graph, revision) is None or count % 2:
        return False
    done = graph.trail[len(graph.trail) - count : len(graph.trail) - count // 2]
    undone = reversed(graph.trail[len(graph.trail) - count // 2 :])
    return all(one[2] == other[1] for one, other in zip(done, undone, strict=True))


def apply_all(graph: Graph, edits: Edits) -> Edits:
    """Apply edits in order and return those that undo them, in the order to apply.

    Raises:
        EditError: one of them does not fit; those before it were taken back.
    """
    inverses: list[Edit] = []
    try:
        for edit in edits:
            inverses.append(apply(graph, edit))
    except EditError:
        for inverse in reversed(inverses):
            apply(graph, inverse)
        raise
    return tuple(reversed(inverses))


def touched_items(edits: Edits) -> frozenset[ItemId]:
    """The items whose records, wires or places in the order these edits change: their cards may look different."""
    found: set[ItemId] = set()
    for edit in edits:
        for name in ("node", "block"):
            owner = getattr(edit, name, None)
            if owner is not None:
                found.add(owner.id)
        wire = getattr(edit, "wire", None)
        if wire is not None:
            found.update((wire.source, wire.target))
        for name in ("id", "item"):
            item = getattr(edit, name, None)
            if item is not None:
                found.add(item)
    return frozenset(found)


def _dispatch(graph: Graph, edit: Edit) -> Edit:
    match edit:
        case AddNode():
            return _add_node(graph, edit)
        case RemoveNode():
            return _remove_node(graph, edit)
        case ReplaceNode():
            return _replace_node(graph, edit)
        case AddBlock():
            return _add_block(graph, edit)
        case RemoveBlock():
            return _remove_block(graph, edit)
        case ReplaceBlock():
            return _replace_block(graph, edit)
        case AddWire():
            return _add_wire(graph, edit)
        case RemoveWire():
            return _remove_wire(graph, edit)
        case MoveItem():
            return _move_item(graph, edit)
        case SetPlaces() | SetHeader() | SetTail() | SetTensor() | SetDefinition():
            return _set(graph, edit)
        case _:
            assert_never(edit)


def _set(graph: Graph, edit: SetPlaces | SetHeader | SetTail | SetTensor | SetDefinition) -> Edit:
    match edit:
        case SetPlaces(places=places):
            return _set_places(graph, places)
        case SetHeader(header=header):
            graph.header, old = header, graph.header
            return SetHeader(old)
        case SetTail(body=body, text=text):
            return SetTail(body, _swap(graph.tails, body, text or None) or "")
        case SetTensor(digest=digest, tensor=tensor):
            return SetTensor(digest, _swap(graph.tensors, digest, tensor))
        case SetDefinition():
            return SetDefinition(edit.name, _swap(graph.definitions, edit.name, edit.definition))
        case _:
            assert_never(edit)


def _swap(table: dict[K, V], key: K, value: V | None) -> V | None:
    old = table.pop(key, None)
    if value is not None:
        table[key] = value
    return old


def _set_places(graph: Graph, places: dict[str, Place | None]) -> SetPlaces:
    return SetPlaces({key: _swap(graph.places, key, place) for key, place in places.items()})


def _insert(graph: Graph, item: ItemId, body: BodyId, index: int) -> None:
    if body not in graph.bodies:
        raise EditError(f"there is no block '{body}' to put '{item}' into")
    order = graph.bodies[body]
    if not 0 <= index <= len(order):
        raise EditError(f"place {index} is outside of the {len(order)} statements of '{body}'")
    graph.bodies[body] = (*order[:index], item, *order[index:])
    graph.parents[item] = body


def _take_out(graph: Graph, item: ItemId) -> tuple[BodyId, int]:
    body = graph.parents.pop(item)
    order = graph.bodies[body]
    index = order.index(item)
    graph.bodies[body] = (*order[:index], *order[index + 1 :])
    return body, index


def _require(graph: Graph, item: ItemId) -> None:
    if item not in graph:
        raise EditError(f"there is no item '{item}'")


def _require_free(graph: Graph, item: ItemId) -> None:
    if item in graph:
        raise EditError(f"'{item}' is there already")


def _require_unwired(graph: Graph, item: ItemId) -> None:
    if graph.incoming.get(item) or graph.outgoing.get(item):
        raise EditError(f"'{item}' still has wires")


def _add_node(graph: Graph, edit: AddNode) -> RemoveNode:
    _require_free(graph, edit.node.id)
    _insert(graph, edit.node.id, edit.body, edit.index)
    graph.nodes[edit.node.id] = edit.node
    return RemoveNode(edit.node.id)


def _remove_node(graph: Graph, edit: RemoveNode) -> AddNode:
    if edit.id not in graph.nodes:
        raise EditError(f"there is no node '{edit.id}'")
    _require_unwired(graph, edit.id)
    body, index = _take_out(graph, edit.id)
    return AddNode(graph.nodes.pop(edit.id), body, index)


def _replace_node(graph: Graph, edit: ReplaceNode) -> ReplaceNode:
    old = graph.nodes.get(edit.node.id)
    if old is None:
        raise EditError(f"there is no node '{edit.node.id}'")
    graph.nodes[edit.node.id] = edit.node
    return ReplaceNode(old)


def _add_block(graph: Graph, edit: AddBlock) -> RemoveBlock:
    _require_free(graph, edit.block.id)
    _insert(graph, edit.block.id, edit.body, edit.index)
    graph.blocks[edit.block.id] = edit.block
    graph.bodies[BodyId(edit.block.id)] = ()
    return RemoveBlock(edit.block.id)


def _remove_block(graph: Graph, edit: RemoveBlock) -> AddBlock:
    if edit.id not in graph.blocks:
        raise EditError(f"there is no block '{edit.id}'")
    _require_unwired(graph, edit.id)
    if graph.bodies[BodyId(edit.id)]:
        raise EditError(f"the block '{edit.id}' still holds statements")
    if graph.tails.get(BodyId(edit.id)):
        raise EditError(f"the block '{edit.id}' still holds a note")
    body, index = _take_out(graph, edit.id)
    del graph.bodies[BodyId(edit.id)]
    return AddBlock(graph.blocks.pop(edit.id), body, index)


def _replace_block(graph: Graph, edit: ReplaceBlock) -> ReplaceBlock:
    old = graph.blocks.get(edit.block.id)
    if old is None or old.kind != edit.block.kind:
        raise EditError(f"there is no {edit.block.kind} block '{edit.block.id}'")
    graph.blocks[edit.block.id] = edit.block
    return ReplaceBlock(old)


def _add_wire(graph: Graph, edit: AddWire) -> RemoveWire:
    wire = edit.wire
    if wire.source != DEFINITION_INPUTS:
        _require(graph, wire.source)
    if wire.target != DEFINITION_OUTPUTS:
        _require(graph, wire.target)
    if (wire.target, wire.port) in graph.wires:
        raise EditError(f"port '{wire.port}' of '{wire.target}' has a wire already")
    graph.draw(wire)
    return RemoveWire(wire)


def _remove_wire(graph: Graph, edit: RemoveWire) -> AddWire:
    wire = edit.wire
    if graph.wires.get((wire.target, wire.port)) != wire:
        raise EditError(f"there is no such wire into '{wire.port}' of '{wire.target}'")
    graph.erase(wire)
    return AddWire(wire)


def _move_item(graph: Graph, edit: MoveItem) -> MoveItem:
    _require(graph, edit.item)
    if edit.item in graph.blocks and _inside(graph, edit.body, edit.item):
        raise EditError("a block cannot stand inside itself")
    body, index = _take_out(graph, edit.item)
    try:
        _insert(graph, edit.item, edit.body, edit.index)
    except EditError:
        _insert(graph, edit.item, body, index)
        raise
    return MoveItem(edit.item, body, index)


def _inside(graph: Graph, body: BodyId, block: ItemId) -> bool:
    if body not in graph.bodies or not body:
        return False
    return body == BodyId(block) or BodyId(block) in graph.ancestors(ItemId(body))
