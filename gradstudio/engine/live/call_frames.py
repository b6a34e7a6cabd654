"""Calls of definitions that are being carried out: what stood around each, and what its statement waits for."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from torch import nn

from gradstudio.engine.gradient.inplace_writes import Before
from gradstudio.engine.gradient.wire_edges import Call
from gradstudio.engine.script.cursor import Cursor
from gradstudio.graph.model import ItemId
from gradstudio.program.model import Inside

if TYPE_CHECKING:
    from gradstudio.engine.script.compiled_steps import Step


class Standing(NamedTuple):
    """The names, and the place among the statements, of the program or of what is inside one call."""

    namespace: dict[str, Any]
    binder: dict[str, tuple[ItemId, int]]
    cursor: Cursor
    last_backward: "Step | None"
    backward_parts: dict[str, Any]


@dataclass(slots=True, eq=False)
class Execution:
    """A statement that is being executed.

    Attributes:
        needs: an operand requires grad; else `inputs` says who bound them.
        call: what its wires brought in; `written` what it may write into, as it was before.
        started: when, by `time.perf_counter`; pauses inside it do not count.
    """

    step: "Step"
    operands: list[Any]
    needs: bool
    inputs: tuple[tuple[ItemId, int] | None, ...]
    call: Call | None
    written: list[Before]
    started: float


@dataclass(slots=True, eq=False)
class Entered:
    """A call whose inside runs statement by statement.

    Attributes:
        execution: the statement that calls; `entry` stands for the inputs of the call, as if a step had given them.
        given: of a constructor (`setup`), the names its arguments have inside.
        module: that is being made or called; None for a function.
        around: where the program, or the call around, stands meanwhile.
    """

    inside: Inside
    execution: Execution
    entry: "Step"
    given: dict[str, Any]
    module: nn.Module | None
    setup: bool
    around: Standing
