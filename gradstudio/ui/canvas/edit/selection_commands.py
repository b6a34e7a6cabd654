"""What menus, shortcuts and the toolbar ask of the canvas: each is one undo entry, refused in words."""

import math
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, cast

from PySide6.QtGui import QGuiApplication

from gradstudio.document.clipboard import from_text, to_text
from gradstudio.document.errors import DocumentError
from gradstudio.graph import recipes
from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.card_grouping import joined
from gradstudio.graph.edits import Edits, SetHeader
from gradstudio.graph.errors import Refused
from gradstudio.graph.external_inputs import found_again, outside_of
from gradstudio.graph.model import ROOT, BlockKind, BodyId, ItemId, Wire
from gradstudio.graph.names import title
from gradstudio.graph.recipes import fragments
from gradstudio.layout.placement.new_item_places import clear_of
from gradstudio.operators.catalogue.block_rows import KINDS
from gradstudio.program.forms.selection import write_selection
from gradstudio.scene.edit.avoid_overlap import stepped_aside
from gradstudio.scene.edit.drag_group import carried, with_members
from gradstudio.scene.edit.drop_target import dropped
from gradstudio.scene.edit.empty_blocks import keeping_frames
from gradstudio.scene.edit.insert_room import inserted
from gradstudio.scene.edit.make_room import with_room
from gradstudio.scene.geometry import GRID
from gradstudio.scene.words.paste_message import left_open
from gradstudio.ui.state.library.user_groups import is_own

if TYPE_CHECKING:
    from PySide6.QtCore import SignalInstance

    from gradstudio.scene.scene import Board
    from gradstudio.ui.canvas.edit.canvas_selection import CanvasSelection
    from gradstudio.ui.canvas.edit.quick_search import Searching
    from gradstudio.ui.canvas.edit.wire_commands import WireCommands
    from gradstudio.ui.canvas.paint.interaction_painter import OverlayState
    from gradstudio.ui.canvas.viewport import Navigation
    from gradstudio.ui.state.document.attention import Attention
    from gradstudio.ui.state.document.graph_store import GraphStore
    from gradstudio.ui.state.library.favourites import Shelf

APART = 24.0
"""Scene pixels between what is duplicated and its copy."""


