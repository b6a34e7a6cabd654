"""Typing into the Library and into the quick search: milliseconds until the finds of a keystroke are painted."""

import gc
import os
import time
from typing import TYPE_CHECKING, Any

from benchmarks.search import beginnings, row

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication, QLineEdit

KEYSTROKE_MS = 15


def measure() -> list[dict[str, Any]]:
    """All beginnings of all queries, each typed, searched, laid out and painted in full, without a screen."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QPoint
    from PySide6.QtWidgets import QApplication, QWidget

    from gradstudio.operators.catalogue.loader import load
    from gradstudio.ui import theme as themes
    from gradstudio.ui.canvas.popups.search_popup import SearchPopup
    from gradstudio.ui.canvas.view import CanvasView  # noqa: F401 - the canvas comes whole
    from gradstudio.ui.docks.library.panel import LibraryPanel

    application = QApplication([])
    theme = themes.theme("dark")
    themes.apply(application, theme)
    _ = load().index
    gc.freeze()  # as the window does
    library = LibraryPanel(load(), theme)
    library.resize(240, 700)
    library.show()
    room = QWidget()
    room.resize(900, 700)
    room.show()
    popup = SearchPopup(room, theme)
    popup.open_at(QPoint(10, 10))
    return [
        *figures("the Library", typed(application, library.field)),
        *figures("the quick search", typed(application, popup.field)),
    ]


def typed(application: "QApplication", field: "QLineEdit") -> list[float]:
    """CPU milliseconds of every keystroke, the shortest first."""
    times = []
    for text in beginnings():
        application.processEvents()
        start = time.process_time()
        field.setText(text)
        application.processEvents()
        times.append((time.process_time() - start) * 1000)
    return sorted(times)


def figures(place: str, times: list[float]) -> list[dict[str, Any]]:
    """The usual and the slow keystroke."""
    compared = f"{len(times)} keystrokes, CPU time, painted in full"
    return [
        row(f"typing into {place}: the median keystroke", times[len(times) // 2], KEYSTROKE_MS, compared),
        row(f"typing into {place}: the slowest keystroke", times[-1], KEYSTROKE_MS, compared),
        row(f"typing into {place}: 99 of 100 keystrokes", times[len(times) * 99 // 100], KEYSTROKE_MS, compared),
    ]
