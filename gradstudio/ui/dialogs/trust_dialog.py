"""Asks whether the Python of a document that is not drawn may run, and shows all of it."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextBlockFormat, QTextCursor, QTextOption
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QTextEdit, QVBoxLayout, QWidget

from gradstudio.program.trust import NUMBER_WIDTH, deeds_of, numbered_runs
from gradstudio.ui.dialogs.dialog_size import fit_dialog
from gradstudio.ui.state.trust.code_question import CodePart
from gradstudio.ui.theme import Theme, icon, mono_font
from gradstudio.ui.widgets.form_layout import label
from gradstudio.ui.widgets.python_highlighter import PythonHighlighter

WIDTH_PX, HEIGHT_PX = 720, 560
ICON_PX = 24
TAB_COLUMNS = 4
GUTTER_COLUMNS = NUMBER_WIDTH + 2
"""Columns before the code of a line: its number, and two spaces."""
WORDS = (
    "Part of this program is Python that is not drawn. Run, these lines can do whatever you can: read, change and "
    "delete your files, connect to the network, start programs. They run without the walls that keep drawn programs "
    "in.\nTrust them only if you have read them, or would let who wrote them work at your computer. The yes is to "
    "exactly these lines: others are asked for again."
)
DEEDS = (
    "It is drawn, and does more than compute: it {}. For that it runs without the walls that keep drawn programs in.\n"
    "Say yes if you want that. The yes is to exactly these lines: others are asked for again."
)


class TrustDialog(QDialog):
    """Nothing runs before *Trust and run* is pressed; Enter and Escape do not press it."""

    def __init__(self, parts: Sequence[CodePart], name: str, theme: Theme, parent: QWidget | None = None) -> None:
        """Show the lines of the document of that name."""
        super().__init__(parent)
        self.setWindowTitle("Trust this code?")
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 18)
        column.setSpacing(12)
        deeds = deeds_of(part.text for part in parts)
        question = f"May “{name}” do more than compute?" if deeds else f"Do you trust the code in “{name}”?"
        column.addLayout(self._head(question, theme))
        words = QLabel(DEEDS.format(" and ".join(deeds)) if deeds else WORDS)
        words.setTextFormat(Qt.TextFormat.PlainText)
        words.setWordWrap(True)
        column.addWidget(words)
        runs = numbered_runs((part.numbers, part.text) for part in parts)
        column.addWidget(label(_count_words(parts, len(runs)), "dim", wrap=True))
        self.lines = self._lines("\n\n".join(runs), theme)
        column.addWidget(self.lines, 1)
        column.addLayout(self._buttons())
        fit_dialog(self, WIDTH_PX, HEIGHT_PX)
        self.refuse.setFocus()

    def _head(self, question: str, theme: Theme) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(10)
        sign = QLabel()
        sign.setPixmap(icon("warning", theme, "warning").pixmap(ICON_PX, ICON_PX))
        title = QLabel(question)
        title.setTextFormat(Qt.TextFormat.PlainText)
        title.setProperty("role", "title")
        title.setWordWrap(True)
        row.addWidget(sign)
        row.addWidget(title, 1)
        return row

    def _lines(self, text: str, theme: Theme) -> QTextEdit:
        """All of it: a line that is longer than the dialog is wide goes on below, behind the column of numbers."""
        shown = QTextEdit()
        shown.setReadOnly(True)
        shown.setAcceptRichText(False)
        shown.setFont(mono_font())
        shown.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        shown.setAccessibleName("Lines of code that need your trust")
        shown.setTabChangesFocus(True)
        shown.setPlainText(text)
        column = shown.fontMetrics().horizontalAdvance(" ")
        shown.setTabStopDistance(TAB_COLUMNS * column)
        block = QTextBlockFormat()
        block.setLeftMargin(GUTTER_COLUMNS * column)
        block.setTextIndent(-GUTTER_COLUMNS * column)
        cursor = QTextCursor(shown.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.mergeBlockFormat(block)
        self._highlighter = PythonHighlighter(shown.document(), theme)
        return shown

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        self.trust, self.refuse = QPushButton("Trust and run"), QPushButton("Don't run")
        for button in (self.trust, self.refuse):
            button.setAutoDefault(False)
            row.addWidget(button)
        self.refuse.setDefault(True)
        self.trust.clicked.connect(self.accept)
        self.refuse.clicked.connect(self.reject)
        return row


def _count_words(parts: Sequence[CodePart], runs: int) -> str:
    """How many lines there are, at how many places, and where their numbers count."""
    count = sum(len(part.numbers) for part in parts)
    lines = "1 line" if count == 1 else f"{count:,} lines"
    places = "" if runs == 1 else f" at {runs:,} places"
    counted = "numbered as in the file" if all(part.is_of_file for part in parts) else "numbered as in the Code dock"
    return f"{lines}{places}, {counted}:"


def may_run_code(parts: Sequence[CodePart], name: str, theme: Theme, parent: QWidget | None = None) -> bool:
    """Ask; without an answer it does not run."""
    dialog = TrustDialog(parts, name, theme, parent)
    said_yes = dialog.exec() == QDialog.DialogCode.Accepted
    dialog.deleteLater()
    return said_yes
