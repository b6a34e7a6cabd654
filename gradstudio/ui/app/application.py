"""Starts the window: looks whether one can be opened, builds everything, runs Qt's loop.

torch is never imported in this process.
"""

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gradstudio.ui.app import display_check, library_imports, qt_compatibility

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from gradstudio.document.errors import DocumentError
    from gradstudio.ui.app.crash_guard import CrashGuard
    from gradstudio.ui.app.window.main_window import MainWindow
    from gradstudio.ui.app.window.window_frame import Frame
    from gradstudio.ui.state.settings import Settings
    from gradstudio.ui.theme import Theme

NO_WINDOW = 3
USAGE = "usage: gradstudio [FILE...] [--config-dir FOLDER] [--reset]"


def main(argv: list[str]) -> int:
    """Open the window on files, or on what was open last, or on the welcome page; the exit code is returned.

    Args:
        argv: what follows the program's name.
    """
    try:
        paths, folder, reset = parse(argv)
        qt_compatibility.check(pyside_text=_pyside_version())
    except (ValueError, qt_compatibility.UnfitQt) as error:
        print(f"gradstudio: {error}", file=sys.stderr)  # noqa: T201
        return NO_WINDOW if isinstance(error, qt_compatibility.UnfitQt) else 2
    if reason := display_check.why_no_window():
        print(f"gradstudio: {reason}", file=sys.stderr)  # noqa: T201
        return NO_WINDOW
    return _run(paths, folder, reset)


def parse(argv: list[str]) -> tuple[tuple[Path, ...], Path | None, bool]:
    """The files, the folder of settings, and whether to forget the layout.

    Raises:
        ValueError: an argument is not known; the message is the usage.
    """
    paths: list[Path] = []
    folder: Path | None = None
    reset, rest = False, list(argv)
    while rest:
        argument = rest.pop(0)
        if argument == "--reset":
            reset = True
        elif argument == "--config-dir" and rest:
            folder = Path(rest.pop(0))
        elif argument.startswith("-"):
            raise ValueError(USAGE)
        else:
            paths.append(Path(argument))
    return tuple(paths), folder, reset


def _pyside_version() -> str:
    """The version as the package says it, without loading any Qt library; "" where there is none."""
    try:
        from PySide6 import __version__
    except ImportError:
        return ""
    return str(__version__)


def _run(paths: tuple[Path, ...], folder: Path | None, reset: bool) -> int:
    library_imports.load()
    from PySide6.QtWidgets import QApplication

    from gradstudio.ui import theme as themes
    from gradstudio.ui.app.window.window_frame import Frame
    from gradstudio.ui.state.settings import Settings

    application = QApplication(sys.argv[:1])
    application.setApplicationName("gradstudio")
    application.setApplicationDisplayName("GradStudio")
    application.setDesktopFileName("gradstudio")
    settings = Settings(folder)
    if reset:
        settings.window.clear()
    themes.TextScale.factor = settings.preferences.ui_scale / 100
    themes.ToolTips.delay_ms = settings.preferences.tooltip_ms
    theme = themes.find(settings.preferences.theme, settings.folder).theme
    themes.apply(application, theme)
    frame = Frame(settings, theme)
    start = _Start(application, frame, settings, theme, paths)
    frame.first_painted.connect(start.soon)
    frame.show()
    if _has_lesson(settings, paths):  # its dock stands in the first picture, so that nothing moves when it is filled
        frame.docks.offer_lesson(True)
        frame.layout_keeper.settle()
    frame.cover(theme)
    code = application.exec()
    start.end()
    return code


def to_open(settings: "Settings", asked: tuple[Path, ...]) -> tuple[tuple[Path, ...], int]:
    """What was asked for, or what was open last and is still there; and which of them is in front."""
    kept = settings.preferences
    if asked or not kept.reopen:
        return asked, 0
    before = tuple(path for path in map(Path, kept.open_documents) if path.is_file())
    return before, kept.open_place if kept.open_place < len(before) else 0


