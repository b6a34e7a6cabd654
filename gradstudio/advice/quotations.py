"""Statements as a person wrote them: what stands in the script for an item, parts within the line they stand on."""

from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.write import write


def written(graph: Graph, item: ItemId) -> str:
    """The text of an item in the script, of several lines the first; "" where it is not printed."""
    script = write(graph)
    span = next((one for one in script.spans if one.node == item), None)
    if span is None:
        return ""
    line = script.code.split("\n")[span.line - 1]
    return line[span.column : span.end_column] if span.line == span.end_line else line[span.column :].strip()
