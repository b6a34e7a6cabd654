"""What lies on a scene: cards, frames, notes, ports. No Qt."""

from typing import Final
from typing import Literal as OneOf

import msgspec

from gradstudio.graph.model import ItemId
from gradstudio.scene.card.card_layout import HEADER, CardLayout
from gradstudio.scene.card.debug_sections import PLAIN, DebugSections
from gradstudio.scene.card.parameter_rows import LEAF, ParameterRows
from gradstudio.scene.card.result_sections import ResultSections
from gradstudio.scene.geometry import Box
from gradstudio.scene.note.note_layout import NoteText

LEAF_EDGE: Final = 4.0
"""Between the fields of a card and its leaves."""
ROOT_NOTE: Final = ItemId("")
Side = OneOf["input", "output"]


class Card(msgspec.Struct):
    """A node's card: its layout, and what is cached of its results.

    Attributes:
        result_height: the room that is kept for its results; `drawn` of it is what they take now.
        leaves: of the module that it shows; None until asked for. Those `listed` have ports.
    """

    layout: CardLayout
    result_height: float = 0.0
    drawn: float = 0.0
    revision: int = 0
    well: ResultSections | None = None
    extras: DebugSections = PLAIN
    leaves: ParameterRows | None = None
    listed: tuple[str, ...] = ()

    @property
    def height(self) -> float:
        """Of the whole card with the room that is kept for its results: nothing is put there."""
        return self.layout.height + self.result_height + self.extras.height

    @property
    def drawn_height(self) -> float:
        """Of what is seen of it."""
        return self.layout.height + self.drawn + self.extras.height


class Frame(msgspec.Struct, frozen=True):
    """A block's frame; `depth` 0 stands in the program itself.

    Attributes:
        room: scene pixels from its upper edge to the first thing that it holds.
    """

    item: ItemId
    layout: CardLayout
    box: Box
    depth: int
    room: float = 0.0


class Note(msgspec.Struct, frozen=True):
    """A comment as a sticky card; `item` is the statement it belongs to, "" the program's end."""

    item: ItemId
    box: Box
    text: str
    words: NoteText
    color: str = ""

    @property
    def key(self) -> str:
        """Under which its place is kept."""
        return f"note:{self.item}"


class PortRef(msgspec.Struct, frozen=True):
    """A port of an item: an output by number, an input by path, or a leaf of a module: an output with a path."""

    item: ItemId
    side: Side
    path: str = ""
    output: int = 0


def stays_in_place(old: Card, new: Card) -> bool:
    """Whether a card that is another one now has its names, its size and its ports as they were."""
    before = (old.layout.names, old.layout.width, old.layout.height, old.height)
    after = (new.layout.names, new.layout.width, new.layout.height, new.height)
    return before == after and _ports_of(old.layout) == _ports_of(new.layout)


def _ports_of(layout: CardLayout) -> list[tuple[str | int, float, float]]:
    inputs: list[tuple[str | int, float, float]] = [(row.path, row.x, row.y) for row in layout.inputs]
    return inputs + [(f"{row.owner}.{row.index}", row.x, row.y) for row in layout.outputs]


def port_offset(layout: CardLayout, port: PortRef) -> tuple[float, float]:
    """Of a port from its card's top left corner; folded and unknown ones sit at the header."""
    return input_offset(layout, port.path) if port.side == "input" else output_offset(layout, port.item, port.output)


def input_offset(layout: CardLayout, path: str) -> tuple[float, float]:
    """Of an input from its card's top left corner."""
    for row in layout.inputs:
        if row.path == path:
            return row.x, row.y
    return 0.0, HEADER / 2


def output_offset(layout: CardLayout, item: ItemId, output: int) -> tuple[float, float]:
    """Of an output of an item from the top left corner of its card."""
    for row in layout.outputs:
        if row.index == output and row.owner == item:
            return row.x, row.y
    return layout.width, HEADER / 2


def leaf_offset(layout: CardLayout, leaves: ParameterRows, path: str) -> tuple[float, float]:
    """Of a leaf's port from its card's top left corner; one that is folded away sits at the line that names it."""
    if layout.display_flags.collapsed:
        return layout.width, layout.height / 2
    row = next((row for row in leaves.rows if row.path == path), None)
    y = row.y if row is not None else leaves.more_y
    return layout.width, layout.height + LEAF_EDGE + y + LEAF / 2
