"""From a place in the script to the node that stands there."""

import dis
import traceback
from itertools import islice
from types import CodeType, FrameType, TracebackType

from gradstudio.engine.access import FILENAME
from gradstudio.graph.groups.call_ids import SEPARATOR, call_item_id, is_call_item, path_of
from gradstudio.graph.model import ItemId
from gradstudio.graph.text.code_records import CODE
from gradstudio.program.model import BlockStatement, Program, Span, Statement

NOWHERE = ItemId("")
_RAISE = dis.opmap["RAISE_VARARGS"]


class SourceMap:
    """The spans of one program, asked by position; and its statements, by node."""

    def __init__(self, program: Program) -> None:
        """Sort the spans by line."""
        self.statements: dict[ItemId, Statement] = {}
        self.blocks: dict[ItemId, BlockStatement] = {}
        self._collect(program.statements)
        self._inner: dict[ItemId, Statement | BlockStatement] = {}
        self._members: set[ItemId] = set()
        for inside in program.insides:
            self._collect_inner((*inside.setup, *inside.body, *inside.members))
            self._members.update(one.node for one in inside.members)
        self._lines = program.script.splitlines()
        self._by_line: dict[int, list[Span]] = {}
        self._inside: set[int] = set()
        for span in (*program.spans, *(span for inside in program.insides for span in inside.spans)):
            for line in range(span.line, span.end_line + 1):
                self._by_line.setdefault(line, []).append(span)
        for inside in program.insides:
            self._inside.update(line for span in inside.spans for line in range(span.line, span.end_line + 1))

    def node_at(self, line: int, columns: tuple[int, int] | None = None) -> ItemId:
        """The smallest item that holds the place; of a whole line, the widest node.

        Args:
            line: 1-based.
            columns: half-open range of bytes within the line, as Python's tracebacks count.
        """
        spans = self._by_line.get(line, [])
        known = self._inner if line in self._inside else self.statements
        nodes = [span for span in spans if isinstance(known.get(span.node), Statement)] or spans
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
            blocks = self._inner if line in self._inside else self.blocks
            heads = (span for span in self._by_line.get(line, ()) if isinstance(blocks.get(span.node), BlockStatement))
            head = next((span for span in heads if span.line == line and span.end_line < last), None)
            if head is not None:
                return head.node  # Python says the whole block where the elements of its head are fetched
        if code.co_code[instruction] == _RAISE:
            return self.node_at(line)  # a condition that does not hold is its assert's matter
        is_told = first == last == line and start is not None and end is not None
        return self.node_at(line, (start or 0, end or 0) if is_told else None)

    def of_traceback(self, trace: TracebackType | None, around: ItemId = NOWHERE) -> tuple[ItemId, int]:
        """(node, line) of the innermost frame of the script in a traceback.

        `around` is the statement whose frame is not part of the traceback any more.
        """
        frames = [
            (frame.f_code, _instruction(trace, frame), line)
            for frame, line in traceback.walk_tb(trace)
            if frame.f_code.co_filename == FILENAME
        ]
        return self._path(frames, around)

    def line_of_traceback(self, trace: TracebackType | None) -> str:
        """The text of the line of the script at which the innermost of its frames is; "" without one."""
        _, line = self.of_traceback(trace)
        return self._lines[line - 1].strip() if 0 < line <= len(self._lines) else ""

    def outermost(self, trace: TracebackType | None) -> ItemId:
        """The node of the outermost frame of the script in a traceback: the statement of the program that ran."""
        for frame, line in traceback.walk_tb(trace):
            if frame.f_code.co_filename == FILENAME:
                return self.frame_node(frame.f_code, _instruction(trace, frame), line)
        return NOWHERE

    def of_stack(self, frame: FrameType | None) -> tuple[ItemId, int]:
        """(node, line) of the innermost frame of the script on a stack."""
        frames: list[tuple[CodeType, int, int]] = []
        while frame is not None:
            if frame.f_code.co_filename == FILENAME:
                frames.append((frame.f_code, frame.f_lasti, frame.f_lineno))
            frame = frame.f_back
        return self._path(frames[::-1])

    def known(self, node: ItemId) -> Statement | None:
        """The statement of a node, also of one inside calls; None when it is no statement's."""
        *calls, last = path_of(node)
        found = self._inner.get(last) if calls else self.statements.get(last)
        return found if isinstance(found, Statement) else None

    def is_inside(self, node: ItemId) -> bool:
        """Whether the last part of an id is that of a statement or block in a definition."""
        return path_of(node)[-1] in self._inner

    def is_block(self, node: ItemId) -> bool:
        """Whether an id is that of a block, of the program or inside a call."""
        return isinstance(
            self._inner.get(path_of(node)[-1]) if is_call_item(node) else self.blocks.get(node), BlockStatement
        )

    def address(self, node: ItemId) -> str:
        """How reports call a node, a block or something inside calls; "" when it is not known."""
        if is_call_item(node):
            first, *inner = path_of(node)
            return SEPARATOR.join([self.address(first), *(_word(self._inner.get(part)) for part in inner)])
        return _word(self.statements.get(node) or self.blocks.get(node))

    def _path(self, frames: list[tuple[CodeType, int, int]], around: ItemId = NOWHERE) -> tuple[ItemId, int]:
        """Of frames, the outermost first: each of a definition is inside what the one before it was executing."""
        node, at = around, 0
        for code, instruction, line in frames:
            item, at = self.frame_node(code, instruction, line), line
            if line not in self._inside:
                node = item
            elif node and item and not self._goes_on(node, item):
                node = call_item_id(node, item)
        return (node, at) if frames else (NOWHERE, 0)

    def _goes_on(self, node: ItemId, item: ItemId) -> bool:
        """Whether a frame is of undrawn Python that is called: a member of a class, a function of what runs already."""
        found = self._inner.get(item)
        is_own = path_of(node)[-1] == item and isinstance(found, Statement) and found.operator == CODE
        return is_own or item in self._members

    def _at_statement(self, line: int) -> ItemId:
        whole = [s.node for s in self.statements.values() if s.line == line and not s.is_part]
        return next(iter(whole), next((s.block for s in self.blocks.values() if s.line == line), NOWHERE))

    def _character(self, line: int, column: int) -> int:
        text = self._lines[line - 1] if line <= len(self._lines) else ""
        return column if text.isascii() else len(text.encode()[:column].decode(errors="replace"))

    def _collect_inner(self, statements: tuple[Statement | BlockStatement, ...]) -> None:
        for statement in statements:
            self._inner[statement.node if isinstance(statement, Statement) else statement.block] = statement
            if isinstance(statement, BlockStatement):
                self._collect_inner(statement.body)

    def _collect(self, statements: tuple[Statement | BlockStatement, ...]) -> None:
        for statement in statements:
            if isinstance(statement, Statement):
                self.statements[statement.node] = statement
            else:
                self.blocks[statement.block] = statement
                self._collect(statement.body)


def _word(found: Statement | BlockStatement | None) -> str:
    return "" if found is None else found.address or getattr(found, "kind", "")


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
