"""Where notes lie: at places of their own, else above their cards. No Qt."""

from collections.abc import Callable, Sequence

from gradstudio.graph.graph_index import index_of
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.text.notes import note_of
from gradstudio.scene import geometry
from gradstudio.scene.geometry import Box, Corners
from gradstudio.scene.items import Note
from gradstudio.scene.note.note_layout import NOTE_EDGE, NOTE_GAP, NOTE_LINE, NOTE_WIDTH, lay_out_note
from gradstudio.scene.text_measure import TextMeasure

Where = Callable[[str], tuple[float, float] | None]


def place_notes(
    graph: Graph, meter: TextMeasure, where: Where, box_of: Callable[[ItemId], Box | None], bounds: Sequence[Corners]
) -> dict[ItemId, Note]:
    """All notes by item; of a block without one, the comment at its end.

    `where` is the place of a key, `box_of` the box of an item, `bounds` those of all cards.
    """
    texts = {ItemId(body): text.strip("\n") for body, text in graph.tails.items()}
    noted = sorted(index_of(graph).noted, key=graph.numbers().__getitem__)
    holders = (graph.nodes.get(item) or graph.blocks[item] for item in noted)
    texts |= {holder.id: text for holder in holders if (text := note_of(holder))}
    notes = {}
    for item, text in texts.items():
        place = graph.places.get(f"note:{item}")
        width = place.width if place is not None and place.width else NOTE_WIDTH
        words = lay_out_note(meter, text, width - 2 * NOTE_EDGE)
        height = max(words.height, NOTE_LINE) + 2 * NOTE_EDGE
        x, y = where(f"note:{item}") or _beside(box_of(item), bounds, height)
        notes[item] = Note(item, Box(x, y, width, height), text, words, place.color if place is not None else "")
    return notes


def _beside(box: Box | None, bounds: Sequence[Corners], height: float) -> tuple[float, float]:
    """Above the card, or below everything for the program's last comment."""
    if box is not None:
        return box.x, box.y - height - NOTE_GAP
    extent = geometry.union(Box(a, b, c - a, d - b) for a, b, c, d in bounds)
    return (extent.x, extent.bottom + 2 * NOTE_GAP) if extent is not None else (0.0, 0.0)
