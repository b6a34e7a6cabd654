"""What of a card can be edited where it stands, and the search: methods of the canvas."""

from typing import TYPE_CHECKING

from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.model import ItemId

if TYPE_CHECKING:
    from gradstudio.scene.scene import Board
    from gradstudio.ui.canvas.canvas_context import SessionLike
    from gradstudio.ui.canvas.edit.in_place_editing import InPlace
    from gradstudio.ui.canvas.edit.quick_search import Searching
    from gradstudio.ui.canvas.edit.wire_commands import WireCommands
    from gradstudio.ui.state.document.attention import Attention


class Editing:
    """Methods of `CanvasView`; what they need of it is declared here."""

    if TYPE_CHECKING:
        wire_commands: WireCommands
        session: SessionLike
        attention: Attention
        board: Board
        in_place: InPlace
        searching: Searching

        def edit_ports(self, item: ItemId, y: float | None = None) -> None: ...
        def repaint_board(self) -> None: ...
        def pointer_or_middle(self) -> tuple[float, float]: ...
        def close_chooser(self) -> None: ...

    def edit_field(self, item: ItemId, path: str) -> None:
        """Edit the literal of a port where it stands."""
        self.in_place.edit_field(item, path)

    def edit_current(self) -> None:
        """Edit the fields of the current card, from the first that is needed, else the first; Tab goes on."""
        item = self.attention.current
        face = self.board.face(item) if item is not None else None
        rows = face.fields() if face is not None else ()
        row = next((row for row in rows if row.required and row.state == "empty"), next(iter(rows), None))
        if row is not None:
            self.in_place.edit_field(row.owner, row.path)

    def rename(self, item: ItemId) -> None:
        """Edit the names a node binds, or a group's title."""
        if item in CARDS:
            self.edit_ports(item)
        else:
            self.in_place.rename(item)

    def rename_current(self) -> None:
        """Rename the current item."""
        if self.attention.current is not None:
            self.rename(self.attention.current)

    def close_editor(self) -> None:
        """Close an editor or search that is open."""
        self.in_place.close()
        self.searching.close()
        self.wire_commands.close_links()

    def toggle_folded(self, item: ItemId) -> None:
        """Unfold the optional inputs of a card, or fold them."""
        self.board.expand(item)
        self.repaint_board()

    def toggle_leaves(self, item: ItemId) -> None:
        """Show all parameters and buffers of a module on its card, or fold them."""
        self.board.unfold(item)
        self.repaint_board()

    def open_search(self, x: float, y: float) -> None:
        """Search for an operator to put at a scene point."""
        self.searching.open(x, y)

    def search_at_pointer(self) -> None:
        """Search for an operator to put where the pointer is."""
        self.searching.open(*self.pointer_or_middle())

    def devices(self) -> tuple[str, ...]:
        """Names of the devices that torch has, as far as the engine told."""
        engine = getattr(self.session, "engine", None)
        return tuple(device.name for device in engine.devices) if engine is not None else ()
