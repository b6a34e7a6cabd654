"""Makes room on the canvas: what stands to the right moves when a card is put into a wire. No Qt."""

import math
from typing import Final

from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits
from gradstudio.graph.model import ItemId, Wire
from gradstudio.ui.canvas.board import Board
from gradstudio.ui.canvas.fresh import fresh_size
from gradstudio.ui.canvas.geometry import GRID

GAP: Final = 48.0
"""Scene pixels between a card and those it is wired to."""


def inserted(board: Board, wire: Wire, key: str, x: float, y: float) -> tuple[Edits, ItemId]:
    """A fresh node in a wire, right of where the wire comes from; all that is in its way moves right.

    Raises:
        Refused: the operator does not fit there.
    """
    source, target = board.box(wire.source), board.box(wire.target)
    left = max(x, source.right + GAP) if source is not None else x
    edits, item = recipes.insert_on_wire(board.graph, wire, key, left, y)
    by = left + fresh_size(board, key)[0] + GAP - target.x if target is not None else 0.0
    if target is None or by <= 0 or target.right < left:
        return edits, item
    by = math.ceil(by / GRID) * GRID
    right = {
        key: (place.x + by, place.y)
        for key, place in board.graph.places.items()
        if place.x >= target.x and key not in board.dots_of(wire)
    }
    return (*edits, *recipes.move(board.graph, right)), item
