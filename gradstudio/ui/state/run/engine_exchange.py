"""Who is on the line: the documents that share one engine, whose program it has, and who runs."""

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import SignalInstance


class Line(Protocol):
    """What the others on the line have to know of one; `EngineLine` is one."""

    @property
    def displaced(self) -> SignalInstance:
        """Announces the title of the document whose program took the engine's only place."""

    @property
    def died(self) -> SignalInstance:
        """Announces in words that the engine ended."""

    title: Callable[[], str]
    is_live: Callable[[], bool]


class Exchange:
    """Who is on the line.

    Attributes:
        lines: all that are open.
        holder: whose program the engine has, and whose namespace, if there is one.
        runner: who asked for a verb last.
        code_line: for whose code the engine was started, without walls; None: it has them, and runs no code.
    """

    def __init__(self) -> None:
        """Nobody is."""
        self.lines: list[Line] = []
        self.holder: Line | None = None
        self.runner: Line | None = None
        self.code_line: Line | None = None
        self._numbers = 0

    def next_number(self) -> int:
        """A number that no line had before."""
        self._numbers += 1
        return self._numbers - 1

    def take(self, line: Line) -> None:
        """The engine is told this line's program: whoever had it before has it no longer."""
        before, self.holder = self.holder, line
        if before is not None and before is not line:
            before.displaced.emit(line.title())

    def forget(self, code_line: Line | None = None) -> None:
        """Another engine answers: it has nobody's program; it was started for the code of a line, or has its walls."""
        self.holder = self.runner = None
        self.code_line = code_line
