"""What programs cover on the canvas, and programs from text, for the tests of the layout."""

from collections.abc import Mapping

from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.model import BodyId, Graph, ItemId, Place
from gradstudio.layout import card_sizes
from gradstudio.program.reading.reader import read_script

Rectangle = tuple[float, float, float, float]
Corners = Mapping[str, tuple[float, float]]


def program(text: str) -> Graph:
    """The graph of a text, without places."""
    return read_script(text, pasted=True).graph


def named(graph: Graph, name: str) -> ItemId:
    """The last item that binds a name."""
    return next(node.id for node in reversed(graph.nodes.values()) if name in node.names)


def placed(graph: Graph, corners: Corners) -> Graph:
    """A copy in which items stand there."""
    made = graph.copy()
    made.places.update({key: Place(x, y) for key, (x, y) in corners.items()})
    return made


def rectangles(graph: Graph, corners: Corners) -> dict[str, Rectangle]:
    """What each node and each note covers: left, top, right, bottom."""
    covers: dict[str, Rectangle] = {}
    inside = card_groups(graph).insides()  # what is on the card of another covers nothing of its own
    for key, (x, y) in corners.items():
        item = ItemId(key.removeprefix("note:"))
        if key.startswith("note:"):
            width, height = card_sizes.note_size(graph, item)
        elif item in graph.nodes and item not in inside:
            width, height = card_sizes.card_size(graph, item)
        else:
            continue
        covers[key] = (x, y, x + width, y + height)
    return covers


def overlap(one: Rectangle, other: Rectangle) -> bool:
    """Whether two share more than an edge."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def overlaps(covers: Mapping[str, Rectangle]) -> list[tuple[str, str]]:
    """The pairs that cover one another."""
    keys = list(covers)
    return [(a, b) for k, a in enumerate(keys) for b in keys[:k] if overlap(covers[a], covers[b])]


def strangers_in_frames(graph: Graph, covers: Mapping[str, Rectangle]) -> list[tuple[ItemId, str]]:
    """Blocks, and what stands in their frames without being theirs."""
    found: list[tuple[ItemId, str]] = []
    for block in graph.blocks:
        inside = set(graph.order(BodyId(block)))
        members = [rect for key, rect in covers.items() if key.removeprefix("note:") in inside]
        if members:
            left, top = min(rect[0] for rect in members), min(rect[1] for rect in members)
            frame = (left, top, max(rect[2] for rect in members), max(rect[3] for rect in members))
            others = {key for key in covers if key.removeprefix("note:") not in {*inside, block}}
            found += [(block, key) for key in sorted(others) if overlap(covers[key], frame)]
    return found
