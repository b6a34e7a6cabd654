"""What a card asks of a run, and the answer where nothing ran. No Qt."""

from typing import Protocol

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages import GradRow, PortInference, Warned
from gradstudio.protocol.records import Record


class FailureLike(Protocol):
    """What a card needs of a failure."""

    @property
    def what(self) -> str:
        """The words of torch."""

    @property
    def explanation(self) -> str:
        """Ours."""


class Results(Protocol):
    """What a card asks of a run; `ui.state.ResultStore` answers, so does `NO_RESULTS`."""

    next_node: ItemId
    running_node: ItemId

    def outputs(self, node: ItemId, /) -> tuple[Record, ...] | None:
        """Records of its results; None before it ran."""

    def grad(self, node: ItemId, output: int = 0, path: str = "", /) -> GradRow | None:
        """The gradient of a result, or of a module's parameter by path."""

    def stale(self, node: ItemId, /) -> bool:
        """Whether they belong to an older program."""

    def failure(self, node: ItemId, /) -> FailureLike | None:
        """Why it failed."""

    def warnings(self, node: ItemId, /) -> tuple[Warned, ...]:
        """What torch warned of."""

    def inference(self, node: ItemId, output: int = 0, /) -> PortInference | None:
        """What is expected of an output."""

    def incomplete(self, node: ItemId, /) -> str:
        """What it lacks to be run."""


class NoResults:
    """Nothing ran."""

    next_node = ItemId("")
    running_node = ItemId("")

    def outputs(self, node: ItemId) -> tuple[Record, ...] | None:
        """None: it did not run."""
        return None

    def grad(self, node: ItemId, output: int = 0, path: str = "") -> GradRow | None:
        """None: no backward ran."""
        return None

    def stale(self, node: ItemId) -> bool:
        """Nothing is old."""
        return False

    def failure(self, node: ItemId) -> FailureLike | None:
        """Nothing failed."""
        return None

    def warnings(self, node: ItemId) -> tuple[Warned, ...]:
        """Nothing warned."""
        return ()

    def inference(self, node: ItemId, output: int = 0) -> PortInference | None:
        """Nothing is expected."""
        return None

    def incomplete(self, node: ItemId) -> str:
        """Nothing is known to be missing."""
        return ""
