"""Which turn of the loop around the selected card is shown."""

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSpinBox, QToolButton, QWidget

from gradstudio.graph.model import ItemId
from gradstudio.protocol.timeline.model import Turns
from gradstudio.ui.state.results.timeline_cursor import loops_around
from gradstudio.ui.state.session import Session

HEIGHT_PX = 24
QWIDGETSIZE_MAX = 16_777_215
BESIDE_PX = 18
"""`BESIDE_PX`: what the box needs beside its text."""


class TurnChooser(QWidget):
    """A spin box for the innermost loop around the current card; hidden outside loops and before a run.

    The highest value stands for "the last", whichever that will be.
    """

    def __init__(self, session: Session) -> None:
        """Follow the selection; the moment is asked for by `refresh`."""
        super().__init__()
        self._session = session
        self._loop = ItemId("")
        self._turns, self._now, self._kept = 0, 0, list[int]()
        self.box = _TurnBox(self)
        self._count = QLabel(self)
        self.box.setFixedHeight(HEIGHT_PX)
        self.box.setKeyboardTracking(False)
        self.earlier = self._button("‹", "The turn before", self.box.stepDown)
        self.later = self._button("›", "The turn after", self.box.stepUp)
        self.box.setAccessibleName("Turn of the loop that is shown")
        self.box.setToolTip("The turn of the loop around the selected card whose values are shown")
        self._count.setProperty("role", "dim")
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 0, 0, 0)
        row.setSpacing(2)
        row.addWidget(self.earlier)
        row.addWidget(self.box)
        row.addWidget(self.later)
        row.addWidget(self._count)
        self._missing = 0
        self.recording = self._button("", "", self._record)
        self.recording.setFixedSize(QWIDGETSIZE_MAX, HEIGHT_PX)
        self.recording.setAutoRepeat(False)
        self.recording.hide()
        row.addWidget(self.recording)
        self.box.valueChanged.connect(self._on_box_value_changed)
        session.attention.selection_changed.connect(self.refresh)
        self.hide()

    def _button(self, text: str, tip: str, step: Callable[[], None]) -> QToolButton:
        button = QToolButton(self)
        button.setText(text)
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.setAutoRepeat(True)
        button.setFixedSize(HEIGHT_PX - 6, HEIGHT_PX)
        button.setObjectName("dock_button")
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.clicked.connect(step)
        return button

    def refresh(self) -> None:
        """Ask which loop, how many turns it has done, and which of them is shown."""
        attention = self._session.attention
        shown = shown_loop(self._session, attention.current)
        self._loop, self._turns = ItemId(""), 0
        if shown is not None:
            self._loop, self._turns, self._kept = shown.loop, shown.turns, shown.kept
            newest = self._kept[-1] + 1 if self._kept else 0
            self._now = self._turns if newest == self._turns else newest - 1
            self.box.last = "last turn" if newest == self._turns else f"now, turn {newest:,}"
        self.setVisible(self._turns > 1)
        if self._turns > 1:
            self._show(attention.chosen_turns.get(self._loop))

    def _show(self, chosen: int | None) -> None:
        self.box.blockSignals(True)
        self.box.setRange(1, self._turns + 1)
        self.box.setValue(self._turns + 1 if chosen is None else chosen + 1)
        self.box.blockSignals(False)
        widest = max(self.fontMetrics().horizontalAdvance(text) for text in (self.box.last, f"turn {self._turns:,}"))
        self.box.setFixedWidth(widest + BESIDE_PX)
        kept = "" if len(self._kept) == self._turns else f", {len(self._kept):,} recorded"
        self._count.setText(f"of {self._turns:,}{kept}")

    def _on_box_value_changed(self, value: int) -> None:
        if self._loop:
            shown = self._session.attention.chosen_turns.get(self._loop, self._now)
            turn = None if value > self._turns else _nearest(self._kept, value - 1, shown)
            self._offer(value if turn not in (None, value - 1) and abs(value - 1 - shown) > 1 else 0)
            self._session.attention.choose_turn(self._loop, turn)
            self._show(self._session.attention.chosen_turns.get(self._loop))

    def _offer(self, turn: int) -> None:
        """Offer to record a turn (from 1) that is not in the record; 0: nothing."""
        self._missing = turn
        self.recording.setVisible(bool(turn))
        self.recording.setText(f"Go to turn {turn:,}")
        self.recording.setToolTip("Puts the run at the end of this turn, as it was there, with a record of it")
        self.recording.setAccessibleName(self.recording.text())

    def _record(self) -> None:
        """The turn that was asked for, in the turns of the loops around that are shown."""
        turn, shown = self._missing - 1, shown_loop(self._session, self._session.attention.current)
        self._offer(0)
        if shown is not None:
            go_to(self._session, shown, turn)


