"""An edited text as one gesture: the edits that make a document mean what its text says now."""

from gradstudio.graph.difference import edits_between
from gradstudio.graph.edits import Edits, SetDefinition
from gradstudio.graph.model import Graph
from gradstudio.layout.placement.stable_layout import stable_layout
from gradstudio.layout.tidy import layout_missing
from gradstudio.program.merging.merge import merge_text


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
    return edits_to(graph, merge_text(graph, text, stem=stem), anew=anew)


def edits_to(graph: Graph, target: Graph, *, anew: bool = False) -> Edits:
    """The edits that make a document what a merge has made of it, definitions included; `anew` as for `merge`."""
    target.places = stable_layout(graph, target, anew=anew)
    for name, one in target.definitions.items():
        if graph.definitions.get(name) is not one:
            one.graph.places = layout_missing(one.graph)
    known, wanted = graph.definitions, target.definitions
    changed = [SetDefinition(name, one) for name, one in wanted.items() if known.get(name) is not one]
    gone = [SetDefinition(name, None) for name in known if name not in wanted]
    return (*changed, *edits_between(graph, target), *gone)
