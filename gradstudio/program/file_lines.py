"""Lines of the Python text that a program was read from, in place of those of the script it is written as."""

from collections.abc import Mapping

from gradstudio.graph.groups.call_ids import path_of
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.text.code_records import code_of, is_code
from gradstudio.program.model import Program


def line_in_file(program: Program, lines: Mapping[ItemId, int], node: ItemId, line: int) -> int:
    """The line of a file that a line of the script was read from; the script's, where the file has none.

    Args:
        program: whose script it is.
        lines: where the items begin in the file.
        node: what stands on the line, also inside calls.
        line: of the script; within undrawn Python, kept as typed but for what is drawn of it, any line.
    """
    item = path_of(node)[-1]
    if item not in lines:
        return line
    code = next((code for code in program.codes if code.node == item), None)
    if code is None:
        return lines[item]
    below = max(0, line - code.line)
    for begins, drawn in reversed(code.drawn):
        if begins <= below and drawn in lines:
            return lines[drawn] + below - begins
    return lines[item] + below


class FileLines:
    """Where undrawn Python stands in the file that it was read from, as long as it is what was read."""

    def __init__(self, graph: Graph | None = None, lines: Mapping[ItemId, int] | None = None) -> None:
        """A graph as it was read, and where its items begin in the file; nothing was read from none."""
        graphs = [graph, *(one.graph for one in graph.definitions.values())] if graph is not None else []
        nodes = [node for one in graphs for node in one.nodes.values()]
        self._lines = lines or {}
        self._texts = {node.id: code_of(node) for node in nodes if is_code(node)}

    def line(self, program: Program, node: ItemId, line: int) -> int | None:
        """The line of the file for one of the script; None where the file does not hold it."""
        item = path_of(node)[-1]
        is_read = any(one.node == item and one.text == self._texts.get(item) for one in program.codes)
        return line_in_file(program, self._lines, node, line) if is_read else None
