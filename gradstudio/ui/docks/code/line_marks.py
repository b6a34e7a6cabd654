"""Which lines of the Code dock are marked, and how: selected, running, failed, looked at, not readable."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor, QTextFormat
from PySide6.QtWidgets import QTextEdit

from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.groups.code_ids import CodeCall
from gradstudio.graph.model import ItemId
from gradstudio.program.errors import NotReadable
from gradstudio.program.model import Span
from gradstudio.protocol.messages.debugging import Breakpoint
from gradstudio.protocol.timeline.model import Tick
from gradstudio.ui.docks.code import text_replacement
from gradstudio.ui.docks.code.code_editor import CodeEditor
from gradstudio.ui.docks.code.item_spans import ItemSpans
from gradstudio.ui.docks.code.line_diff import LineMap
from gradstudio.ui.docks.code.typed_text import TypedMap
from gradstudio.ui.state.results.code_calls import call_at
from gradstudio.ui.state.results.failure import Failure
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme

ACTIVE_ALPHA = 70
"""Of the ground of the line that is looked at, so that its text stays readable."""
LEAST_AROUND = 20
"""Lines above and below those in view whose selected text is marked as well; at least as many as are in view."""
Mark = QTextEdit.ExtraSelection


class Truths(NamedTuple):
    """What decides which lines are marked."""

    failures: tuple[Failure, ...]
    next_node: ItemId
    running_node: ItemId
    active: Tick | None
    call: CodeCall | None
    chosen: frozenset[ItemId]
    pointed: int = 0


class LineMarks:
    """Marks an editor's lines after a session's truths; `mark` whenever one of them is another.

    Attributes:
        places, lines: where the program's items stand, and which line of the dock shows which of the program.
    """

    def __init__(self, editor: CodeEditor, session: Session, theme: Theme) -> None:
        """Nothing is marked."""
        self._editor, self._session, self.theme = editor, session, theme
        self.places = ItemSpans()
        self.lines: LineMap | TypedMap = LineMap([""], [""])
        self.error: NotReadable | None = None
        self._marked: Truths | None = None
        self._around = range(0)  # lines of the dock whose selected text is marked

    def mark_if_changed(self) -> None:
        """Mark everything anew when run, moment or selection are others than those that are marked."""
        truths = self._truths()
        if truths != self._marked:
            self._mark(truths)

    def mark(self) -> None:
        """Mark everything anew."""
        self._mark(self._truths())

    def follow_view(self) -> None:
        """Other lines are in view: the selected text there is marked, too."""
        seen, now = self._editor.seen_lines(), self._marked
        if now is not None and now.chosen and not (seen.start in self._around and seen[-1] in self._around):
            self._mark(now)

    def active_line(self) -> int:
        """The line of the dock of the step that is looked at, inside of code the one that called; 0: none."""
        active = self._session.results.active
        return self._line_at(active, call_at(self._session.results)) if active is not None else 0

    def line_of(self, item: ItemId) -> int:
        """The line of the dock on which an item begins; 0: none."""
        span = self.places.of.get(item)
        return self.lines.shown(span.line) if span is not None else 0

    def failing_line(self, failure: Failure) -> int:
        """The line of the dock that failed: of undrawn Python the one that did, else where its item begins; 0: none."""
        span, line = self.places.of.get(failure.failed.node), failure.failed.line
        if span is not None and failure.place and span.line <= line <= span.end_line:
            return self.lines.shown(line)
        return self.line_of(failure.failed.node)

    def first_chosen_line(self) -> int:
        """The line that is pointed at, else the first of the dock on which a selected item begins; 0: none."""
        if pointed := self.pointed_line():
            return pointed
        lines = (self.line_of(span.node) for span in self.places.in_order(self.chosen()))
        return next((line for line in lines if line), 0)

    def pointed_line(self) -> int:
        """The line of the dock that is pointed at within a selected item's undrawn Python; 0: none."""
        attention = self._session.attention
        span = self.places.of.get(attention.current) if attention.line and attention.current is not None else None
        return self.lines.shown(min(span.line + attention.line - 1, span.end_line)) if span is not None else 0

    def chosen(self) -> frozenset[ItemId]:
        """The selected items; both lines of a module and the call on its card."""
        return card_groups(self._session.graph_store.graph).whole(self._session.attention.selection)

    # ------------------------------------------------------------------ inner workings

    def _truths(self) -> Truths:
        results = self._session.results
        call = call_at(results)
        of_run = (results.failures, results.next_node, results.running_node, results.active, call)
        return Truths(*of_run, self.chosen(), self._session.attention.line)

    def _line_at(self, active: Tick, call: CodeCall | None) -> int:
        own = self.lines.shown(call.line) if call is not None and not call.file else 0
        return own or self.line_of(active.node)

    def _mark(self, now: Truths) -> None:
        self._marked = now
        made = [*self._of_run(now), *self._of_moment(now), *self._of_selection(now), *self._of_error()]
        self._editor.setExtraSelections(made)
        self._mark_margin(now)

    def _of_run(self, now: Truths) -> Iterator[Mark]:
        syntax = self.theme.syntax
        failing = list(filter(None, map(self.failing_line, now.failures)))
        yield from (self._line_mark(line, syntax.failing) for line in failing)
        current = self._lines({now.next_node, now.running_node})
        yield from (self._line_mark(line, syntax.running) for line in current if line not in failing)

    def _of_moment(self, now: Truths) -> Iterator[Mark]:
        active = now.active
        if active is not None and (line := self._line_at(active, now.call)):
            ground = self.theme.color(active.phase)
            ground.setAlpha(ACTIVE_ALPHA)
            yield self._line_mark(line, ground)

    def _of_selection(self, now: Truths) -> Iterator[Mark]:
        seen = self._editor.seen_lines()
        margin = max(LEAST_AROUND, len(seen))
        self._around = range(seen.start - margin, seen.stop + margin)
        if not now.chosen:
            return
        if now.pointed and (line := self.pointed_line()):
            yield self._line_mark(line, self.theme.syntax.selected)
            return
        shown = range(max(1, self._around.start), min(self.lines.count + 1, self._around.stop))
        for span in self.places.on_lines(now.chosen, filter(None, map(self.lines.program, shown))):
            if self.lines.shown(span.line) and self.lines.shown(span.end_line):
                yield self._text_mark(span)

    def _of_error(self) -> Iterator[Mark]:
        """Wavy lines from each place that cannot be read to the end of its word."""
        for error in self.error.all if self.error is not None else ():
            block = self._editor.document().findBlockByNumber(min(error.line, self.lines.count) - 1)
            line = block.text()
            start, end = wavy(line, error.column)
            cursor = QTextCursor(block)
            cursor.setPosition(block.position() + text_replacement.units(line[:start]))
            cursor.setPosition(block.position() + text_replacement.units(line[:end]), QTextCursor.MoveMode.KeepAnchor)
            mark = Mark()
            mark.cursor = cursor
            mark.format.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
            mark.format.setUnderlineColor(self.theme.color("danger"))
            yield mark

    def _lines(self, items: Iterable[ItemId]) -> list[int]:
        return [line for item in items if (line := self.line_of(item))]

    def _mark_margin(self, now: Truths) -> None:
        debug = self._session.debug
        stops: dict[int, bool] = {}
        shown: dict[int, Breakpoint] = {}
        for node in {point.node for point in debug.breakpoints}:
            at, points = self.line_of(node), debug.at(node)
            if at and points:
                stops[at] = stops.get(at, False) or any(debug.enabled(point.id) for point in points)
                before = (shown[at],) if at in shown else ()
                shown[at] = min((*before, *points), key=_rank)
        active = now.active
        line = self._line_at(active, now.call) if active is not None else 0
        margin = self._editor.gutter
        margin.show_marks(stops, line or None, active.phase if active is not None else "forward", shown)
        failing = {self.failing_line(failure): failure.words for failure in now.failures}
        failing.pop(0, None)
        unread = min(self.error.line, self.lines.count) if self.error is not None else 0
        margin.show_troubles(failing, unread, self.error.reason if self.error is not None else "")

    def _line_mark(self, line: int, color: str | QColor) -> Mark:
        mark = Mark()
        mark.cursor = QTextCursor(self._editor.document().findBlockByNumber(line - 1))
        mark.format.setBackground(QColor(color))
        mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        return mark

    def _text_mark(self, span: Span) -> Mark:
        mark, document = Mark(), self._editor.document()
        cursor = QTextCursor(document)
        first, last = self.lines.shown(span.line), self.lines.shown(span.end_line)
        is_other = self.lines.is_spelled_otherwise(first)
        begin = _margin(document.findBlockByNumber(first - 1).text()) if is_other else span.column
        end = 10**6 if self.lines.is_spelled_otherwise(last) else span.end_column
        cursor.setPosition(text_replacement.position(document, first, begin))
        cursor.setPosition(text_replacement.position(document, last, end), QTextCursor.MoveMode.KeepAnchor)
        mark.cursor = cursor
        mark.format.setBackground(QColor(self.theme.syntax.selected))
        return mark


def wavy(line: str, column: int) -> tuple[int, int]:
    """From where to where a line is underlined: the word at a column; a blank or the end takes in the word before."""
    column = min(column, len(line))
    if column == len(line) or line[column].isspace():
        start = len(line[:column].rstrip())
        while start > 0 and (line[start - 1].isalnum() or line[start - 1] in "_."):
            start -= 1
        start = start if line[start:column].strip() else max(0, len(line[:column].rstrip()) - 1)
        return (start, column) if column > start else (0, len(line))
    end = column
    while end < len(line) and (line[end].isalnum() or line[end] in "_."):
        end += 1
    return column, max(end, column + 1)


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


def _rank(point: Breakpoint) -> tuple[bool, bool, bool]:
    """Of several at one line the first is shown: a pause before a watch, a node's before a wire's."""
    return not point.stops, bool(point.target), point.phase == "backward"
