"""The Graph menu: adding, replacing, naming, blocks, order, tidying, notes, the seed."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from gradstudio.graph import recipes
from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.model import Header, ItemId
from gradstudio.graph.text.code_records import CODE, is_code_at
from gradstudio.ui.actions.action_set import ActionRow, MenuRow, Row
from gradstudio.ui.actions.command_context import Context
from gradstudio.ui.canvas.view import CanvasView

if TYPE_CHECKING:
    from PySide6.QtWidgets import QMenu

    from gradstudio.ui.actions.training_command import AskedTraining, CheckpointFiles
    from gradstudio.ui.dialogs.training.awaited_shapes import AwaitedShapes
    from gradstudio.ui.state.session import Session

CODE_MENU = "Graph/Code"


class GraphCommands:
    """Changes the program through its store."""

    def __init__(
        self,
        context: Context,
        find_operator: Callable[[], None],
        toggle_favourite: Callable[[], None],
        show_dock: Callable[[str], None],
    ) -> None:
        """`find_operator` brings the Library forward and takes the cursor there; `show_dock` any dock by its key."""
        self._context = context
        self.find_operator, self.toggle_favourite = find_operator, toggle_favourite
        self._show_dock = show_dock
        self.canvas = context.canvas
        self._store, self._attention = context.session.shown_store, context.session.attention

    def can_rename(self) -> bool:
        """Whether one node is selected that may have names."""
        item = self._attention.current
        return len(self._attention.selection) == 1 and item is not None and recipes.has_names(self._store.graph, item)

    def add_note(self) -> None:
        """Write a note to the selected statement, where it stands; without one a free note at the pointer."""
        item = self._attention.current
        if item is None or item not in self._store.graph:
            self.canvas.note_commands.add_note_at(*self.canvas.pointer_or_middle())
            return
        home = self.canvas.scene.state.card_groups.home(item)
        self.canvas.navigation.show_items((home,))
        self.canvas.note_commands.edit_note(home)

    def wrap(self) -> None:
        """Put the selection into ``with torch.no_grad():``."""
        self.canvas.selection_commands.wrap_selection("no_grad")

    def fill_blocks(self, menu: "QMenu") -> None:
        """Offer every block for the selection, as the menu of a card does; without one nothing can be chosen."""
        from gradstudio.ui.canvas.menus.card_menu import block_rows
        from gradstudio.ui.canvas.menus.menu_rows import fill

        fill(menu, block_rows(self.canvas), self.canvas.keys_of)
        for action in menu.actions():
            action.setEnabled(self.canvas.selection.has_statements())

    def unwrap(self) -> None:
        """Take the block away that is selected, or that holds the selection."""
        block = self.block()
        if block is not None:
            self._store.attempt(recipes.unwrap, "Unwrap", block)

    def block(self) -> ItemId | None:
        """The selected block, else the innermost around the current item."""
        graph, current = self._store.graph, self._attention.current
        if current is None or current not in graph:
            return None
        if current in graph.blocks:
            return current
        parent = graph.parents[current]
        return ItemId(parent) if parent else None

    def has_block(self) -> bool:
        """Whether `unwrap` has something to take away."""
        return self.block() is not None

    def switch_ghost(self) -> None:
        """Let what is chosen with the mouse hang at the cursor, or stand at once."""
        shelf = self.canvas.shelf
        shelf.carries = not shelf.carries
        self._context.settings.change(ghost_placing=shelf.carries)

    def has_one(self) -> bool:
        """Whether exactly one item is selected that has a place in the order."""
        current = self._attention.current
        return len(self._attention.selection) == 1 and current in self._store.graph and current not in CARDS

    def has_items(self) -> bool:
        """Whether anything is on the canvas."""
        return bool(self._store.graph.nodes or self._store.graph.blocks)

    def add_code(self) -> None:
        """A card of code in a free place, to be written in the Code dock."""
        self.canvas.operator_commands.add_operator(CODE)

    def can_split_code(self) -> bool:
        """Whether the selected card is code of more than one statement."""
        if not self._has_code():
            return False
        from gradstudio.program.code_cards import can_split

        return can_split(self._store.graph, self._attention.current or ItemId(""))

    def can_merge_code(self) -> bool:
        """Whether the selected card is code, and the next statement is, too."""
        if not self._has_code():
            return False
        from gradstudio.program.code_cards import next_card

        return next_card(self._store.graph, self._attention.current or ItemId("")) is not None

    def can_draw_code(self) -> bool:
        """Whether something of the selected card of code would be drawn; what stands in groups is drawn in the text."""
        if not self._has_code() or self._context.session.scope.path:
            return False
        from gradstudio.program.merging.whole_merge import draw_code

        return draw_code(self._store.graph, self._attention.current or ItemId("")) is not None

    def draw_code(self) -> None:
        """Read the selected card of code anew: what can be drawn becomes nodes."""
        from gradstudio.document.python.card_edits import draw

        if (item := self._attention.current) is not None:
            self._store.attempt(draw, "Draw code", item)

    def split_code(self) -> None:
        """A card for each statement of the selected card of code; all of them are selected."""
        from gradstudio.document.python.card_edits import split

        before = set(self._store.graph.nodes)
        if (item := self._attention.current) is not None and self._store.attempt(split, "Split code", item):
            cards = frozenset({item, *(self._store.graph.nodes.keys() - before)})
            self.canvas.selection.select(cards)
            self.canvas.navigation.show_items(cards)

    def merge_code(self) -> None:
        """The selected card of code and the one behind it become one."""
        from gradstudio.document.python.card_edits import merge_with_next

        if (item := self._attention.current) is not None:
            self._store.attempt(merge_with_next, "Merge code", item)

    def _has_code(self) -> bool:
        return self.has_one() and is_code_at(self._store.graph, self._attention.current or ItemId(""))

    def add_training(self) -> None:
        """Put the loss into a loop that learns, with data, optimizer and a test: one undo entry."""
        from gradstudio.ui.actions.training_command import usual_training

        self._train(usual_training, self.add_training)

    def ask_training(self) -> None:
        """The same, as a person chooses: how long, by which optimizer, clipped, accumulated, in mixed precision."""
        from gradstudio.ui.actions.training_command import asked_training

        self._train(lambda session: asked_training(session, self._context.window), self.ask_training)

    def _train(self, ask: "Callable[[Session], AskedTraining | None]", again: Callable[[], None]) -> None:
        """Ask, and add what is asked for; `again` is called when shapes that are needed are known."""
        from gradstudio.ui.actions.training_command import NotTrainable, add_training, lacks_shape
        from gradstudio.ui.dialogs.training.awaited_shapes import ShapesAwaited

        session = self._context.session
        try:
            asked = ask(session)
            if asked is not None:
                add_training(self.canvas, session, asked)
        except ShapesAwaited:
            self._awaited_shapes.begin("Add training", again, lambda: lacks_shape(session))
        except NotTrainable as error:
            session.run.status.refused.emit(str(error))
            self.canvas.refuse(str(error))  # a line in the status bar has no room for what to do

    @cached_property
    def _awaited_shapes(self) -> "AwaitedShapes":
        from gradstudio.ui.dialogs.training.awaited_shapes import AwaitedShapes

        return AwaitedShapes(self._context.session, self.canvas)

    def distribute(self) -> None:
        """Have several processes train together what one trains."""
        from gradstudio.ui.actions.training_command import distribute

        distribute(self.canvas, self._context.session, self._context.window)

    @cached_property
    def checkpoints(self) -> "CheckpointFiles":
        """Checkpoints as files, made when one is first wanted."""
        from gradstudio.ui.actions.training_command import CheckpointFiles

        return CheckpointFiles(self._context, self.canvas)

    def save_checkpoint(self) -> None:
        """The run as a file."""
        self.checkpoints.keep()

    def continue_training(self) -> None:
        """Train on from a file."""
        self.checkpoints.go_on()

    def sweep(self) -> None:
        """Train once for each of several values of literals."""
        from gradstudio.ui.dialogs.sweep_dialog import start_sweep

        if start_sweep(self._context.session, self._context.window):
            self._show_dock("runs")

    def tidy(self) -> None:
        """Lay out the selection, or the whole program, anew."""
        from gradstudio.ui.actions.tidy_layout import tidy

        tidy(self.canvas)

    def set_seed(self) -> None:
        """Ask for the seed of the random numbers."""
        from gradstudio.ui.dialogs.seed_dialog import SeedDialog

        header = self._store.graph.header
        dialog = SeedDialog(header.seed, self._context.window)
        if dialog.exec() == SeedDialog.DialogCode.Accepted:
            self._set_header(msgspec.structs.replace(header, seed=dialog.seed), "Change seed")
        dialog.deleteLater()

    def set_device(self, device: str) -> None:
        """Choose where creation nodes create."""
        self._set_header(msgspec.structs.replace(self._store.graph.header, device=device), "Change device")

    def _set_header(self, header: Header, text: str) -> None:
        self._store.attempt(recipes.set_header, text, header)


def graph_rows(c: GraphCommands) -> tuple[Row, ...]:
    """What is done with the program."""
    one, some = c.has_one, c.canvas.selection.has_statements
    wrap_words = "Put the selection into a block where nothing is recorded for backward"
    return (
        ActionRow(
            "graph.add",
            "Add operator…",
            "Graph",
            1,
            c.canvas.searching.open_at_pointer,
            ("Shift+A", "Ctrl+Space"),
            "add",
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
        ActionRow(
            "graph.rename",
            "Rename",
            "Graph",
            1,
            c.canvas.field_commands.rename_current,
            ("F2",),
            "rename",
            c.can_rename,
        ),
        ActionRow("graph.note", "Add note", "Graph", 1, c.add_note, ("Ctrl+M",), "note"),
        ActionRow(
            "graph.wrap", "Wrap in no_grad", "Graph", 2, c.wrap, ("Ctrl+Shift+W",), "wrap", some, tooltip=wrap_words
        ),
        MenuRow("Wrap in", "Graph", 2, c.fill_blocks),
        ActionRow("graph.unwrap", "Unwrap", "Graph", 2, c.unwrap, (), "unwrap", c.has_block),
        *_training_rows(c),
        *_code_rows(c),
        ActionRow(
            "graph.earlier",
            "Earlier",
            "Graph",
            3,
            c.canvas.selection_commands.move_earlier,
            ("Alt+Up",),
            "earlier",
            one,
        ),
        ActionRow(
            "graph.later", "Later", "Graph", 3, c.canvas.selection_commands.move_later, ("Alt+Down",), "later", one
        ),
        ActionRow("graph.tidy", "Tidy", "Graph", 4, c.tidy, ("Ctrl+L",), "tidy", c.has_items),
        ActionRow("graph.seed", "Seed…", "Graph", 4, c.set_seed, (), "seed"),
    )


def _training_rows(c: GraphCommands) -> tuple[Row, ...]:
    tip = "Learn the loss in a loop: a data set and its loaders, an optimizer, a step, a test"
    asked = "Choose epochs, optimizer, schedule, clipping, early stop and other switches of a training, and add it"
    shared = "Several processes train together: DistributedDataParallel or FSDP2, a sampler, who prints and saves"
    add, ask = c.add_training, c.ask_training
    return (
        ActionRow("graph.training", "Add training", "Graph", 2, add, when=c.has_items, tooltip=tip),
        ActionRow("graph.ask_training", "Add training with…", "Graph", 2, ask, when=c.has_items, tooltip=asked),
        ActionRow("graph.distribute", "Distribute…", "Graph", 2, c.distribute, when=c.has_items, tooltip=shared),
    )


def _code_rows(c: GraphCommands) -> tuple[Row, ...]:
    split_tip = "A card of its own for each statement of the selected card of code"
    draw_tip = "Read the selected card of code anew: what can be drawn becomes nodes, the rest stays code"
    merge_tip = "The selected card of code and the one behind it become one"
    add_tip = "A card of Python that is written in the Code dock: imports, classes, files, whatever is not drawn"
    return (
        ActionRow("graph.add_code", "Add Python", "Graph", 2, c.add_code, tooltip=add_tip),
        ActionRow(
            "graph.split_code", "Split code", CODE_MENU, 2, c.split_code, when=c.can_split_code, tooltip=split_tip
        ),
        ActionRow(
            "graph.merge_code",
            "Merge code with next",
            CODE_MENU,
            2,
            c.merge_code,
            when=c.can_merge_code,
            tooltip=merge_tip,
        ),
        ActionRow("graph.draw_code", "Draw code", CODE_MENU, 2, c.draw_code, when=c.can_draw_code, tooltip=draw_tip),
    )


def checkpoint_rows(c: GraphCommands) -> tuple[Row, ...]:
    """Checkpoints of a training as files; what cannot be done now is said when it is asked for."""
    keep = "What was learnt, the optimizer and the random numbers as a file, at the end of a turn of the training"
    go_on = "Train on from a checkpoint of this window or of the exported training script"
    several = "Train once for each of several learning rates, widths, seeds …, side by side in the background"
    return (
        ActionRow("run.sweep", "Sweep…", "Run", 7, c.sweep, when=c.has_items, tooltip=several),
        ActionRow("run.checkpoint", "Save checkpoint…", "Run", 7, c.save_checkpoint, tooltip=keep),
        ActionRow("run.continue", "Continue from checkpoint…", "Run", 7, c.continue_training, tooltip=go_on),
    )


def adding_rows(canvas: CanvasView, switch_ghost: Callable[[], None]) -> tuple[Row, ...]:
    """What is done with operators that are there or about to be."""
    return (
        ActionRow(
            "graph.replace",
            "Replace operator…",
            "Graph",
            1,
            canvas.searching.replace_current,
            ("Ctrl+R",),
            "replace",
            canvas.operator_commands.can_replace,
            tooltip="Another operator in the place of the selected one: its name, wires and values stay",
        ),
        ActionRow(
            "graph.reset",
            "Reset to default",
            "Graph",
            1,
            canvas.field_commands.reset_to_default,
            ("Ctrl+Alt+R",),
            when=lambda: bool(canvas.attention.selection) or canvas.in_place.port is not None,
            tooltip="The argument that is edited or under the pointer, else all of the selected node",
        ),
        ActionRow(
            "graph.ghost",
            "Place with the mouse",
            "Graph",
            4,
            switch_ghost,
            checked=lambda: canvas.shelf.carries,
            tooltip="What is chosen with the mouse hangs at the cursor until a click places it",
        ),
    )
