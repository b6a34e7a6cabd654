"""Which output of some items fits which input of others, the best first: by what flows, what is free, and by name."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from gradstudio.graph.card_grouping import CALLED, card_groups
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.ports.item_ports import OutputPort, Port, input_ports, shown_outputs
from gradstudio.graph.rules import legal_targets
from gradstudio.graph.text.item_titles import title
from gradstudio.operators.model import Family, Kind

NATURAL: Final = {
    Family.TENSOR: frozenset({Kind.TENSOR, Kind.TENSOR_OR_NUMBER, Kind.TENSORS, Kind.VALUES, Kind.ANY}),
    Family.NUMBER: frozenset({Kind.NUMBER, Kind.INT, Kind.FLOAT, Kind.BOOL, Kind.TENSOR_OR_NUMBER, Kind.SHAPE}),
    Family.MODULE: frozenset({Kind.MODULE, Kind.MODULES}),
    Family.OPTIMIZER: frozenset({Kind.OPTIMIZER}),
    Family.ARRAY: frozenset({Kind.ARRAY, Kind.DATA}),
    Family.TUPLE: frozenset({Kind.TENSORS, Kind.VALUES, Kind.SHAPE, Kind.INTS}),
    Family.TEXT: frozenset({Kind.TEXT}),
}
"""By what flows: the kinds of arguments that a person means by it; others take it, too."""
Rank = tuple[int, int, int]


class Link(NamedTuple):
    """A wire that could be drawn.

    Attributes:
        rank: how well it fits: by what flows, by how free the input is, by name; larger is better.
        words: "x → input".
    """

    source: ItemId
    output: int
    target: ItemId
    port: str
    rank: Rank
    words: str


def rank_links(graph: Graph, sources: Iterable[ItemId], targets: Iterable[ItemId]) -> list[Link]:
    """Every legal wire from one of the sources to one of the targets, the best fitting first."""
    ends, called = tuple(targets), card_groups(graph).modules
    ports = [
        (item, port) for item in ends for port in input_ports(graph, item) if port.path != CALLED or item not in called
    ]
    found = []
    for source in sources:
        for output in shown_outputs(graph, source):
            legal = legal_targets(graph, source, output.index)
            for item, port in ports:
                if (item, port.path) in legal:
                    words = f"{output.name or f'result {output.index}'} → {port.label or port.path}"
                    wire = graph.wire_into(item, port.path)
                    if wire is not None and (wire.source, wire.output) != (source, output.index):
                        words += f" (instead of {title(graph, wire.source)})"
                    rank = _rank(output, port)
                    found.append(Link(source, output.index, item, port.path, rank, words))
    return sorted(found, key=lambda link: link.rank, reverse=True)


def best_links(found: list[Link]) -> list[Link]:
    """The best of ranked links: one, or several that fit equally well. Elements of one list count as one."""
    chosen: dict[tuple[ItemId, int, ItemId, str], Link] = {}
    for link in found:
        if link.rank == found[0].rank:
            chosen.setdefault((link.source, link.output, link.target, link.port.split(".")[0]), link)
    return list(chosen.values())


def _rank(output: OutputPort, port: Port) -> Rank:
    natural = NATURAL.get(output.family)
    fits = 1  # a family that goes with nothing in particular
    if natural is not None:
        fits = 2 if port.parameter.kind in natural else 0
    free = {"empty": 2 + port.required, "literal": 1, "document_device": 1}.get(port.state, 0)
    if port.grows:
        free = 2
    return (fits if free else -1), free, int(bool(output.name) and output.name in (port.label, port.parameter.name))
