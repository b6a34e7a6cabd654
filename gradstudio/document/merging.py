"""An edited text as one gesture: the edits that make a document mean what its text says now."""

from gradstudio.graph.difference import edits_between
from gradstudio.graph.edits import Edits
from gradstudio.graph.model import Graph
from gradstudio.layout.fresh import places_for_new
from gradstudio.program.merging.merge import merged


def merge(graph: Graph, text: str, *, stem: str = "program") -> Edits:
    """What the text says now, as edits of the graph; new cards get places beside what they are wired to.

    Args:
        graph: the document.
        text: what `write_code(graph, stem=stem)` printed, as somebody edited it.
        stem: the name under which it was printed.

    Raises:
        NotReadable: a canvas cannot express the text; with line, column and reason.
    """
    target = merged(graph, text, stem=stem)
    new = [item for item in target.order() if item not in graph]
    if graph.places:
        target.places |= places_for_new(target, new)
    return edits_between(graph, target)
