"""What the rules of a graph refuse of a text, line by line; what a call lacks is torch's to say when it runs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gradstudio.graph.analysis.program_analysis import incomplete
from gradstudio.graph.analysis.validity import INSIDE
from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.graph_builder import GraphBuilder

ALLOWED, EMPTY = ("it reads", INSIDE), " is empty"
"""How reasons begin and end that follow from another, or that are a mistake in the program itself."""


def graph_refusals(
    graph: Graph, lines: Mapping[ItemId, int], passed_over: Sequence[tuple[int, int]]
) -> list[NotReadable]:
    """What cannot be drawn as it was read.

    Args:
        graph: what was read.
        lines: of its items.
        passed_over: first and last lines of statements that are refused: what they left behind says nothing.
    """
    found: list[NotReadable] = []
    for item, why in incomplete(graph).items():
        line = lines.get(item)
        if line is None or any(first <= line <= last for first, last in passed_over):
            continue
        is_call = item in graph.nodes and graph.nodes[item].operator == "python.call"
        if not is_call and not why.startswith(ALLOWED) and not why.endswith(EMPTY):
            reason = f"{why[:1].upper()}{why[1:]}.".replace("..", ".")
            found.append(NotReadable(reason, line))
    return found


def names_of_definitions(insides: Iterable[GraphBuilder], graph: Graph) -> Iterator[NotReadable]:
    """What is refused in definitions that were read before another one, which is called as a name in them."""
    for draft in insides:
        for item, node in draft.graph.nodes.items():
            name = next((one for one in node.names if one in graph.definitions), "")
            if name:
                yield NotReadable(f"'{name[:60]}' is the name of a group.", draft.lines[item])
