"""The record of one backward: its autograd nodes in the order torch executed them, and the gradient along each wire."""

from typing import Annotated
from typing import Literal as OneOf

import msgspec

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.bounds import Count, Place, Seconds, Shape, Size, Turns
from gradstudio.protocol.messages.ranks import NAMED_RANKS, Range
from gradstudio.protocol.messages.records import Summary


class EdgeValue(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """A value of the canvas that was made at an autograd node: what arrives at `index` is its gradient.

    Attributes:
        index: place among the node's incoming gradients.
        path: a module's parameter by dotted name, or the place in a list of tensors.
        turns: of the loops around, when the value was made.
        after: the operator that wrote into its memory since ("add_"): the gradient is of the value after that write.
    """

    node: ItemId
    index: Count = 0
    output: Count = 0
    path: str = ""
    turns: Turns = ()
    after: str = ""


class SavedTensor(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """A tensor that an autograd node keeps for its backward.

    Attributes:
        name: torch's, without ``_saved_`` ("self", "result", "weight").
        version: it was saved at.
        node, output: whose value on the canvas it is; "" when it is none (torch's own helper).
    """

    name: str
    dtype: str = ""
    shape: Shape = ()
    size_bytes: Size = 0
    version: int | None = None
    node: ItemId = ItemId("")
    output: Count = 0


class Share(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What one rank brought to an all-reduce: when it was there, and its gradients."""

    rank: Count
    came_s: Seconds
    grads: tuple[Summary | None, ...] = ()


class Reduction(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """The all-reduce of one bucket of gradients: the mean over ranks takes their places.

    Attributes:
        bucket: which of its model's, as torch counts them in this backward.
        ranks: so many take part.
        came_s: monotonic seconds of the machine when this rank had its gradients; `done_s` when the backward was
            over, which waits for all means.
        shares: of all ranks, once all have told it, the first `NAMED_RANKS` of them.
        arrivals: the first and the last rank to come, once all have told it.
    """

    bucket: Count
    ranks: Count
    came_s: Seconds
    done_s: Seconds
    shares: Annotated[tuple[Share, ...], msgspec.Meta(max_length=NAMED_RANKS)] = ()
    arrivals: Range | None = None


ALL_REDUCE = "AllReduce"
"""`AutogradRow.autograd` of a reduction, which is no autograd node."""


HookKind = OneOf["tensor", "accumulated", "module", "node"]
ShortText = Annotated[str, msgspec.Meta(max_length=200)]


class HookRun(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """A hook of the program's own that ran at an autograd node.

    Attributes:
        kind: of a tensor (before its node), of a leaf behind its `.grad`, of a module, or of the node (behind it).
        name: of its function; `file` and `line` where that is defined, "" in the program that is drawn.
        index: which of the gradients that came in (of a tensor's), or went out.
        before, after: that gradient, or the leaf's `.grad`.
        changed: it is another, or was written into.
    """

    kind: HookKind
    name: ShortText
    file: ShortText = ""
    line: Count = 0
    index: Count = 0
    before: Summary | None = None
    after: Summary | None = None
    changed: bool = False


HookRuns = Annotated[tuple[HookRun, ...], msgspec.Meta(max_length=1000)]


class AutogradRow(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """One real autograd node in one backward: what came in, what went out (None where undefined).

    Attributes:
        backward: which backward of this start from nothing, from 1.
        autograd: torch's class name ("MulBackward0", "AccumulateGrad").
        node: the canvas node it belongs to; "" when none.
        id: its number within this backward's graph.
        next: for each outgoing gradient the autograd node and the input of it where it goes; (-1, 0): nowhere.
        values: the canvas values whose gradient came in.
        saved: tensors it kept for this moment; released behind it unless the graph is retained.
        order: 1: made by the forward; 2: made by a backward with create_graph; and so on.
        before, after: of an AccumulateGrad: the leaf's `.grad` before and behind it.
        reduction: what ranks did together: `incoming` are the gradients of this one, `outgoing` the means.
        hooks: of the program's own that ran there, in order: `incoming` is what those of tensors have left.
    """

    backward: Count
    autograd: str
    node: ItemId
    turns: Turns = ()
    incoming: tuple[Summary | None, ...] = ()
    outgoing: tuple[Summary | None, ...] = ()
    id: Place = -1
    next: tuple[tuple[Place, Count], ...] = ()
    values: tuple[EdgeValue, ...] = ()
    saved: tuple[SavedTensor, ...] = ()
    order: Count = 1
    seconds: Seconds = 0.0
    before: Summary | None = None
    after: Summary | None = None
    reduction: Reduction | None = None
    hooks: HookRuns = ()


class WireGrad(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """What one user sent back along one wire in one backward (semantics §7).

    Attributes:
        source, output: where the wire begins; `target`, `port` where it ends.
        turns: of the target; `source_turns` of the value.
        place: index among `BackwardTraced.rows` of the autograd node that completed it.
        grad: None when torch sent nothing (an undefined gradient).
        parts: of how many autograd edges it is the sum.
    """

    source: ItemId
    target: ItemId
    port: str
    output: Count = 0
    turns: Turns = ()
    source_turns: Turns = ()
    place: Place = 0
    grad: Summary | None = None
    parts: Count = 1


class BackwardTraced(Message, frozen=True):
    """The record of one backward, in the order torch executed it; it comes before the `Row` of its statement.

    Attributes:
        backward: which one, from 1.
        statement: the backward statement's node; `turns` of the loops around it.
        retained: the graph was kept (retain_graph or create_graph), so nothing saved was released.
        at_s: monotonic seconds of the engine when it began.
    """

    revision: Size
    rows: tuple[AutogradRow, ...]
    wires: tuple[WireGrad, ...] = ()
    backward: Count = 0
    statement: ItemId = ItemId("")
    turns: Turns = ()
    pass_number: Count = 1
    retained: bool = False
    at_s: Seconds = 0.0
