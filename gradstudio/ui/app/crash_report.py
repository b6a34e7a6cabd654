"""What a crash report says: traceback, versions, the last lines of the log; no path of the person's own. No Qt."""

import logging
import platform
import re
import sys
import traceback
from collections import deque
from pathlib import Path
from types import TracebackType
from typing import Final

LAST_LINES: Final = 40
PACKAGES: Final = ("gradstudio", "PySide6-Essentials", "torch", "numpy")
HOME: Final = "~"
FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class LastLines(logging.Handler):
    """Keeps the last lines that were logged."""

    def __init__(self) -> None:
        """Nothing was logged yet."""
        super().__init__(logging.INFO)
        self.setFormatter(logging.Formatter(FORMAT))
        self.lines: deque[str] = deque(maxlen=LAST_LINES)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line."""
        self.lines.append(self.format(record))


def report_of(
    kind: type[BaseException],
    error: BaseException,
    trace: TracebackType | None,
    lines: tuple[str, ...] = (),
) -> str:
    """The traceback, the versions and the last lines of the log, to hand on."""
    parts = ["".join(traceback.format_exception(kind, error, trace)), versions()]
    if lines:
        parts.append("Last lines of the log:\n" + "\n".join(lines))
    return without_private_paths("\n".join(parts))


def versions() -> str:
    """Versions of what matters, one a line; nothing is imported for it."""
    lines = [f"{name} {_version(name)}" for name in PACKAGES]
    return "\n".join((*lines, f"Python {platform.python_version()}, {platform.platform()}", ""))


def without_private_paths(text: str) -> str:
    """The text with folders of this machine left out: the person's home, and where packages are installed."""
    folders = sorted({path for path in sys.path if len(path) > 1}, key=len, reverse=True)
    for folder in folders:
        text = text.replace(f"{folder}/", "")
    text = text.replace(str(Path.home()), HOME)
    return re.sub(r"(?:/(?:home|Users)/|[A-Z]:\\Users\\)[^/\\\s\"']+", lambda _found: HOME, text)


def _version(package: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "(not installed)"
