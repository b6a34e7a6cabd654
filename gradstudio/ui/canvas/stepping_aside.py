"""What is added at the cursor steps aside where it would lie over something. No Qt."""

import msgspec

from gradstudio.graph.dots import item_of
from gradstudio.graph.edits import Edits, SetPlaces, apply_all
from gradstudio.graph.fragment import copy_items
from gradstudio.graph.model import ROOT, BodyId, ItemId
from gradstudio.layout.ground import Ground
from gradstudio.layout.sizes import Size
from gradstudio.ui.canvas.board import Board
from gradstudio.ui.canvas.results import NoResults


def stepped_aside(board: Board, edits: Edits, body: BodyId = ROOT) -> Edits:
    """The edits that add items to a body, and behind them a move of these to the nearest free place.

    The edits alone, where what they add lies over no card, note or frame of the body.
    """
    graph, draft = board.graph, board.graph.copy()
    apply_all(draft, edits)
    new = [item for item in draft.order() if item not in graph]
    outermost = [item for item in draft.bodies[body] if item not in graph]
    part = copy_items(draft, new)
    part.definitions = draft.definitions
    alone = Board(part, NoResults(), board.shown, board.meter)
    sizes: dict[ItemId, Size] = {
        item: (box.width, box.height) for each in (board, alone) for item in each.ids if (box := each.box(item))
    }
    ground = Ground(draft, sizes)
    rects = ground.members(body, [item for item in draft.bodies[body] if item in graph])
    if not ground.is_covered(body, rects, outermost):
        return edits
    dx, dy = (float(round(by)) for by in ground.nearest(body, rects, outermost))
    moved = {
        key: msgspec.structs.replace(place, x=place.x + dx, y=place.y + dy)
        for key, place in draft.places.items()
        if item_of(key) in new
    }
    return (*edits, SetPlaces(dict(moved))) if dx or dy else edits
