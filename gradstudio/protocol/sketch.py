"""A sketch: what autograd holds behind tensors of a person's own script, as plain records. Neither torch nor Qt."""

from typing import Literal as OneOf

import msgspec

from gradstudio.protocol.messages.records import Summary

CallPath = tuple[str, ...]
"""The calls of modules that something was made in, outermost first: paths, with ``#2`` from the second call on."""


class SavedValue(msgspec.Struct, frozen=True):
    """A tensor that a function keeps for its backward, under torch's name for it."""

    name: str
    summary: Summary


class SketchNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node of autograd's graph, or a tensor that the graph ends at.

    Attributes:
        kind: a function (``grad_fn``), a leaf (an ``AccumulateGrad`` with its tensor), or a constant: a tensor
            that was used and that autograd holds no edge to.
        title: torch's name of the function, or the name of the tensor.
        path: the calls of modules that it belongs to.
        outputs: of a function what it makes: numbers where the tensor is there, else dtype and shape.
        grad: what stands in ``.grad``; None where there is none.
        saved: what it keeps for its backward, where it was asked for.
        result: the name of the tensor that is drawn, where it is this one.
        name: of the variable that holds what a function made; "" where none is known.
    """

    kind: OneOf["function", "leaf", "constant"]
    title: str
    path: CallPath = ()
    outputs: tuple[Summary, ...] = ()
    grad: Summary | None = None
    saved: tuple[SavedValue, ...] = ()
    result: str = ""
    name: str = ""


class SketchEdge(msgspec.Struct, frozen=True):
    """From what was made to what used it, by number; `is_held` is False where no gradient goes back.

    `output` is which of the results of a function it is.
    """

    source: int
    target: int
    is_held: bool = True
    output: int = 0


class SketchGroup(msgspec.Struct, frozen=True):
    """A call of a module; `times` counts the calls in a row that are alike and drawn once."""

    path: CallPath
    title: str
    times: int = 1


class Sketch(msgspec.Struct, frozen=True):
    """Nodes in an order in which every edge goes forward.

    Attributes:
        notes: what is left out, and why, in sentences.
    """

    nodes: tuple[SketchNode, ...]
    edges: tuple[SketchEdge, ...] = ()
    groups: tuple[SketchGroup, ...] = ()
    notes: tuple[str, ...] = ()
