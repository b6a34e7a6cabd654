"""The one place that says where the run stands: whoever moves it sets it here, whoever shows it listens here."""

from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec
from PySide6.QtCore import QObject, Signal

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import Paused
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.run.slide import Slide

WAITS: Final = "This holds from the next run on (F5): the run that is under way goes on with what it began with."

LOST: Final = "what it held is lost; the document is not, and what was recorded stays."
LEARNT_IS_KEPT: Final = "what was recorded stays; what it learnt up to turn {turns:,} is kept: Continue in Runs."


class Offer(NamedTuple):
    """What a person may do about something that has happened.

    Attributes:
        words: what has happened; `action` what can be done.
        accept: does it; `decline` is called where nobody wants it.
        why: more words, how it came to that.
    """

    words: str
    action: str
    accept: Callable[[], object]
    decline: Callable[[], object]
    why: str = ""


class RunStatus(QObject):
    """Holds a `RunState`, and says in words why something was not done.

    Attributes:
        slide: the slider that a run follows.
        stands_in_loop: whether turns of a loop are told of.
        stop_training: ends the training elsewhere that is under way; None: none is.
        kept_turns: behind so many turns what the run has learnt is kept; 0: nothing of it is.

    Signals:
        preparing(): a verb was asked for; what is to be in the program and is not yet is written now.
        changed(object): the new `RunState`.
        refused(object): a verb was refused; the words why.
        noted(object): other words about the run.
        offered(object): an `Offer`; None: what was offered is no more.
    """

    preparing = Signal()
    changed = Signal(object)
    refused = Signal(object)
    noted = Signal(object)
    offered = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        """Nothing runs, nothing is live."""
        super().__init__(parent)
        self.state = RunState()
        self.slide = Slide(lambda: self.state.busy, self)
        self.stands_in_loop: Callable[[], bool] = lambda: False
        self.stop_training: Callable[[], object] | None = None
        self.kept_turns: Callable[[], int] = lambda: 0

    @property
    def is_under_way(self) -> bool:
        """Whether the engine has been asked for what is done now: it does not wait to begin."""
        return self.state.busy and not self.state.waiting

    @property
    def is_in_loop(self) -> bool:
        """Whether a run is under way in a loop: there a number that is changed holds from the next turn on."""
        return self.is_under_way and self.stands_in_loop()

    def set(self, **changes: object) -> None:
        """Replace fields of the state, and announce it."""
        self.state = msgspec.structs.replace(self.state, **changes)
        self.changed.emit(self.state)

    def say_it_waits(self) -> None:
        """The program was changed in a way that the run that is under way cannot take up."""
        self.noted.emit(WAITS)

    def pause(self, event: Paused, in_backward: int) -> None:
        """The engine is at rest; `in_backward`: number of the backward in whose record the run is paused, or 0."""
        if event.is_lost:
            self.lose(event.reason.rstrip("."), event.outcome, stale=self.state.stale)
            return
        self.set(
            busy=False,
            at_end=event.at_end,
            next_node=event.next_node,
            pass_number=event.pass_number,
            changed_by_hand=event.changed_by_hand,
            outcome=event.outcome,
            reason=event.reason,
            seconds=event.seconds,
            hit=event.hit,
            in_backward=in_backward,
        )
        if event.outcome == "refused":
            self.refused.emit(event.reason)

    def lose(self, how: str, outcome: str, *, stale: bool) -> None:
        """The engine is gone, in words how, and with it the run."""
        is_paused = self.state.live and not self.state.at_end
        was_under_way = self.state.busy or (is_paused and outcome == "died")
        turns = self.kept_turns()
        left = LEARNT_IS_KEPT.format(turns=turns) if turns else LOST
        self.set(
            **dict.fromkeys(("busy", "waiting", "live", "at_end"), False),
            stale=stale,
            next_node=ItemId(""),
            outcome=outcome if was_under_way else "",
            reason=f"{how}; {left}" if was_under_way else "",
        )

    def reset(self) -> None:
        """Nothing runs, nothing is live: another document."""
        self.state = RunState()
        self.changed.emit(self.state)
