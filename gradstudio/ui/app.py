"""Starts the window: looks whether one can be opened, builds everything, runs Qt's loop.

torch is never imported in this process.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gradstudio.ui import display, guard

if TYPE_CHECKING:
    from gradstudio.ui.main_window import MainWindow

NO_WINDOW = 3
USAGE = "usage: gradstudio [FILE] [--config-dir FOLDER] [--reset]"


def main(argv: list[str]) -> int:
    """Open the window on a file, or on the first example; the exit code is returned.

    Args:
        argv: what follows the program's name.
    """
    try:
        path, folder, reset = parse(argv)
        guard.check()
    except (ValueError, guard.UnfitQt) as error:
        print(f"gradstudio: {error}", file=sys.stderr)  # noqa: T201
        return NO_WINDOW if isinstance(error, guard.UnfitQt) else 2
    if reason := display.why_no_window():
        print(f"gradstudio: {reason}", file=sys.stderr)  # noqa: T201
        return NO_WINDOW
    return _run(path, folder, reset)


def parse(argv: list[str]) -> tuple[Path | None, Path | None, bool]:
    """The file, the folder of settings, and whether to forget the layout.

    Raises:
        ValueError: an argument is not known; the message is the usage.
    """
    path = folder = None
    reset, rest = False, list(argv)
    while rest:
        argument = rest.pop(0)
        if argument == "--reset":
            reset = True
        elif argument == "--config-dir" and rest:
            folder = Path(rest.pop(0))
        elif argument.startswith("-") or path is not None:
            raise ValueError(USAGE)
        else:
            path = Path(argument)
    return path, folder, reset


def _run(path: Path | None, folder: Path | None, reset: bool) -> int:
    from PySide6.QtCore import QTimer
    from PySide6.QtGui import QIcon
    from PySide6.QtWidgets import QApplication

    from gradstudio import paths
    from gradstudio.ui import theme as themes
    from gradstudio.ui.crash import CrashGuard
    from gradstudio.ui.main_window import MainWindow, resolve
    from gradstudio.ui.settings import Settings
    from gradstudio.ui.state.engine_client import EngineClient
    from gradstudio.ui.state.session import Session

    application = QApplication(sys.argv[:1])
    application.setApplicationName("gradstudio")
    application.setApplicationDisplayName("GradStudio")
    application.setDesktopFileName("gradstudio")
    application.setWindowIcon(QIcon(str(paths.resources() / "icons" / "gradstudio.svg")))
    settings = Settings(folder)
    if reset:
        settings.window.clear()
    crashes = CrashGuard(settings.state_folder)
    last_crash = crashes.last_crash()
    crashes.install()
    theme = themes.theme(resolve(settings.preferences.theme))
    themes.apply(application, theme)
    session = Session(EngineClient())
    window = MainWindow(session, settings, theme)
    if path is None and not window.recovery.left_behind():
        _open_first_example(window)
    window.first_painted.connect(
        lambda: QTimer.singleShot(0, window, lambda: _after_first_paint(window, path, last_crash))
    )
    window.show()
    code = application.exec()
    session.engine.close()
    crashes.remove()
    return code


def _open_first_example(window: "MainWindow") -> None:
    from gradstudio.ui.commands.file import example_files

    for path in example_files()[:1]:
        window.file.open_example(path)


def _after_first_paint(window: "MainWindow", path: Path | None, last_crash: str) -> None:
    window.begin()
    if last_crash:
        window.log.add("warning", f"GradStudio crashed the last time it ran:\n{last_crash}")
    if window.recovery.offer(window):
        return
    if path is not None:
        window.file.open_path(path)
    elif not window.session.graph_store.graph.nodes:
        _open_first_example(window)
