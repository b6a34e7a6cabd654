"""What a debugger asks and is told: breakpoints, what-if, gradcheck, memory by node, in-place clashes."""

from typing import Literal as OneOf

import msgspec

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.bounds import Count, Place, Shape, Size, Turns
from gradstudio.protocol.messages.records import Summary

ConditionKind = OneOf["always", "not_finite", "above", "below", "shape_differs", "expression"]


class Condition(msgspec.Struct, frozen=True, omit_defaults=True):
    """When a breakpoint holds; `protocol.breakpoint_conditions.holds` decides over a `Summary`.

    Attributes:
        kind: "not_finite": a NaN or inf is there. "above", "below": the largest magnitude against `number`.
            "shape_differs": from `shape`. "expression": `text`, over min, max, mean, rms, norm, absmax, nan, inf,
            numel and ndim ("norm > 10 and nan == 0").
    """

    kind: ConditionKind = "always"
    number: float = 0.0
    shape: Shape = ()
    text: str = ""


class Breakpoint(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a run is to pause, or (a watch: `stops` is False) where a value is to be noted.

    Attributes:
        node: the node; for a wire its source. "" with the condition "not_finite": any, where a NaN or inf appears,
            that is in a result of finite inputs (in a backward: in what an autograd node makes of finite gradients, or
            in a sum of them). A block: its loop variables, behind each turn's binding; "before", when it is entered.
        place: "before" the node runs (its inputs are tested), or "after" it has run (its outputs are).
        phase: in the forward, or in a backward: then "before" tests the gradients that arrive at the node,
            "after" those it sends back.
        output: which result of the node is tested; None: any.
        group: the group that the node is inside of, in whichever call of it; "": of the program.
        target, port: of a wire; then `place` is "after". Forward: the value, behind its source has run.
            Backward: the gradient that the target sends back along it.
    """

    id: str
    node: ItemId
    place: OneOf["before", "after"] = "before"
    phase: OneOf["forward", "backward"] = "forward"
    output: Count | None = None
    group: str = ""
    target: ItemId = ItemId("")
    port: str = ""
    condition: Condition = Condition()
    stops: bool = True


class Hit(Message, frozen=True):
    """A breakpoint or watch was met, and its condition held.

    Attributes:
        step: the `Row.step` it belongs to (of the statement that ran last, when it stands before a node).
        backward, place: in a backward: which one, and the index among its rows; else 0 and -1.
        summary: what was tested; None when the condition needs no value and there is none.
        stopped: the run pauses here. Of several hits at one moment, or in one backward, only the first that stops;
            a backward is over when its hits are told. A repeat only tells them, and so does the first statement of
            a verb that goes on from before it.
    """

    breakpoint: str
    node: ItemId
    turns: Turns = ()
    step: Count = 0
    backward: Count = 0
    place: Place = -1
    summary: Summary | None = None
    stopped: bool = False


class Culprit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A statement that wrote into a tensor in place.

    Attributes:
        address: how reports call it; `version` the tensor's behind it.
    """

    node: ItemId
    address: str = ""
    line: Count = 0
    version: int = 0
    turns: Turns = ()


class Clash(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why torch refuses an in-place write, or a backward after one.

    Attributes:
        victim: the canvas node whose backward needs (or the leaf that is) the tensor; "" when not found out.
        autograd: its autograd node ("ExpBackward0"); "" where a leaf is written to.
        saved: what it saved, as torch calls it ("result", "self"); `value` the node whose value that is.
        saved_version, version: then and now.
        culprits: the statements that wrote into it since, in order.
    """

    victim: ItemId = ItemId("")
    victim_address: str = ""
    victim_line: Count = 0
    autograd: str = ""
    saved: str = ""
    value: ItemId = ItemId("")
    saved_version: int = 0
    version: int = 0
    culprits: tuple[Culprit, ...] = ()


class Change(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One value or gradient changed by hand at its birth.

    Attributes:
        grad: the gradient that arrives at the value, instead of the value.
        index: which element; None: all of them.
        turns: in which turn of the loops around; () outside loops.
    """

    node: ItemId
    output: Count = 0
    path: str = ""
    turns: Turns = ()
    grad: bool = False
    index: tuple[int, ...] | None = None
    value: float | int | bool = 0.0


class WhatIf(Message, frozen=True):
    """Run the loaded program from nothing with `change` and say what differs (semantics §6).

    It goes as far as the live state stands; with none, to the end. The live state is left alone.
    """

    request: Size
    change: Change
    max_values: Count = 64


class Difference(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A value (or gradient) that came out otherwise.

    Attributes:
        largest: the largest magnitude of after - before; None where they cannot be subtracted.
    """

    node: ItemId
    output: Count = 0
    path: str = ""
    turns: Turns = ()
    grad: bool = False
    before: Summary | None = None
    after: Summary | None = None
    largest: float | None = None


class WhatIfAnswered(Message, frozen=True):
    """Answer to `WhatIf`; `error` in words when it could not be done or the changed run failed (at `failed`)."""

    request: Size
    change: Change
    differences: tuple[Difference, ...] = ()
    error: str = ""
    failed: ItemId = ItemId("")


class Check(Message, frozen=True):
    """Gradcheck of the loaded program's nodes in float64, with the inputs a run from nothing gives them.

    Several nodes are checked as one function, in program order.
    """

    request: Size
    nodes: tuple[ItemId, ...]


class CheckRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One output by one input: the element where autograd and finite differences disagree most.

    Attributes:
        source, source_output: the value that goes in; `name` what it is called.
        node, output: the result that was differentiated.
        analytical, numerical: autograd's number and the finite difference there.
        tolerance: what the difference may be.
        in_index, out_index: the worst element.
    """

    name: str
    node: ItemId
    output: Count = 0
    source: ItemId = ItemId("")
    source_output: Count = 0
    ok: bool = True
    analytical: float = 0.0
    numerical: float = 0.0
    tolerance: float = 0.0
    in_index: tuple[int, ...] = ()
    out_index: tuple[int, ...] = ()
    elements: Size = 0


class LeftOut(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A node that was to be checked with others and has no row, and why, in a sentence."""

    node: ItemId
    reason: str


class Checked(Message, frozen=True):
    """Answer to `Check`. `error` in words: nothing to differentiate, random operator, too many elements, ..."""

    request: Size
    nodes: tuple[ItemId, ...]
    rows: tuple[CheckRow, ...] = ()
    error: str = ""
    left_out: tuple[LeftOut, ...] = ()


class WeighMemory(Message, frozen=True):
    """Send `MemoryByNode` for the live state."""


class NodeMemory(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one node holds now.

    Attributes:
        device: of its results.
        alive_bytes: storages its results brought into being that the program still holds (views bring none).
        saved_bytes: what its autograd nodes keep for a backward; storages that `alive_bytes` counts are counted too.
        kept_bytes: held only because GradStudio shows it.
        grad_bytes: `.grad` of its leaves, also where a result is the same storage.
        state_bytes: what an optimizer keeps of each parameter.
        freed_step: the `Row.step` behind which its results were let go; 0: still there.
    """

    node: ItemId
    device: str = "cpu"
    alive_bytes: Size = 0
    saved_bytes: Size = 0
    kept_bytes: Size = 0
    grad_bytes: Size = 0
    state_bytes: Size = 0
    freed_step: Place = 0


class MemoryByNode(Message, frozen=True):
    """Answer to `WeighMemory`; totals count each storage once: what is alive, or a gradient, is no other's again."""

    revision: Size
    rows: tuple[NodeMemory, ...] = ()
    alive_bytes: Size = 0
    saved_bytes: Size = 0
    kept_bytes: Size = 0
    grad_bytes: Size = 0
    state_bytes: Size = 0
