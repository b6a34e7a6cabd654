"""What the window asks of the engine: one record per request, and their union."""

from typing import Literal as OneOf

import msgspec

from gradstudio.graph.model import ItemId
from gradstudio.program.model import Program
from gradstudio.protocol.messages.base import Message, Verb
from gradstudio.protocol.messages.bounds import Count, Size, Turns
from gradstudio.protocol.messages.charts import WantedChart, Watch
from gradstudio.protocol.messages.debugging import (
    Breakpoint,
    Check,
    WeighMemory,
    WhatIf,
)
from gradstudio.protocol.messages.inference import Estimate, Infer, LookAtData, TryWire
from gradstudio.protocol.messages.module_import import BringModule
from gradstudio.protocol.messages.progress import CurveKey, KeepCheckpoint
from gradstudio.protocol.messages.ranks import Meet
from gradstudio.protocol.messages.torch_docs import Describe


class Load(Message, frozen=True):
    """Here is the program as it stands. The engine answers `Loaded`.

    Attributes:
        document: which document's namespace this is about; another one begins from nothing.
        revision: the graph's, echoed in all that follows.
        tensors: digest -> safetensors bytes of stored tensors the engine has not been given yet.
    """

    document: str
    revision: Size
    program: Program
    tensors: dict[str, bytes] = msgspec.field(default_factory=dict)


class Take(Message, frozen=True):
    """Stored tensors, by digest: what a porter gives the engine of a host in place of those of a request."""

    tensors: dict[str, bytes]


class Trust(msgspec.Struct, frozen=True):
    """The yes of a person to the code of a program.

    Attributes:
        digest: `program.trust.code_digest` of what they said yes to.
        file: the document, which the program finds as `sys.argv[0]` and `__file__`; "" when it has none.
        folder: where it runs, and where it finds modules beside it.
    """

    digest: str
    file: str = ""
    folder: str = ""


class Do(Message, frozen=True):
    """Carry out a verb of semantics §6 on the loaded program.

    Attributes:
        trace: record per node; False executes the whole text as one function ("run" only).
        visible: nodes in view, summarised first.
        max_values: exact values are sent up to this many elements.
        restart: "run" begins from nothing even when paused.
        until: "run" pauses directly behind this node; it goes on when the node is ahead, else begins from nothing.
        stride: how far "step" goes: one node (into blocks); "over": a block at once, where one begins; "into": also
            into a call of a group; "out": to behind the innermost block or call that the counter stands in.
        breakpoints: where to pause on the way, and what to note; only in traced runs.
        trust: of a program that holds code, without which it is refused.
        answers: somebody is there who answers what the program asks for by `input()`.
        pictures: figures that its code draws are to be told as pictures.
        summaries: "visible": of nodes that are not in view only shape and dtype are told at once, their rows
            follow with `complete` when the engine has time.
        curves: what is told of every turn of a loop beside its losses, in `Turned`.
        charts: nodes whose charts are drawn while it runs, and where it ends, and which.
        turns: turns of loops that are recorded whatever the sample is: the turn of each loop around, outermost first.
        turn: where "go_to_turn" goes: the end of this turn of the loop `until`, those of the loops around before it.
        checkpoint: the file that "continue" goes on from; `stays`: it pauses there, where the file was kept.
        keeps_bytes: the engine sends checkpoints by itself while a loop trains, of so many bytes at most; 0: none.
        samples_turns: of long loops not every turn is recorded (semantics §6); the engine tells `Turned`.

    "repeat" begins from nothing and goes to where the live state stood, backwards included (a slider's verb).
    """

    verb: Verb
    trace: bool = True
    restart: bool = False
    visible: tuple[ItemId, ...] = ()
    max_values: Count = 64
    until: ItemId = ItemId("")
    stride: OneOf["node", "over", "into", "out"] = "node"
    breakpoints: tuple[Breakpoint, ...] = ()
    summaries: OneOf["all", "visible"] = "all"
    trust: Trust | None = None
    samples_turns: bool = False
    keeps_bytes: Size = 0
    pictures: bool = False
    answers: bool = False
    curves: tuple[CurveKey, ...] = ()
    charts: tuple[WantedChart, ...] = ()
    turns: tuple[Turns, ...] = ()
    turn: Turns = ()
    checkpoint: bytes = b""
    stays: bool = False


class Answer(Message, frozen=True):
    """A line for a program that has `Asked` for one, without its end; None: nobody types any more.

    Attributes:
        echo: what is typed stands behind the question, as on a terminal.
    """

    text: str | None = None
    echo: bool = False


class Stop(Message, frozen=True):
    """Stop between two nodes; the window kills the process when that does not help.

    Attributes:
        behind_turn: in a loop at the end of its turn only, of the innermost that the run stands in.
    """

    behind_turn: bool = False


class Fetch(Message, frozen=True):
    """Send a table of a live tensor: two dimensions of it, cut out.

    Attributes:
        name: Python name in the namespace (``w``, ``fc.weight``); `grad` asks its `.grad` or
            recorded gradient; `node` and `output` say whose it is.
        index: position in the leading dimensions (all but the last two).
        rows, columns: half-open ranges within the last two dimensions.
        whole: of a distributed tensor not the part of one rank, but the whole: places are those in it.
    """

    request: Size
    node: ItemId
    output: Count = 0
    name: str = ""
    grad: bool = False
    index: tuple[int, ...] = ()
    rows: tuple[Size, Size] = (0, 100)
    columns: tuple[Size, Size] = (0, 50)
    whole: bool = False


class Collect(Message, frozen=True):
    """Send the `Report` of what is bound now (the command line asks after a run)."""

    max_values: Count = 64
    trace: bool = False


class SampleMemory(Message, frozen=True):
    """Send `Memory` this often, milliseconds; 0 stops it."""

    every_ms: Count = 100


Request = (
    Load | Take | Do | Stop | Answer | Infer | Estimate | TryWire | LookAtData | Fetch | Collect | SampleMemory
    | Watch | WhatIf | Check | WeighMemory | Describe | BringModule | KeepCheckpoint | Meet
)  # fmt: skip
