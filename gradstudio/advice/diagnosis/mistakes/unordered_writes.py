"""In-place writes that no wire orders against another reader of the same memory (semantics §8)."""

from collections.abc import Iterable, Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.graph.analysis import program_analysis
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.order import wire_needs
from gradstudio.graph.ports.item_ports import output_family
from gradstudio.graph.shared_storage import Value, storage_of, written_values
from gradstudio.graph.text.code_records import FREE
from gradstudio.graph.text.conditionals import read_conditional
from gradstudio.graph.text.item_titles import title
from gradstudio.operators.model import Effect, Family

FIXED = frozenset({Effect.BACKWARD, Effect.GRAD, Effect.OPTIMIZER})
"""Effects whose order among one another every gesture keeps."""
FIXED_FAMILIES = frozenset({Family.NUMBER, Family.TEXT, Family.NONE})
MAX_WRITES = 200
"""Writers looked at; each costs one walk over the graph."""
APPEND = "python.append"
"""A list grows where the text says so: no tensor is another for it."""
CHOICE = "python.choice"
CONTAINERS = frozenset({"python.list", "python.tuple", "python.literal"})
MOST_READERS = 4
"""So many readers are named."""
Links = dict[ItemId, set[ItemId]]


def unordered_writes(graph: Graph) -> tuple[Finding, ...]:
    """A note for each tensor with in-place statements that no wire orders against another reader of it."""
    tensors = (item for item in graph.order() if item in graph.nodes and graph.nodes[item].operator != APPEND)
    writers = [(item, bases) for item in tensors if (bases := _written(graph, item))][:MAX_WRITES]
    if not writers:
        return ()
    readers = _readers(graph)
    before = _links(graph)
    after: Links = {}
    for item, sources in before.items():
        for source in sources:
            after.setdefault(source, set()).add(item)
    return tuple(_warnings(graph, writers, readers, before, after))


def _written(graph: Graph, item: ItemId) -> tuple[Value, ...]:
    """The tensors a node writes into."""
    values = written_values(graph, item)
    return tuple([base for base in values if not _is_fixed(graph, base) and _may_be_one(graph, base)])


def _may_be_one(graph: Graph, base: Value) -> bool:
    """Whether it may be a tensor: a list, a dict and what code made, which is in order with all, are none."""
    node = graph.nodes.get(base[0])
    if node is None or node.operator in CONTAINERS or node.operator in FREE:
        return node is None
    return node.operator != CHOICE or not read_conditional(node.literals.get("template", "")).is_display


def _is_fixed(graph: Graph, base: Value) -> bool:
    """Whether it is what Python makes anew, a number or a text; what a loop carries is what comes into it."""
    seen = set[Value]()
    while base not in seen and (block := graph.blocks.get(base[0])) is not None:
        seen.add(base)
        item, output = base
        name = block.carried[output - 1] if 0 < output <= len(block.carried) else ""
        if (first := graph.wire_into(item, f"first.{name}")) is None:
            return False
        base = storage_of(graph, first.source, first.output)
    return output_family(graph, *base) in FIXED_FAMILIES


def _warnings(
    graph: Graph,
    writers: list[tuple[ItemId, tuple[Value, ...]]],
    readers: dict[Value, list[ItemId]],
    before: Links,
    after: Links,
) -> Iterator[Finding]:
    place = {item: k for k, item in enumerate(graph.order())}
    found: dict[Value, tuple[list[ItemId], dict[ItemId, None]]] = {}
    for writer, bases in writers:
        ordered = _reached(writer, before) | _reached(writer, after)
        others = dict.fromkeys(reader for base in bases for reader in readers.get(base, ()) if reader not in ordered)
        if others:
            writers_of, readers_of = found.setdefault(bases[0], ([], {}))
            writers_of.append(writer)
            readers_of.update(others)
    for base, (writers_of, readers_of) in found.items():
        yield _finding(graph, tuple(writers_of), base, tuple(readers_of), place)


def _finding(
    graph: Graph, writers: tuple[ItemId, ...], base: Value, others: tuple[ItemId, ...], place: dict[ItemId, int]
) -> Finding:
    writer, what = writers[0], title(graph, base[0])
    reading = [other for other in others if other not in writers] or list(others)
    early = [other for other in reading if place[other] < place[writer]]
    late = [other for other in reading if place[other] > place[writer]]
    parts = [f"the old numbers go into {_named(graph, early)}"] if early else []
    parts += [f"the new ones go into {_named(graph, late)}"] if late else []
    more = f" and {len(writers) - 1} more write" if len(writers) > 1 else " writes"
    return Finding(
        "unordered_write",
        "info",
        writer,
        f"{title(graph, writer)}{more} into {what}, which {_named(graph, reading)} also "
        f"read{'s' if len(reading) == 1 else ''}",
        f"No wire says which of them comes first, only the order of the statements. As it stands, "
        f"{' and '.join(parts)}. Earlier and Later change that, and with it the numbers. "
        "Wire from the in-place node where the new value is meant, or use the operator that returns a new tensor.",
        tuple(dict.fromkeys((base[0], *writers, *others))),
    )


def _named(graph: Graph, items: list[ItemId]) -> str:
    """The titles of some items, the first few of many."""
    words = [f"'{title(graph, item)}'" for item in items[:MOST_READERS]]
    return _listed([*words, f"{len(items) - MOST_READERS} more"] if len(items) > MOST_READERS else words)


def _readers(graph: Graph) -> dict[Value, list[ItemId]]:
    """Who reads which memory, directly or through a view; making a view reads nothing."""
    readers: dict[Value, list[ItemId]] = {}
    for wire in graph.wires.values():
        shares = storage_of(graph, wire.target)
        base = storage_of(graph, wire.source, wire.output)
        if wire.source in graph and wire.target in graph and (shares != base or written_values(graph, wire.target)):
            readers.setdefault(base, []).append(wire.target)
    return readers


def _links(graph: Graph) -> Links:
    """What stands before each item by a wire, or because both have to do with gradients."""
    before: Links = {item: set(sources) for item, sources in wire_needs(graph).items()}
    last: ItemId | None = None
    for item in graph.order():
        if program_analysis.effects(graph, item) & FIXED:
            if last is not None:
                before.setdefault(item, set()).add(last)
            last = item
    return before


def _reached(start: ItemId, links: Links) -> set[ItemId]:
    found, todo = {start}, [start]
    while todo:
        for item in links.get(todo.pop(), ()):
            if item not in found:
                found.add(item)
                todo.append(item)
    return found


def _listed(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
