"""What of a card can be edited where it stands, and what its defaults are."""

from gradstudio.graph import recipes
from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.model import ItemId
from gradstudio.graph.text.code_records import is_code_at
from gradstudio.scene import hit_test
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.edit.group_commands import GroupCommands
from gradstudio.ui.canvas.edit.in_place_editing import InPlaceEditing

EDIT_CODE = "view.code"
"""The command that leads to a card's lines in the Code dock."""


class FieldCommands:
    """Edits fields and names, folds what a card has many of, and goes back to defaults."""

    def __init__(self, canvas: CanvasContext, in_place: InPlaceEditing, group_commands: GroupCommands) -> None:
        """Fields and names of this canvas's cards."""
        self._canvas = canvas
        self._in_place = in_place
        self._group_commands = group_commands
        self._scene = canvas.scene
        self._store = canvas.store
        self._attention = canvas.attention

    def edit_current(self) -> None:
        """Edit the fields of the current card, from the first that is needed, else the first; Tab goes on."""
        item = self._attention.current
        if item is not None and is_code_at(self._scene.graph, item):
            self.edit_code()
            return
        layout = self._scene.placement.layout(item) if item is not None else None
        rows = layout.fields() if layout is not None else ()
        row = next((row for row in rows if row.required and row.state == "empty"), next(iter(rows), None))
        if row is not None:
            self._in_place.edit_field(row.owner, row.path)

    def edit_code(self) -> None:
        """Go to the lines of the current card in the Code dock."""
        self._canvas.command_requested.emit(EDIT_CODE)

    def rename(self, item: ItemId) -> None:
        """Edit the names a node binds, or a group's title."""
        if item in CARDS:
            self._group_commands.edit_ports(item)
        else:
            self._in_place.rename(item)

    def rename_current(self) -> None:
        """Rename the current item."""
        if self._attention.current is not None:
            self.rename(self._attention.current)

    def toggle_folded(self, item: ItemId) -> None:
        """Unfold the optional inputs of a card, or fold them; what a card that grows would cover moves down."""
        self._scene.expand(item)
        self._push_below(item)

    def toggle_leaves(self, item: ItemId) -> None:
        """Show all parameters and buffers of a module on its card, or fold them; it covers nothing either."""
        self._scene.unfold(item)
        self._push_below(item)

    def _push_below(self, item: ItemId) -> None:
        """Move down what the card of an item lies over now, as one undo entry; no entry where nothing has to move."""
        from gradstudio.scene.edit.make_room import with_room

        home = self._scene.state.card_groups.home(item)
        corners = with_room(self._scene, (home,), down=True, still=(home,))
        if corners:
            self._store.submit(recipes.move(self._scene.graph, corners), "Make room")
        self._canvas.repaint_scene()

    # -------------------------------------------------------------- defaults

    def field_at_hand(self) -> tuple[ItemId, str] | None:
        """The argument that is being edited, else the one under the pointer."""
        if self._in_place.port is not None:
            return self._in_place.port
        hit = hit_test.hit(self._scene, *self._canvas.pointer_or_middle(), self._canvas.camera.zoom)
        return (hit.row.owner, hit.row.path) if hit.kind == "field" and hit.row is not None else None

    def resettable(self) -> tuple[tuple[ItemId, str], ...]:
        """What *Reset to default* would reset: the argument at hand, else all of the selected nodes."""
        graph = self._scene.graph
        port = self.field_at_hand()
        if port is not None and port[0] in graph:
            return (port,) if recipes.is_changed(graph, *port) else ()
        homes = sorted(self._scene.state.card_groups.cards(item for item in self._attention.selection if item in graph))
        return tuple(port for item in homes for port in recipes.changed_arguments(graph, item))

    def reset_to_default(self) -> None:
        """Let the default hold again: in the argument at hand, else in all of the selected nodes."""
        is_field = self.field_at_hand() is not None
        ports = self.resettable()
        if self._in_place.port is not None:
            self._in_place.abandon()
            ports = tuple(port for port in ports if recipes.is_changed(self._scene.graph, *port))
        if ports:
            self.reset_ports(ports)
        else:
            self._canvas.said.emit(
                "It is at its default already." if is_field else "Everything is at its default already."
            )

    def reset_ports(self, ports: tuple[tuple[ItemId, str], ...]) -> None:
        """Let the default hold again in arguments."""
        text = "Reset to default" if len(ports) == 1 else f"Reset {len(ports)} values"
        self._store.attempt(recipes.reset, text, ports)
