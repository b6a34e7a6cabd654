"""Merge: the graph that an edited text means, from the lines that were edited, else from all of them.

What reads the whole is loaded by the first edit that needs it.
"""

from gradstudio.graph.model import Graph
from gradstudio.program.merging.local_merge import merge_locally


def merge_text(graph: Graph, text: str, *, stem: str = "program") -> Graph:
    """The graph that an edited text means; new items have no places yet.

    Args:
        graph: what the text was printed from by `write_code(graph, stem=stem)`, before somebody edited it.
        text: Python source, without the report at the end.
        stem: the name under which the text was printed.

    Raises:
        NotReadable: a canvas cannot express the text; with line, column and reason.
    """
    merged = merge_locally(graph, text, stem=stem)
    if merged is not None:
        return merged
    from gradstudio.program.merging.whole_merge import merge_whole

    return merge_whole(graph, text, stem=stem)
