"""What is asked of an open document to put one of its statements into words; the window's session has it. No Qt."""

from collections.abc import Sequence
from typing import Protocol

from gradstudio.graph.model import Graph, ItemId
from gradstudio.scene.results import Results


class ShownGraph(Protocol):
    """Holds the graph that is shown: the program, or the inside of a group."""

    @property
    def graph(self) -> Graph:
        """As it is now."""


class ProblemWords(Protocol):
    """One thing that is wrong."""

    @property
    def severity(self) -> str:
        """How grave it is: "error" or "warning"."""

    @property
    def title(self) -> str:
        """In one line."""


class Problems(Protocol):
    """Everything that is wrong."""

    def of(self, node: ItemId, /) -> Sequence[ProblemWords]:
        """What is wrong with one node."""


class RunStanding(Protocol):
    """Where the run stands."""

    @property
    def live(self) -> bool:
        """The engine holds a namespace."""

    @property
    def busy(self) -> bool:
        """It is at work."""

    @property
    def stale(self) -> bool:
        """The namespace belongs to an older program."""

    @property
    def at_end(self) -> bool:
        """It is behind the last statement."""


class Run(Protocol):
    """The run and the lines of its program."""

    @property
    def state(self) -> RunStanding:
        """Where it stands."""

    def text_of(self, node: ItemId, /) -> str:
        """The line of Python that a node is; "" when it is none, or not complete."""


class Breakpoints(Protocol):
    """Where the run pauses."""

    def at(self, node: ItemId, /) -> Sequence[object]:
        """Those of a node, and of the wires that begin at it."""


class StatementSource(Protocol):
    """One open document."""

    @property
    def shown_store(self) -> ShownGraph:
        """Its graph."""

    @property
    def results(self) -> Results:
        """What its run gave."""

    @property
    def problems(self) -> Problems:
        """What is wrong in it."""

    @property
    def run(self) -> Run:
        """Where its run stands."""

    @property
    def debug(self) -> Breakpoints:
        """Its breakpoints."""
