"""An edited text as one gesture: the edits that make a document mean what its text says now."""

from gradstudio.graph.difference import edits_between
from gradstudio.graph.edits import Edits
from gradstudio.graph.model import Graph
from gradstudio.layout.settled import settled
from gradstudio.program.merging.merge import merged


def merge(graph: Graph, text: str, *, stem: str = "program", anew: bool = False) -> Edits:
    """What the text says now, as edits of the graph; new cards get places beside what they are wired to.

    Args:
        graph: the document.
        text: what `write_code(graph, stem=stem)` printed, as somebody edited it.
        stem: the name under which it was printed.
        anew: nobody has moved a card since the text gave all their places: all are laid out again with the new ones.

    Raises:
        NotReadable: a canvas cannot express the text; with line, column and reason.
    """
    target = merged(graph, text, stem=stem)
    target.places = settled(graph, target, anew=anew)
    return edits_between(graph, target)
