"""Replacing an operator, going back to defaults, leading a node into a wire: methods of the canvas."""

from pathlib import Path
from typing import TYPE_CHECKING

from gradstudio.graph import names, recipes
from gradstudio.graph.edits import apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import ROOT, BodyId, ItemId, Wire
from gradstudio.graph.names import title
from gradstudio.operators.catalogue.block_rows import KINDS
from gradstudio.operators.catalogue.loader import load
from gradstudio.scene import hit_test
from gradstudio.scene.edit import tabular_data
from gradstudio.scene.edit.insert_room import led_through
from gradstudio.scene.edit.tabular_data import Data
from gradstudio.ui.state.library.user_groups import is_own

if TYPE_CHECKING:
    from PySide6.QtCore import SignalInstance

    from gradstudio.graph.edits import Edits
    from gradstudio.scene.camera import Camera
    from gradstudio.scene.scene import Board
    from gradstudio.ui.canvas.card_animation import Gliding
    from gradstudio.ui.canvas.edit.canvas_selection import CanvasSelection
    from gradstudio.ui.canvas.edit.in_place_editing import InPlace
    from gradstudio.ui.canvas.edit.quick_search import Searching
    from gradstudio.ui.canvas.gestures.ghost_card import Ghost
    from gradstudio.ui.canvas.paint.interaction_painter import OverlayState
    from gradstudio.ui.state.document.attention import Attention
    from gradstudio.ui.state.document.graph_store import GraphStore
    from gradstudio.ui.state.library.favourites import Shelf

REACH = 14.0
"""View pixels around a wire on which a card is put into it."""


