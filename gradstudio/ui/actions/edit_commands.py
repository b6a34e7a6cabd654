"""The Edit menu: undo, the clipboard, where cards stand and how they are worn; what a person chose about dragging."""

from collections.abc import Callable, Iterator
from functools import partial

from PySide6.QtGui import QGuiApplication, QKeySequence

from gradstudio.graph.model import ChartKind
from gradstudio.layout.placement.alignment import Side
from gradstudio.protocol.messages.charts import CHARTS
from gradstudio.ui.actions.action_set import ActionRow, Row
from gradstudio.ui.actions.command_context import Context

ALIGN, DRAGGING = "Edit/Align", "Edit/While dragging"
SIDES: tuple[tuple[Side, str, tuple[str, ...]], ...] = (
    ("left", "Left edges", ("Ctrl+Alt+Left",)),
    ("right", "Right edges", ("Ctrl+Alt+Right",)),
    ("top", "Upper edges", ("Ctrl+Alt+Up",)),
    ("bottom", "Lower edges", ("Ctrl+Alt+Down",)),
    ("center", "Centres in a column", ()),
    ("middle", "Middles in a row", ()),
)
Key = QKeySequence.StandardKey
COPY_AS = "Edit/Copy as"
CHART_TIPS: dict[ChartKind, str] = {
    "boundary": "Show on the selected cards what they give for two inputs, over the plane, with the data on it",
    "path": "Show on the selected card of two numbers the loss over both, and the way that learning took",
    "confusion": "Show on the selected card of a prediction how often each class was taken for each",
    "prediction": "Show on the selected card of a prediction what it says over what is right",
    "components": "Show on the selected cards their two principal components, a point for each row, coloured by target",
    "images": "Show on the selected cards data as images with their classes, or the filters of a layer",
    "attention": "Show on the selected cards weights of attention, a picture a head: queries down, keys across",
    "histogram": "Show on the selected cards how the numbers of a weight or of a result spread, turn by turn",
    "gradients": "Show on the selected cards how the numbers of the gradient of a weight spread, turn by turn",
    "curve": "Show on the selected cards their number turn by turn: a loss, what is plotted of it, or a norm",
}


class EditCommands:
    """Undo, and the canvas's clipboard."""

    def __init__(self, context: Context, say: Callable[[str], None] = lambda _words: None) -> None:
        """Work on the context's session; `say` shows words in the status bar."""
        self._say = say
        self.canvas, self.arrange = context.canvas, ArrangeCommands(context)
        self._store, self._attention = context.session.graph_store, context.session.attention
        self._stack = self._store.undo_stack

    def undo(self) -> None:
        """Take the newest change back, and say which: it may be one inside a group that is not shown."""
        self._store.settle()
        words = self._stack.undoText()
        self._store.undo()
        if words:
            self._say(f"Undid: {words}")

    def redo(self) -> None:
        """Make the change again that was taken back."""
        self._store.settle()
        words = self._stack.redoText()
        self._store.redo()
        if words:
            self._say(f"Redid: {words}")

    def can_undo(self) -> bool:
        """Whether there is a change to take back."""
        return self._stack.canUndo()

    def can_redo(self) -> bool:
        """Whether there is a change to make again."""
        return self._stack.canRedo()

    def has_selection(self) -> bool:
        """Whether an item is selected."""
        return bool(self._attention.selection)

    def has_items(self) -> bool:
        """Whether anything is on the canvas."""
        return bool(self._store.graph.nodes or self._store.graph.blocks)

    def can_paste(self) -> bool:
        """Whether the clipboard holds a text: cards, a program or numbers."""
        return bool(QGuiApplication.clipboard().text())


