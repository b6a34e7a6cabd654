"""Where a run is: one without a trace says it now and then, any other of a statement that takes long, and of loops."""

from typing import Final
from typing import Literal as OneOf

import msgspec

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.bounds import Count, Seconds, Size, Turns

LARGEST_KEPT: Final = 64 << 20
"""Bytes of a checkpoint that is kept by itself."""
Figure = OneOf["value", "mean", "rms", "norm", "max", "zeros", "update", "rate"]


class Running(Message, frozen=True):
    """The run has come here; what follows may take long.

    Attributes:
        line: of the script, 1-based.
        turn: how often that line was reached; 0 where that is not counted.
        node: whose statement it is, in a run with a trace.
        seconds: how long that statement has been at work.
    """

    line: Count
    turn: Count = 0
    node: ItemId = ItemId("")
    seconds: Seconds = 0.0


class Asked(Message, frozen=True):
    """The program waits for a line that somebody types; an `Answer` brings it.

    Attributes:
        prompt: what it has written before, on the line where it waits.
    """

    node: ItemId
    line: Count
    prompt: str = ""


class CurveKey(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Which number of each turn: a value, or a figure of it, as it stands at the end of the turn.

    Attributes:
        path: a module's parameter by dotted name; of an optimizer with several groups ``param_groups[1]``.
        figure: "value" of one element; else "mean", "rms", "norm", "max" (of magnitudes) or "zeros" (their share);
            of a leaf "update": the norm of what the turn has added to it, by its norm before; of an optimizer "rate":
            its learning rate.
        grad: of the leaf's `.grad`; of another value what `retain_grad()` would leave there.
    """

    node: ItemId
    output: Count = 0
    path: str = ""
    figure: Figure = "value"
    grad: bool = False


class Begin(msgspec.Struct, frozen=True, gc=False):
    """A loop was entered: in these turns of those around it, with so many turns of its own behind it."""

    around: Turns
    number: Size


class Curve(msgspec.Struct, frozen=True, gc=False):
    """Numbers of consecutive turns, the last of which is the newest that was told: float64 bytes, little-endian."""

    key: CurveKey
    data: bytes


class Turned(Message, frozen=True):
    """Turns of a loop have gone by; often more than one.

    Attributes:
        turn: the last that is over, or stands; of `total`, where that is known (else 0).
        around: the turns of the loops around.
        number: how many turns of this loop there were since the start from nothing.
        seconds: since the loop began.
        is_sampled: turns were left out of the record.
        begins: when it was entered since it was last told.
        is_over: nobody stands in the loop any more; only `number` and `curves` say something.
    """

    loop: ItemId
    turn: Count = 0
    total: Size = 0
    around: Turns = ()
    number: Size = 0
    seconds: Seconds = 0.0
    is_sampled: bool = False
    is_over: bool = False
    curves: tuple[Curve, ...] = ()
    begins: tuple[Begin, ...] = ()


class KeepCheckpoint(Message, frozen=True):
    """Send what the run is as a file of safetensors. The engine answers `CheckpointKept`.

    Attributes:
        most_bytes: a larger one is refused; 0: it may be of any size.
    """

    request: Size
    most_bytes: Size = 0


class CheckpointKept(Message, frozen=True):
    """Answer to `KeepCheckpoint`; of the number 0 it comes by itself, while a loop runs (`Do.keeps_bytes`).

    Attributes:
        data: the bytes of the file.
        turns: how many turns of the loop that trains are done.
        counts: how many turns of each loop there were since the start from nothing.
        error: why there is none, in words; "" when there is.
        figure: what says how well, where this is the best so far; "": it is the newest. `value`: of it, which
            is better the larger it is where it `rises`.
    """

    request: Size
    data: bytes = b""
    turns: Count = 0
    counts: dict[ItemId, Size] = msgspec.field(default_factory=dict)
    error: str = ""
    figure: str = ""
    value: float = 0.0
    rises: bool = False


class ProgramExit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """With what a program of a person's own ended itself, as Python ends then.

    Attributes:
        code: of the process.
        words: what it says on standard error; "" for nothing.
    """

    code: Count
    words: str = ""
