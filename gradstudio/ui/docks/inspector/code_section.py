"""The lines of a selected card of code, to be read, and what code has called; it is written in the Code dock."""

from itertools import groupby
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QColor, QTextCursor, QTextFormat
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QTreeWidgetItem, QWidget

from gradstudio.graph.groups.code_ids import CodeCall
from gradstudio.graph.model import ItemId
from gradstudio.graph.text.code_records import code_of, is_code_at
from gradstudio.graph.text.drawn_bodies import bodies_in
from gradstudio.protocol.messages.records import Record, TensorRecord
from gradstudio.scene import value_format
from gradstudio.ui.docks.inspector.call_tree import CALL, GRADIENT, SHAPE, CallTree
from gradstudio.ui.state.results.code_calls import CallInside, call_at, calls_inside
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme, mono_font
from gradstudio.ui.timeline.moment_card import figures, short
from gradstudio.ui.widgets.form_layout import Section, label
from gradstudio.ui.widgets.python_highlighter import PythonHighlighter

MOST_LINES: Final = 16
"""So many lines are seen at once."""
MOST_CALLS: Final = 400
"""So many the engine notes of one execution."""
TICK: Final = Qt.ItemDataRole.UserRole
FIRST_ONLY: Final = f"These are the first {MOST_CALLS} calls. What followed them ran as well, and is not recorded."
WORDS: Final = "A double click on the card, Enter or F4 leads to these lines in the Code dock."


class CodeSection(Section):
    """Hidden for what is drawn."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """No code yet."""
        super().__init__("Lines", parent)
        self._session, self._theme = session, theme
        self.lines = QPlainTextEdit()
        self.lines.setReadOnly(True)
        self.lines.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.lines.setFont(mono_font())
        self.lines.setTabChangesFocus(True)
        self.lines.setAccessibleName("Lines of code")
        self._highlighter = PythonHighlighter(self.lines.document(), theme)
        self.add(self.lines, label(WORDS, "dim", wrap=True))
        self.hide()

    def show_item(self, item: ItemId) -> None:
        """Show the lines of an item, if it holds code."""
        graph = self._session.shown_store.graph
        self.setVisible(is_code_at(graph, item))
        if not is_code_at(graph, item):
            return
        text = code_of(graph.nodes[item])
        if text != self.lines.toPlainText():
            self.lines.setPlainText(text)
            rows = min(MOST_LINES, text.count("\n") + 1) + 1
            self.lines.setFixedHeight(rows * self.lines.fontMetrics().lineSpacing() + 12)
        line = self._session.attention.line if not bodies_in(graph.nodes[item]) else 0
        if line or self.lines.extraSelections():
            self._point_at(line)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self._highlighter.set_theme(theme)

    def _point_at(self, line: int) -> None:
        """Mark a line (from 1) and bring it into view; 0: none."""
        mark = QTextEdit.ExtraSelection()
        mark.cursor = QTextCursor(self.lines.document().findBlockByNumber(line - 1))
        mark.format.setBackground(QColor(self._theme.syntax.selected))
        mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        self.lines.setExtraSelections([mark] if line else [])
        if line:
            self.lines.setTextCursor(mark.cursor)


class InsideSection(Section):
    """What the code of a statement called: a row a call, under the line that made it; a click looks at that moment.

    Attributes:
        is_looked_at: whether the step that the timeline stands at is one of them.
    """

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """Nothing has run."""
        super().__init__("Inside", parent)
        self._session, self._theme = session, theme
        self.is_looked_at = False
        self._calls: tuple[CallInside, ...] = ()
        self._rows: list[QTreeWidgetItem] = []
        self.tree = CallTree(self)
        self.remark = label("", "dim", wrap=True)
        self.add(self.tree, self.remark)
        self.tree.itemClicked.connect(lambda row, _column: self._on_tree_chosen(row))
        self.tree.itemActivated.connect(lambda row, _column: self._on_tree_chosen(row))
        self.hide()

    def show_item(self, item: ItemId) -> None:
        """Show what is inside of an item, as of the moment; hidden where nothing is."""
        results = self._session.results
        calls = calls_inside(results, item) if results.tables.names.has_code else ()
        self.setVisible(bool(calls))
        if calls != self._calls:
            self._calls = calls
            self._fill()
        self._mark(call_at(results))

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self._fill()

    def _fill(self) -> None:
        names, question = self._session.results.tables.names, self._session.run.code_question
        self._rows = []
        lines = []
        for _, some in groupby(self._calls, key=lambda one: (one.call.file, one.call.line)):
            calls = tuple(some)
            call = calls[0].call
            number = "" if call.file else f"{question.line(call.line)}  "
            line = QTreeWidgetItem([f"{number}{names.line(call)}"])
            line.setForeground(0, QBrush(self._theme.color("text_dim")))
            line.setToolTip(0, line.text(0))
            line.setData(0, TICK, calls[0].tick)
            rows = [self._row(one) for one in calls]
            line.addChildren(rows)
            self._rows += rows
            lines.append(line)
        self.tree.show_lines(lines)
        self.remark.setText(FIRST_ONLY if len(self._calls) >= MOST_CALLS else "")
        self.remark.setVisible(bool(self.remark.text()))

    def _row(self, one: CallInside) -> QTreeWidgetItem:
        record = one.row.outputs[0] if one.row.outputs else None
        gradient = one.gradient
        summary = gradient.grad if gradient is not None else None
        shape, value = _shape_and_value(record)
        row = QTreeWidgetItem([one.call.word, shape, value, figures(summary) if summary is not None else ""])
        row.setData(CALL, TICK, one.tick)
        row.setForeground(SHAPE, QBrush(self._theme.color("text_dim")))
        row.setForeground(GRADIENT, QBrush(self._theme.category_mark("Autograd")))
        results = [f"{value_format.one_line_value(each)}  {_words(each)}" for each in one.row.outputs]
        reason = gradient.reason if gradient is not None else ""
        last = f"gradient: {row.text(GRADIENT) or reason}" if gradient is not None else ""
        words = "\n".join(filter(None, (one.call.path, *results, last)))
        for column in range(row.columnCount()):
            row.setToolTip(column, words)
        return row

    def _mark(self, now: CodeCall | None) -> None:
        """The call that is looked at, on the way forward or back, is the one that is selected."""
        place = next((place for place, one in enumerate(self._calls) if one.call == now), None)
        self.is_looked_at = place is not None
        if place is None:
            self.tree.clearSelection()
        else:
            self.tree.setCurrentItem(self._rows[place])

    def _on_tree_chosen(self, row: QTreeWidgetItem) -> None:
        self._session.attention.look_at(int(row.data(0, TICK)), into=True)


def _words(record: Record | None) -> str:
    if record is None:
        return ""
    return short(record.summary) if isinstance(record, TensorRecord) else value_format.one_line_value(record)


def _shape_and_value(record: Record | None) -> tuple[str, str]:
    if not isinstance(record, TensorRecord):
        return "", _words(record)
    return value_format.shape(record.summary.shape), figures(record.summary)
