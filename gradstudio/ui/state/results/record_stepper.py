"""Moves the moment that is looked at through the record of a run. It never executes anything."""

from gradstudio.graph.model import ItemId
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.results import record_steps
from gradstudio.ui.state.results.code_calls import first_call_since, first_inside
from gradstudio.ui.state.results.result_store import ResultStore


class RecordStepper:
    """Steps through the timeline of a result store; at its end it looks at now."""

    def __init__(self, results: ResultStore, store: GraphStore) -> None:
        """Walk the results' timeline; blocks are those of the store's graph."""
        self._results, self._store = results, store
        self._attention = results.attention

    @property
    def has_before(self) -> bool:
        """Whether there is a step before the one that is looked at."""
        return self._before() is not None

    def forward(self) -> bool:
        """One step on; False when now is looked at already."""
        moment = self._results.moment
        if moment is not None:
            self._look_at(record_steps.forward(self._results.timeline, moment, self._attention.unfolded))
        return moment is not None

    def into(self) -> bool:
        """One statement on, those inside calls among them; False when now is looked at already."""
        moment = self._results.moment
        if moment is not None:
            self._look_at(record_steps.into(self._results.timeline, self._store.graph, moment), into=True)
        return moment is not None

    def over(self) -> bool:
        """A block or a backward at once; False when now is looked at."""
        moment = self._results.moment
        if moment is not None:
            self._look_at(record_steps.over(self._results.timeline, self._store.graph, moment))
        return moment is not None

    def out(self) -> bool:
        """To behind the innermost block or the backward; False when now is looked at."""
        moment = self._results.moment
        if moment is not None:
            self._look_at(record_steps.out(self._results.timeline, self._store.graph, moment))
        return moment is not None

    def back(self) -> bool:
        """One step back; False when there is none."""
        before = self._before()
        if before is not None:
            self._attention.look_at(before)
        return before is not None

    def to_start(self) -> None:
        """To the first step of all."""
        first = record_steps.first(self._results.timeline, self._attention.unfolded)
        if first is not None:
            self._attention.look_at(first)

    def to_backward_since(self, begin: int) -> None:
        """To the first step of the first backward recorded since that tick; nothing when there is none."""
        first = record_steps.first_of_backward(self._results.timeline, begin, self._attention.unfolded)
        if first is not None:
            self._attention.look_at(first)

    def into_code_since(self, begin: int) -> None:
        """To the first call inside of code recorded since that tick; nothing when there is none."""
        first = first_call_since(self._results.timeline, begin)
        if first is not None:
            self._attention.look_at(first)

    def way_in(self) -> ItemId | None:
        """What is selected and can be stepped into, by its id in a run; None: no single card is, or it is no such."""
        current = self._attention.current
        if current is None or len(self._attention.selection) != 1:
            return None
        return self._results.ids.way_in(self._store.graph, current)

    def into_card(self, card: ItemId) -> bool:
        """To the first step inside of a card that has run; False where none was recorded."""
        first = first_inside(self._results.timeline, self._store.graph, card)
        if first is not None:
            self._attention.look_at(first, into=True)
        return first is not None

    def has_run(self, card: ItemId) -> bool:
        """Whether the record holds an execution of a card, by its id in a run."""
        return self._results.timeline.made_at(card) is not None

    def backward_since(self, begin: int) -> int:
        """The number of the first backward recorded since that tick; 0 when there is none."""
        first = record_steps.first_of_backward(self._results.timeline, begin, unfolded=True)
        return self._results.timeline.ticks[first].backward if first is not None else 0

    def to_place(self, backward: int, place: int) -> None:
        """To a row of a backward."""
        moment = self._results.timeline.place_of(backward, place)
        if moment is not None:
            self._attention.look_at(moment)

    def _before(self) -> int | None:
        return record_steps.back(self._results.timeline, self._results.moment, self._attention.unfolded)

    def _look_at(self, moment: int | None, *, into: bool = False) -> None:
        if moment is None:
            self._attention.look_at_now()
        else:
            self._attention.look_at(moment, into=into)
