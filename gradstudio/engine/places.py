"""From a place in the script to the node that stands there."""

import dis
import traceback
from itertools import islice
from types import CodeType, FrameType, TracebackType

from gradstudio.engine.source import FILENAME
from gradstudio.graph.model import ItemId
from gradstudio.program.model import BlockStatement, Program, Span, Statement

NOWHERE = ItemId("")
_RAISE = dis.opmap["RAISE_VARARGS"]


class Places:
    """The spans of one program, asked by position; and its statements, by node."""

    def __init__(self, program: Program) -> None:
        """Sort the spans by line."""
        self.statements: dict[ItemId, Statement] = {}
        self.blocks: dict[ItemId, BlockStatement] = {}
        self._collect(program.statements)
        self._lines = program.script.splitlines()
        self._by_line: dict[int, list[Span]] = {}
        for span in program.spans:
            for line in range(span.line, span.end_line + 1):
                self._by_line.setdefault(line, []).append(span)

    def node_at(self, line: int, columns: tuple[int, int] | None = None) -> ItemId:
        """The smallest item that holds the place; of a whole line, the widest node.

        Args:
            line: 1-based.
            columns: half-open range of bytes within the line, as Python's tracebacks count.
        """
        spans = self._by_line.get(line, [])
        nodes = [span for span in spans if span.node in self.statements] or spans
        if not nodes:
            return self._at_statement(line)
        if columns is not None:
            start, end = (self._character(line, column) for column in columns)
            for some in (nodes, spans):
                if holding := [span for span in some if _holds(span, line, start, end)]:
                    return min(holding, key=_extent).node
        return max(nodes, key=_extent).node

    def frame_node(self, code: CodeType, instruction: int, line: int) -> ItemId:
        """The node that a frame of the script is executing."""
        first, last, start, end = next(islice(code.co_positions(), instruction // 2, None), (None,) * 4)
        if first == line and last is not None and last > line:
            heads = (span for span in self._by_line.get(line, ()) if span.node in self.blocks)
            head = next((span for span in heads if span.line == line and span.end_line < last), None)
            if head is not None:
                return head.node  # Python says the whole block where the elements of its head are fetched
        if code.co_code[instruction] == _RAISE:
            return self.node_at(line)  # a condition that does not hold is its assert's matter
        is_told = first == last == line and start is not None and end is not None
        return self.node_at(line, (start or 0, end or 0) if is_told else None)

    def of_traceback(self, trace: TracebackType | None) -> tuple[ItemId, int]:
        """(node, line) of the innermost frame of the script in a traceback."""
        found: tuple[ItemId, int] = (NOWHERE, 0)
        for frame, line in traceback.walk_tb(trace):
            if frame.f_code.co_filename == FILENAME:
                found = (self.frame_node(frame.f_code, _instruction(trace, frame), line), line)
        return found

    def of_stack(self, frame: FrameType | None) -> tuple[ItemId, int]:
        """(node, line) of the innermost frame of the script on a stack."""
        while frame is not None and frame.f_code.co_filename != FILENAME:
            frame = frame.f_back
        if frame is None:
            return NOWHERE, 0
        return self.frame_node(frame.f_code, frame.f_lasti, frame.f_lineno), frame.f_lineno

    def _at_statement(self, line: int) -> ItemId:
        whole = [s.node for s in self.statements.values() if s.line == line and not s.is_part]
        return next(iter(whole), next((s.block for s in self.blocks.values() if s.line == line), NOWHERE))

    def _character(self, line: int, column: int) -> int:
        text = self._lines[line - 1] if line <= len(self._lines) else ""
        return column if text.isascii() else len(text.encode()[:column].decode(errors="replace"))

    def _collect(self, statements: tuple[Statement | BlockStatement, ...]) -> None:
        for statement in statements:
            if isinstance(statement, Statement):
                self.statements[statement.node] = statement
            else:
                self.blocks[statement.block] = statement
                self._collect(statement.body)


def _holds(span: Span, line: int, start: int, end: int) -> bool:
    return (span.line < line or span.column <= start) and (span.end_line > line or span.end_column >= end)


def _extent(span: Span) -> tuple[int, int]:
    lines = span.end_line - span.line
    return lines, span.end_column - span.column if lines == 0 else span.end_column


def _instruction(trace: TracebackType | None, frame: FrameType) -> int:
    while trace is not None:
        if trace.tb_frame is frame:
            return trace.tb_lasti
        trace = trace.tb_next
    return frame.f_lasti
