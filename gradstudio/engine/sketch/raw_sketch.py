"""A sketch while it is cut to size: its shape in numbers and words, without a figure of any tensor."""

from typing import Literal as OneOf
from typing import NamedTuple

from torch import Tensor
from torch.autograd.graph import Node

from gradstudio.protocol.sketch import CallPath, SketchEdge, SketchGroup


class RawNode(NamedTuple):
    """A node before its figures are taken; attributes as of `SketchNode`.

    Attributes:
        node: autograd's own; None of a constant.
        tensor: of a leaf or a constant.
        alike: what nodes of repeated layers must have in common to be drawn once.
    """

    kind: OneOf["function", "leaf", "constant"]
    title: str
    path: CallPath
    node: Node | None
    tensor: Tensor | None
    alike: tuple[object, ...]


class RawSketch(NamedTuple):
    """Nodes by number, edges between them, and how often each group is repeated."""

    nodes: dict[int, RawNode]
    edges: tuple[SketchEdge, ...]
    groups: dict[CallPath, SketchGroup]

    def without(self, numbers: set[int], edges: tuple[SketchEdge, ...]) -> "RawSketch":
        """The sketch with these nodes taken out and other edges."""
        nodes = {number: node for number, node in self.nodes.items() if number not in numbers}
        return RawSketch(nodes, edges, self.groups)
