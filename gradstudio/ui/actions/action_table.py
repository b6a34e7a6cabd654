"""The table itself: every command of the window, a row each."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from PySide6.QtGui import QKeySequence

from gradstudio.scene.overlays import OVERLAYS
from gradstudio.ui.actions.access_commands import AccessCommands
from gradstudio.ui.actions.action_set import ActionRow, MenuRow, Row
from gradstudio.ui.actions.analyse_commands import AnalyseCommands
from gradstudio.ui.actions.debug_commands import DebugCommands
from gradstudio.ui.actions.edit_commands import EditCommands
from gradstudio.ui.actions.file_commands import FileCommands
from gradstudio.ui.actions.graph_commands import GraphCommands
from gradstudio.ui.actions.help_commands import HelpCommands
from gradstudio.ui.actions.learning_commands import LearningCommands
from gradstudio.ui.actions.navigation_commands import NavCommands
from gradstudio.ui.actions.rows.access_rows import access_rows
from gradstudio.ui.actions.rows.adding_rows import adding_rows
from gradstudio.ui.actions.rows.analyse_rows import analyse_rows
from gradstudio.ui.actions.rows.edit_rows import arrange_rows
from gradstudio.ui.actions.rows.group_rows import group_rows
from gradstudio.ui.actions.rows.help_rows import help_rows, learning_rows
from gradstudio.ui.actions.rows.navigation_rows import find_rows, nav_rows
from gradstudio.ui.actions.rows.run_rows import run_rows
from gradstudio.ui.actions.rows.tab_rows import tab_rows
from gradstudio.ui.actions.rows.window_rows import shell_rows
from gradstudio.ui.actions.rows.wire_rows import wire_rows
from gradstudio.ui.actions.tab_commands import TabCommands
from gradstudio.ui.actions.view_commands import ViewCommands
from gradstudio.ui.actions.window_commands import ShellCommands
from gradstudio.ui.docks.code.code_hints import HINT_TIPS, MODE_WORDS
from gradstudio.ui.state.run.run_controller import RunController

Key = QKeySequence.StandardKey
COPY_AS = "Edit/Copy as"
LAST_DIGIT = 9
"""So many overlays have a key."""


class Commands(NamedTuple):
    """The commands behind the rows, by menu."""

    file: FileCommands
    edit: EditCommands
    view: ViewCommands
    graph: GraphCommands
    run: RunController
    debug: DebugCommands
    nav: NavCommands
    help: HelpCommands
    shell: ShellCommands
    tabs: TabCommands
    learning: LearningCommands
    access: AccessCommands
    analyse: AnalyseCommands


def action_rows(commands: Commands) -> tuple[Row, ...]:
    """All rows, menu by menu in the order shown."""
    return (
        *_file_rows(commands.file),
        *_edit_rows(commands.edit),
        ActionRow("file.copy_picture", "Copy as Picture", COPY_AS, 2, commands.file.copy_picture),
        *tab_rows(commands.tabs),
        _quit_row(commands.file),
        *arrange_rows(commands.edit),
        *find_rows(commands.nav),
        *_view_rows(commands.view, commands.nav),
        *_graph_rows(commands.graph),
        *analyse_rows(commands.analyse, commands.file.export_graph),
        *adding_rows(commands.graph.canvas, commands.graph.switch_ghost),
        *run_rows(commands.run, commands.debug),
        *wire_rows(commands.view),
        *group_rows(commands.view.canvas),
        *learning_rows(commands.learning),
        *access_rows(commands.graph.canvas, commands.access),
        *shell_rows(commands.shell),
        *help_rows(commands.help),
    )


def _file_rows(c: FileCommands) -> tuple[Row, ...]:
    return (
        ActionRow(
            "file.new", "New", "File", 1, c.new, (Key.New,), "new", tooltip="An empty document in a tab of its own"
        ),
        ActionRow("file.open", "Open…", "File", 1, c.open, (Key.Open,), "open", tooltip="Open a document"),
        ActionRow(
            "file.import_module",
            "Import Module…",
            "File",
            1,
            c.import_module,
            tooltip="A torch.nn.Module of your own as a canvas: runs the code of its file",
        ),
        MenuRow("Open Recent", "File", 1, c.fill_recent),
        MenuRow("Examples", "File", 1, c.fill_examples),
        ActionRow("file.save", "Save", "File", 2, c.save, (Key.Save,), "save"),
        ActionRow("file.save_as", "Save As…", "File", 2, c.save_as, ("Ctrl+Shift+S",)),
        ActionRow("file.export_python", "Export Python…", "File", 3, c.export_python, ("Ctrl+E",), "export_python"),
        ActionRow("file.export_picture", "Export Picture…", "File", 3, c.export_picture, (), "export_picture"),
    )


def _quit_row(c: FileCommands) -> ActionRow:
    return ActionRow("file.quit", "Quit", "File", 5, c.quit, ("Ctrl+Q",), "quit")


def _edit_rows(c: EditCommands) -> tuple[Row, ...]:
    canvas = c.canvas
    some, can_delete = canvas.selection.has_statements, canvas.selection.can_delete
    return (
        ActionRow("edit.undo", "Undo", "Edit", 1, c.undo, (Key.Undo,), "undo", c.can_undo),
        ActionRow("edit.redo", "Redo", "Edit", 1, c.redo, ("Ctrl+Shift+Z", "Ctrl+Y"), "redo", c.can_redo),
        ActionRow("edit.cut", "Cut", "Edit", 2, canvas.cut, (Key.Cut,), "cut", some),
        ActionRow("edit.copy", "Copy", "Edit", 2, canvas.copy, (Key.Copy,), "copy", some),
        ActionRow("edit.paste", "Paste", "Edit", 2, canvas.paste, (Key.Paste,), "paste", c.can_paste),
        ActionRow("edit.duplicate", "Duplicate", "Edit", 2, canvas.duplicate_selection, ("Ctrl+D",), "duplicate", some),
        ActionRow(
            "edit.delete", "Delete", "Edit", 2, canvas.delete_selection, ("Del", "Backspace"), "delete", can_delete
        ),
        ActionRow(
            "edit.copy_python",
            "Copy as Python",
            COPY_AS,
            2,
            canvas.copy_python,
            ("Ctrl+Shift+C",),
            "copy_python",
            c.has_items,
            tooltip="The selection as Python, or the whole program where nothing is selected",
        ),
        ActionRow(
            "edit.select_all",
            "Select All",
            "Edit",
            4,
            canvas.selection.select_all,
            (Key.SelectAll,),
            "select_all",
            c.has_items,
        ),
    )


def _view_rows(c: ViewCommands, nav: NavCommands) -> tuple[Row, ...]:
    overlays = tuple(
        ActionRow(
            f"view.{overlay.id}",
            overlay.title,
            "View/Overlays",
            1,
            partial(c.toggle_overlay, overlay.id),
            (f"Alt+{number}",) if number <= LAST_DIGIT else (),
            overlay.icon,
            checked=partial(c.overlay_is_on, overlay.id),
            tooltip=overlay.tip,
            short=overlay.button,
        )
        for number, overlay in enumerate(OVERLAYS, start=1)
    )
    return (
        *overlays,
        *_hint_rows(c),
        MenuRow("Colour by", "View", 1, c.canvas.fill_colour_menu),
        *nav_rows(nav),
        ActionRow(
            "view.timeline",
            "Timeline",
            "View",
            3,
            c.toggle_timeline,
            ("Ctrl+T",),
            "timeline",
            None,
            c.timeline_is_shown,
        ),
        ActionRow("view.code", "Edit the Code", "View", 3, c.edit_code, ("F4",), tooltip="Type in the Code dock"),
        MenuRow("Panels", "View", 3, c.fill_panels),
        ActionRow("view.reset_layout", "Reset Layout", "View", 3, c.reset_layout),
    )


def _hint_rows(c: ViewCommands) -> Iterator[Row]:
    for mode, words in MODE_WORDS.items():
        tip = f"Behind the lines of the Code dock: {HINT_TIPS[mode]}"
        choose, is_on = partial(c.choose_hints, mode), partial(c.hints_are, mode)
        yield ActionRow(f"view.hints_{mode}", words, "View/Code Hints", 1, choose, checked=is_on, tooltip=tip)


def _graph_rows(c: GraphCommands) -> tuple[Row, ...]:
    one, some = c.has_one, c.canvas.selection.has_statements
    wrap_words = "Put the selection into a block where nothing is recorded for backward"
    return (
        ActionRow(
            "graph.add", "Add Operator…", "Graph", 1, c.canvas.search_at_pointer, ("Shift+A", "Ctrl+Space"), "add"
        ),
        ActionRow("graph.find", "Search the Library", "Graph", 1, c.find_operator, ("Ctrl+Shift+F",), "search"),
        ActionRow(
            "graph.favourite",
            "Favourite",
            "Graph",
            1,
            c.toggle_favourite,
            ("Ctrl+B",),
            "star",
            tooltip="Make the operator that is selected, in the Library or on the canvas, a favourite, or no longer",
        ),
        ActionRow("graph.rename", "Rename", "Graph", 1, c.canvas.rename_current, ("F2",), "rename", c.can_rename),
        ActionRow("graph.note", "Add Note", "Graph", 1, c.add_note, ("Ctrl+M",), "note"),
        ActionRow(
            "graph.wrap", "Wrap in no_grad", "Graph", 2, c.wrap, ("Ctrl+Shift+W",), "wrap", some, tooltip=wrap_words
        ),
        ActionRow("graph.unwrap", "Unwrap", "Graph", 2, c.unwrap, (), "unwrap", c.has_block),
        ActionRow("graph.earlier", "Earlier", "Graph", 3, c.canvas.move_earlier, ("Alt+Up",), "earlier", one),
        ActionRow("graph.later", "Later", "Graph", 3, c.canvas.move_later, ("Alt+Down",), "later", one),
        ActionRow("graph.tidy", "Tidy", "Graph", 4, c.tidy, ("Ctrl+L",), "tidy", c.has_items),
        ActionRow("graph.seed", "Seed…", "Graph", 4, c.set_seed, (), "seed"),
    )
