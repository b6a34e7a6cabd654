"""Lines of the Python text that a program was read from, in place of those of the script it is written as."""

from collections.abc import Mapping

from gradstudio.graph.groups.call_ids import path_of
from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.program.model import CodeLines, Program
from gradstudio.program.trust import may_need_yes


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
    return _line_of_code(code, lines, max(0, line - code.line)) if code is not None else lines[item]


def _line_of_code(code: CodeLines, lines: Mapping[ItemId, int], below: int) -> int:
    """The line of a file that the line `below` the first of a code was read from."""
    for begins, drawn in reversed(code.drawn):
        if begins <= below and drawn in lines:
            return lines[drawn] + below - begins
    return lines[code.node] + below


def numbers_in_file(lines: Mapping[ItemId, int], code: CodeLines) -> tuple[int, ...]:
    """For each line of a code of a program the line of the file that it was read from, else of the script."""
    every = range(code.text.count("\n") + 1)
    if code.node not in lines:
        return tuple(code.line + below for below in every)
    return tuple(_line_of_code(code, lines, below) for below in every)


class FileLines:
    """Where undrawn Python stands in the file that it was read from, as long as it is what was read."""

    def __init__(self, graph: Graph | None = None, lines: Mapping[ItemId, int] | None = None) -> None:
        """A graph as it was read, and where its items begin in the file; nothing was read from none."""
        self._lines = lines or {}
        self._texts: dict[ItemId, str] = {}
        if graph is not None and may_need_yes(graph):
            self._texts = {one.node: one.text for one in compile_graph(graph).codes}

    def line(self, program: Program, node: ItemId, line: int) -> int | None:
        """The line of the file for one of the script; None where the file does not hold it."""
        item = path_of(node)[-1]
        is_read = any(one.node == item and self._holds(one) for one in program.codes)
        return line_in_file(program, self._lines, node, line) if is_read else None

    def numbers(self, code: CodeLines) -> tuple[int, ...] | None:
        """The line of the file for each line of a code; None where the file does not hold it."""
        return numbers_in_file(self._lines, code) if self._holds(code) else None

    def _holds(self, code: CodeLines) -> bool:
        return code.text == self._texts.get(code.node)
