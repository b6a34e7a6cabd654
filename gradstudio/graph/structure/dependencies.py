"""What depends on what in a program: wires, writes into memory, blocks around statements. No networkx here."""

from collections.abc import Iterator
from typing import Literal as OneOf
from typing import NamedTuple

from gradstudio.graph.model import BodyId, Graph, ItemId
from gradstudio.graph.shared_storage import Value, storage_of, written_values

By = OneOf["wire", "write", "block", "turn"]
REPEATING = frozenset({"for", "if"})
"""Blocks that decide how often, or whether, the statements in them run."""


class Dependency(NamedTuple):
    """One dependency: `target` needs what `source` does.

    Attributes:
        output: of a wire, which result of the source; else 0.
        port: of a wire, the input of the target; else "".
        by: a drawn wire; a write into memory that the target reads later; a `for` or an `if` around the target;
            what a loop carries from one turn into the next (the only kind that may go backward).
    """

    source: ItemId
    output: int
    target: ItemId
    port: str
    by: By


def dependencies(graph: Graph) -> tuple[Dependency, ...]:
    """Every dependency between items of the graph, in program order of the targets.

    Without those of kind "turn" they form no ring: each goes forward in the order of the program.
    """
    found: dict[Dependency, None] = {}
    last_writer: dict[Value, ItemId] = {}
    for item in graph.order():
        for edge in _into(graph, item, last_writer):
            found[edge] = None
        for base in written_values(graph, item):
            last_writer[base] = item
    return tuple(found)


def _into(graph: Graph, item: ItemId, last_writer: dict[Value, ItemId]) -> Iterator[Dependency]:
    body = graph.parents[item]
    if body and graph.blocks[ItemId(body)].kind in REPEATING:
        yield Dependency(ItemId(body), 0, item, "", "block")
    for wire in graph.wires_to(item):
        if wire.source not in graph:
            continue  # the edge of a definition
        is_next = item in graph.blocks and wire.port.startswith("next.")
        yield Dependency(wire.source, wire.output, item, wire.port, "turn" if is_next else "wire")
        writer = last_writer.get(storage_of(graph, wire.source, wire.output))
        if writer is not None and writer not in (wire.source, item) and not is_next:
            yield Dependency(writer, 0, item, "", "write")


def is_inside(graph: Graph, item: ItemId, block: ItemId) -> bool:
    """Whether the item stands in the block, however deep."""
    return BodyId(block) in graph.ancestors(item)
