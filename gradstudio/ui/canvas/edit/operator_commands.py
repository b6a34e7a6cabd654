"""Operators on the canvas: added, put into a wire or a block, replaced by another; each is one undo entry."""

from typing import Final, cast

from PySide6.QtCore import QTimer

from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import ROOT, BlockKind, BodyId, ItemId, Wire
from gradstudio.graph.text.code_records import CODE
from gradstudio.graph.text.item_titles import title
from gradstudio.operators.catalogue.block_rows import KINDS
from gradstudio.operators.catalogue.loader import load
from gradstudio.scene import geometry, hit_test
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.card_animation import CardAnimation
from gradstudio.ui.canvas.edit.canvas_selection import CanvasSelection
from gradstudio.ui.canvas.edit.card_arrangement import submit_with_room
from gradstudio.ui.canvas.edit.clipboard_commands import ClipboardCommands
from gradstudio.ui.canvas.edit.field_commands import EDIT_CODE
from gradstudio.ui.canvas.edit.group_commands import GroupCommands
from gradstudio.ui.canvas.edit.module_commands import ModuleCommands
from gradstudio.ui.canvas.edit.selection_commands import SelectionCommands
from gradstudio.ui.canvas.viewport import Viewport
from gradstudio.ui.state.library.user_groups import DIGITS, is_own

GRIP: Final = (60.0, 15.0)
"""A new card's corner lies so far left of and above the pointer: it is held by its header."""
REACH: Final = 14.0
"""View pixels around a wire on which a card is put into it."""


