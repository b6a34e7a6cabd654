"""An edited text as one gesture: the edits that make a document mean what its text says now."""

from gradstudio.graph.difference import edits_between
from gradstudio.graph.edits import Edits
from gradstudio.graph.model import BodyId, Graph, ItemId
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
    if graph.places:
        target.places |= places_for_new(target, _newcomers(graph, target))
    return edits_between(graph, target)


def _newcomers(graph: Graph, target: Graph) -> list[ItemId]:
    """What needs a place: new nodes, and new blocks unless they were drawn around what has one."""
    new = [item for item in target.order() if item not in graph]
    around = {body for item in target.nodes if item in graph for body in target.ancestors(item)}
    return [item for item in new if BodyId(item) not in around]
