"""What menus, shortcuts and the toolbar ask about the selection: each is one undo entry, refused in words."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from gradstudio.graph.model import BlockKind, ItemId
from gradstudio.scene.geometry import GRID
from gradstudio.scene.scene import Scene
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.edit.canvas_selection import CanvasSelection
from gradstudio.ui.canvas.edit.wire_commands import WireCommands
from gradstudio.ui.canvas.viewport import Viewport

if TYPE_CHECKING:
    from gradstudio.document.python.wrap_edits import TypedBlock

APART = 24.0
"""Scene pixels between what is duplicated and its copy."""


class SelectionCommands:
    """Deletes, copies beside itself, wraps and orders what is selected."""

    def __init__(
        self, canvas: CanvasContext, selection: CanvasSelection, navigation: Viewport, wire_commands: WireCommands
    ) -> None:
        """What is selected on this canvas."""
        self._canvas, self._selection, self._navigation = canvas, selection, navigation
        self._wire_commands = wire_commands
        self._scene, self._store, self._attention = canvas.scene, canvas.store, canvas.attention

    def delete_selection(self) -> None:
        """Delete the selected items and wires."""
        from gradstudio.graph import recipes
        from gradstudio.scene.edit.empty_blocks import keep_frames

        items, wires = self._selection.statements(), tuple(self._canvas.lit.selected_wires)
        if self._canvas.lit.selected_dots:
            dots = self._canvas.lit.selected_dots
            self._store.attempt(recipes.remove_dots, counted_items("Remove", len(dots), "dot"), dots)
        if wires:
            self._wire_commands.remove_wires(wires)
        if items:
            recipe = keep_frames(recipes.delete, self._scene.placement.frames)
            self._store.attempt(recipe, counted_items("Delete", cards_of(self._scene, items)), sorted(items))

    def duplicate_wired(self) -> None:
        """Copy the selection beside itself; the copies read what the originals read."""
        self.duplicate_selection(wired=True)

    def duplicate_selection(self, *, wired: bool = False) -> None:
        """Copy the selection below itself, or to the nearest place beside it that is free, and bring it into view."""
        from gradstudio.graph.recipes import fragments
        from gradstudio.scene.edit.avoid_overlap import avoid_overlap

        items = self._selection.statements()
        extent = self._scene.placement.extent(items)
        if extent is not None:
            down = math.ceil((extent.height + APART) / GRID) * GRID
            edits, made = fragments.duplicate(self._scene.graph, sorted(items), 0.0, down, wired=wired)
            edits = avoid_overlap(self._scene, edits)
            self._store.submit(edits, counted_items("Duplicate", cards_of(self._scene, items)))
            self._selection.select(frozenset(made))
            self._navigation.show_items(made)

    def wrap_selection(self, kind: "BlockKind | TypedBlock" = "no_grad") -> None:
        """Put the selected statements into a new block; lines of code as if that was typed around them."""
        from gradstudio.document.python.wrap_edits import HEADS, wrap_lines
        from gradstudio.graph import recipes
        from gradstudio.graph.text.code_records import is_code_at

        blocks, items = set(self._scene.graph.blocks), self._selection.statements()
        if not items and self._selection.chosen():
            return
        holds_code = any(is_code_at(self._scene.graph, item) for item in items)
        words = f"Wrap in {kind}"
        if kind == "while" or kind == "try" or (kind in HEADS and holds_code and self._is_program()):
            done = self._store.attempt(wrap_lines, words, sorted(items), kind)
        else:
            done = self._store.attempt(recipes.wrap, words, sorted(items), kind)
        if done and (made := frozenset(self._scene.graph.blocks) - blocks):
            self._selection.select(made)

    def _is_program(self) -> bool:
        """Whether the program is shown, and not what is inside a group."""
        return not self._canvas.session.scope.path

    def unwrap_selection(self) -> None:
        """Take the selected blocks away, keep what they hold."""
        from gradstudio.graph import recipes

        for item in sorted(self._attention.selection):
            if item in self._scene.graph.blocks:
                self._store.attempt(recipes.unwrap, "Remove block", item)

    def move_earlier(self) -> None:
        """Move the current statement before the one in front of it."""
        from gradstudio.graph import recipes

        if self._attention.current is not None:
            self._store.attempt(recipes.move_earlier, "Move earlier", self._attention.current)

    def move_later(self) -> None:
        """Move the current statement behind the one after it."""
        from gradstudio.graph import recipes

        if self._attention.current is not None:
            self._store.attempt(recipes.move_later, "Move later", self._attention.current)

    def mark_root(self, item: ItemId, on: bool) -> None:
        """Choose where an appended backward starts."""
        from gradstudio.graph import recipes

        self._store.attempt(recipes.set_mark, "Choose root", item, "root", on)


def cards_of(scene: Scene, items: Iterable[ItemId]) -> int:
    """How many cards and frames these items are."""
    return len(scene.state.card_groups.cards(items))


def counted_items(verb: str, count: int, noun: str = "item") -> str:
    """What is done, and to how many."""
    return f"{verb} {noun}" if count == 1 else f"{verb} {count} {noun}s"
