"""What the person looks at: the selection, the moment of the run, what the pointer is over. Never undone."""

from collections.abc import Iterable

from PySide6.QtCore import QObject, Signal

from gradstudio.graph.model import ItemId


class Attention(QObject):
    """The selection and the moment, shared by canvas, timeline, code, memory plot and inspector.

    Attributes:
        moment: index of the timeline's tick that is looked at; None: now, the end of all that ran.
        into: it was stepped to into whatever it is inside of, so that this is to be shown.
        backward: the gradients of which backward are shown; None: the latest that reached each value.
        unfolded: the timeline steps by autograd nodes, not by nodes of the canvas.
        chosen_turns: by loop block, the turn whose values are shown; a loop that is not in it shows its last.
        hovered: the node the pointer is over, on whatever panel; None: none.

    Signals:
        selection_changed(): the set or the current item changed.
        moment_changed(): another moment, backward, turn or folding is looked at.
        hover_changed(): the pointer is over another node.
        reveal_requested(object): show this item (a click in a list of problems).
    """

    selection_changed = Signal()
    moment_changed = Signal()
    hover_changed = Signal()
    reveal_requested = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        """Nothing is selected."""
        super().__init__(parent)
        self.selection: frozenset[ItemId] = frozenset()
        self.current: ItemId | None = None
        self.output = self.line = 0
        self.moment: int | None = None
        self.into = False
        self.backward: int | None = None
        self.unfolded = False
        self.chosen_turns: dict[ItemId, int] = {}
        self.hovered: ItemId | None = None

    def select(self, items: Iterable[ItemId], current: ItemId | None = None, output: int = 0, line: int = 0) -> None:
        """Select exactly these.

        Args:
            items: all of them.
            current: the one whose details are shown; default: any one.
            output: of `current`.
            line: of the undrawn Python that `current` is, counted from 1; 0: the item as a whole.
        """
        chosen = items if isinstance(items, frozenset) else list(items)
        selection = frozenset(chosen)
        if current is None and selection:
            current = self.current if self.current in selection else list(chosen)[-1]
        if (selection, current, output, line) == (self.selection, self.current, self.output, self.line):
            return
        self.selection, self.current, self.output, self.line = selection, current, output, line
        self.selection_changed.emit()

    def reveal(self, item: ItemId, line: int = 0) -> None:
        """Select the item and ask the canvas to bring it into view, and the Code dock a line of it."""
        self.select((item,), line=line)
        self.reveal_requested.emit(item)

    def look_at(self, moment: int | None, *, into: bool = False) -> None:
        """Look at a tick of the timeline; None: now."""
        if moment != self.moment:
            self.moment, self.into = moment, into
            self.moment_changed.emit()

    def show_backward(self, backward: int | None) -> None:
        """Show the gradients of one backward alone; None: the latest."""
        if backward != self.backward:
            self.backward = backward
            self.moment_changed.emit()

    def unfold(self, unfolded: bool) -> None:
        """Step by autograd nodes, or by nodes of the canvas."""
        if unfolded != self.unfolded:
            self.unfolded = unfolded
            self.moment_changed.emit()

    def choose_turn(self, block: ItemId, turn: int | None) -> None:
        """Show this turn of a loop; None: its last."""
        if turn != self.chosen_turns.get(block):
            self.chosen_turns.pop(block, None)
            if turn is not None:
                self.chosen_turns[block] = turn
            self.moment_changed.emit()

    def look_at_now(self) -> None:
        """Back to the end of all that ran: every backward, the last turns."""
        if (self.moment, self.backward, self.chosen_turns) != (None, None, {}):
            self.moment, self.into, self.backward = None, False, None
            self.chosen_turns.clear()
            self.moment_changed.emit()

    def hover(self, item: ItemId | None) -> None:
        """The pointer is over this node, or over none."""
        if item != self.hovered:
            self.hovered = item
            self.hover_changed.emit()

    def forget(self, items: Iterable[ItemId]) -> None:
        """Drop items that no longer exist from the selection."""
        gone = frozenset(items)
        if gone & self.selection:
            self.select(self.selection - gone)
