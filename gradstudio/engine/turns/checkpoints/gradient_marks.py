"""How far the backwards of a run were at the end of a turn, so that those that follow are numbered as they were."""

from typing import NamedTuple

from torch import Tensor

from gradstudio.engine.gradient.gradient_registry import Gradients
from gradstudio.protocol.messages.events import GradPart


class LeafMark(NamedTuple):
    """What was known of a leaf's `.grad`; the tensor is held, so that its identity stays its own."""

    tensor: Tensor
    cleared_at: int
    parts: tuple[GradPart, ...]


class GradientMarks:
    """The number of the last backward, and which backwards had added to each leaf."""

    def __init__(self, gradients: Gradients) -> None:
        """Note them."""
        self._backwards, self._last_backward = gradients.backwards, gradients.last_backward
        self._leaves = {
            identity: LeafMark(leaf.tensor, leaf.cleared_at, tuple(leaf.parts))
            for identity, leaf in gradients.leaves.items()
        }

    def restore(self, gradients: Gradients) -> None:
        """Count on from there; what was made since then was made before the next backward."""
        gradients.backwards, gradients.last_backward = self._backwards, self._last_backward
        for value in gradients.values.values():
            value.made_at = min(value.made_at, self._backwards)
        for identity, leaf in gradients.leaves.items():
            mark = self._leaves.get(identity)
            leaf.cleared_at = mark.cleared_at if mark is not None else self._backwards
            leaf.parts = list(mark.parts) if mark is not None else []
