"""Asks which module of a Python file is to be brought, and for the yes to run that file's code."""

from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gradstudio.document.python.module_import import ImportOption
from gradstudio.protocol.messages.module_import import BringModule, Brought, NotBrought, in_words
from gradstudio.ui.state.run.module_importer import ModuleImporter
from gradstudio.ui.theme import Theme, icon

WIDTH_PX = 580
PATIENCE_MS = 500
"""How long it may take before progress is shown."""
ICON_PX = 20
EXAMPLE = "torch.randn(1, 3, 32, 32)"


class ImportModuleDialog(QDialog):
    """Nothing of the file is executed before *Run code and import* is pressed.

    Attributes:
        brought: what came of it; None when the person left.
    """

    def __init__(
        self,
        path: Path,
        offers: tuple[ImportOption, ...],
        bringing: ModuleImporter,
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        """Show what the file offers."""
        super().__init__(parent)
        self.setWindowTitle("Import module")
        self.brought: Brought | None = None
        self._path, self._offers, self._bringing = path, offers, bringing
        self._inputs: list[tuple[str, QLineEdit]] = []
        self._proposed = ""
        self._patience = QTimer(self, singleShot=True, interval=PATIENCE_MS)
        self._patience.timeout.connect(self._on_patience_timeout)
        self._build(theme)
        bringing.answered.connect(self._on_bringing_answered)
        bringing.ended.connect(self._on_bringing_ended)
        self._show_offer()
        self._set_busy(False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter in a field goes to the next one: neither does it run code, nor is what was typed lost."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and isinstance(self.focusWidget(), QLineEdit):
            self.focusNextChild()
            return
        super().keyPressEvent(event)

    # ------------------------------------------------------------------ inner workings

    def _build(self, theme: Theme) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 18)
        column.setSpacing(12)
        title = QLabel(f"Import a module of {self._path.name}")
        title.setProperty("role", "title")
        folder = QLabel(str(self._path.parent))
        folder.setProperty("role", "dim")
        folder.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        for widget in (title, folder):
            column.addWidget(widget)
        self._fields = QWidget()
        column.addWidget(self._fields)
        self._fill_form()
        column.addWidget(self._warning(theme))
        self._problem = QLabel()
        self._problem.setProperty("role", "danger")
        self._problem.setWordWrap(True)
        self._problem.setTextFormat(Qt.TextFormat.PlainText)
        self._problem.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._problem.setFixedWidth(WIDTH_PX - 44)
        self._problem.hide()
        column.addWidget(self._problem)
        column.addLayout(self._buttons())
        self.setMinimumWidth(WIDTH_PX)

    def _fill_form(self) -> None:
        self._form = QFormLayout(self._fields)
        self._form.setContentsMargins(0, 4, 0, 4)
        self._form.setHorizontalSpacing(14)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._names = QComboBox()
        self._names.setAccessibleName("Module")
        for offer in self._offers:
            self._names.addItem(f"{offer.name}   ({offer.kind}, line {offer.line})", offer.name)
        whole = next((row for row, offer in enumerate(self._offers) if not offer.is_used), 0)
        self._names.setCurrentIndex(whole)  # the model, not a part of it
        self._names.currentIndexChanged.connect(lambda _index: self._show_offer())
        self._arguments = QLineEdit()
        self._arguments.setAccessibleName("Constructor arguments")
        self._arguments.setToolTip("Values, and calls of what the file itself binds: 64, config=Config(depth=2)")
        self._evaluate = QCheckBox("In eval mode: no dropout, stored statistics of normalisation")
        self._form.addRow("Module", self._names)
        self._form.addRow("Arguments", self._arguments)
        self._form.addRow("", self._evaluate)

    def _warning(self, theme: Theme) -> QWidget:
        box = QFrame()
        row = QHBoxLayout(box)
        row.setContentsMargins(0, 2, 0, 2)
        row.setSpacing(10)
        sign = QLabel()
        sign.setPixmap(icon("warning", theme, "warning").pixmap(ICON_PX, ICON_PX))
        row.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
        words = QLabel(
            f"This runs the code of {self._path.name} on this computer, with all that it may do: files, network, "
            "programs. It runs in a process of its own, which ends afterwards. Do it only with a file that you trust."
        )
        words.setWordWrap(True)
        row.addWidget(words, 1)
        return box

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self._progress = QProgressBar()
        self._progress.setRange(0, 0)
        self._progress.setTextVisible(False)
        self._progress.setFixedHeight(6)
        self._state = QLabel("Running…")
        self._state.setProperty("role", "dim")
        row.addWidget(self._state)
        row.addWidget(self._progress, 1)
        row.addStretch(1)
        self._run = QPushButton("Run code and import")
        self._stop = QPushButton("Stop")
        self._cancel = QPushButton("Cancel")
        for button in (self._run, self._stop, self._cancel):
            button.setAutoDefault(False)
            row.addWidget(button)
        self._cancel.setDefault(True)
        self._run.clicked.connect(self._on_run_clicked)
        self._stop.clicked.connect(self._on_stop_clicked)
        self._cancel.clicked.connect(self.reject)
        return row

    def _offer(self) -> ImportOption:
        return self._offers[self._names.currentIndex()]

    def _show_offer(self) -> None:
        """The fields that this module needs."""
        offer, kept = self._offer(), {word: field.text() for word, field in self._inputs}
        for _, field in self._inputs:
            self._form.removeRow(field)
        self._inputs = []
        self._propose(offer)
        self._form.setRowVisible(self._arguments, offer.kind != "object")
        for word in offer.takes or ("",):
            field = QLineEdit(kept.get(word, ""))
            field.setPlaceholderText(EXAMPLE)
            field.setAccessibleName(f"Input {word}".strip())
            field.setToolTip("What it is called with, in torch's words. Others may follow: , mask=torch.ones(2)")
            self._form.insertRow(self._form.rowCount() - 1, f"Input {word}" if word else "Inputs", field)
            self._inputs.append((word, field))
        fields = [self._names, self._arguments, *(field for _, field in self._inputs), self._evaluate]
        for one, other in pairwise([*fields, self._run, self._stop, self._cancel]):
            self.setTabOrder(one, other)

    def _propose(self, offer: ImportOption) -> None:
        """The arguments that the file itself offers stand there already, where the person wrote none."""
        needs = ", ".join(f"{word}=…" for word in offer.needs)
        self._arguments.setPlaceholderText(needs or "none are needed")
        if self._arguments.text() in ("", self._proposed):
            self._arguments.setText(offer.proposed)
        self._proposed = offer.proposed

    def _request(self) -> BringModule:
        given = [(word, field.text().strip()) for word, field in self._inputs]
        inputs = tuple(f"{word}={text}" if word else text for word, text in given if text)
        return BringModule(
            path=str(self._path),
            name=self._offer().name,
            arguments=self._arguments.text().strip() if self._offer().kind != "object" else "",
            inputs=inputs,
            evaluate=self._evaluate.isChecked(),
            stem=self._offer().name,
        )

    def _set_busy(self, busy: bool) -> None:
        self._patience.start() if busy else self._patience.stop()
        for one in (self._state, self._progress, self._stop):
            one.hide()
        self._fields.setEnabled(not busy)
        self._run.setEnabled(not busy)
        self._run.show()

    def _say(self, words: str) -> None:
        self._problem.setText(words)
        self._problem.setVisible(bool(words))
        self.adjustSize()

    # ------------------------------------------------------------------ slots

    def _on_run_clicked(self) -> None:
        self._say("")
        self._set_busy(True)
        self._bringing.ask(self._request())

    def _on_stop_clicked(self) -> None:
        self._bringing.stop()
        self._set_busy(False)
        self._say("Stopped. Nothing was imported.")

    def _on_patience_timeout(self) -> None:
        for widget in (self._state, self._progress, self._stop):
            widget.show()
        self._run.hide()

    def _on_bringing_answered(self, answer: Brought | NotBrought) -> None:
        self._set_busy(False)
        if isinstance(answer, NotBrought):
            self._say(in_words(answer).replace("--args ", "").replace("--input ", ""))  # here are fields
            return
        self.brought = answer
        self.accept()

    def _on_bringing_ended(self, how: str) -> None:
        self._set_busy(False)
        self._say(f"The code ended the process that ran it: {how}. Nothing was imported.")
