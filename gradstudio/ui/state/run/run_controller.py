"""The run as the window sees it: turns buttons into requests and events into results."""

from collections.abc import Callable
from functools import partial

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from gradstudio.advice.explanation import explain
from gradstudio.graph import recipes
from gradstudio.graph.analysis.validity import incomplete_inside
from gradstudio.graph.edits import Edits, SetPlaces
from gradstudio.graph.model import ItemId
from gradstudio.program.model import Program, flat, has_backward
from gradstudio.protocol.messages import debugging, events, requests
from gradstudio.protocol.messages.base import Verb
from gradstudio.protocol.messages.inference import Inferred
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.results.memory_store import MemoryStore
from gradstudio.ui.state.results.record_stepper import RecordWalk
from gradstudio.ui.state.results.result_store import Failure, ResultStore
from gradstudio.ui.state.run import run_events
from gradstudio.ui.state.run.engine_line import EngineLine
from gradstudio.ui.state.run.engine_sharing import RunSharing
from gradstudio.ui.state.run.memory_check import RunSize, marked
from gradstudio.ui.state.run.record_replay import RunInRecord
from gradstudio.ui.state.run.run_questions import RunQuestions
from gradstudio.ui.state.run.run_requests import RunRequests, repeated_nodes
from gradstudio.ui.state.run.run_state import Command, Debugging, RunState, Situation, waiting_words, why_not
from gradstudio.ui.state.throttle import Throttle

__all__ = ["Command", "RunController", "RunState"]

SETTLE_MS = 2
STOP_PATIENCE_MS = 150


