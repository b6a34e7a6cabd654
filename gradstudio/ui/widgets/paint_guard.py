"""Painting rows of lists so that what fails in one is told and does not take the program with it."""

import sys
from types import TracebackType

from PySide6.QtGui import QPainter


class PainterGuard:
    """Pen, font and clip are given back as they came, also where painting fails.

    What fails is told as any other mistake, and goes no further: rows are painted from within Qt's own painting,
    which cannot be left half done.
    """

    def __init__(self, painter: QPainter) -> None:
        """Of a painter."""
        self._painter = painter

    def __enter__(self) -> None:
        """Keep them."""
        self._painter.save()

    def __exit__(self, kind: type[BaseException] | None, what: BaseException | None, at: TracebackType | None) -> bool:
        """Give them back; whether a mistake was told."""
        self._painter.restore()
        if kind is None or what is None or not isinstance(what, Exception):
            return False
        sys.excepthook(kind, what, at)
        return True
