"""A text that was read."""

import msgspec

from gradstudio.graph.model import Graph, ItemId, Wire


class Read(msgspec.Struct, frozen=True):
    """A text that was read.

    Attributes:
        graph: without places.
        lines: 1-based line of every item in the text, those inside definitions among them.
        outer: wires into it from items of the canvas that the text is to be pasted on.
        device: where the text binds `device`, and what class Python gives it; (0, "") when it does not.
    """

    graph: Graph
    lines: dict[ItemId, int]
    outer: tuple[Wire, ...] = ()
    device: tuple[int, str] = (0, "")
