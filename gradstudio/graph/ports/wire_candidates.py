"""Where a wire may go from an output, or come from into an input: every port, those that fit first."""

from collections.abc import Iterator
from typing import NamedTuple

from gradstudio.graph.card_grouping import CALLED, card_groups
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.ports import port_matching
from gradstudio.graph.ports.item_ports import Port, input_ports, shown_outputs
from gradstudio.graph.rules import legal_sources, why_not
from gradstudio.graph.text.item_titles import title

DISCARDED = "_"
"""The name of a result that nobody is to read."""


class WireCandidate(NamedTuple):
    """A wire that a person may ask for.

    Attributes:
        legal: whether it may be drawn; `why_not` of it says why not.
        words: the other end, "relu.input"; `note`: what it would replace.
    """

    source: ItemId
    output: int
    target: ItemId
    port: str
    legal: bool
    words: str
    note: str = ""


def refusal_of(graph: Graph, choice: WireCandidate) -> str:
    """Why a wire may not be drawn; "" when it may."""
    return why_not(graph, choice.source, choice.output, choice.target, choice.port)


def candidates_from(graph: Graph, source: ItemId, output: int) -> list[WireCandidate]:
    """Every input: legal ones first, the best fitting of them in front, those behind the source before the others."""
    order = tuple(graph.order())
    start = order.index(source) + 1 if source in order else 0
    nearest = (*order[start:], *order[:start])
    found = [link for link in port_matching.rank_links(graph, (source,), nearest) if link.output == output]
    fits = [(link.target, link.port) for link in found]
    ports = {(item, port.path): port for item in nearest for port in _shown(graph, item)}
    rest = [end for end in ports if end not in frozenset(fits) and end[0] != source]
    chosen = []
    for legal, ends in ((True, fits), (False, rest)):
        for target, path in ends:
            if (target, path) in ports:
                words = f"{title(graph, target)}.{ports[target, path].label or path}"
                note = _replaced(graph, target, path, (source, output))
                chosen.append(WireCandidate(source, output, target, path, legal, words, note))
    return chosen


def candidates_into(graph: Graph, target: ItemId, path: str) -> list[WireCandidate]:
    """Every output: legal ones first, the nearest before the target in front."""
    order = tuple(graph.order())
    start = order.index(target) if target in order else len(order)
    nearest = (*reversed(order[:start]), *order[start:])
    fits = legal_sources(graph, target, path)
    chosen = list[WireCandidate]()
    for item in nearest:
        for output in shown_outputs(graph, item):
            name = "" if output.name == DISCARDED else output.name
            words = name or f"{title(graph, item)}, result {output.index}"
            legal = (item, output.index) in fits
            note = _replaced(graph, target, path, (item, output.index))
            chosen.append(WireCandidate(item, output.index, target, path, legal, words, note))
    return sorted(chosen, key=lambda choice: not choice.legal)


def _shown(graph: Graph, item: ItemId) -> Iterator[Port]:
    """The inputs of an item, but not the one by which a call is joined with its module."""
    called = card_groups(graph).modules
    return (port for port in input_ports(graph, item) if port.path != CALLED or item not in called)


def _replaced(graph: Graph, target: ItemId, path: str, ends: tuple[ItemId, int]) -> str:
    wire = graph.wire_into(target, path)
    if wire is None:
        return ""
    return "wired already" if (wire.source, wire.output) == ends else f"instead of {title(graph, wire.source)}"
