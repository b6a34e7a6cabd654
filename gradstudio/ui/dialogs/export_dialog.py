"""Shows the program in each form it can be written in, and asks what to do with one."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from gradstudio.document.python.python_export import words_beside
from gradstudio.graph.model import Graph
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.form_table import FORMS, Form, reports_by_itself
from gradstudio.ui.theme import Theme, icon, mono_font
from gradstudio.ui.widgets.python_highlighter import PythonHighlighter

SIZE_PX = (1040, 680)
LIST_PX = 190
ROW_PX = 32
ICON_PX = 20


class ExportDialog(QDialog):
    """Forms on the left, the text of the chosen one on the right, and whether that prints all values at its end.

    Signals:
        save_asked(object): the form to write; the dialog stays until it is accepted.
    """

    save_asked = Signal(object)

    def __init__(self, graph: Graph, stem: str, theme: Theme, parent: QWidget | None = None) -> None:
        """Show the first form of a graph, as a file with that stem."""
        super().__init__(parent)
        self.setWindowTitle("Export Python")
        self._graph, self._stem, self._text = graph, stem, ""
        self._build(theme)
        self._list.setCurrentRow(0)

    @property
    def report(self) -> bool:
        """Whether all values are printed at the end."""
        return self._report.isChecked()

    @property
    def form(self) -> Form:
        """The chosen form."""
        return FORMS[max(0, self._list.currentRow())]

    def choose(self, name: str) -> None:
        """Show the form of that name, if there is one."""
        rows = [row for row, form in enumerate(FORMS) if form.name == name]
        self._list.setCurrentRow(rows[0] if rows else 0)

    # ------------------------------------------------------------------ inner workings

    def _build(self, theme: Theme) -> None:
        self.resize(*SIZE_PX)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 18)
        column.setSpacing(14)
        row = QHBoxLayout()
        row.setSpacing(18)
        row.addWidget(self._forms())
        row.addLayout(self._right(theme), 1)
        column.addLayout(row, 1)
        column.addLayout(self._buttons())
        QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), self, self._on_copy_clicked)

    def _forms(self) -> QListWidget:
        self._list = QListWidget()
        self._list.setAccessibleName("Form")
        self._list.setFixedWidth(LIST_PX)
        self._list.setStyleSheet("QListWidget::item { padding-left: 8px; }")
        for form in FORMS:
            item = QListWidgetItem(form.title)
            item.setSizeHint(QSize(0, ROW_PX))
            item.setToolTip(form.summary)
            self._list.addItem(item)
        self._list.currentRowChanged.connect(self._on_list_row_changed)
        self._list.itemActivated.connect(lambda _item: self._on_save_clicked())
        return self._list

    def _right(self, theme: Theme) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(4)
        self._title, self._summary = QLabel(), QLabel()
        self._title.setProperty("role", "title")
        self._summary.setProperty("role", "dim")
        self._summary.setWordWrap(True)
        self._preview = QPlainTextEdit()
        self._preview.setObjectName("preview")
        self._preview.setReadOnly(True)
        self._preview.setAccessibleName("Text of the file")
        self._preview.setFont(mono_font(13))
        self._preview.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._preview.setTabChangesFocus(True)
        self._highlighter = PythonHighlighter(self._preview.document(), theme)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._preview)
        self._pages.addWidget(self._refusal(theme))
        column.addWidget(self._title)
        column.addWidget(self._summary)
        column.addSpacing(8)
        column.addWidget(self._pages, 1)
        return column

    def _refusal(self, theme: Theme) -> QWidget:
        page = QWidget()
        row = QHBoxLayout(page)
        row.setContentsMargins(0, 8, 0, 0)
        row.setSpacing(10)
        sign = QLabel()
        sign.setPixmap(icon("warning", theme, "warning").pixmap(ICON_PX, ICON_PX))
        self._why = QLabel()
        self._why.setWordWrap(True)
        self._why.setTextFormat(Qt.TextFormat.PlainText)
        self._why.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._why, 1, Qt.AlignmentFlag.AlignTop)
        return page

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self._copy, self._save = QPushButton("&Copy"), QPushButton("&Save…")
        self._report = QCheckBox("&Print all values at the end")
        self._report.setChecked(reports_by_itself(self._graph))
        self._report.toggled.connect(self._on_list_row_changed)
        cancel = QPushButton("Cancel")
        self._save.setDefault(True)
        for button in (self._copy, cancel):
            button.setAutoDefault(False)
        self._copy.clicked.connect(self._on_copy_clicked)
        self._save.clicked.connect(self._on_save_clicked)
        cancel.clicked.connect(self.reject)
        row.addWidget(self._copy)
        row.addSpacing(12)
        row.addWidget(self._report)
        row.addStretch(1)
        row.addWidget(cancel)
        row.addWidget(self._save)
        return row

    def _on_list_row_changed(self, _row: int) -> None:
        form, reason = self.form, ""
        self._report.setVisible(form.reports)
        try:
            self._text = form.preview(self._graph, self._stem, self.report)
        except NoForm as error:
            self._text, reason = "", str(error)
        self._title.setText(form.title)
        words = words_beside(self._graph, form.name, self._stem) if not reason else ""
        self._summary.setText(f"{form.summary}\n{words}".rstrip())
        self._why.setText(reason)
        self._preview.setPlainText(self._text)
        self._pages.setCurrentIndex(1 if reason else 0)
        self._copy.setText("&Copy")
        for button in (self._copy, self._save):
            button.setEnabled(not reason)

    def _on_copy_clicked(self) -> None:
        if self._copy.isEnabled():
            QGuiApplication.clipboard().setText(self._text)
            self._copy.setText("Copied")

    def _on_save_clicked(self) -> None:
        if self._save.isEnabled():
            self.save_asked.emit(self.form)
