"""What context menus ask of a canvas."""

from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import SignalInstance

from gradstudio.ui.canvas.canvas_context import CanvasContext

if TYPE_CHECKING:
    from gradstudio.graph.model import ItemId
    from gradstudio.ui.canvas.edit.canvas_debugging import CanvasDebugging
    from gradstudio.ui.canvas.edit.canvas_selection import CanvasSelection
    from gradstudio.ui.canvas.edit.card_arrangement import CardArrangement
    from gradstudio.ui.canvas.edit.clipboard_commands import ClipboardCommands
    from gradstudio.ui.canvas.edit.field_commands import FieldCommands
    from gradstudio.ui.canvas.edit.group_commands import GroupCommands
    from gradstudio.ui.canvas.edit.in_place_editing import InPlaceEditing
    from gradstudio.ui.canvas.edit.module_commands import ModuleCommands
    from gradstudio.ui.canvas.edit.note_commands import NoteCommands
    from gradstudio.ui.canvas.edit.operator_commands import OperatorCommands
    from gradstudio.ui.canvas.edit.quick_search import QuickSearch
    from gradstudio.ui.canvas.edit.selection_commands import SelectionCommands
    from gradstudio.ui.canvas.edit.wire_commands import WireCommands
    from gradstudio.ui.canvas.find_in_graph import FindInGraph
    from gradstudio.ui.canvas.viewport import Viewport


class MenuCanvas(CanvasContext, Protocol):
    """A canvas with the commands that its menus offer; `CanvasView` is one.

    Attributes:
        what_if_requested: the canvas's signal.
    """

    what_if_requested: SignalInstance
    selection: "CanvasSelection"
    navigation: "Viewport"
    in_place: "InPlaceEditing"
    searching: "QuickSearch"
    finding: "FindInGraph"
    debugging: "CanvasDebugging"
    note_commands: "NoteCommands"
    module_commands: "ModuleCommands"
    wire_commands: "WireCommands"
    group_commands: "GroupCommands"
    field_commands: "FieldCommands"
    card_arrangement: "CardArrangement"
    selection_commands: "SelectionCommands"
    clipboard_commands: "ClipboardCommands"
    operator_commands: "OperatorCommands"

    def show_problem(self, item: "ItemId") -> None:
        """The words of a node's worst problem beside its card, and what can be done."""