class _TurnBox(QSpinBox):
    """Says "turn 3", and at its highest value "last turn", or where the run stands.

    Attributes:
        last: what it says at its highest value.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.last = "last turn"
        self.setStyleSheet(
            "QSpinBox { padding: 0 4px; } QLineEdit { border: 0; padding: 0 5px; background: transparent; }"
            # They are beside it. WORKAROUND(where a style has buttons, Qt leaves text beside NoButtons one pixel)
            "QSpinBox::up-button, QSpinBox::down-button { width: 0; border: 0; }"
            "QSpinBox::up-arrow, QSpinBox::down-arrow { image: none; }"
        )

    def textFromValue(self, val: int) -> str:
        return self.last if val >= self.maximum() else f"turn {val}"

    def valueFromText(self, text: str) -> int:
        digits = "".join(letter for letter in text if letter.isdecimal())
        return int(digits) if digits else self.maximum()

    def validate(self, text: str, pos: int) -> tuple[QValidator.State, str, int]:
        return QValidator.State.Acceptable, text, pos


def _nearest(kept: list[int], turn: int, shown: int) -> int:
    """Of the turns that are recorded the one that is meant: a step goes to the next of them in its direction."""
    if turn == shown + 1:
        return next((one for one in kept if one >= turn), shown)
    if turn == shown - 1:
        return next((one for one in reversed(kept) if one <= turn), shown)
    return min(kept, key=lambda one: abs(one - turn), default=turn)


class ShownLoop(NamedTuple):
    """The innermost loop around an item, in the turns of the loops around it that are shown.

    Attributes:
        probe: a statement of it; `depth`: so many loops stand around it.
        kept: its turns that are recorded, from 0; `turns`: so many are known of.
    """

    loop: ItemId
    probe: ItemId
    depth: int
    kept: list[int]
    turns: int


def shown_loop(session: Session, item: ItemId | None) -> ShownLoop | None:
    """The loop that an item stands in, or is; None where there is none."""
    graph, results = session.graph_store.graph, session.results
    loops = loops_around(graph, item)
    if item is None or not loops:
        return None
    depth, probe = len(loops) - 1, item if item in graph.nodes else _first_node(session, item)
    done = [turns for turns in results.timeline.turns_of(probe, session.attention.moment) if len(turns) > depth]
    kept = sorted({turns[depth] for turns in done})
    told = results.tables.curves.turns_told(results.ids.full(loops[-1]), done[-1][:depth]) if done else 0
    return ShownLoop(loops[-1], probe, depth, kept, max((*(one + 1 for one in kept), told), default=0))


def go_to(session: Session, shown: ShownLoop, turn: int) -> None:
    """Put the run at the end of a turn, from 0, in the turns of the loops around that are shown."""
    go_to_turns(session, shown, (*turns_around(session, shown), turn))


def go_to_turns(session: Session, shown: ShownLoop, turns: Turns) -> None:
    """Put the run at the end of a turn, given with those of the loops around."""
    full = session.results.ids.full
    session.attention.choose_turn(shown.loop, None)
    session.turns.go_to(full(shown.loop), full(shown.probe), turns)


def turns_around(session: Session, shown: ShownLoop) -> Turns:
    """The turns of the loops around that are shown."""
    row = session.results.row(shown.probe)
    return row.turns[: shown.depth] if row is not None else ()


def _first_node(session: Session, block: ItemId) -> ItemId:
    """A node of a block that ran in it."""
    graph = session.graph_store.graph
    inside = (node for node in graph.nodes if block in map(ItemId, graph.ancestors(node)))
    return next((node for node in inside if session.results.timeline.turns_of(node)), block)
