"""Turns of loops in the Run menu: the last one once more, and any other by its number."""

from typing import Final

from PySide6.QtWidgets import QInputDialog

from gradstudio.graph.text.item_titles import title
from gradstudio.ui.actions.action_set import ActionRow, Row
from gradstudio.ui.actions.command_context import Context
from gradstudio.ui.timeline.turn_chooser import ShownLoop, go_to, shown_loop

TURNS: Final = "Run/Turns of a loop"
NO_LOOP: Final = "The program has no loop."
NO_TURN: Final = "No turn of a loop has run: run the program first (F5)."
REPEAT: Final = "Put the run before the last turn of the loop, and run that turn once more, with a record of it"
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
        """Ask for a number, and go to that turn."""
        shown = self._shown()
        if shown is None:
            return
        words = f"Turn of “{title(self._session.graph_store.graph, shown.loop)}”, 1 to {shown.turns:,}:"
        turn, is_given = QInputDialog.getInt(self._window, "Go to turn", words, shown.turns, 1, shown.turns)
        if is_given:
            go_to(self._session, shown, turn - 1)

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
