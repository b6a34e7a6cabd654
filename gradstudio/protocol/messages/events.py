"""What the engine tells the window: one record per event, and their union.

Every message is tagged with its class name; `protocol.framing` puts them on the pipe.
"""

from typing import Literal as OneOf

import msgspec

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced
from gradstudio.protocol.messages.base import Message, Verb
from gradstudio.protocol.messages.bounds import Count, Seconds, Shape, Size, Turns
from gradstudio.protocol.messages.charts import DrawnChart
from gradstudio.protocol.messages.debugging import Checked, Clash, Hit, MemoryByNode, WhatIfAnswered
from gradstudio.protocol.messages.drawn_figures import Figured
from gradstudio.protocol.messages.inference import DataLooked, Estimated, Inferred, Inferring, WireTried
from gradstudio.protocol.messages.module_import import Brought, NotBrought
from gradstudio.protocol.messages.progress import Asked, CheckpointKept, ProgramExit, Running, Turned
from gradstudio.protocol.messages.ranks import Range
from gradstudio.protocol.messages.records import (
    GradState,
    ModuleRecord,
    OptimizerRecord,
    Record,
    Summary,
    TensorRecord,
    TupleRecord,
)
from gradstudio.protocol.messages.torch_docs import Described


class Device(msgspec.Struct, frozen=True):
    """A device torch really has: "cuda:0", its name, its memory in bytes (0: not known)."""

    name: str
    title: str
    total_bytes: Size = 0


class Hello(Message, frozen=True):
    """First message: who answers. `ready` is False until torch is imported, then a second comes.

    Attributes:
        absent: keys of the catalogue that this torch lacks; looked for only when its version is another.
        walls: what keeps a program from reaching beyond its own memory, as this system has it.
    """

    protocol: int
    ready: bool
    pid: int
    python: str = ""
    torch: str = ""
    devices: tuple[Device, ...] = ()
    absent: tuple[str, ...] = ()
    walls: tuple[str, ...] = ()


class LiteralChange(msgspec.Struct, frozen=True, gc=False):
    """Literals of a statement are others from here on, in a run that stands in a loop; `words`: from what to what."""

    node: ItemId
    words: str


class Loaded(Message, frozen=True):
    """The program is in.

    Attributes:
        changes: literals that hold from the next turn on; `turns`: how many of each loop had gone by.
        stale: the namespace no longer belongs to it: the next verb begins from nothing.
        live: there is a namespace.
        waits: the run that is under way goes on as it is; this program waits for the next one.
    """

    document: str
    revision: Size
    stale: bool
    live: bool
    changes: tuple[LiteralChange, ...] = ()
    turns: dict[ItemId, Size] = msgspec.field(default_factory=dict)
    waits: bool = False


class Started(Message, frozen=True):
    """A verb begins.

    Attributes:
        fresh: from nothing, so older results do not belong to it.
        back_to: the same run was put back to where so many statements had run, or begins once more (0): rows of later
            steps do not belong to it, numbers of later turns do.
        threads: on how many an operator is computed; 0: it is not known.
    """

    verb: Verb
    revision: Size
    fresh: bool
    pass_number: Count
    seed: int | None = None
    back_to: Count | None = None
    threads: Count = 0


class LeafState(msgspec.Struct, frozen=True, gc=False):
    """A leaf or a buffer as a statement left it that wrote into it or froze it; `storage` is where it lived before."""

    storage: int
    record: TensorRecord


class ModeState(msgspec.Struct, frozen=True, gc=False):
    """The mode in which a statement left the module that an output of a node is."""

    node: ItemId
    output: Count
    training: bool


