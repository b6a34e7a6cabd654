"""When the unexpected happens: a log with the traceback, a dialog that is loaded then, and the window lives on."""

import faulthandler
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO

from PySide6.QtWidgets import QApplication

from gradstudio.ui.app.crash_report import LastLines, report_of

Hook = Callable[[type[BaseException], BaseException, TracebackType | None], object]
_log = logging.getLogger(__name__)


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
        from gradstudio.ui.app.crash_dialog import CrashDialog

        dialog = CrashDialog(report_of(kind, error, trace, tuple(self._lines.lines)))
        dialog.exec()
        dialog.deleteLater()
        self._showing = False