class OperatorCommands:
    """Adds operators and puts others in their place; what is made is selected."""

    def __init__(
        self,
        canvas: CanvasContext,
        selection: CanvasSelection,
        navigation: Viewport,
        selection_commands: SelectionCommands,
        group_commands: GroupCommands,
        module_commands: ModuleCommands,
        clipboard_commands: ClipboardCommands,
        gliding: CardAnimation,
    ) -> None:
        """For the graph that this canvas shows."""
        self._canvas, self._selection, self._navigation = canvas, selection, navigation
        self._selection_commands, self._group_commands = selection_commands, group_commands
        self._module_commands, self._gliding = module_commands, gliding
        self._clipboard_commands = clipboard_commands
        self._scene, self._store, self._attention = canvas.scene, canvas.store, canvas.attention
        self._asked: tuple[tuple[int, ItemId, Wire], bool] | None = None

    # -------------------------------------------------------------- adding

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
        if key == DIGITS:
            return self._add_digits(x, y)
        if is_own(key):
            return self._group_commands.add_own_group(key, x, y, body, aside=aside)
        if key in KINDS and self._selection.chosen():
            return self.wrap_in(key)
        return self._add(key, x, y, body, aside=aside)

    def _add_digits(self, x: float | None, y: float | None) -> ItemId:
        from gradstudio.document.data.digits import digits

        at = None if x is None or y is None else (x, y)
        return self._clipboard_commands.add_data_set(digits(), at)

    def add_block(self, key: str, x: float | None, y: float | None, body: BodyId | None) -> ItemId | None:
        """Add an empty block with its corner at a scene point, or in the middle; select it."""
        return self._add(key, x, y, body)

    def wrap_in(self, key: str) -> ItemId | None:
        """Put the selection into a block from the Library."""
        before = set(self._scene.graph.blocks)
        self._selection_commands.wrap_selection(cast(BlockKind, KINDS[key]))
        made = set(self._scene.graph.blocks) - before
        if made:
            self._canvas.shelf.use(key)
        return next(iter(made), None)

    def _add(
        self, key: str, x: float | None, y: float | None, body: BodyId | None, *, aside: bool = False
    ) -> ItemId | None:
        from gradstudio.scene.edit.avoid_overlap import avoid_overlap

        if x is None or y is None:
            x, y = self._navigation.free_place(key)
        found = body if body is not None else ROOT
        try:
            edits, item = recipes.add_operator(self._scene.graph, key, round(x), round(y), body=found)
        except Refused as refusal:
            self._canvas.refuse(str(refusal))
            return None
        edits = avoid_overlap(self._scene, edits, found) if aside else edits
        submit_with_room(
            self._store, self._scene, edits, () if found == ROOT else (item,), f"Add {key.rsplit('.', 1)[-1]}"
        )
        self._selection.select(frozenset({item}))
        self._canvas.shelf.use(key)
        if key == CODE:  # an empty card of code is to be written: once the popup that made it is gone
            QTimer.singleShot(0, self._canvas.widget, lambda: self._canvas.command_requested.emit(EDIT_CODE))
        return item

    def insert_on_wire(self, wire: Wire, key: str, x: float, y: float) -> bool:
        """Add a node into a wire; False when it does not fit there."""
        from gradstudio.scene.edit.insert_room import insert_with_room

        try:
            edits, item = insert_with_room(self._scene, wire, key, round(x), round(y))
        except Refused as refusal:
            self._canvas.refuse(str(refusal))
            return False
        self.submit_gliding(edits, f"Insert {key.rsplit('.', 1)[-1]}")
        self._selection.select(frozenset({item}))
        self._canvas.shelf.use(key)
        return True

    def put_operator(self, key: str, x: float, y: float) -> None:
        """Add an operator at a scene point: into the wire under it, else into the body there."""
        from gradstudio.scene.edit.card_drop import body_at

        left, top = geometry.nearest_grid_multiple(x - GRIP[0]), geometry.nearest_grid_multiple(y - GRIP[1])
        if is_own(key):
            self.add_operator(key, left, top, body_at(self._scene, x, y))
            return
        if key in KINDS:
            self.add_block(key, left, top, body_at(self._scene, x, y))
            return
        hit = hit_test.hit(self._scene, x, y, self._canvas.camera.zoom)
        container = self._module_commands.container_at(hit_test.card_at(self._scene, x, y), key)
        if container is not None and self._module_commands.add_child(container, key):
            return
        if hit.kind == "wire" and hit.wire is not None and self.insert_on_wire(hit.wire, key, left, top):
            return
        self.add_operator(key, left, top, body_at(self._scene, x, y))

    # -------------------------------------------------------------- another operator, into a wire

    def can_replace(self) -> bool:
        """Whether one node is selected whose operator could be another."""
        current = self._attention.current
        is_one = len(self._attention.selection) == 1 and current is not None and current in self._scene.graph
        return is_one and current is not None and recipes.replaceable_node(self._scene.graph, current) is not None

    def replace_operator(self, item: ItemId, key: str) -> None:
        """Put another operator in a node's place, and say what could not stay."""
        graph = self._scene.graph
        name = title(graph, item)
        try:
            edits, lost = recipes.replace(graph, item, key)
        except Refused as refusal:
            self._canvas.refuse(str(refusal))
            return
        operator = load()[key]
        self._store.submit(edits, f"Replace by {operator.word}")
        self._canvas.shelf.use(key)
        if lost:
            self._canvas.refuse(f"{operator.title} has no place for {_listed(lost)}. Undo brings '{name}' back.")
        else:
            self._canvas.said.emit(f"{operator.title} stands where '{name}' stood; wires and values stayed.")

    def submit_gliding(self, edits: Edits, text: str) -> None:
        """Submit edits that move cards, and let these glide to their places."""
        before = {key: (place.x, place.y) for key, place in self._scene.graph.places.items()}
        self._store.submit(edits, text)
        self._gliding.start(before)

    def wire_under(self, x: float, y: float, item: ItemId) -> Wire | None:
        """The wire near a scene point into which an idle node could go; cards over it do not count."""
        wire = hit_test.wire_at(self._scene, x, y, REACH / self._canvas.camera.zoom)
        if wire is None:
            return None
        asked = self._scene.graph.revision, item, wire
        if self._asked is None or self._asked[0] != asked:
            self._asked = asked, self._goes_into(wire, item)
        return wire if self._asked[1] else None

    def _goes_into(self, wire: Wire, item: ItemId) -> bool:
        """Whether an idle node could go into a wire; asked once for each wire that a drag comes to."""
        try:
            recipes.insert_existing(self._scene.graph, wire, item)
        except Refused:
            return False
        return True

    def lead_through(self, wire: Wire, item: ItemId, x: float, y: float) -> bool:
        """Put a node that is there into a wire; False when it does not fit."""
        from gradstudio.scene.edit.insert_room import lead_through_with_room

        try:
            edits = lead_through_with_room(self._scene, wire, item, x, y)
        except Refused as refusal:
            self._canvas.refuse(str(refusal))
            return False
        self.submit_gliding(edits, f"Insert {title(self._scene.graph, item)}")
        self._selection.select(frozenset({item}))
        return True


def _listed(words: tuple[str, ...]) -> str:
    shown = ", ".join(words[:3])
    return f"{shown} and {len(words) - 3} more" if len(words) > 3 else shown