class Commands:
    """Methods of `CanvasView` that change the graph; what they need of it is declared here."""

    if TYPE_CHECKING:
        navigation: Navigation
        wire_commands: WireCommands
        selection: CanvasSelection
        store: GraphStore
        attention: Attention
        board: Board
        lit: OverlayState
        searching: Searching
        shelf: Shelf
        said: SignalInstance

        def refuse(self, words: str) -> None: ...
        def add_own_group(
            self, key: str, x: float | None, y: float | None, body: BodyId | None, *, aside: bool = False
        ) -> ItemId | None: ...
        def pointer_or_middle(self) -> tuple[float, float]: ...
        def paste_data(self, text: str, x: float | None, y: float | None) -> bool: ...
        def submit_gliding(self, edits: Edits, text: str) -> None: ...
        def drop_shaken(
            self, places: dict[str, tuple[float, float]], bodies: dict[ItemId, BodyId], items: frozenset[ItemId]
        ) -> None: ...

    def delete_selection(self) -> None:
        """Delete the selected items and wires."""
        items, wires = self.selection.statements(), tuple(self.lit.selected_wires)
        if self.lit.selected_dots:
            dots = self.lit.selected_dots
            self.store.attempt(recipes.remove_dots, _counted("Remove", len(dots), "dot"), dots)
        if wires:
            self.wire_commands.remove_wires(wires)
        if items:
            recipe = keeping_frames(recipes.delete, self.board.frames)
            self.store.attempt(recipe, _counted("Delete", self._cards_of(items)), sorted(items))

    def copy(self) -> None:
        """Put the selection on the clipboard as text."""
        items = self.selection.statements()
        if items:
            part = fragments.copy_items(self.board.graph, sorted(items))
            QGuiApplication.clipboard().setText(to_text(part, outside_of(self.board.graph, sorted(items))))
            self.said.emit(_counted("Copied", self._cards_of(items)))

    def copy_python(self) -> None:
        """Put the selected statements on the clipboard as Python; without a selection the whole program."""
        items = self.selection.chosen() - CARDS
        QGuiApplication.clipboard().setText(write_selection(self.board.graph, items))
        count = self._cards_of(items)
        self.said.emit(f"{_counted('Copied', count)} as Python" if items else "Copied the program as Python")

    def cut(self) -> None:
        """Copy, then delete."""
        self.copy()
        if self.selection.has_statements():
            self.delete_selection()

    def paste_wired(self) -> None:
        """Add what the clipboard holds, and wire its inputs to what they were wired to, where that is here."""
        self.paste(wired=True)

    def paste(self, x: float | None = None, y: float | None = None, *, wired: bool = False) -> None:
        """Add what the clipboard holds, at a scene point or in the middle of what is seen, and bring it into view."""
        if self.paste_data(QGuiApplication.clipboard().text(), x, y):
            return
        try:
            found = from_text(QGuiApplication.clipboard().text(), self.board.graph)
        except DocumentError as error:
            self.refuse(str(error))
            return
        part = found.graph
        places = [place for key, place in part.places.items() if key in part]
        left, top = min((p.x for p in places), default=0.0), min((p.y for p in places), default=0.0)
        at_x, at_y = self.pointer_or_middle() if x is None or y is None else (x, y)
        again = found_again(self.board.graph, found.outside)
        edits, items = fragments.paste(
            self.board.graph, part, at_x - left, at_y - top, outer=found.outer, wished=again if wired else (),
            as_typed=found.is_text,
        )  # fmt: skip
        is_first = self.board.extent() is None
        edits = clear_of(self.board.graph, edits, items) if found.is_text else stepped_aside(self.board, edits)
        if found.header is not None:
            edits = (SetHeader(found.header), *edits)
        self.store.submit(edits, _counted("Paste", len(joined(part).cards(part.bodies[ROOT]))))
        self.selection.select(frozenset(items))
        if found.outside:
            self.said.emit(left_open(found, edits, len(again)))
        if is_first:
            self.navigation.open_view()
        else:
            self.navigation.show_items(items)

    def duplicate_wired(self) -> None:
        """Copy the selection beside itself; the copies read what the originals read."""
        self.duplicate_selection(wired=True)

    def duplicate_selection(self, *, wired: bool = False) -> None:
        """Copy the selection below itself, or to the nearest place beside it that is free, and bring it into view."""
        items = self.selection.statements()
        extent = self.board.extent(items)
        if extent is not None:
            down = math.ceil((extent.height + APART) / GRID) * GRID
            edits, made = fragments.duplicate(self.board.graph, sorted(items), 0.0, down, wired=wired)
            edits = stepped_aside(self.board, edits)
            self.store.submit(edits, _counted("Duplicate", self._cards_of(items)))
            self.selection.select(frozenset(made))
            self.navigation.show_items(made)

    def _cards_of(self, items: Iterable[ItemId]) -> int:
        """How many cards and frames these items are."""
        return len(self.board.joining.cards(items))

    def wrap_selection(self, kind: BlockKind = "no_grad") -> None:
        """Put the selected statements into a new block."""
        blocks, items = set(self.board.graph.blocks), self.selection.statements()
        if (items or not self.selection.chosen()) and self.store.attempt(
            recipes.wrap, f"Wrap in {kind}", sorted(items), kind
        ):
            self.selection.select(frozenset(self.board.graph.blocks) - blocks)

    def unwrap_selection(self) -> None:
        """Take the selected blocks away, keep what they hold."""
        for item in sorted(self.attention.selection):
            if item in self.board.graph.blocks:
                self.store.attempt(recipes.unwrap, "Remove block", item)

    def move_earlier(self) -> None:
        """Move the current statement before the one in front of it."""
        if self.attention.current is not None:
            self.store.attempt(recipes.earlier, "Move earlier", self.attention.current)

    def move_later(self) -> None:
        """Move the current statement behind the one after it."""
        if self.attention.current is not None:
            self.store.attempt(recipes.later, "Move later", self.attention.current)

    def mark_root(self, item: ItemId, on: bool) -> None:
        """Choose where an appended backward starts."""
        self.store.attempt(recipes.set_mark, "Choose root", item, "root", on)

    def add_operator(
        self,
        key: str,
        x: float | None = None,
        y: float | None = None,
        body: BodyId | None = None,
        *,
        aside: bool = False,
    ) -> ItemId | None:
        """Add a node with its top left corner at a scene point, or in the middle; select it.

        A block is put around what is selected, as *Wrap in* does; empty where nothing is. `aside`: it steps aside
        where it would lie over something; what a hand put down stays where that was, and in a block others make room.
        """
        if is_own(key):
            return self.add_own_group(key, x, y, body, aside=aside)
        if key in KINDS and self.selection.chosen():
            return self.wrap_in(key)
        return self._add(key, x, y, body, aside=aside)

    def add_block(self, key: str, x: float | None, y: float | None, body: BodyId | None) -> ItemId | None:
        """Add an empty block with its corner at a scene point, or in the middle; select it."""
        return self._add(key, x, y, body)

    def wrap_in(self, key: str) -> ItemId | None:
        """Put the selection into a block from the Library."""
        before = set(self.board.graph.blocks)
        self.wrap_selection(cast(BlockKind, KINDS[key]))
        made = set(self.board.graph.blocks) - before
        if made:
            self.shelf.use(key)
        return next(iter(made), None)

    def _add(
        self, key: str, x: float | None, y: float | None, body: BodyId | None, *, aside: bool = False
    ) -> ItemId | None:
        if x is None or y is None:
            x, y = self.navigation.free_place(key)
        found = body if body is not None else ROOT
        try:
            edits, item = recipes.add_operator(self.board.graph, key, round(x), round(y), body=found)
        except Refused as refusal:
            self.refuse(str(refusal))
            return None
        edits = stepped_aside(self.board, edits, found) if aside else edits
        self._submit_with_room(edits, () if found == ROOT else (item,), f"Add {key.rsplit('.', 1)[-1]}")
        self.selection.select(frozenset({item}))
        self.shelf.use(key)
        return item

    def insert_on_wire(self, wire: Wire, key: str, x: float, y: float) -> bool:
        """Add a node into a wire; False when it does not fit there."""
        try:
            edits, item = inserted(self.board, wire, key, round(x), round(y))
        except Refused as refusal:
            self.refuse(str(refusal))
            return False
        self.submit_gliding(edits, f"Insert {key.rsplit('.', 1)[-1]}")
        self.selection.select(frozenset({item}))
        self.shelf.use(key)
        return True

    def drop_moved(
        self,
        places: dict[str, tuple[float, float]],
        bodies: dict[ItemId, BodyId],
        shaken: frozenset[ItemId] = frozenset(),
    ) -> None:
        """End of a drag: one undo entry; a refused block leaves the cards where they were.

        What was `shaken` is taken out of its wires first.
        """
        graph = self.board.graph
        current = {key: (place.x, place.y) for key, place in graph.places.items()}
        if shaken:
            self.drop_shaken(places, bodies, shaken)
        elif any(current.get(key) != place for key, place in places.items()):
            try:
                edits = keeping_frames(dropped, self.board.frames)(graph, places, bodies)
            except Refused as refusal:
                self.refuse(str(refusal))
                return
            came = [item for item, body in bodies.items() if body not in (ROOT, graph.parents[item])]
            self._submit_with_room(edits, came, self._moved_words(places, bodies))

    def _moved_words(self, places: Iterable[str], items: Collection[ItemId]) -> str:
        """What is moved: a card by its name, a note or a dot of a wire by what it is."""
        if len(items) == 1:
            return f"Move {title(self.board.graph, next(iter(items)))}"
        if items:
            return _counted("Move", len(items))
        return "Move note" if any(key.startswith("note:") for key in places) else "Move dot"

    def _submit_with_room(self, edits: Edits, came: Collection[ItemId], text: str) -> None:
        """Submit edits; what came into a block covers nothing there, nor does its frame; all is one undo entry."""
        key = f"room:{self.board.graph.revision}" if came else ""
        self.store.submit(edits, text, key)
        corners = with_room(self.board, came) if came else {}
        if corners:
            self.store.submit(recipes.move(self.board.graph, corners), text, key)

    def nudge(self, dx: float, dy: float) -> None:
        """Shift the selection a little; repeated nudges become one undo entry."""
        items = with_members(self.board, self.attention.selection)
        corners = carried(self.board, items, self.selection.dots_to_move(items))
        places = {key: (x + dx, y + dy) for key, (x, y) in corners.items()}
        if places:
            key = f"nudge:{','.join(sorted(places))}"
            self.store.submit(recipes.move(self.board.graph, places), "Nudge", key)
        elif items:
            self.refuse("What is selected is pinned down: unpin it (P) to move it.")


def _counted(verb: str, count: int, noun: str = "item") -> str:
    return f"{verb} {noun}" if count == 1 else f"{verb} {count} {noun}s"