class ArrangeCommands:
    """Switches of the canvas that are preferences."""

    def __init__(self, context: Context) -> None:
        """The canvas takes up what was chosen, also later in another tab: every time the rows are asked."""
        self.canvas, self._settings = context.canvas, context.settings
        self._take_up()

    def toggle_snap(self) -> None:
        """Snap to the grid, or no longer."""
        self._settings.change(snap_to_grid=not self.canvas.drag_options.snap_to_grid)
        self._take_up()
        on = "on: hold Ctrl while dragging to place freely" if self.canvas.drag_options.snap_to_grid else "off"
        self.canvas.said.emit(f"Snap to grid is {on}")

    def snaps(self) -> bool:
        """Whether what is dragged snaps to the grid."""
        self._take_up()
        return self.canvas.drag_options.snap_to_grid

    def toggle_guides(self) -> None:
        """Show guides while dragging, or no longer."""
        self._settings.change(guides=not self.canvas.drag_options.show_guides)
        self._take_up()

    def guides(self) -> bool:
        """Whether guides are shown while dragging."""
        self._take_up()
        return self.canvas.drag_options.show_guides

    def toggle_shake(self) -> None:
        """Let a shake take cards out of their wires, or no longer."""
        self._settings.change(shake_off=not self.canvas.drag_options.shake_off)
        self._take_up()

    def shakes(self) -> bool:
        """Whether a shake takes cards out of their wires."""
        self._take_up()
        return self.canvas.drag_options.shake_off

    def _take_up(self) -> None:
        chosen = self._settings.preferences
        self.canvas.drag_options.snap_to_grid, self.canvas.drag_options.show_guides = chosen.snap_to_grid, chosen.guides
        self.canvas.drag_options.shake_off = chosen.shake_off


def edit_rows(c: EditCommands) -> tuple[Row, ...]:
    """Undo, the clipboard, selecting everything."""
    canvas = c.canvas
    some, can_delete = canvas.selection.has_statements, canvas.selection.can_delete
    return (
        ActionRow("edit.undo", "Undo", "Edit", 1, c.undo, (Key.Undo,), "undo", c.can_undo),
        ActionRow("edit.redo", "Redo", "Edit", 1, c.redo, ("Ctrl+Shift+Z", "Ctrl+Y"), "redo", c.can_redo),
        ActionRow("edit.cut", "Cut", "Edit", 2, canvas.clipboard_commands.cut, (Key.Cut,), "cut", some),
        ActionRow("edit.copy", "Copy", "Edit", 2, canvas.clipboard_commands.copy, (Key.Copy,), "copy", some),
        ActionRow(
            "edit.paste", "Paste", "Edit", 2, canvas.clipboard_commands.paste, (Key.Paste,), "paste", c.can_paste
        ),
        ActionRow(
            "edit.duplicate",
            "Duplicate",
            "Edit",
            2,
            canvas.selection_commands.duplicate_selection,
            ("Ctrl+D",),
            "duplicate",
            some,
        ),
        ActionRow(
            "edit.delete",
            "Delete",
            "Edit",
            2,
            canvas.selection_commands.delete_selection,
            ("Del", "Backspace"),
            "delete",
            can_delete,
        ),
        ActionRow(
            "edit.copy_python",
            "Copy as Python",
            COPY_AS,
            2,
            canvas.clipboard_commands.copy_python,
            ("Ctrl+Shift+C",),
            "copy_python",
            c.has_items,
            tooltip="The selection as Python, or the whole program where nothing is selected",
        ),
        ActionRow(
            "edit.select_all",
            "Select all",
            "Edit",
            4,
            canvas.selection.select_all,
            (Key.SelectAll,),
            "select_all",
            c.has_items,
        ),
    )


def arrange_rows(c: EditCommands) -> tuple[Row, ...]:
    """Deleting with reconnect, pasting with wires, aligning, snapping, collapsing, muting."""
    return (*_clipboard_rows(c), *_align_rows(c), *_drag_rows(c), *_worn_rows(c), *_chart_rows(c))


def _clipboard_rows(c: EditCommands) -> Iterator[Row]:
    canvas = c.canvas
    some = canvas.selection.has_statements
    yield ActionRow(
        "edit.paste_wired",
        "Paste with inputs",
        "Edit",
        3,
        canvas.clipboard_commands.paste_wired,
        ("Ctrl+Shift+V",),
        "paste",
        c.can_paste,
        tooltip="Paste, and wire the inputs to what they were wired to, where that is here",
        canvas_only=True,
    )
    yield ActionRow(
        "edit.duplicate_wired",
        "Duplicate with inputs",
        "Edit",
        3,
        canvas.selection_commands.duplicate_wired,
        ("Ctrl+Shift+D",),
        "duplicate",
        some,
        tooltip="The copies read what the originals read",
        canvas_only=True,
    )
    yield ActionRow(
        "edit.delete_reconnect",
        "Delete and reconnect",
        "Edit",
        3,
        canvas.card_arrangement.delete_and_reconnect,
        ("Ctrl+Del",),
        when=some,
        tooltip="Delete the selection; what fed it feeds what read from it",
        canvas_only=True,
    )


