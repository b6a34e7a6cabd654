"""Where the run stands, what can be asked of it, and why something cannot: plain records, no Qt."""

from typing import Literal as OneOf
from typing import NamedTuple, Protocol

import msgspec

from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.operator_rows import holds_autograd
from gradstudio.protocol.messages.debugging import Breakpoint, Hit

Command = OneOf[
    "run",
    "restart",
    "run_to",
    "forward",
    "backward",
    "step",
    "step_over",
    "step_into",
    "step_out",
    "step_back",
    "to_start",
    "to_now",
    "zero_grad",
    "repeat",
    "go_to_turn",
    "continue",
    "keep_checkpoint",
    "stop",
    "pause",
    "what_if",
    "check",
    "weigh_memory",
]
"""What can be asked: the verbs of semantics §6, moving through the record, and questions about the run."""

AT_END = "The program is at its end. To start (Ctrl+Home) looks at its first step; Run or Forward begins again."
OF_AUTOGRAD = (
    "This is what autograd holds behind a tensor, no program: nothing of it can run. "
    'with gradstudio.record("step.gsg"): around the step gives one that can.'
)
STEPS = ("step", "step_over", "step_into", "step_out")


class RunState(msgspec.Struct, frozen=True):
    """Where the run stands.

    Attributes:
        live: the engine holds a namespace; `stale`: it belongs to an older program.
        at_end: the counter is behind the last statement.
        outcome: of the newest verb: "", "done", "stopped" (asked for, with the engine or without), "failed",
            "refused", "breakpoint", "died".
        reason: words to the outcome.
        changed_by_hand: the run is no longer what the script alone would give.
        hit: id of the breakpoint at which it paused; "" elsewhere.
        in_backward: number of the backward in whose record it is paused: the engine is behind it already; else 0.
        waiting: what was asked begins when the engine is ready.
        is_record: what is shown was read from a file, and nothing ran since.
    """

    busy: bool = False
    verb: str = ""
    live: bool = False
    stale: bool = False
    at_end: bool = False
    next_node: ItemId = ItemId("")
    pass_number: int = 1
    changed_by_hand: bool = False
    outcome: str = ""
    reason: str = ""
    seconds: float = 0.0
    hit: str = ""
    in_backward: int = 0
    waiting: bool = False
    is_record: bool = False


class BreakpointSource(Protocol):
    """What the run has to know of breakpoints; `DebugStore` is one."""

    @property
    def active(self) -> tuple[Breakpoint, ...]:
        """Those that are switched on."""

    def begin(self, fresh: bool) -> None:
        """A verb begins."""

    def add_hit(self, hit: Hit) -> None:
        """One was met."""

    def next_stop(self, backward: int, place: int) -> Hit | None:
        """Where a backward's record is paused next, behind its row `place`; None: nowhere."""


class EngineNow(Protocol):
    """What decides of the engine, asked only where it does, as is what the next two say."""

    @property
    def state(self) -> str:
        """Whether it is "dead": none can be started."""

    @property
    def busy_elsewhere(self) -> str:
        """The title of another document whose run is under way; "": none."""


class RecordNow(Protocol):
    """What is looked at."""

    @property
    def looking_back(self) -> bool:
        """Whether it is a moment of the record."""


class WalkNow(Protocol):
    """The way through the record."""

    @property
    def has_before(self) -> bool:
        """Whether there is a step before the one looked at."""


class Situation(NamedTuple):
    """All that decides what can be asked.

    Attributes:
        state: where the run stands.
        graph: what is on the canvas.
        ran_since: the title of the document whose run took this one's place in the engine; "": none.
    """

    state: RunState
    graph: Graph
    engine: EngineNow
    results: RecordNow
    walk: WalkNow
    ran_since: str = ""


def why_not(command: Command, at: Situation) -> str:
    """Why a command cannot be carried out now, in words; "" when it can."""
    if command in ("stop", "pause"):
        return "" if at.state.busy else "Nothing is running."
    if command in ("step_back", "to_start"):
        return "" if at.walk.has_before else "There is no step before this one: nothing was recorded."
    if command == "to_now":
        return "" if at.results.looking_back else "This is the newest moment already."
    if command in STEPS and (at.results.looking_back or (_is_all_record(at) and command != "step_out")):
        return ""
    return _why_not_engine(command, at)


def _is_all_record(at: Situation) -> bool:
    """Whether nothing of it is a program, and what was recorded is stepped through all the same."""
    return at.state.is_record and at.walk.has_before and holds_autograd(at.graph)


def _why_not_engine(command: Command, at: Situation) -> str:
    state = at.state
    if state.busy and not state.waiting:
        return "A run is under way. Stop it first (Shift+F5)."
    if nothing := _why_nothing(at.graph):
        return nothing
    if elsewhere := at.engine.busy_elsewhere:
        return f"“{elsewhere}” is running in another tab, and there is one engine: wait, or stop it there."
    if at.engine.state == "dead":
        return "There is no engine. The log says why; Run ▸ Restart engine tries again."
    if at.ran_since and command in ("zero_grad", "weigh_memory", "keep_checkpoint"):
        return f"“{at.ran_since}” ran since, and there is one engine: run this program again first (F5)."
    if command == "zero_grad" and (not state.live or state.stale):
        return "There are no gradients to clear: run the program first."
    if command == "keep_checkpoint" and (not state.live or state.stale):
        return "Nothing has been trained yet, or the program was changed since: run it first."
    if command == "weigh_memory" and not state.live:
        return "Nothing holds memory yet: run the program first."
    if command in STEPS and state.live and state.at_end and not state.stale:
        return AT_END if command == "step_out" or not at.walk.has_before else ""
    return ""


def waiting_words(commands: list[str], awaited_by: str) -> str:
    """What waits: "The engine is starting. Then: Forward, Backward."; what waits for shapes comes before it."""
    first = f"{awaited_by} comes first" if awaited_by else "The engine is starting"
    return f"{first}. Then: {', '.join(name.replace('_', ' ').capitalize() for name in commands)}."


def _why_nothing(graph: Graph) -> str:
    """Why a graph holds nothing to run; "" where it holds something."""
    if not graph.nodes:
        return "There is nothing to run yet: drag an operator from the library onto the canvas."
    return OF_AUTOGRAD if holds_autograd(graph) else ""
