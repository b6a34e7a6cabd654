"""Stepping and looking back: in the record where the engine is ahead already, else by the engine."""

from typing import Protocol

from gradstudio.graph.model import ItemId
from gradstudio.program.model import Program, flatten_statements
from gradstudio.protocol.messages import debugging, events
from gradstudio.protocol.messages.base import Verb
from gradstudio.ui.state.results.record_stepper import RecordStepper
from gradstudio.ui.state.results.result_store import ResultStore
from gradstudio.ui.state.run.run_state import BreakpointSource, Command
from gradstudio.ui.state.run.run_status import RunStatus

FAILED_BACKWARD = "This backward has failed and would fail again: see Problems. Backward (F6) tries it all the same."


class Executes(Protocol):
    """Who carries out what the record has not; `RunController` does."""

    @property
    def program(self) -> Program:
        """The graph as it stands, compiled."""

    def why_not(self, command: Command, /) -> str:
        """Why a command cannot be carried out now."""

    def do(self, verb: Verb, command: Command | None = None, /, **fields: object) -> None:
        """Have the engine carry out a verb."""


class RunStepper:
    """Steps, and looks where the run has paused."""

    def __init__(
        self,
        run: Executes,
        status: RunStatus,
        results: ResultStore,
        walk: RecordStepper,
        debug: BreakpointSource | None = None,
    ) -> None:
        """Step by `run`, or by `walk` through what `results` recorded; breakpoints are those of `debug`."""
        self._run = run
        self._status = status
        self._results = results
        self._walk = walk
        self._debug = debug
        self._attention = results.attention
        self._stopped_at: debugging.Hit | None = None
        self._verb_begins = 0
        self._enters = False
        self._wanted: ItemId | None = None  # a card that was selected since, to be stepped into once
        self._entered: ItemId | None = None  # it is run to, to be stepped into
        self._attention.selection_changed.connect(self._on_attention_selection_changed)
        results.moment_moved.connect(self._on_results_moment_moved)

    def step(self) -> None:
        """One node; looking back, one step forward in the record until that is now; at the end, to its first step."""
        self._wanted = None
        if not (self._walk.forward() or self._begins_record_again() or self._keeps_failed_backward()):
            self._run.do("step")

    def step_over(self) -> None:
        """A block at once, where one begins; looking back, in the record; at the end, to its first step."""
        self._wanted = None
        if not (self._walk.over() or self._begins_record_again() or self._keeps_failed_backward()):
            self._run.do("step", "step_over", stride="over")

    def step_into(self) -> None:
        """Into the card that is selected; else one node on, and into a group that it calls, or what code called.

        Looking back, and where it has run already, in the record with all of it.
        """
        card, self._wanted, self._entered = self._wanted, None, None
        if card is not None and self._walk.way_in() is not None:
            self._enter(card)
        elif not (self._walk.into() or self._begins_record_again() or self._keeps_failed_backward()):
            self._run.do("step", "step_into", stride="into")

    def step_out(self) -> None:
        """To behind the innermost block, or call of a group; looking back, in the record."""
        self._wanted = None
        if not self._walk.out():
            self._run.do("step", "step_out", stride="out")

    def step_back(self) -> None:
        """One step back in the record; nothing is executed, nothing is undone."""
        if not self._walk.back():
            self._status.refused.emit(self._run.why_not("step_back"))

    def to_start(self) -> None:
        """Look at the first step of the record."""
        self._walk.to_start()

    def to_now(self) -> None:
        """Look at the end of all that ran."""
        self._attention.look_at_now()

    def begin_verb(self) -> None:
        """The engine is given a verb: what it does is recorded behind what there is."""
        self._stopped_at = None
        self._verb_begins = len(self._results.timeline.ticks)

    def begin_anew(self) -> None:
        """The verb begins from nothing, and so does the record."""
        self._verb_begins = 0

    def stop_at(self, hit: debugging.Hit) -> None:
        """The verb under way has met a breakpoint, and stops there."""
        self._stopped_at = hit

    def goes_on_in_record(self) -> bool:
        """Paused in the record of a backward: on to its next breakpoint; behind its last, to now at the end."""
        active, number = self._results.active, self._status.state.in_backward
        if not number or active is None or active.backward != number or self._status.state.stale:
            return False
        hit = self._debug.next_stop(number, active.place) if self._debug is not None else None
        if hit is not None:
            self._status.set(hit=hit.breakpoint, outcome="breakpoint")
            self._walk.to_place(number, hit.place)
        elif self._status.state.at_end:
            self._status.set(outcome="done")
            self._attention.look_at_now()
            self._status.noted.emit("This is now, the program is at its end. Run (F5) begins again from nothing.")
        return hit is not None or self._status.state.at_end

    def paused_in(self, event: events.Paused) -> int:
        """The backward in whose record it has paused: at a breakpoint, or behind a step that ran one; else 0."""
        self._enters = event.verb == "step" and self._status.state.verb == "step_into"
        if event.outcome == "breakpoint" and self._stopped_at is not None:
            return self._stopped_at.backward
        stepped = event.verb == "step" and self._status.state.verb == "step"
        return self._walk.backward_since(self._verb_begins) if stepped else 0

    def look_where_it_paused(self, event: events.Paused) -> None:
        """A breakpoint in a backward, a step that ran one, and code that was stepped into: looked at in the record."""
        hit = self._stopped_at
        if event.outcome == "breakpoint" and hit is not None and hit.backward:
            self._walk.to_place(hit.backward, hit.place)
        elif self._status.state.in_backward:
            self._walk.to_backward_since(self._verb_begins)
        elif self._entered is not None and self._status.state.verb == "step_into":
            card, self._entered = self._entered, None
            if event.outcome == "done":
                self._look_into(card)
        elif self._enters:
            self._walk.into_code_since(self._verb_begins)

    # ------------------------------------------------------------------ inner workings

    def _enter(self, card: ItemId) -> None:
        """Look into what a card did, by its id in a run; where it has not run as it is, it is run to."""
        state = self._status.state
        is_there = not self._results.tables.is_stale and not state.stale and self._walk.has_run(card)
        if is_there or (state.busy and not state.waiting):
            self._look_into(card)
        else:
            self._entered = card
            self._run.do("run", "step_into", until=card)

    def _look_into(self, card: ItemId) -> None:
        if not self._walk.into_card(card):
            self._status.refused.emit("It called nothing of torch that was recorded, so there is nothing inside.")

    def _begins_record_again(self) -> bool:
        """At the end there is nothing to execute: what was recorded is stepped through from its first step."""
        state = self._status.state
        is_there = state.live or (state.is_record and not self._results.tables.is_stale)
        if state.busy or not is_there or state.stale or not state.at_end or not self._walk.has_before:
            return False
        self._walk.to_start()
        self._status.noted.emit(
            "The program is at its end: this is its first step again, as recorded. Nothing is executed."
        )
        return True

    def _keeps_failed_backward(self) -> bool:
        """A backward that has failed would fail again, and its record would stand there twice."""
        state, failure = self._status.state, self._results.failure(self._status.state.next_node)
        backwards = {each.node for each in flatten_statements(self._run.program.statements) if each.backward}
        if state.busy or state.outcome != "failed" or failure is None or state.next_node not in backwards:
            return False
        self._status.refused.emit(FAILED_BACKWARD)
        return True

    def _on_attention_selection_changed(self) -> None:
        """A person selects a card; what only goes along with the moment is none of that."""
        active, current = self._results.active, self._attention.current
        goes_along = active is not None and active.node == current
        self._wanted = None if goes_along else self._walk.way_in()

    def _on_results_moment_moved(self) -> None:
        """At a step of a backward its statement is the one at work; at now the record is left."""
        if self._status.state.busy and not self._status.state.waiting:
            return
        active = self._results.active
        traced = self._results.timeline.backwards.get(active.backward) if active is not None else None
        self._results.tables.set_running(traced.statement if traced is not None else ItemId(""))
        if active is None and self._status.state.in_backward:
            self._status.set(in_backward=0, hit="")
