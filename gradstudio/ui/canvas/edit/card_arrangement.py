"""What menus and keys ask of the canvas about where cards stand and how they are worn; each is one undo entry."""

from collections.abc import Collection, Iterable

import msgspec

from gradstudio.graph import recipes
from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.edits import Edits, SetPlaces, apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import ROOT, BodyId, ChartKind, Graph, ItemId, Place
from gradstudio.graph.text.item_titles import title
from gradstudio.layout.placement.alignment import Axis, Rect, Shifts, Side, align, distribute
from gradstudio.protocol.messages.charts import CHARTS
from gradstudio.scene.edit.drag_group import Corners, drag_group, units, with_members
from gradstudio.scene.geometry import GRID
from gradstudio.scene.scene import Scene
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.edit.canvas_selection import CanvasSelection
from gradstudio.ui.canvas.edit.selection_commands import counted_items
from gradstudio.ui.state.document.graph_store import GraphStore

SIDES: dict[Side, str] = {
    "left": "left edges",
    "right": "right edges",
    "top": "upper edges",
    "bottom": "lower edges",
    "center": "centres",
    "middle": "middles",
}
CHART = "chart"
MOST_NAMED = 3
"""So many inputs that are open now are named."""


class CardArrangement:
    """Moves, aligns, collapses, pins, mutes and bypasses cards."""

    def __init__(self, canvas: CanvasContext, selection: CanvasSelection) -> None:
        """What is selected on this canvas."""
        self._canvas, self._selection = canvas, selection
        self._scene, self._store, self._attention = canvas.scene, canvas.store, canvas.attention

    # -------------------------------------------------------------- moving

    def drop_moved(
        self,
        places: dict[str, tuple[float, float]],
        bodies: dict[ItemId, BodyId],
        shaken: frozenset[ItemId] = frozenset(),
    ) -> None:
        """End of a drag: one undo entry; a refused block leaves the cards where they were.

        What was `shaken` is taken out of its wires first.
        """
        from gradstudio.scene.edit.card_drop import drop_edits
        from gradstudio.scene.edit.empty_blocks import keep_frames

        graph = self._scene.graph
        current = {key: (place.x, place.y) for key, place in graph.places.items()}
        if shaken:
            self.drop_shaken(places, bodies, shaken)
        elif any(current.get(key) != place for key, place in places.items()):
            try:
                edits = keep_frames(drop_edits, self._scene.placement.frames)(graph, places, bodies)
            except Refused as refusal:
                self._canvas.refuse(str(refusal))
                return
            came = [item for item, body in bodies.items() if body not in (ROOT, graph.parents[item])]
            submit_with_room(self._store, self._scene, edits, came, self._moved_words(places, bodies))

    def _moved_words(self, places: Iterable[str], items: Collection[ItemId]) -> str:
        """What is moved: a card by its name, a note or a dot of a wire by what it is."""
        if len(items) == 1:
            return f"Move {title(self._scene.graph, next(iter(items)))}"
        if items:
            return counted_items("Move", len(items))
        return "Move note" if any(key.startswith("note:") for key in places) else "Move dot"

    def nudge(self, dx: float, dy: float) -> None:
        """Shift the selection a little; repeated nudges become one undo entry."""
        items = with_members(self._scene, self._attention.selection)
        corners = drag_group(self._scene, items, self._selection.dots_to_move(items))
        places = {key: (x + dx, y + dy) for key, (x, y) in corners.items()}
        if places:
            key = f"nudge:{','.join(sorted(places))}"
            self._store.submit(recipes.move(self._scene.graph, places), "Nudge", key)
        elif items:
            self._canvas.refuse("What is selected is pinned down: unpin it (P) to move it.")

    # -------------------------------------------------------------- rows and columns

    def align_selection(self, side: Side) -> None:
        """Bring an edge, or the middle, of all selected cards and frames to one line."""
        found = units(self._scene, self._attention.selection)
        if len(found) < 2:
            self._canvas.refuse("Select two or more cards or frames to bring them into line.")
            return
        rects, fixed = self._rects(found), self._fixed(found)
        down = side in ("left", "right", "center")
        self._shift(align(rects, side, fixed), f"Align {SIDES[side]}", found, down)

    def distribute_selection(self, axis: Axis) -> None:
        """Make the gaps between the selected cards and frames equal."""
        found = [item for item in units(self._scene, self._attention.selection) if not self._is_fixed(item)]
        if len(found) < 3:
            self._canvas.refuse("Select three or more cards or frames to make the gaps between them equal.")
            return
        shifts = distribute(self._rects(found), axis, GRID)
        self._shift(shifts, "Distribute " + axis, found, axis == "down", still=found)

    def _rects(self, items: Iterable[ItemId]) -> dict[str, Rect]:
        boxes = ((item, self._scene.placement.room(item)) for item in items)
        return {item: Rect(box.x, box.y, box.width, box.height) for item, box in boxes if box is not None}

    def _is_fixed(self, item: ItemId) -> bool:
        """Whether nothing of a card or a frame can be moved."""
        return not drag_group(self._scene, (item,))

    def _fixed(self, items: Iterable[ItemId]) -> frozenset[str]:
        return frozenset(item for item in items if self._is_fixed(item))

    def _shift(
        self, shifts: Shifts, text: str, brought: list[ItemId], down: bool, still: Iterable[ItemId] = ()
    ) -> None:
        """Move things, and along the line what they, or the frames around them, would cover."""
        from gradstudio.scene.edit.make_room import with_room

        moved: Corners = {}
        for item, (dx, dy) in shifts.items():
            corners = drag_group(self._scene, (ItemId(item),))
            moved |= {key: (x + dx, y + dy) for key, (x, y) in corners.items()}
        moved = with_room(self._scene, brought, moved, down=down, still=tuple(still))
        if moved:
            self._store.submit(recipes.move(self._scene.graph, moved), text)

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

    def toggle_chart(self, kind: ChartKind) -> None:
        """Show a chart on the selected cards, in place of any other, or no longer."""
        from gradstudio.scene.edit.make_room import with_room

        once = f"chart {self._store.graph.revision}"  # with what makes room for it, one undo step
        shows, name = not self.shows_chart(kind), CHARTS[kind].lower()
        self._set(CHART, kind if shows else "", f"Show {name}" if shows else f"Hide {name}", once)
        moved = with_room(self._scene, self._worn_items(CHART), down=True) if self.shows_chart(kind) else {}
        if moved:
            self._store.submit(recipes.move(self._scene.graph, moved), f"Show {name}", once)

    def shows_chart(self, kind: ChartKind) -> bool:
        """Whether all selected cards show this chart."""
        return self._are(CHART, kind)

    def is_worn(self, name: str) -> bool:
        """Whether all selected cards are collapsed, tucked or pinned."""
        return self._are(name, True)

    def _are(self, name: str, value: object) -> bool:
        items = self._worn_items(name)
        places = [self._scene.graph.places.get(item) for item in items]
        return bool(items) and all(place is not None and getattr(place, name) == value for place in places)

    def _worn_items(self, name: str) -> list[ItemId]:
        whole = with_members(self._scene, self._selection.chosen())
        if name == CHART:  # one a card, of what its home gives
            homes = map(self._scene.state.card_groups.home, whole)
            whole = frozenset(homes) & self._scene.graph.nodes.keys()
        return sorted(
            item for item in whole if item not in self._scene.placement.frames or not self._scene.state.members(item)
        )

    def _wear(self, name: str, verb: str, back: str) -> None:
        on = not self.is_worn(name)
        self._set(name, on, verb if on else back)

    def _set(self, name: str, value: bool | str, verb: str, merge_key: str = "") -> None:
        items = self._worn_items(name)
        corners: Corners = {
            item: (box.x, box.y) for item in items if (box := self._scene.placement.room(item)) is not None
        }
        if not corners:
            self._canvas.refuse("Select a card first.")
            return
        cards = len(self._scene.state.card_groups.cards(items))
        words = verb + (f" {cards} cards" if cards > 1 else "")
        self._store.submit(_worn(self._scene.graph, corners, name, value), words, merge_key)

    # -------------------------------------------------------------- out of the wires

    def delete_and_reconnect(self) -> None:
        """Delete the selected items, and wire what fed them to their users."""
        from gradstudio.scene.edit.empty_blocks import keep_frames

        items = self._selection.statements()
        if not items:
            return
        healed = recipes.delete_and_reconnect(self._scene.graph, sorted(items))
        cards = len(self._scene.state.card_groups.cards(items))
        recipe = keep_frames(lambda _graph: healed.edits, self._scene.placement.frames)
        if self._store.attempt(recipe, "Delete and reconnect" if cards == 1 else f"Delete {cards} items and reconnect"):
            self._canvas.said.emit(reconnection_message("Deleted", healed))

    def drop_shaken(self, places: Corners, bodies: dict[ItemId, BodyId], items: frozenset[ItemId]) -> None:
        """Put what was shaken where it is let go, out of its wires to others."""
        from gradstudio.scene.edit.card_drop import drop_edits
        from gradstudio.scene.edit.empty_blocks import keep_frames

        made: list[recipes.Reconnection] = []

        def shaken(graph: Graph) -> Edits:
            trial, healed = graph.copy(), recipes.shake_off(graph, sorted(items))
            apply_all(trial, healed.edits)
            made.append(healed)
            return (*healed.edits, *drop_edits(trial, places, bodies))

        if self._store.attempt(keep_frames(shaken, self._scene.placement.frames), "Shake off"):
            self._canvas.said.emit(reconnection_message("Taken out of its wires", made[-1]))

    # -------------------------------------------------------------- in the program or not

    def toggle_muted(self) -> None:
        """Take the selection out of the program, or back in."""
        graph, items = self._scene.graph, sorted(self._selection.statements())
        holders = [graph.nodes.get(item) or graph.blocks[item] for item in items]
        if not holders and not self._selection.chosen():
            self._canvas.refuse("Select a node or a block to mute it.")
        if not holders:
            return
        muted = not all(holder.muted for holder in holders)
        done = self._store.attempt(recipes.set_muted, "Mute" if muted else "Unmute", items, muted)
        if done and not muted:
            said = [item for item in items if item in graph.nodes and graph.nodes[item].bypassed]
            passes = "; bypassed still: it passes its input on" if said else ""
            self._canvas.said.emit(f"Unmuted: it takes part in the program again{passes}")
        elif done:
            others = len(self._scene.state.card_groups.cards(self._scene.numbers.left_out - frozenset(items)))
            follow = ""
            if others:
                follow = f"; so {'does' if others == 1 else 'do'} {others} that read from it"
            self._canvas.said.emit(f"Muted: it takes no part in the program{follow}")

    def toggle_bypassed(self) -> None:
        """Let the selected nodes pass their input on, or compute again."""
        graph = self._scene.graph
        if self._selection.chosen() and not self._selection.statements():
            return
        homes = sorted(self._scene.state.card_groups.cards(self._attention.selection - CARDS))
        items = [item for item in homes if item in graph.nodes]
        if not items:
            self._canvas.refuse("Only nodes can be bypassed: a block can be muted (M).")
            return
        bypassed = not all(graph.nodes[item].bypassed for item in items)
        dry = [item for item in items if bypassed and not graph.wires_to(item)]
        if len(dry) == len(items):
            self._canvas.refuse("Nothing is wired in front of it, so there is nothing to pass on: mute it (M) instead.")
            return
        items = [item for item in items if item not in dry]
        if self._store.attempt(recipes.set_bypassed, "Bypass" if bypassed else "Compute again", items, bypassed):
            self._canvas.said.emit(
                "Bypassed: it passes its input on" if bypassed else "Bypassed no longer: it computes again"
            )


