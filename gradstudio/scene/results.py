"""What a card asks of a run, and the answer where nothing ran. No Qt."""

from typing import Literal as OneOf
from typing import NamedTuple, Protocol

from gradstudio.graph.model import ItemId, Wire
from gradstudio.protocol.messages.backward_trace import WireGrad
from gradstudio.protocol.messages.charts import Chart
from gradstudio.protocol.messages.debugging import NodeMemory
from gradstudio.protocol.messages.events import Failed, GradRow, Row, Warned
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.protocol.messages.records import ModuleRecord, Record
from gradstudio.protocol.timeline.model import BackwardStep, Tick
from gradstudio.scene.printout import NOTHING_PRINTED, Printout

Alarm = OneOf["", "error", "warning"]
"""How bad it is, on a card; "" for nothing."""


class FailureLike(Protocol):
    """What a card needs of a failure."""

    @property
    def failed(self) -> Failed:
        """Torch's words, the line, and the clash when an in-place write is the reason."""

    @property
    def what(self) -> str:
        """The words of torch."""

    @property
    def explanation(self) -> str:
        """Ours."""

    @property
    def words(self) -> str:
        """Ours in a sentence, and those of torch behind it."""


class LoopTurn(NamedTuple):
    """How far a loop is: in words, and as a share of its turns (0: their number is not known).

    `place` is the first of the words: ``turn 3 of 20``; `rate` how fast it goes, `left` what is left of it, or
    of the way to a turn that is gone to, or "".
    """

    loop: ItemId
    place: str
    rate: str
    left: str
    share: float

    @property
    def words(self) -> str:
        """All of it."""
        return " · ".join(part for part in (self.place, self.rate, self.left) if part)


class Results(Protocol):
    """What a card asks of a run; `ui.state.ResultStore` answers, so does `NO_RESULTS`."""

    @property
    def next_node(self) -> ItemId:
        """What runs next; "" for nothing."""

    @property
    def running_node(self) -> ItemId:
        """What is at work; "" for nothing."""

    @property
    def running_seconds(self) -> int:
        """For how long, once that is worth saying; else 0."""

    @property
    def loops(self) -> tuple[LoopTurn, ...]:
        """The loops the run stands in, outermost first."""

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

    def printout(self, node: ItemId, /) -> Printout:
        """What it printed and drew."""

    def chart(self, node: ItemId, /) -> Chart | None:
        """Its chart; None where its card shows none."""

    def alarm(self, node: ItemId, /) -> Alarm:
        """How bad what a look over the run has found at it is; "" for nothing, and for mere notes."""

    def inference(self, node: ItemId, output: int = 0, /) -> PortInference | None:
        """What is expected of an output."""

    def incomplete(self, node: ItemId, /) -> str:
        """What it lacks to be run."""

    @property
    def failures(self) -> tuple[FailureLike, ...]:
        """Every failure that stands."""

    @property
    def moment(self) -> int | None:
        """The tick of the timeline that is looked at; None: now."""

    @property
    def active(self) -> Tick | None:
        """The tick that is looked at; None: now."""

    def module_now(self, node: ItemId, /) -> ModuleRecord | None:
        """A module as it stands now, where that is another than when it was made."""

    def row(self, node: ItemId, /) -> Row | None:
        """When and how it last ran, as of the moment."""

    def gradients_of(self, node: ItemId, /) -> tuple[GradRow, ...]:
        """Gradients of its results and parameters."""

    def wire_grad(self, wire: Wire, /) -> WireGrad | None:
        """What the wire's target sent back along it; None: nothing yet."""

    def wire_record(self, wire: Wire, /) -> Record | None:
        """What went through it forward."""

    def forming(self, node: ItemId, output: int = 0, /) -> tuple[tuple[WireGrad, ...], int]:
        """What has come back to a value so far, and how many users will send."""

    def backward_step(self) -> BackwardStep | None:
        """Everything of the step of a backward that is looked at."""

    def shared_storage(self) -> tuple[tuple[ItemId, ItemId], ...]:
        """Pairs of nodes whose values share a storage: the base, then what shares it."""

    def version_now(self, storage: int, /) -> int:
        """The highest version at which anything in a storage was seen."""

    def node_memory(self, node: ItemId, /) -> NodeMemory | None:
        """What a node holds; None while the engine was not asked."""

    def seconds(self, node: ItemId, /) -> tuple[float, float]:
        """Wall time forward and backward, seconds."""

    def saved_bytes(self, node: ItemId, /) -> int:
        """What its autograd nodes keep for a backward at the moment."""

    def released_bytes(self, node: ItemId, /) -> int:
        """What they kept, and a backward has let go."""


def at_work(results: Results) -> ItemId:
    """What is at work at the moment that is looked at; "" where that is a statement of the past that is over."""
    active = results.active
    return results.running_node if active is None or active.backward else ItemId("")


def current_failure(results: Results, node: ItemId) -> FailureLike | None:
    """How a node failed; None at every earlier moment: a failure is the last thing that happens."""
    failure = results.failure(node)
    return failure if failure is not None and results.moment is None else None


def expected_refusal(results: Results, node: ItemId) -> str:
    """What inference says torch would refuse: before a run, and beside values of an older program; "" for nothing."""
    expected = results.inference(node, 0)
    if expected is None or not expected.refusal:
        return ""
    is_old = results.moment is None and results.stale(node)
    return expected.refusal if is_old or results.outputs(node) is None else ""


class NoResults:
    """Nothing ran."""

    next_node = ItemId("")
    running_node = ItemId("")
    running_seconds = 0
    loops: tuple[LoopTurn, ...] = ()
    failures: tuple[FailureLike, ...] = ()
    moment: int | None = None
    active: Tick | None = None

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

    def printout(self, node: ItemId) -> Printout:
        """Nothing was said."""
        return NOTHING_PRINTED

    def chart(self, node: ItemId) -> Chart | None:
        """None: nothing is drawn."""
        return None

    def alarm(self, node: ItemId) -> Alarm:
        """Nothing was found."""
        return ""

    def inference(self, node: ItemId, output: int = 0) -> PortInference | None:
        """Nothing is expected."""
        return None

    def incomplete(self, node: ItemId) -> str:
        """Nothing is known to be missing."""
        return ""

    def module_now(self, node: ItemId) -> ModuleRecord | None:
        """None: it was not made."""
        return None

    def row(self, node: ItemId) -> Row | None:
        """None: it did not run."""
        return None

    def gradients_of(self, node: ItemId) -> tuple[GradRow, ...]:
        """None: no backward ran."""
        return ()

    def wire_grad(self, wire: Wire) -> WireGrad | None:
        """Nothing came back."""
        return None

    def wire_record(self, wire: Wire) -> Record | None:
        """Nothing went through it."""
        return None

    def forming(self, node: ItemId, output: int = 0) -> tuple[tuple[WireGrad, ...], int]:
        """Nothing came back."""
        return (), 0

    def backward_step(self) -> BackwardStep | None:
        """None: no backward ran."""
        return None

    def shared_storage(self) -> tuple[tuple[ItemId, ItemId], ...]:
        """Nothing is stored."""
        return ()

    def version_now(self, storage: int) -> int:
        """Nothing is written."""
        return 0

    def node_memory(self, node: ItemId) -> NodeMemory | None:
        """Nothing is stored."""
        return None

    def seconds(self, node: ItemId) -> tuple[float, float]:
        """It did not run."""
        return 0.0, 0.0

    def saved_bytes(self, node: ItemId) -> int:
        """Nothing is stored."""
        return 0

    def released_bytes(self, node: ItemId) -> int:
        """Nothing is stored."""
        return 0
