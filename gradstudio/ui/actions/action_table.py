"""The table itself: every command of the window, a row each."""

from typing import NamedTuple

from gradstudio.ui.actions.access_commands import AccessCommands, access_rows
from gradstudio.ui.actions.action_set import ActionRow, Row
from gradstudio.ui.actions.analyse_commands import AnalyseCommands, analyse_rows
from gradstudio.ui.actions.edit_commands import COPY_AS, EditCommands, arrange_rows, edit_rows
from gradstudio.ui.actions.file_commands import FileCommands, file_rows, quit_row
from gradstudio.ui.actions.graph_commands import GraphCommands, adding_rows, checkpoint_rows, graph_rows
from gradstudio.ui.actions.group_commands import group_rows
from gradstudio.ui.actions.help_commands import HelpCommands, help_rows
from gradstudio.ui.actions.learning_commands import LearningCommands, learning_rows
from gradstudio.ui.actions.navigation_commands import NavigationCommands, find_rows
from gradstudio.ui.actions.run_commands import DebugCommands, HostCommands, run_rows
from gradstudio.ui.actions.tab_commands import TabCommands, tab_rows
from gradstudio.ui.actions.view_commands import ViewCommands, view_rows, wire_rows
from gradstudio.ui.actions.window_commands import WindowCommands, shell_rows
from gradstudio.ui.state.run.run_controller import RunController
from gradstudio.ui.timeline.turn_commands import turn_rows


class Commands(NamedTuple):
    """The commands behind the rows, by menu."""

    file: FileCommands
    edit: EditCommands
    view: ViewCommands
    graph: GraphCommands
    run: RunController
    debug: DebugCommands
    hosts: HostCommands
    nav: NavigationCommands
    help: HelpCommands
    shell: WindowCommands
    tabs: TabCommands
    learning: LearningCommands
    access: AccessCommands
    analyse: AnalyseCommands


def action_rows(commands: Commands) -> tuple[Row, ...]:
    """All rows, menu by menu in the order shown."""
    return (
        *file_rows(commands.file),
        *edit_rows(commands.edit),
        ActionRow("file.copy_picture", "Copy as picture", COPY_AS, 2, commands.file.copy_picture),
        *tab_rows(commands.tabs),
        quit_row(commands.file),
        *arrange_rows(commands.edit),
        *find_rows(commands.nav),
        *view_rows(commands.view, commands.nav),
        *graph_rows(commands.graph),
        *analyse_rows(commands.analyse, commands.file.export_graph),
        *adding_rows(commands.graph.canvas, commands.graph.switch_ghost),
        *run_rows(commands.run, commands.debug, commands.hosts, turn_rows(commands.nav.turns)),
        *checkpoint_rows(commands.graph),
        *wire_rows(commands.view),
        *group_rows(commands.view.canvas),
        *learning_rows(commands.learning),
        *access_rows(commands.graph.canvas, commands.access),
        *shell_rows(commands.shell),
        *help_rows(commands.help),
    )
