"""Program order: what must stand before what, and the nearest order that respects it (semantics §3)."""

from collections.abc import Iterable

from gradstudio.graph.edits import Edits, MoveItem
from gradstudio.graph.errors import Refused
from gradstudio.graph.graph_index import index_of
from gradstudio.graph.model import BodyId, Graph, ItemId
from gradstudio.graph.operator_rows import GROUP, row_of
from gradstudio.graph.shared_storage import Value, storage_of, written_values
from gradstudio.graph.text.code_records import CODE
from gradstudio.graph.text.item_titles import title
from gradstudio.operators.model import Effect

Needs = dict[ItemId, dict[ItemId, None]]
"""Item -> the items that must stand before it."""

GRADIENT_EFFECTS = frozenset({Effect.BACKWARD, Effect.GRAD, Effect.OPTIMIZER, Effect.IN_PLACE})


def wire_needs(graph: Graph) -> Needs:
    """What must stand before each item because a wire comes from it."""
    before: Needs = {}
    for wire in graph.wires.values():
        if not wire.port.startswith("next.") and wire.source in graph and wire.target in graph:
            before.setdefault(wire.target, {})[wire.source] = None
    return before


def effect_needs(graph: Graph) -> Needs:
    """What each item sees as it is because of the present order.

    Writes into memory it reads, reads before it writes, gradients as earlier backwards left them,
    random numbers behind a seed.
    """
    before: Needs = {}
    _add_effects(graph, before)
    return before


def order_edits(graph: Graph, effects: Needs | None = None) -> Edits:
    """The moves that make every wire go forward, each body with as little change as possible.

    A source is pulled up, with what it needs, to directly before its user.

    Args:
        graph: a draft; it is not changed.
        effects: `effect_needs` of the graph as it was before the gesture, so that nothing is carried
            over a write or a backward that it must see; default: of this graph.

    Raises:
        Refused: no order satisfies the wires; the items in the way are named.
    """
    before = wire_needs(graph)
    for item, sources in (effect_needs(graph) if effects is None else effects).items():
        if item in graph:
            before.setdefault(item, {}).update((source, None) for source in sources if source in graph)
    moves: list[MoveItem] = []
    for body, items in graph.bodies.items():
        moves.extend(_moves(body, items, _sorted(graph, body, items, _contracted(graph, body, items, before))))
    return tuple(moves)


def item_in(graph: Graph, body: BodyId, item: ItemId) -> ItemId:
    """The item of the body that is, or contains, the given one."""
    while graph.parents[item] != body:
        item = ItemId(graph.parents[item])
    return item


def _add_effects(graph: Graph, before: Needs) -> None:
    """Add: writers after earlier readers, readers after earlier writers, backwards in their order."""
    readers: dict[Value, list[ItemId]] = {}
    writer: dict[Value, ItemId] = {}
    last_effect: ItemId | None = None
    code: ItemId | None = None
    since_code: list[ItemId] = []
    seed: ItemId | None = None
    randoms: list[ItemId] = []
    holds_inside = any(CODE in index_of(one.graph).by_operator for one in graph.definitions.values())
    for item in graph.order():
        mine = before.setdefault(item, {})
        _add_memory(graph, item, mine, readers, writer)
        effects = _effects(graph, item)
        if holds_inside and _may_enter(graph, item, effects):
            effects |= {Effect.CODE}
        _remember(mine, code)
        if Effect.CODE in effects:  # it may read and change whatever there is
            mine.update(dict.fromkeys(since_code))
            code, since_code = item, []
        else:
            since_code.append(item)
        if effects & GRADIENT_EFFECTS:
            _remember(mine, last_effect)
            last_effect = item
        if Effect.SEED in effects:
            mine.update(dict.fromkeys(randoms))
            seed, randoms = item, []
        elif Effect.RANDOM in effects:
            _remember(mine, seed)
            randoms.append(item)