class AddingCommands:
    """Methods of `CanvasView`; what they need of it is declared here."""

    if TYPE_CHECKING:
        selection: CanvasSelection
        store: GraphStore
        attention: Attention
        board: Board
        camera: Camera
        lit: OverlayState
        searching: Searching
        shelf: Shelf
        in_place: InPlace
        ghost: Ghost
        gliding: Gliding
        said: SignalInstance
        status_message: SignalInstance

        def refuse(self, words: str) -> None: ...
        def pointer_or_middle(self) -> tuple[float, float]: ...
        def close_editor(self) -> None: ...
        def add_operator(
            self,
            key: str,
            x: float | None = None,
            y: float | None = None,
            body: BodyId | None = None,
            *,
            aside: bool = False,
        ) -> ItemId | None: ...

    _asked: tuple[tuple[int, ItemId, Wire], bool] | None = None

    # -------------------------------------------------------------- at the cursor

    def carries(self, key: str) -> bool:
        """Whether an operator chosen with the mouse hangs at the cursor; a block is put around a selection at once."""
        return self.shelf.carries and not is_own(key) and not (key in KINDS and bool(self.attention.selection))

    def carry_operator(self, key: str) -> None:
        """An operator was chosen with the mouse: it hangs at the cursor, or stands where there is room."""
        if self.carries(key):
            self.ghost.carry(key, *self.pointer_or_middle())
        else:
            self.add_operator(key)

    # -------------------------------------------------------------- another operator

    def can_replace(self) -> bool:
        """Whether one node is selected whose operator could be another."""
        current = self.attention.current
        is_one = len(self.attention.selection) == 1 and current is not None and current in self.board.graph
        return is_one and current is not None and recipes.replaceable(self.board.graph, current) is not None

    def replace_current(self) -> None:
        """Search for an operator to stand in the place of the selected one."""
        current = self.attention.current
        if current is not None and self.can_replace():
            self.searching.open_replace(current)

    def replace_operator(self, item: ItemId, key: str) -> None:
        """Put another operator in a node's place, and say what could not stay."""
        graph = self.board.graph
        name = title(graph, item)
        try:
            edits, lost = recipes.replace(graph, item, key)
        except Refused as refusal:
            self.refuse(str(refusal))
            return
        operator = load()[key]
        self.store.submit(edits, f"Replace by {operator.word}")
        self.shelf.use(key)
        if lost:
            self.refuse(f"{operator.title} has no place for {_listed(lost)}. Undo brings '{name}' back.")
        else:
            self.said.emit(f"{operator.title} stands where '{name}' stood; wires and values stayed.")

    # -------------------------------------------------------------- numbers

    def paste_data(self, text: str, x: float | None, y: float | None) -> bool:
        """Add a table of numbers, or what numpy or torch prints, as a tensor; False when the text is something else."""
        if not tabular_data.is_data(text):
            return False
        try:
            self.add_data("", tabular_data.read_text(text), x, y)
        except Refused as refusal:
            self.refuse(str(refusal))
        return True

    def add_files(self, paths: tuple[Path, ...], x: float, y: float) -> None:
        """Add the numbers of files as tensors, one below the other."""
        try:
            for path in paths:
                for name, data in tabular_data.read_file(path):
                    self.add_data(name, data, x, y, path.name)
                    y += 220.0
        except Refused as refusal:
            self.refuse(str(refusal))

    def add_data(self, name: str, data: Data, x: float | None, y: float | None, source: str = "") -> None:
        """Add numbers as a tensor, and say what became of them.

        Raises:
            Refused: torch has no dtype for them.
        """
        at = self.pointer_or_middle() if x is None or y is None else (x, y)
        graph = self.board.graph
        body = BodyId(frame) if (frame := hit_test.frame_at(self.board, *at)) is not None else ROOT
        edits, item = tabular_data.added(graph, data, round(at[0]), round(at[1]), body, source)
        trial = graph.copy()
        apply_all(trial, edits)
        if name.isidentifier():
            taken = {known for node in graph.nodes.values() for known in node.names}
            edits = (*edits, *recipes.rename(trial, item, (names.fresh(taken, name),)))
        self.store.submit(edits, "Paste numbers" if not source else f"Add {source}")
        self.selection.select(frozenset({item}))
        what = "torch.tensor" if data.array is None else "stored tensor, for it is too large to write down"
        self.said.emit(f"Added the numbers as a {what}{f', {data.said}' if data.said else ''}.")

    # -------------------------------------------------------------- defaults

    def field_at_hand(self) -> tuple[ItemId, str] | None:
        """The argument that is being edited, else the one under the pointer."""
        if self.in_place.port is not None:
            return self.in_place.port
        hit = hit_test.hit(self.board, *self.pointer_or_middle(), self.camera.zoom)
        return (hit.row.owner, hit.row.path) if hit.kind == "field" and hit.row is not None else None

    def resettable(self) -> tuple[tuple[ItemId, str], ...]:
        """What *Reset to Default* would reset: the argument at hand, else all of the selected nodes."""
        graph, port = self.board.graph, self.field_at_hand()
        if port is not None and port[0] in graph:
            return (port,) if recipes.differs(graph, *port) else ()
        homes = sorted(self.board.joining.cards(item for item in self.attention.selection if item in graph))
        return tuple(port for item in homes for port in recipes.differing(graph, item))

    def reset_to_default(self) -> None:
        """Let the default hold again: in the argument at hand, else in all of the selected nodes."""
        is_field, ports = self.field_at_hand() is not None, self.resettable()
        if self.in_place.port is not None:
            self.in_place.abandon()
            ports = tuple(port for port in ports if recipes.differs(self.board.graph, *port))
        if ports:
            self.reset_ports(ports)
        else:
            self.said.emit("It is at its default already." if is_field else "Everything is at its default already.")

    def reset_ports(self, ports: tuple[tuple[ItemId, str], ...]) -> None:
        """Let the default hold again in arguments."""
        text = "Reset to default" if len(ports) == 1 else f"Reset {len(ports)} values"
        self.store.attempt(recipes.reset, text, ports)

    # -------------------------------------------------------------- into a wire

    def submit_gliding(self, edits: "Edits", text: str) -> None:
        """Submit edits that move cards, and let these glide to their places."""
        before = {key: (place.x, place.y) for key, place in self.board.graph.places.items()}
        self.store.submit(edits, text)
        self.gliding.start(before)

    def wire_under(self, x: float, y: float, item: ItemId) -> Wire | None:
        """The wire near a scene point into which an idle node could go; cards over it do not count."""
        wire = hit_test.wire_at(self.board, x, y, REACH / self.camera.zoom)
        if wire is None:
            return None
        asked = self.board.graph.revision, item, wire
        if self._asked is None or self._asked[0] != asked:
            self._asked = asked, self._goes_into(wire, item)
        return wire if self._asked[1] else None

    def _goes_into(self, wire: Wire, item: ItemId) -> bool:
        """Whether an idle node could go into a wire; asked once for each wire that a drag comes to."""
        try:
            recipes.insert_existing(self.board.graph, wire, item)
        except Refused:
            return False
        return True

    def lead_through(self, wire: Wire, item: ItemId, x: float, y: float) -> bool:
        """Put a node that is there into a wire; False when it does not fit."""
        try:
            edits = led_through(self.board, wire, item, x, y)
        except Refused as refusal:
            self.refuse(str(refusal))
            return False
        self.submit_gliding(edits, f"Insert {title(self.board.graph, item)}")
        self.selection.select(frozenset({item}))
        return True


def _listed(words: tuple[str, ...]) -> str:
    shown = ", ".join(words[:3])
    return f"{shown} and {len(words) - 3} more" if len(words) > 3 else shown
