"""What menus and keys ask of the canvas about where cards stand and how they are worn; each is one undo entry."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from gradstudio.graph import recipes
from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.edits import Edits, SetPlaces, apply_all
from gradstudio.graph.model import BodyId, Graph, ItemId, Place
from gradstudio.layout.placement.alignment import Axis, Rect, Shifts, Side, aligned, distributed
from gradstudio.scene.edit.drag_group import Corners, carried, units, with_members
from gradstudio.scene.edit.drop_target import dropped
from gradstudio.scene.edit.empty_blocks import keeping_frames
from gradstudio.scene.edit.make_room import with_room
from gradstudio.scene.geometry import GRID

if TYPE_CHECKING:
    from PySide6.QtCore import SignalInstance

    from gradstudio.scene.scene import Board
    from gradstudio.ui.canvas.edit.canvas_selection import CanvasSelection
    from gradstudio.ui.state.document.attention import Attention
    from gradstudio.ui.state.document.graph_store import GraphStore

SIDES: dict[Side, str] = {
    "left": "left edges",
    "right": "right edges",
    "top": "upper edges",
    "bottom": "lower edges",
    "center": "centres",
    "middle": "middles",
}
MOST_NAMED = 3
"""So many inputs that are open now are named."""


class Arranging:
    """Methods of `CanvasView`; what they need of it is declared here."""

    if TYPE_CHECKING:
        selection: CanvasSelection
        store: GraphStore
        attention: Attention
        board: Board
        said: SignalInstance

        def refuse(self, words: str) -> None: ...

    snap_to_grid = True
    show_guides = True
    shake_off = True

    # -------------------------------------------------------------- rows and columns

    def align_selection(self, side: Side) -> None:
        """Bring an edge, or the middle, of all selected cards and frames to one line."""
        found = units(self.board, self.attention.selection)
        if len(found) < 2:
            self.refuse("Select two or more cards or frames to bring them into line.")
            return
        rects, fixed = self._rects(found), self._fixed(found)
        down = side in ("left", "right", "center")
        self._shift(aligned(rects, side, fixed), f"Align {SIDES[side]}", found, down)

    def distribute_selection(self, axis: Axis) -> None:
        """Make the gaps between the selected cards and frames equal."""
        found = [item for item in units(self.board, self.attention.selection) if not self._is_fixed(item)]
        if len(found) < 3:
            self.refuse("Select three or more cards or frames to make the gaps between them equal.")
            return
        shifts = distributed(self._rects(found), axis, GRID)
        self._shift(shifts, "Distribute " + axis, found, axis == "down", still=found)

    def _rects(self, items: Iterable[ItemId]) -> dict[str, Rect]:
        boxes = ((item, self.board.box(item)) for item in items)
        return {item: Rect(box.x, box.y, box.width, box.height) for item, box in boxes if box is not None}

    def _is_fixed(self, item: ItemId) -> bool:
        """Whether nothing of a card or a frame can be moved."""
        return not carried(self.board, (item,))

    def _fixed(self, items: Iterable[ItemId]) -> frozenset[str]:
        return frozenset(item for item in items if self._is_fixed(item))

    def _shift(
        self, shifts: Shifts, text: str, brought: list[ItemId], down: bool, still: Iterable[ItemId] = ()
    ) -> None:
        """Move things, and along the line what they, or the frames around them, would cover."""
        moved: Corners = {}
        for item, (dx, dy) in shifts.items():
            corners = carried(self.board, (ItemId(item),))
            moved |= {key: (x + dx, y + dy) for key, (x, y) in corners.items()}
        moved = with_room(self.board, brought, moved, down=down, still=tuple(still))
        if moved:
            self.store.submit(recipes.move(self.board.graph, moved), text)

    # -------------------------------------------------------------- how cards are worn

    def toggle_collapsed(self) -> None:
        """Show only the headers of the selected cards, or all of them again."""
        self._wear("collapsed", "Collapse", "Expand")

    def toggle_tucked(self) -> None:
        """Hide the inputs of the selected cards that nothing feeds, or show them again."""
        self._wear("tucked", "Hide unused ports", "Show unused ports")

    def toggle_pinned(self) -> None:
        """Pin the selected cards down where they are, or let them go."""
        self._wear("pinned", "Pin", "Unpin")

    def is_worn(self, name: str) -> bool:
        """Whether all selected cards are collapsed, tucked or pinned."""
        items = self._worn_items()
        places = [self.board.graph.places.get(item) for item in items]
        return bool(items) and all(place is not None and getattr(place, name) for place in places)

    def _worn_items(self) -> list[ItemId]:
        whole = with_members(self.board, self.selection.chosen())
        return sorted(item for item in whole if item not in self.board.frames or not self.board.members(item))

    def _wear(self, name: str, verb: str, back: str) -> None:
        items, on = self._worn_items(), not self.is_worn(name)
        corners: Corners = {item: (box.x, box.y) for item in items if (box := self.board.box(item)) is not None}
        if not corners:
            self.refuse("Select a card first.")
            return
        cards = len(self.board.joining.cards(items))
        self.store.attempt(_worn, (verb if on else back) + (f" {cards} cards" if cards > 1 else ""), corners, name, on)

    # -------------------------------------------------------------- out of the wires

    def delete_and_reconnect(self) -> None:
        """Delete the selected items, and wire what fed them to their users."""
        items = self.selection.statements()
        if not items:
            return
        healed = recipes.delete_healed(self.board.graph, sorted(items))
        cards = len(self.board.joining.cards(items))
        recipe = keeping_frames(lambda _graph: healed.edits, self.board.frames)
        if self.store.attempt(recipe, "Delete and reconnect" if cards == 1 else f"Delete {cards} items and reconnect"):
            self.said.emit(healed_words("Deleted", healed))

    def drop_shaken(self, places: Corners, bodies: dict[ItemId, BodyId], items: frozenset[ItemId]) -> None:
        """Put what was shaken where it is let go, out of its wires to others."""
        made: list[recipes.Healed] = []

        def shaken(graph: Graph) -> Edits:
            trial, healed = graph.copy(), recipes.shake_off(graph, sorted(items))
            apply_all(trial, healed.edits)
            made.append(healed)
            return (*healed.edits, *dropped(trial, places, bodies))

        if self.store.attempt(keeping_frames(shaken, self.board.frames), "Shake off"):
            self.said.emit(healed_words("Taken out of its wires", made[-1]))

    # -------------------------------------------------------------- in the program or not

    def toggle_muted(self) -> None:
        """Take the selection out of the program, or back in."""
        graph, items = self.board.graph, sorted(self.selection.statements())
        holders = [graph.nodes.get(item) or graph.blocks[item] for item in items]
        if not holders and not self.selection.chosen():
            self.refuse("Select a node or a block to mute it.")
        if not holders:
            return
        muted = not all(holder.muted for holder in holders)
        done = self.store.attempt(recipes.set_muted, "Mute" if muted else "Unmute", items, muted)
        if done and not muted:
            self.said.emit("Unmuted: it takes part in the program again")
        elif done:
            others = len(self.board.joining.cards(self.board.left_out - frozenset(items)))
            follow = f"; so {'does' if others == 1 else 'do'} {others} that read from it" if others else ""
            self.said.emit(f"Muted: it takes no part in the program{follow}")

    def toggle_bypassed(self) -> None:
        """Let the selected nodes pass their input on, or compute again."""
        graph = self.board.graph
        if self.selection.chosen() and not self.selection.statements():
            return
        homes = sorted(self.board.joining.cards(self.attention.selection - CARDS))
        items = [item for item in homes if item in graph.nodes]
        if not items:
            self.refuse("Only nodes can be bypassed: a block can be muted (M).")
            return
        bypassed = not all(graph.nodes[item].bypassed for item in items)
        dry = [item for item in items if bypassed and not graph.wires_to(item)]
        if len(dry) == len(items):
            self.refuse("Nothing is wired in front of it, so there is nothing to pass on: mute it (M) instead.")
            return
        items = [item for item in items if item not in dry]
        self.store.attempt(recipes.set_bypassed, "Bypass" if bypassed else "Compute again", items, bypassed)


def healed_words(verb: str, healed: recipes.Healed) -> str:
    """What became of the wires."""
    words = [verb]
    if healed.wired:
        words.append(f"{healed.wired} wire{'s lead' if healed.wired > 1 else ' leads'} past it")
    if healed.left:
        more = len(healed.left) - MOST_NAMED
        words.append("open now: " + ", ".join(healed.left[:MOST_NAMED]) + (f" and {more} more" if more > 0 else ""))
    return "; ".join(words)


def _worn(graph: Graph, corners: Corners, name: str, on: bool) -> Edits:
    places: dict[str, Place | None] = {
        key: msgspec.structs.replace(graph.places.get(key, Place(x, y)), **{name: on})
        for key, (x, y) in corners.items()
    }
    return (SetPlaces(places),)