def _add_memory(
    graph: Graph,
    item: ItemId,
    mine: dict[ItemId, None],
    readers: dict[Value, list[ItemId]],
    writer: dict[Value, ItemId],
) -> None:
    for wire in graph.wires_to(item):
        base = storage_of(graph, wire.source, wire.output)
        _remember(mine, writer.get(base))
        readers.setdefault(base, []).append(item)
    for base in written_values(graph, item):
        mine.update((reader, None) for reader in readers.get(base, ()) if reader != item)
        readers[base] = []
        writer[base] = item


def _remember(mine: dict[ItemId, None], item: ItemId | None) -> None:
    if item is not None:
        mine[item] = None


def _effects(graph: Graph, item: ItemId) -> frozenset[Effect]:
    node = graph.nodes.get(item)
    operator = row_of(graph, node) if node is not None else None
    return frozenset(operator.effects) if operator is not None else frozenset()


def _may_enter(graph: Graph, item: ItemId, effects: frozenset[Effect]) -> bool:
    """Whether an item may run what is inside a definition: it makes a module, or calls one."""
    node = graph.nodes.get(item)
    return Effect.MODULE_CALL in effects or (node is not None and node.operator.startswith(GROUP))


def _contracted(graph: Graph, body: BodyId, items: Iterable[ItemId], before: Needs) -> Needs:
    """The needs between the items of one body, what stands inside their blocks counted in."""
    result: Needs = {}
    for item in items:
        mine: dict[ItemId, None] = {}
        members = (item, *graph.order(BodyId(item))) if item in graph.blocks else (item,)
        for member in members:
            for source in before.get(member, ()):
                if body in graph.ancestors(source):
                    top = item_in(graph, body, source)
                    if top != item:
                        mine[top] = None
        result[item] = mine
    return result


def _sorted(graph: Graph, body: BodyId, items: tuple[ItemId, ...], before: Needs) -> list[ItemId]:
    """Each item in turn, what it needs first: an order that changes nothing it need not."""
    place = {item: k for k, item in enumerate(items)}
    done: dict[ItemId, None] = {}
    for item in items:
        _visit(graph, item, before, place, done)
    return list(done)


def _visit(graph: Graph, item: ItemId, before: Needs, place: dict[ItemId, int], done: dict[ItemId, None]) -> None:
    if item in done:
        return
    path: dict[ItemId, None] = {item: None}
    stack = [(item, iter(sorted(before[item], key=place.__getitem__)))]
    while stack:
        here, sources = stack[-1]
        source = next((source for source in sources if source not in done), None)
        if source is None:
            stack.pop()
            path.pop(here)
            done[here] = None
        elif source in path:
            _refuse(graph, list(path)[list(path).index(source) :])
        else:
            path[source] = None
            stack.append((source, iter(sorted(before[source], key=place.__getitem__))))


def _refuse(graph: Graph, loop: list[ItemId]) -> None:
    names = [title(graph, item) for item in loop]
    blocks = [item for item in loop if item in graph.blocks]
    if blocks and len(loop) > 1:
        others = [title(graph, item) for item in loop if item not in blocks] or names[1:]
        raise Refused(
            f"'{others[0]}' would have to run in the middle of '{title(graph, blocks[0])}': it needs a value "
            f"from inside and gives one back. Take '{others[0]}' along into the block."
        )
    raise Refused(
        f"No order of the statements allows this: {' → '.join([*names[::-1], names[-1]])}. "
        "One of them writes into, or runs a backward through, what another must see as it was before."
    )


def _moves(body: BodyId, old: tuple[ItemId, ...], new: list[ItemId]) -> list[MoveItem]:
    current = list(old)
    moves: list[MoveItem] = []
    if current == new:
        return moves
    for index, item in enumerate(new):
        if current[index] != item:
            current.remove(item)
            current.insert(index, item)
            moves.append(MoveItem(item, body, index))
    return moves