def _align_rows(c: EditCommands) -> Iterator[Row]:
    some, canvas = c.has_selection, c.canvas
    for side, text, keys in SIDES:
        align = partial(canvas.card_arrangement.align_selection, side)
        yield ActionRow(
            f"edit.align_{side}",
            text,
            ALIGN,
            6,
            align,
            keys,
            f"align_{side}",
            some,
            tooltip=f"{text} of the selected cards and frames on one line",
        )
    for axis, text in (("across", "Equal gaps across"), ("down", "Equal gaps down")):
        handler = partial(canvas.card_arrangement.distribute_selection, axis)  # type: ignore[arg-type] # the two axes are spelled out
        yield ActionRow(f"edit.distribute_{axis}", text, ALIGN, 6, handler, (), f"distribute_{axis}", some)


def _chart_rows(c: EditCommands) -> Iterator[Row]:
    arrangement = c.canvas.card_arrangement
    for kind, words in CHARTS.items():
        yield ActionRow(
            f"edit.chart_{kind}",
            words,
            "Edit/Chart on the card",
            6,
            partial(arrangement.toggle_chart, kind),
            ("Shift+P",) if kind == "boundary" else (),
            when=c.has_selection,
            checked=partial(arrangement.shows_chart, kind),
            tooltip=CHART_TIPS[kind],
            canvas_only=True,
        )


def _drag_rows(c: EditCommands) -> Iterator[Row]:
    arrange = c.arrange
    yield ActionRow(
        "edit.snap",
        "Snap to grid",
        DRAGGING,
        6,
        arrange.toggle_snap,
        ("Shift+Tab",),
        "snap",
        checked=arrange.snaps,
        tooltip="What is dragged snaps to the grid; Ctrl while dragging does the opposite",
        short="Snap",
        canvas_only=True,
    )
    yield ActionRow(
        "edit.guides",
        "Guides while dragging",
        DRAGGING,
        6,
        arrange.toggle_guides,
        (),
        checked=arrange.guides,
        tooltip="What is dragged comes in line with its neighbours; Shift while dragging suspends it",
    )
    yield ActionRow(
        "edit.shake",
        "Shake to take out of wires",
        DRAGGING,
        6,
        arrange.toggle_shake,
        (),
        checked=arrange.shakes,
        tooltip="Shaking a card while dragging takes it out of its wires; what fed it feeds what read from it",
    )


def _worn_rows(c: EditCommands) -> Iterator[Row]:
    some, statements, canvas = c.has_selection, c.canvas.selection.has_statements, c.canvas
    for key, text, handler, keys, words in (
        (
            "mute",
            "Mute",
            canvas.card_arrangement.toggle_muted,
            "M",
            "Take the selection, and what reads from it, out of the program",
        ),
        (
            "bypass",
            "Bypass",
            canvas.card_arrangement.toggle_bypassed,
            "Shift+M",
            "Let the selected nodes pass their input on unchanged",
        ),
    ):
        yield ActionRow(
            f"graph.{key}", text, "Graph", 3, handler, (keys,), key, statements, tooltip=words, canvas_only=True
        )
    for name, text, handler, keys, words in (
        (
            "collapsed",
            "Collapse",
            canvas.card_arrangement.toggle_collapsed,
            "H",
            "Show only the header of the selected cards",
        ),
        (
            "tucked",
            "Hide unused ports",
            canvas.card_arrangement.toggle_tucked,
            "Ctrl+H",
            "Hide the inputs that nothing feeds",
        ),
        ("pinned", "Pin", canvas.card_arrangement.toggle_pinned, "P", "The selected cards stay where they are"),
    ):
        yield ActionRow(
            f"edit.{name}",
            text,
            "Edit/Cards",
            6,
            handler,
            (keys,),
            when=some,
            checked=partial(canvas.card_arrangement.is_worn, name),
            tooltip=words,
            canvas_only=True,
        )
