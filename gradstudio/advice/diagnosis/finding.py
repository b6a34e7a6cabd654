"""What looking over a whole run, or a whole graph, brings to light."""

from typing import Literal as OneOf
from typing import NamedTuple

from gradstudio.graph.model import ItemId

FindingKind = OneOf[
    "not_finite",
    "backward_not_finite",
    "vanishing",
    "exploding",
    "dead",
    "saturated",
    "no_gradient",
    "accumulates",
    "unordered_write",
    "broadcasts",
    "twice_softmax",
    "no_logarithm",
    "frozen_parameter",
]


class Finding(NamedTuple):
    """One thing worth telling, at one node.

    Attributes:
        severity: "error": numbers are spoilt; "warning": they are probably not what was meant; "info".
        title: one line; `explanation` says why, with the figures and what to try.
        path: the nodes the trouble went through, the first one where it began; the node itself is among them.
        backward: in which backward it was seen; 0: in the forward, or in the graph alone.
        place: index among that backward's rows, to look at that moment; -1: it stands from the backward's end on.
    """

    kind: FindingKind
    severity: OneOf["error", "warning", "info"]
    node: ItemId
    title: str
    explanation: str
    path: tuple[ItemId, ...] = ()
    backward: int = 0
    place: int = -1
