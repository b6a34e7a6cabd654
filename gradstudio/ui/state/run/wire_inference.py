"""Asks torch about a wire that is not drawn yet: when the pointer rests at a port, one question at a time."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal

from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.errors import EditError, Refused
from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.messages.inference import WireTried
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.results.latest_value import latest_values
from gradstudio.ui.state.results.result_store import ResultStore
from gradstudio.ui.state.run.engine_line import EngineLine
from gradstudio.ui.state.run.run_questions import RunQuestions

if TYPE_CHECKING:
    from gradstudio.advice.model import Fix
    from gradstudio.advice.wire_trial import Verdict

REST_MS = 60
"""The pointer rests when it has stayed at a port for so long."""
Ends = tuple[ItemId, int, ItemId, str]
"""A wire that may be drawn: item and output it begins at, item and port it would end in."""
Draw = Callable[[Graph], Edits]


class _Asked(NamedTuple):
    """A question that is under way.

    Attributes:
        draft: the graph that was asked about.
        fix: it is carried out in the draft; None while the wire alone is tried.
    """

    request: int
    ends: Ends
    draft: Graph
    fix: "Fix | None" = None


class WireInference(QObject):
    """Answers to "would this wire work", kept until the gesture is over or the graph is another one.

    The newest question wins: while one is under way, only the last of those that follow is kept.

    Signals:
        answered(object): the `Ends` of which more is known now.
    """

    answered = Signal(object)

    def __init__(
        self,
        store: GraphStore,
        results: ResultStore,
        questions: RunQuestions,
        engine: EngineLine,
        parent: QObject | None = None,
    ) -> None:
        """Nothing was asked."""
        super().__init__(parent)
        self._store = store
        self._results = results
        self._questions = questions
        self._engine = engine
        self._verdicts: dict[Ends, Verdict] = {}
        self._wanted: tuple[Ends, Draw] | None = None
        self._under_way: _Asked | None = None
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._on_rest_timeout)
        store.edited.connect(self.forget)
        store.replaced.connect(self.forget)
        engine.received.connect(self._on_engine_received)

    def verdict(self, ends: Ends) -> "Verdict | None":
        """What is known of a wire; None: nothing yet."""
        return self._verdicts.get(ends)

    def ask(self, ends: Ends, draw: Draw) -> None:
        """Ask about a wire when the pointer has rested; `draw` is the gesture that would draw it."""
        if ends in self._verdicts or (self._under_way is not None and self._under_way.ends == ends):
            self._wanted = None
        elif self._wanted is None or self._wanted[0] != ends:
            self._wanted = ends, draw
            self._rest.start()

    def leave(self) -> None:
        """The pointer is at no port: what was not asked yet need not be."""
        self._wanted = None

    def forget(self, *_changed: object) -> None:
        """The gesture is over, or the graph is another one."""
        self._verdicts.clear()
        self._wanted = self._under_way = None

    def _on_rest_timeout(self) -> None:
        from gradstudio.advice.wire_trial import Verdict, missing_reason, pending_verdict, trial_program

        if self._wanted is None or self._under_way is not None:
            return  # the answer that is under way comes back here
        (ends, draw), self._wanted = self._wanted, None
        draft = self._store.graph.copy()
        try:
            apply_all(draft, draw(self._store.graph))
        except (Refused, EditError) as refusal:
            self._settle(ends, Verdict("refused", str(refusal)))
            return
        target = ends[2]
        if target not in draft.nodes:
            return  # a block's own ports: nothing of torch is called there
        program = trial_program(draft, target, latest_values(self._results))
        if reason := missing_reason(program, target):
            self._settle(ends, pending_verdict(draft, target, reason))
        elif number := self._questions.try_wire(program, target):
            self._under_way = _Asked(number, ends, draft)

    def _settle(self, ends: Ends, verdict: "Verdict") -> None:
        self._verdicts[ends] = verdict
        self.answered.emit(ends)

    def _on_engine_received(self, event: object) -> None:
        asked = self._under_way
        if not isinstance(event, WireTried) or asked is None or event.request != asked.request:
            return
        from gradstudio.advice.wire_trial import judge, with_way_out

        self._under_way, known = None, latest_values(self._results)
        if asked.fix is None:
            self._settle(asked.ends, judge(asked.draft, event, known))
            self._ask_with_way_out(asked, event)
        elif asked.ends in self._verdicts:
            verdict = self._verdicts[asked.ends]
            self._settle(asked.ends, with_way_out(verdict, asked.fix, asked.draft, event, known))
        self._on_rest_timeout()

    def _ask_with_way_out(self, asked: _Asked, tried: WireTried) -> None:
        """What torch would say with the first fix carried out: there may be a second fault behind the first."""
        from gradstudio.advice.wire_trial import missing_reason, trial_program, way_out

        known = latest_values(self._results)
        fix = way_out(asked.draft, tried, known)
        if fix is None or fix.edits is None or self._wanted is not None:
            return
        mended, target = asked.draft.copy(), asked.ends[2]
        apply_all(mended, fix.edits)
        program = trial_program(mended, target, known)
        number = (
            0
            if target not in mended.nodes or missing_reason(program, target)
            else self._questions.try_wire(program, target)
        )
        if number:
            self._under_way = _Asked(number, asked.ends, mended, fix)
