"""The lines of a selected card of code, to be read; they are written in the Code dock."""

from typing import Final

from PySide6.QtWidgets import QPlainTextEdit, QWidget

from gradstudio.graph.model import ItemId
from gradstudio.graph.text.code_records import code_of, is_code_at
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme, mono_font
from gradstudio.ui.widgets.form_layout import Section, label
from gradstudio.ui.widgets.python_highlighter import PythonHighlighter

MOST_LINES: Final = 16
"""So many lines are seen at once."""
WORDS: Final = "A double click on the card, Enter or F4 leads to these lines in the Code dock."


class CodeSection(Section):
    """Hidden for what is drawn."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """No code yet."""
        super().__init__("Lines", parent)
        self._session = session
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

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._highlighter.set_theme(theme)