def _has_lesson(settings: "Settings", asked: tuple[Path, ...]) -> bool:
    """Whether there is a lesson for what will be in front."""
    from gradstudio.paths import examples

    files, place = to_open(settings, asked)
    return bool(files) and (examples() / "lessons" / f"{files[place].stem}.md").is_file()


class _Start:
    """What follows the first paint: the engine begins to import torch while the window is being filled."""

    def __init__(
        self, application: "QApplication", frame: "Frame", settings: "Settings", theme: "Theme", paths: tuple[Path, ...]
    ) -> None:
        self._application, self._frame, self._paths = application, frame, paths
        self._settings, self._theme = settings, theme
        self._crashes: CrashGuard | None = None

    def soon(self) -> None:
        """Go on when the frame is on the screen."""
        from PySide6.QtCore import QTimer

        QTimer.singleShot(0, self._frame, self.fill)

    def fill(self) -> None:
        """Load everything else, build it, and show the document."""
        from PySide6.QtGui import QIcon

        from gradstudio import paths
        from gradstudio.ui.app.crash_guard import CrashGuard
        from gradstudio.ui.state.run.engine_client import EngineClient

        self._frame.setUpdatesEnabled(False)
        self._crashes = CrashGuard(self._settings.state_folder)
        last_crash = self._crashes.last_crash()
        self._crashes.install()
        engine = EngineClient()
        engine.start()

        from gradstudio.ui.app.window.main_window import MainWindow
        from gradstudio.ui.state.session import Session

        window = MainWindow(self._frame, Session(engine), self._settings, self._theme)
        unread = self._open_first(window)
        window.learning.follow_opened()
        window.session.problems.put_off(True)
        self._application.setWindowIcon(QIcon(str(paths.resources() / "icons" / "gradstudio.svg")))
        window.load_plot_later()
        self._show_soon(window, unread, last_crash)

    def _open_first(self, window: "MainWindow") -> "dict[Path, DocumentError]":
        """Open what was asked for, or what was open last: the one in front now, the others when the window stands."""
        from PySide6.QtCore import QTimer

        paths, place = to_open(self._settings, self._paths)
        unread: dict[Path, DocumentError] = {}

        def open_one(path: Path, *, show: bool) -> None:
            if (error := window.documents.open(path, show=show)) is not None:
                unread[path] = error
            elif self._paths:
                self._settings.add_recent(path)

        if not paths:
            window.learning.greet()
            return unread
        open_one(paths[place], show=True)

        def open_rest() -> None:
            for path in paths:
                open_one(path, show=False)
            window.documents.arrange(paths)

        if len(paths) > 1:
            QTimer.singleShot(0, window, open_rest)
        return unread

    def _show_soon(self, window: "MainWindow", unread: "dict[Path, DocumentError]", last_crash: str) -> None:
        """The picture, and with it the questions: later they would take keys that are meant for the canvas."""
        from PySide6.QtCore import QTimer

        QTimer.singleShot(0, self._frame, lambda: self._show(window))
        QTimer.singleShot(0, window, lambda: self._ask(window, unread, last_crash))

    def _show(self, window: "MainWindow") -> None:
        """All is in its place."""
        self._frame.layout_keeper.settle()
        window.toolbar.fit_words()  # its buttons have their sizes now
        self._frame.layout_keeper.settle()
        self._frame.uncover()
        self._frame.setUpdatesEnabled(True)
        self._frame.repaint()  # what X has asked for in the meantime was not painted
        window.session.problems.put_off(False)
        gc.freeze()
        gc.enable()

    def end(self) -> None:
        """The window is closed."""
        from gradstudio.temporary_folders import sweep

        if self._crashes is not None:
            self._crashes.remove()
        sweep("engine")  # they were killed

    def _ask(self, window: "MainWindow", unread: "dict[Path, DocumentError]", last_crash: str) -> None:
        """What needs the person's answer, when the window stands."""
        if last_crash:
            window.log.add("warning", f"GradStudio crashed the last time it ran:\n{last_crash}")
        for path, error in unread.items():
            window.file.say_unreadable(path, error)
        window.recovering.offer_all()
