"""When the unexpected happens: a report that can be copied, a log with the traceback, and the window lives on."""

import faulthandler
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO

from PySide6.QtWidgets import QApplication, QDialog, QDialogButtonBox, QPlainTextEdit, QVBoxLayout

from gradstudio.ui.app.crash_report import LastLines, report_of
from gradstudio.ui.theme import mono_font
from gradstudio.ui.widgets.form_layout import label

Button = QDialogButtonBox.StandardButton
Hook = Callable[[type[BaseException], BaseException, TracebackType | None], object]
_log = logging.getLogger(__name__)


class CrashDialog(QDialog):
    """Says that something went wrong inside, with the report to copy."""

    def __init__(self, report: str) -> None:
        """Show a report."""
        super().__init__(QApplication.activeWindow())
        self.setWindowTitle("GradStudio met an error of its own")
        self._report = report
        text = QPlainTextEdit(report)
        text.setObjectName("field")
        text.setReadOnly(True)
        text.setFont(mono_font(11))
        buttons = QDialogButtonBox(Button.Close)
        copy = buttons.addButton("Copy report", QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(lambda: QApplication.clipboard().setText(self._report))
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(label("Something went wrong inside GradStudio.", "title"))
        words = (
            "Your document is still open; save it under another name to be safe. The report helps to mend the error."
        )
        column.addWidget(label(words, "dim", wrap=True))
        column.addWidget(text)
        column.addWidget(buttons)
        self.resize(680, 420)


class CrashGuard:
    """Catches what no slot caught, and keeps a file for crashes of the interpreter itself."""

    def __init__(self, folder: Path) -> None:
        """Write into `folder`; call `install`."""
        self._folder = folder
        self._file: IO[str] | None = None
        self._before: Hook = sys.excepthook
        self._showing = False
        self._lines = LastLines()

    def install(self) -> None:
        """Hook in; a folder that cannot be written costs only the crash file."""
        self._before, sys.excepthook = sys.excepthook, self._on_exception
        logging.getLogger().addHandler(self._lines)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = (self._folder / "crash.txt").open("w", encoding="utf-8")
            faulthandler.enable(self._file)
        except OSError:
            self._file = None

    def last_crash(self) -> str:
        """What the interpreter wrote when it died the last time; "" when it did not. Ask before `install`."""
        try:
            return (self._folder / "crash.txt").read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return ""

    def remove(self) -> None:
        """Hook out again."""
        sys.excepthook = self._before
        logging.getLogger().removeHandler(self._lines)
        if self._file is not None:
            faulthandler.disable()
            self._file.close()
            self._file = None

    def _on_exception(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            QApplication.quit()
            return
        _log.error("unexpected error", exc_info=(kind, error, trace))
        if self._showing:
            return
        self._showing = True
        dialog = CrashDialog(report_of(kind, error, trace, tuple(self._lines.lines)))
        dialog.exec()
        dialog.deleteLater()
        self._showing = False
