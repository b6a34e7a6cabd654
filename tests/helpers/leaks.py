"""Finds widgets, threads and processes that a test module leaves behind. Loads Qt only where it is loaded already."""

import gc
import sys
import threading
from dataclasses import dataclass

import psutil

PATIENCE_SECONDS = 60.0
"""How long threads and processes that are already ending may take on a busy machine."""


@dataclass(frozen=True)
class Standing:
    """What is there at one moment.

    Attributes:
        widgets: addresses of Qt's top-level widgets.
        threads: identifiers of Python's threads.
        processes: ids of the child processes.
    """

    widgets: frozenset[int]
    threads: frozenset[int]
    processes: frozenset[int]


def standing() -> Standing:
    """What is there now."""
    return Standing(
        widgets=frozenset(address(widget) for widget in top_level_widgets()),
        threads=frozenset(thread.ident or 0 for thread in threading.enumerate()),
        processes=frozenset(child.pid for child in psutil.Process().children()),
    )


def left_since(before: Standing) -> list[str]:
    """What has come since and does not go, in words."""
    return [*left_widgets(before), *left_threads(before), *left_processes(before)]


def left_widgets(before: Standing) -> list[str]:
    """Windows that are neither closed for good nor forgotten by all of Python."""
    if not any(address(widget) not in before.widgets for widget in top_level_widgets()):
        return []
    gc.collect()
    deliver_deletions()
    left = [widget for widget in top_level_widgets() if address(widget) not in before.widgets]
    return [f"widget {type(widget).__name__} {widget.objectName()!r}" for widget in left]


def left_threads(before: Standing) -> list[str]:
    """Threads that do not end by themselves."""
    new = [thread for thread in threading.enumerate() if (thread.ident or 0) not in before.threads]
    for thread in new:
        thread.join(PATIENCE_SECONDS)
    return [f"thread {thread.name}" for thread in new if thread.is_alive()]


def left_processes(before: Standing) -> list[str]:
    """Child processes that do not end by themselves; they are killed, so that they trouble no other module."""
    new = [child for child in psutil.Process().children() if child.pid not in before.processes]
    _, alive = psutil.wait_procs(new, timeout=PATIENCE_SECONDS)
    words = [f"process {child.pid} {' '.join(child.cmdline())}" for child in alive]
    for child in alive:
        child.kill()
    psutil.wait_procs(alive, timeout=PATIENCE_SECONDS)
    return words


def top_level_widgets() -> list:  # type: ignore[type-arg]  # Qt may not be there to name the type
    """Qt's windows, where Qt is loaded and an application runs."""
    widgets = sys.modules.get("PySide6.QtWidgets")
    if widgets is None or widgets.QApplication.instance() is None:
        return []
    return list(widgets.QApplication.topLevelWidgets())


def address(widget: object) -> int:
    """Where Qt keeps the widget: Python's own id changes when nothing in Python refers to it for a while."""
    return sys.modules["shiboken6"].getCppPointer(widget)[0]  # type: ignore[no-any-return]


def deliver_deletions() -> None:
    """Carries out what `deleteLater` has put off."""
    core = sys.modules["PySide6.QtCore"]
    core.QCoreApplication.sendPostedEvents(None, core.QEvent.Type.DeferredDelete.value)