def submit_with_room(store: GraphStore, scene: Scene, edits: Edits, came: Collection[ItemId], text: str) -> None:
    """Submit edits; what came into a block covers nothing there, nor does its frame; all is one undo entry."""
    from gradstudio.scene.edit.make_room import with_room

    key = f"room:{scene.graph.revision}" if came else ""
    store.submit(edits, text, key)
    corners = with_room(scene, came) if came else {}
    if corners:
        store.submit(recipes.move(scene.graph, corners), text, key)


def reconnection_message(verb: str, healed: "recipes.Reconnection") -> str:
    """What became of the wires."""
    words = [verb]
    if healed.wired:
        words.append(f"{healed.wired} wire{'s lead' if healed.wired > 1 else ' leads'} past it")
    if healed.left:
        more = len(healed.left) - MOST_NAMED
        words.append("open now: " + ", ".join(healed.left[:MOST_NAMED]) + (f" and {more} more" if more > 0 else ""))
    return "; ".join(words)


def _worn(graph: Graph, corners: Corners, name: str, value: bool | str) -> Edits:
    places: dict[str, Place | None] = {
        key: msgspec.structs.replace(graph.places.get(key, Place(x, y)), **{name: value})
        for key, (x, y) in corners.items()
    }
    return (SetPlaces(places),)
