"""Who is on the line: the documents that share one engine, whose program it has, and who runs.

And engines that are not on it: set aside with their documents, or left to go on alone.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from PySide6.QtCore import SignalInstance

from gradstudio.protocol.messages.events import Event, Hello, Memory
from gradstudio.ui.state.engines.engine_child import EngineChild

if TYPE_CHECKING:
    from gradstudio.ui.state.engines.rank_child import RankGroup


class Line(Protocol):
    """What the others on the line have to know of one; `EngineLine` is one."""

    @property
    def displaced(self) -> SignalInstance:
        """Announces the title of the document whose program took the engine's only place."""

    @property
    def died(self) -> SignalInstance:
        """Announces in words that the engine ended."""

    @property
    def replaced(self) -> SignalInstance:
        """Announces that another engine took over."""

    title: Callable[[], str]
    is_live: Callable[[], bool]
    shown: bool
    number: int

    def hear(self, event: Event) -> None:
        """The engine says something that may concern it."""


class Seats(NamedTuple):
    """Who has an engine: what `Exchange` says of the one at work."""

    holder: Line | None = None
    runner: Line | None = None
    code_line: Line | None = None
    measured: int | None = None


class Exchange:
    """Who is on the line.

    Attributes:
        lines: all that are open.
        holder: whose program the engine has, and whose namespace, if there is one.
        runner: who asked for a verb last.
        code_line: for whose code the engine was started, without walls; None: it has them, and runs no code.
        ended_for: for whose code the engine was that ended last; None: it had walls.
        aside: for whose code engines wait, set aside while another is at work.
        ranks: the processes that are one engine together; None: it is one.
        measured: the number of the line whose tensors samples of memory weigh: its run was the last to begin; None: of
            nobody's.
    """

    def __init__(self) -> None:
        """Nobody is."""
        self.lines: list[Line] = []
        self.holder: Line | None = None
        self.runner: Line | None = None
        self.code_line: Line | None = None
        self.ended_for: Line | None = None
        self.aside: set[Line] = set()
        self.ranks: RankGroup | None = None
        self.measured: int | None = None
        self._numbers = 0

    def hand_on(self, event: Event) -> None:
        """Let the lines hear what the engine says; of samples of memory, ten a second, those alone that listen."""
        if isinstance(event, Memory) and event.mark and self.runner is not None:
            self.measured = self.runner.number
        for line in tuple(self.lines):
            if line.shown or line is self.runner or not isinstance(event, Memory):
                line.hear(event)

    def next_number(self) -> int:
        """A number that no line had before."""
        self._numbers += 1
        return self._numbers - 1

    def yield_number(self, number: int) -> int:
        """A number for a line that continues one of another window; who has it here gets another one."""
        self._numbers = max(self._numbers, number + 1)
        for line in self.lines:
            if line.number == number:
                line.number = self.next_number()
        return number

    def take(self, line: Line) -> None:
        """The engine is told this line's program: whoever had it before has it no longer."""
        before, self.holder = self.holder, line
        if before is not None and before is not line:
            before.displaced.emit(line.title())

    def forget(self, code_line: Line | None = None) -> None:
        """Another engine answers: it has nobody's program; it was started for the code of a line, or has its walls."""
        self.sit(Seats(code_line=code_line))

    @property
    def seats(self) -> Seats:
        """Who has the engine at work."""
        return Seats(self.holder, self.runner, self.code_line, self.measured)

    def sit(self, seats: Seats) -> None:
        """Another engine is at work, which these have; whoever has closed since has nothing."""
        holder, runner, self.code_line, self.measured = seats
        self.holder = holder if holder in self.lines else None
        self.runner = runner if runner in self.lines else None

    def leave(self, line: Line | None) -> None:
        """What the engine at work has of a line is nobody's any more."""
        self.holder = None if self.holder is line else self.holder
        self.runner = None if self.runner is line else self.runner

    def is_struck(self, line: Line) -> bool:
        """Whether the engine that ended last was the one of this line."""
        if self.ended_for is None:
            return line not in self.aside and line is not self.code_line
        return line is self.ended_for


class EngineAside(NamedTuple):
    """An engine that waits, and who has it."""

    engine: EngineChild
    seats: Seats


class EngineLeft(NamedTuple):
    """An engine that goes on without us.

    Attributes:
        heard: how many of its messages came.
        hello: what it is; None where another window began it.
        title: what it is called there.
        end: ends it there, if this window began it.
    """

    name: str
    heard: int = 0
    hello: Hello | None = None
    title: str = ""
    end: Callable[[], None] = lambda: None


def left_of(engine: EngineChild, hello: Hello | None, title: str) -> EngineLeft | None:
    """What goes on of an engine that was lost."""
    return EngineLeft(engine.stays, engine.heard, hello, title, engine.end_there) if engine.goes_on else None


def end_unless_kept(left: EngineLeft | None, title: str, joins: EngineLeft | None = None) -> None:
    """End what goes on without us where nothing is to go on any more (no `title`), unless it is to be joined."""
    if left is not None and not title and (joins is None or joins.name != left.name):
        left.end()