class Row(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """One node executed once.

    Attributes:
        step: counts executions since the start from nothing.
        turns: the turn of each loop around it, outermost first.
        outputs: a record per result.
        seconds: wall time of the statement.
        at_s: monotonic seconds of the engine when it was over.
        made_bytes: of storages that its results brought into being (a view brings none).
        alive_bytes: of all the program holds on that device behind it.
        complete: False when figures and previews are still to come, in a row of the same step.
        writes: leaves that it wrote into, other than its results (an optimizer's step), or froze, and buffers.
        modes: modules that it switched to another mode.
        came: when this rank, or the first and the last, came to it, monotonic seconds of the machine, where ranks met.
        caught_up: it says how things stand behind turns without a record, and not what ran next.
    """

    step: Count
    node: ItemId
    outputs: tuple[Record, ...]
    turns: Turns = ()
    pass_number: Count = 1
    seconds: Seconds = 0.0
    at_s: Seconds = 0.0
    made_bytes: Size = 0
    alive_bytes: Size = 0
    complete: bool = True
    writes: tuple[LeafState, ...] = ()
    modes: tuple[ModeState, ...] = ()
    came: Range | None = None
    caught_up: bool = False


class Traced(Message, frozen=True):
    """Nodes that ran, in order; batched."""

    revision: Size
    rows: tuple[Row, ...]


class GradPart(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What one backward added to a leaf's `.grad`; `grad` is None when it was not recorded."""

    pass_number: Count
    backward: Count
    grad: Summary | None = None


class GradRow(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """The gradient of one output as it stands now.

    Attributes:
        path: a module's parameter by dotted name, or the place in a list of tensors ("0").
        reason: the state in a sentence; `cause` the node or block it names.
        parts: of a leaf's `.grad`, one per backward since it was last None or zero.
    """

    node: ItemId
    output: Count = 0
    path: str = ""
    state: GradState = "not_run"
    reason: str = ""
    cause: ItemId = ItemId("")
    grad: Summary | None = None
    parts: tuple[GradPart, ...] = ()


class ValueNow(msgspec.Struct, frozen=True, gc=False):
    """A module, leaf, optimizer or list that something wrote to since its row `step` was told, as it stands now."""

    node: ItemId
    step: Count
    record: ModuleRecord | TensorRecord | OptimizerRecord | TupleRecord
    output: Count = 0


class InRecord(msgspec.Struct, frozen=True, gc=False):
    """Values of which the rows since the last whole telling say how their gradients stand: output 0 of these nodes.

    Attributes:
        births: they were made, and no backward has run since.
        arrivals: their gradient came with the row of an autograd node, and they are as they were made.
    """

    births: tuple[ItemId, ...] = ()
    arrivals: tuple[ItemId, ...] = ()


class Gradients(Message, frozen=True):
    """After every verb and during a backward: gradients and their states.

    `whole`: this lists every tensor known, in `rows` or `in_record`; one that is missing has none. Then `written` lists
    the modules and leaves that are other ones now than when they were made; else it lists them all, or is empty where
    nothing is said of them.
    """

    revision: Size
    rows: tuple[GradRow, ...]
    whole: bool = True
    written: tuple[ValueNow, ...] = ()
    in_record: InRecord = InRecord()


class Paused(Message, frozen=True):
    """The verb is over; the engine waits.

    Attributes:
        next_node: where the counter stands; "" at the end.
        outcome: how it ended. After "failed" a `Failed` came before, after "breakpoint" a `Hit` (its id in `hit`);
            "died": one of several processes that carried it out, and all begin from nothing.
        changed_by_hand: the run is no longer what the script would give (Zero grad).
        names_lines: as of `Log`.
        is_lost: several processes that carried it out were ended, and begin from nothing: nothing of it is live.
    """

    revision: Size
    verb: Verb
    outcome: OneOf["done", "stopped", "failed", "refused", "breakpoint", "died"]
    next_node: ItemId
    at_end: bool
    pass_number: Count
    changed_by_hand: bool = False
    reason: str = ""
    seconds: Seconds = 0.0
    hit: str = ""
    names_lines: bool = False
    is_lost: bool = False


class Failed(Message, frozen=True):
    """A node failed: torch's words as they are. Explanations belong to `advice`.

    Attributes:
        type_name: the exception's class.
        operands: (port, what it was) of its inputs.
        warned_bytes: size that was refused before anything was allocated, else 0.
        clash: who wrote into what, when an in-place write is the reason.
        program_exit: it is no error: the program ended itself with this.
    """

    revision: Size
    node: ItemId
    address: str
    line: Count
    type_name: str
    message: str
    operands: tuple[tuple[str, Record], ...] = ()
    turns: Turns = ()
    warned_bytes: Size = 0
    clash: Clash | None = None
    program_exit: ProgramExit | None = None


class Printed(Message, frozen=True):
    """The program printed.

    Attributes:
        passing: bars of progress as they stand now: the next of what this node prints takes their place.
        is_error: it went to standard error.
    """

    node: ItemId
    line: Count
    text: str
    passing: bool = False
    is_error: bool = False


class Warned(Message, frozen=True):
    """torch or Python warned while the node ran."""

    node: ItemId
    line: Count
    category: str
    message: str


class Log(Message, frozen=True):
    """The engine has something to say that is not of the program; `names_lines`: about lines of its script."""

    level: OneOf["info", "warning", "error"]
    text: str
    names_lines: bool = False


class Memory(Message, frozen=True):
    """One sample of the memory plot.

    Attributes:
        time_s: monotonic seconds of the engine.
        series: bytes by name: on a CPU "tensors", "kept", "process" and, once something was trained, "gradients" and
            "optimizer"; on accelerators "allocated", "reserved", "peak", "total".
        device: whose.
        mark: text of a mark at this moment ("Run 3"), else "".
    """

    time_s: Seconds
    device: str
    series: dict[str, Size]
    mark: str = ""


Cell = float | int | str | bool


class Fetched(Message, frozen=True):
    """Answer to `Fetch`: nested rows of scalars; `shape` is the whole tensor's, `error` in words.

    Attributes:
        at: where the values begin in what was asked for, row and column: of a whole one rank tells what it holds.
    """

    request: Size
    node: ItemId
    shape: Shape = ()
    dtype: str = ""
    values: tuple[tuple[Cell, ...], ...] = ()
    error: str = ""
    at: tuple[Size, Size] = (0, 0)


class NamedEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry of the report's `nodes`."""

    name: str
    node: ItemId
    operator: str
    line: Count
    outputs: tuple[Record, ...] = ()
    output: Count | None = None


class Report(Message, frozen=True):
    """What is bound, by name (semantics §13); `rows` and `backward` only with trace, `defined` of no node."""

    revision: Size
    entries: tuple[NamedEntry, ...]
    defined: tuple[NamedEntry, ...] = ()
    rows: tuple[Row, ...] = ()
    backward: tuple[AutogradRow, ...] = ()
    seed: int | None = None
    device: str = ""


Event = (
    Hello
    | Loaded
    | Started
    | Traced
    | Gradients
    | BackwardTraced
    | Paused
    | Failed
    | Printed
    | Warned
    | Log
    | Memory
    | Inferred
    | Inferring
    | Estimated
    | WireTried
    | DataLooked
    | Described
    | Fetched
    | Report
    | Hit
    | WhatIfAnswered
    | Checked
    | MemoryByNode
    | Brought
    | NotBrought
    | Running
    | Asked
    | Turned
    | Figured
    | CheckpointKept
    | DrawnChart
)