class RunController(RunInRecord, RunQuestions, RunSharing, RunSize, QObject):
    """Loads the graph into the engine, carries out verbs, spreads what comes back, walks the record.

    Signals:
        state_changed(object): the new `RunState`.
        program_changed(object): the newly compiled `Program`.
        fetched(object): an answer to `fetch`.
        answered(object): a `WhatIfAnswered`, `Checked` or `MemoryByNode`.
        refused(object): a verb was refused; the words why. `noted(object)`: other words about the run.
        sized(): `needs` are others.
    """

    state_changed = Signal(object)
    program_changed = Signal(object)
    fetched = Signal(object)
    answered = Signal(object)
    refused = Signal(object)
    sized = Signal()
    noted = Signal(object)

    def __init__(
        self,
        store: GraphStore,
        engine: EngineLine,
        results: ResultStore,
        memory: MemoryStore,
        parent: QObject | None = None,
        debug: Debugging | None = None,
    ) -> None:
        """Listen to the store and the engine; breakpoints are those of `debug`."""
        super().__init__(parent)
        self._store, self._engine, self._results, self._memory = store, engine, results, memory
        self._attention, self._debug = results.attention, debug
        self._walk = RecordWalk(results, store)
        self._requests = RunRequests(store, engine, self._on_compiled, self.program_changed.emit)
        self.confirm_size = lambda _need: True
        self.prepare: Callable[[], object] = lambda: None
        self._texts: dict[ItemId, str] = {}
        self._verb_begins = 0
        self._stopped_at: debugging.Hit | None = None
        self._following = self._follows_newer = self._heard_more = False
        self._waiting: list[tuple[str, Callable[[], None]]] = []
        self.state = RunState()
        self._settle = Throttle(SETTLE_MS, self)
        self._settle.due.connect(self._on_settle_due)
        self._stop_timer = QTimer(self, singleShot=True, interval=STOP_PATIENCE_MS)
        self._stop_timer.timeout.connect(self._on_stop_timer_timeout)
        store.edited.connect(self._on_store_edited)
        store.replaced.connect(self._on_store_replaced)
        engine.received.connect(self._on_engine_received)
        engine.died.connect(self._on_engine_died)
        results.moment_moved.connect(self._on_results_moment_moved)
        self._share(engine)

    # ------------------------------------------------------------------ what a person may ask

    def can(self, command: Command) -> bool:
        """Whether the button is enabled now (semantics §6)."""
        return not self.why_not(command)

    def text_of(self, node: ItemId) -> str:
        """The line of Python that a node is, as last compiled; "" when it is none, or not complete."""
        return self._texts.get(node, "")

    def why_not(self, command: Command) -> str:
        """Why a command cannot be carried out now, in words; "" when it can."""
        situation = Situation(
            state=self.state,
            dead=self._engine.state == "dead",
            empty=not self._store.graph.nodes,
            looking_back=self._results.looking_back,
            has_before=self._walk.has_before,
            elsewhere=self._engine.busy_elsewhere,
        )
        return why_not(command, situation)

    def run(self) -> None:
        """The program as written, from nothing; paused, it goes on instead, also through a backward's record."""
        if not self._goes_on_in_record():
            self._do("run")

    def restart(self) -> None:
        """The program as written, from nothing, also when paused."""
        self._do("run", "restart", restart=True)

    def run_to(self, node: ItemId) -> None:
        """On to directly behind this node, inside a group in the call that is shown; from nothing when not ahead."""
        self._do("run", "run_to", until=self._results.full(node))

    def forward(self) -> None:
        """On to the next backward statement, or the end."""
        self._do("forward")

    def backward(self) -> None:
        """On to behind the next backward; without one in the program, it is appended."""
        if self.state.busy and not self.state.waiting:
            return
        root = next((node.id for node in self._store.graph.nodes.values() if "root" in node.marks), None)
        if has_backward(self.program.statements) or self._store.attempt(
            recipes.append_backward, "Append backward", root
        ):
            self._do("backward")

    def zero_grad(self) -> None:
        """``.grad = None`` on every leaf of the run; the program does not change."""
        self._do("zero_grad")

    def repeat(self) -> None:
        """From nothing to where the run stands, backwards included."""
        self._do("repeat")

    def follow(self, edits: Edits, label: str, merge_key: str) -> None:
        """An edit of a slider that moves: the run is repeated at once, and the newest value wins.

        Edits with the same merge key are one undo step. With nothing live the edit alone is made.
        """
        self._following = self.state.live or self.state.busy
        self._store.submit(edits, label, merge_key)
        if self.state.busy:
            self._follows_newer = True
        elif self._following:
            self.repeat()

    def stop(self) -> None:
        """Ask the engine to stop between two nodes; if it cannot, kill it. What waits for the engine is dropped."""
        if self.state.waiting:
            self._waiting.clear()
            self._set(busy=False, waiting=False, outcome="stopped", reason="Stopped before the engine was ready.")
        elif self.state.busy:
            self._following = self._follows_newer = False
            self._engine.send(requests.Stop())
            self._heard_more = False
            self._stop_timer.start()

    def restart_engine(self) -> None:
        """Kill the engine whatever it does and take the spare."""
        self._engine_lost("The engine was restarted", "stopped")
        self._engine.kill_and_restart()

    @property
    def program(self) -> Program:
        """The graph as it stands, compiled."""
        return self._requests.program

    @property
    def visible(self) -> tuple[ItemId, ...]:
        """Nodes in view: they are summarised first."""
        return self._requests.visible

    @visible.setter
    def visible(self, nodes: tuple[ItemId, ...]) -> None:
        self._requests.visible = nodes

    # ------------------------------------------------------------------ inner workings

    def _do(self, verb: Verb, command: Command | None = None, **fields: object) -> None:
        asked: Command = command or verb
        self.prepare()
        self._attention.look_at_now()
        if reason := self.why_not(asked):
            self.refused.emit(reason)
        if reason or not self._may_allocate(verb):
            return
        self._engine.start()
        self._stopped_at = None
        named = asked if asked.startswith("step") else verb
        self._set(busy=True, verb=named, outcome="", reason="", hit="", in_backward=0, waiting=not self._engine.ready)
        if self.state.waiting:
            self._waiting.append((asked, partial(self._do, verb, command, **fields)))
            self.noted.emit(waiting_words([name for name, _ in self._waiting]))
            return
        self._requests.load()
        self._verb_begins = len(self._results.timeline.ticks)
        self._engine.set_busy(True)
        breakpoints = self._debug.active if self._debug is not None else ()
        self._requests.do(msgspec.structs.replace(requests.Do(verb=verb, breakpoints=breakpoints), **fields))

    def _set(self, **changes: object) -> None:
        self.state = msgspec.structs.replace(self.state, **changes)
        self.state_changed.emit(self.state)

    def _engine_lost(self, how: str, outcome: str = "died") -> None:
        was_busy = self.state.busy
        self._stop_timer.stop()
        self._following = self._follows_newer = False
        self._waiting.clear()
        self._requests.engine_changed()
        self._results.set_counter(ItemId(""))
        self._results.set_stale(True)
        self._results.release()
        reason = f"{how}; the run is lost, the document is not." if was_busy else ""
        self._set(
            busy=False,
            waiting=False,
            live=False,
            stale=True,
            at_end=False,
            next_node=ItemId(""),
            outcome=outcome if was_busy else "",
            reason=reason,
        )

    # ------------------------------------------------------------------ slots

    def _on_compiled(self, program: Program) -> None:
        self._texts = {statement.node: statement.text for statement in flat(program.statements)}
        reasons = {row.node: row.reason for row in program.incomplete}
        self._results.set_incomplete({**incomplete_inside(self._store.graph), **reasons})
        self._results.set_texts(self._texts, repeated_nodes(program.statements))
        self._memory.prefer(self._store.graph.header.device)

    def _on_store_edited(self, edits: Edits) -> None:
        if all(isinstance(edit, SetPlaces) for edit in edits):
            if not self._settle.pending:
                self._requests.places_changed()
            return
        self._requests.program_changed()
        self._confirmed = False
        if not self._following:
            self._settle.request()

    def _on_store_replaced(self) -> None:
        self._requests.document_changed()
        self._take_needs(())
        self._waiting.clear()
        self._following = self._follows_newer = False
        self._results.clear()
        self.state = RunState()
        self._set()
        self._settle.request()

    def _on_settle_due(self) -> None:
        self._ask_for_shapes()

    def _on_stop_timer_timeout(self) -> None:
        if self.state.busy and self._heard_more:
            self._heard_more = False  # it has gone on meanwhile: its answer lies behind what is still to be read
            self._stop_timer.start()
        elif self.state.busy:
            self._engine_lost("Stopped: the operator under way did not answer, so the engine was replaced", "stopped")
            self._engine.kill_and_restart()

    def _on_engine_died(self, how: str) -> None:
        self._engine_lost(f"The engine died: {how}. A new one is started")
        self._settle.request()

    def _on_engine_received(self, event: events.Event) -> None:
        self._heard_more = self._heard_more or isinstance(event, run_events.PROGRESS)
        match event:
            case events.Hello(ready=True):
                self._requests.engine_changed()
                self._engine.send(requests.SampleMemory(every_ms=100))
                self._settle.request()
                self._begin_waiting()
            case events.Loaded():
                self._on_loaded(event)
            case events.Started():
                self._on_started(event)
            case events.Paused():
                self._on_paused(event)
            case events.Failed():
                self._on_failed(event)
            case debugging.Hit():
                self._on_hit(event)
            case events.Fetched():
                self.fetched.emit(event)
            case debugging.WhatIfAnswered() | debugging.Checked():
                self.answered.emit(event)
            case debugging.MemoryByNode():
                self._results.set_memory(event)
                self.answered.emit(event)
            case Inferred() if self._requests.stands(event):
                self._take_needs(event.needs)
                self._results.set_inference(marked(event.ports, event.needs))
            case _:
                run_events.keep(event, self._results, self._memory, self._texts)

    def _on_loaded(self, event: events.Loaded) -> None:
        if event.document != self._requests.document:
            return
        if not self._following:
            self._results.set_stale(event.stale or not event.live)  # what a lost run left belongs to none
        if event.live and not event.stale and event.revision == self._requests.names.graph.revision:
            self._results.names = self._requests.names  # what ran is still in the program, by other names perhaps
        self._set(stale=event.stale, live=event.live)

    def _on_started(self, event: events.Started) -> None:
        results = self._results
        if event.fresh:
            self._verb_begins = 0
        results.begin(event.fresh, event.verb == "repeat", self._requests.names)
        if self._debug is not None:
            self._debug.begin(event.fresh)
        results.set_running(next(iter(self._texts), ItemId("")) if event.fresh else results.next_node)
        self._set(live=True, stale=False, pass_number=event.pass_number)

    def _on_hit(self, event: debugging.Hit) -> None:
        if self._debug is not None:
            self._debug.add_hit(event)
        self._stopped_at = event if event.stopped else self._stopped_at

    def _on_failed(self, event: events.Failed) -> None:
        advice = explain(event, self._store.graph)
        self._results.add_failure(Failure(event, advice.explanation, advice.fixes, self._texts.get(event.node, "")))

    def _on_paused(self, event: events.Paused) -> None:
        self._stop_timer.stop()
        self._results.take_up()
        self._results.set_counter(event.next_node)
        self._engine.set_busy(False)
        self._set(
            busy=False,
            at_end=event.at_end,
            next_node=event.next_node,
            pass_number=event.pass_number,
            changed_by_hand=event.changed_by_hand,
            outcome=event.outcome,
            reason=event.reason,
            seconds=event.seconds,
            hit=event.hit,
            in_backward=self._paused_in(event),
        )
        if event.outcome == "refused":
            self.refused.emit(event.reason)
        self._results.release()
        self._look_where_it_paused(event)
        self._go_on_following()
        self._go_on_waiting()

    def _begin_waiting(self) -> None:
        """The engine is ready: what was asked before is done, one after the other."""
        if self.state.waiting:
            self._set(busy=False, waiting=False, outcome="done")
            self._go_on_waiting()

    def _go_on_waiting(self) -> None:
        if self.state.outcome not in ("done", "breakpoint"):
            self._waiting.clear()
        elif self._waiting and not self.state.busy:
            self._waiting.pop(0)[1]()

    def _go_on_following(self) -> None:
        if self._follows_newer:
            self._follows_newer = False
            self.repeat()
            return
        followed, self._following = self._following, False
        if followed or not self._requests.up_to_date:
            self._settle.request()
