"""Turns of loops in the Run menu: the last one once more, and any other by its number."""

from typing import Final

from PySide6.QtWidgets import QDialogButtonBox, QInputDialog

from gradstudio.graph.text.item_titles import title
from gradstudio.protocol.timeline.model import Turns
from gradstudio.ui.actions.action_set import ActionRow, Row
from gradstudio.ui.actions.command_context import Context
from gradstudio.ui.state.results.timeline_cursor import loops_around
from gradstudio.ui.timeline.turn_chooser import ShownLoop, go_to_turns, shown_loop, turns_around

TURNS: Final = "Run/Turns of a loop"
NO_LOOP: Final = "The program has no loop."
NO_TURN: Final = "No turn of a loop has run: run the program first (F5)."
COUNTED: Final = "Step, as on the axis of the curves: turns of “{name}” counted through"
NO_STEP: Final = "There is no turn “{text}”: type a number from 1 to {count:,}."
BEFORE: Final = "Step {text} was before this run went on: it cannot be gone to."
REPEAT: Final = "Put the run before the last turn of the loop, and run that turn once more, with a record of it"
MOST_DIGITS: Final = 15
GO_TO: Final = "Put the run at the end of a turn of the loop, as it was there, with a record of it"


class TurnCommands:
    """Of the loop around the selected card; where that stands in none, of the one with the most turns."""

    def __init__(self, context: Context) -> None:
        """Work on the context's session."""
        self._session, self._window = context.session, context.window

    def repeat(self) -> None:
        """Run the turn once more in which the run stands, or behind which, from the checkpoint before it."""
        shown, full = self._shown(), self._session.results.ids.full
        ran = self._session.results.timeline.turns_of(shown.probe) if shown is not None else ()
        turns = [one[: shown.depth + 1] for one in ran if shown is not None and len(one) > shown.depth]
        if shown is not None and turns:
            self._session.turns.go_to(full(shown.loop), full(shown.probe), turns[-1], anew=True)

    def ask(self) -> None:
        """Ask for the number of a step, all turns of the loop counted through, and go there."""
        shown = self._shown()
        if shown is None:
            return
        dialog = QInputDialog(self._window)
        dialog.setWindowTitle("Go to turn")
        dialog.textValueChanged.connect(lambda text: self._say(dialog, shown, text))
        dialog.setTextValue(str(self._count(shown)))
        is_given, text = dialog.exec(), dialog.textValue()
        dialog.deleteLater()
        if is_given and (turns := self._turns(shown, text)) is not None:
            go_to_turns(self._session, shown, turns)
        elif is_given:
            self._session.run.status.refused.emit(self._answer(shown, text))

    def _say(self, dialog: QInputDialog, shown: ShownLoop, text: str) -> None:
        """What may be typed, and what that is which was; a number that no turn has cannot be accepted."""
        name = title(self._session.graph_store.graph, shown.loop)
        counted = COUNTED.format(name=name) if shown.depth and self._told(shown) else f"Turn of “{name}”"
        dialog.setLabelText(f"{counted}, 1 to {self._count(shown):,}:\n{self._answer(shown, text)}")
        for button in dialog.findChildren(QDialogButtonBox):
            button.button(QDialogButtonBox.StandardButton.Ok).setEnabled(self._turns(shown, text) is not None)

    def _answer(self, shown: ShownLoop, text: str) -> str:
        """Which turn of each loop a number is, ``Step 120 of 900: turn 3 of “for epoch”, …``; or why it is none."""
        turns, count = self._turns(shown, text), self._count(shown)
        if turns is None and 0 < _number(text) <= count:
            return BEFORE.format(text=text)
        if turns is None:
            return NO_STEP.format(text=text, count=count)
        graph = self._session.graph_store.graph
        loops = zip(turns, loops_around(graph, shown.probe), strict=False)
        each = ", ".join(f"turn {turn + 1:,} of “{title(graph, loop)}”" for turn, loop in loops)
        return f"Step {_number(text):,} of {count:,}: {each}"

    def _told(self, shown: ShownLoop) -> int:
        """How many turns of the loop were told of since the start from nothing."""
        results = self._session.results
        return results.tables.curves.newest_turn(results.ids.full(shown.loop))

    def _count(self, shown: ShownLoop) -> int:
        """The largest number that can be typed."""
        told = self._told(shown)
        return told if shown.depth and told else max(told, shown.turns)

    def _turns(self, shown: ShownLoop, text: str) -> Turns | None:
        """The turns of all loops around at a step, which is typed from 1; None where there is none."""
        number, results = _number(text), self._session.results
        if not 1 <= number <= self._count(shown):
            return None
        if not shown.depth or not self._told(shown):
            return (*turns_around(self._session, shown), number - 1)
        return results.tables.curves.turns_at(results.ids.full(shown.loop), number - 1)

    def can(self) -> bool:
        """Whether there is a turn to go to, and the run can go there."""
        return not self.why_not()

    def why_not(self) -> str:
        """Why no turn can be gone to now, in words; "" when one can."""
        if not any(block.kind == "for" for block in self._session.graph_store.graph.blocks.values()):
            return NO_LOOP
        return self._session.run.why_not("go_to_turn") or ("" if self._shown() is not None else NO_TURN)

    def _shown(self) -> ShownLoop | None:
        """The loop that is meant; None where no turn of it has run."""
        session = self._session
        loops = [block.id for block in session.graph_store.graph.blocks.values() if block.kind == "for"]
        current = shown_loop(session, session.attention.current)
        found = [current] if current is not None else [shown_loop(session, loop) for loop in loops]
        return max((one for one in found if one is not None and one.turns), key=lambda one: one.turns, default=None)


def _number(text: str) -> int:
    """What was typed, as ``1,200``; 0: it is no number."""
    digits = text.replace(",", "").strip()
    return int(digits) if digits.isdecimal() and len(digits) <= MOST_DIGITS else 0


def turn_rows(turns: TurnCommands) -> tuple[Row, ...]:
    """What the Run menu does with turns."""
    can, why = turns.can, turns.why_not
    return (
        ActionRow(
            "run.repeat_turn",
            "Repeat the last turn",
            TURNS,
            3,
            turns.repeat,
            ("Alt+F5",),
            "",
            can,
            None,
            REPEAT,
            why=why,
        ),
        ActionRow("run.go_to_turn", "Go to turn…", TURNS, 3, turns.ask, ("Ctrl+J",), "", can, None, GO_TO, why=why),
    )
