"""The run as the window sees it: turns buttons into requests and events into results."""

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from gradstudio.advice.errors import explain
from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits, SetPlaces
from gradstudio.graph.model import ItemId
from gradstudio.program.model import Program, flat, has_backward
from gradstudio.protocol import debugging, messages
from gradstudio.protocol.messages import Verb
from gradstudio.ui.state import run_events
from gradstudio.ui.state.engine_client import EngineClient
from gradstudio.ui.state.graph_store import GraphStore
from gradstudio.ui.state.memory_store import MemoryStore
from gradstudio.ui.state.record_walk import RecordWalk
from gradstudio.ui.state.result_store import Failure, ResultStore
from gradstudio.ui.state.run_requests import RunRequests, repeated_nodes
from gradstudio.ui.state.run_state import Command, Debugging, RunState, Situation, why_not
from gradstudio.ui.state.throttle import Throttle

__all__ = ["Command", "RunController", "RunState"]

SETTLE_MS = 60
STOP_PATIENCE_MS = 150


class RunController(QObject):
    """Loads the graph into the engine, carries out verbs, spreads what comes back, walks the record.

    Signals:
        state_changed(object): the new `RunState`.
        program_changed(object): the newly compiled `Program`.
        fetched(object): an answer to `fetch`.
        answered(object): a `WhatIfAnswered`, `Checked` or `MemoryByNode`.
        refused(object): a verb was refused; the words why.
    """

    state_changed = Signal(object)
    program_changed = Signal(object)
    fetched = Signal(object)
    answered = Signal(object)
    refused = Signal(object)

    def __init__(
        self,
        store: GraphStore,
        engine: EngineClient,
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
        self._requests = RunRequests(store, engine, self._on_compiled)
        self._texts: dict[ItemId, str] = {}
        self._verb_begins = 0
        self._stopped_at: debugging.Hit | None = None
        self._following = self._follows_newer = False
        self.state = RunState()
        self._settle = Throttle(SETTLE_MS, self)
        self._settle.due.connect(self._on_settle_due)
        self._stop_timer = QTimer(self)
        self._stop_timer.setSingleShot(True)
        self._stop_timer.setInterval(STOP_PATIENCE_MS)
        self._stop_timer.timeout.connect(self._on_stop_timer_timeout)
        store.edited.connect(self._on_store_edited)
        store.replaced.connect(self._on_store_replaced)
        engine.received.connect(self._on_engine_received)
        engine.died.connect(self._on_engine_died)

    # ------------------------------------------------------------------ what a person may ask

    def can(self, command: Command) -> bool:
        """Whether the button is enabled now (SEMANTICS 6)."""
        return not self.why_not(command)

    def why_not(self, command: Command) -> str:
        """Why a command cannot be carried out now, in words; "" when it can."""
        situation = Situation(
            state=self.state,
            dead=self._engine.state == "dead",
            empty=not self._store.graph.nodes,
            looking_back=self._results.looking_back,
            has_before=self._walk.has_before,
        )
        return why_not(command, situation)

    def run(self) -> None:
        """The program as written, from nothing; paused, it goes on instead."""
        self._do("run")

    def restart(self) -> None:
        """The program as written, from nothing, also when paused."""
        self._do("run", "restart", restart=True)

    def run_to(self, node: ItemId) -> None:
        """On to directly behind this node; from nothing when it is not ahead."""
        self._do("run", "run_to", until=node)

    def forward(self) -> None:
        """On to the next backward statement, or the end."""
        self._do("forward")

    def backward(self) -> None:
        """On to behind the next backward; without one in the program, it is appended."""
        if self.state.busy:
            return
        root = next((node.id for node in self._store.graph.nodes.values() if "root" in node.marks), None)
        if has_backward(self.program.statements) or self._store.attempt(
            recipes.append_backward, "Append backward", root
        ):
            self._do("backward")

    def step(self) -> None:
        """One node; looking back, one step forward in the record until that is now."""
        if not self._walk.forward():
            self._do("step")

    def step_over(self) -> None:
        """A block at once, where one begins; looking back, in the record."""
        if not self._walk.over():
            self._do("step", "step_over", stride="over")

    def step_out(self) -> None:
        """To behind the innermost block; looking back, in the record."""
        if not self._walk.out():
            self._do("step", "step_out", stride="out")

    def step_back(self) -> None:
        """One step back in the record; nothing is executed, nothing is undone."""
        if not self._walk.back():
            self.refused.emit(self.why_not("step_back"))

    def to_start(self) -> None:
        """Look at the first step of the record."""
        self._walk.to_start()

    def to_now(self) -> None:
        """Look at the end of all that ran."""
        self._attention.look_at_now()

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
        """Ask the engine to stop between two nodes; if it cannot, kill it."""
        if self.state.busy:
            self._following = self._follows_newer = False
            self._engine.send(messages.Stop())
            self._stop_timer.start()

    def restart_engine(self) -> None:
        """Kill the engine whatever it does and take the spare."""
        self._engine_lost("The engine was restarted", "stopped")
        self._engine.kill_and_restart()

    def what_if(self, change: debugging.Change) -> int:
        """Ask what a changed value or gradient would do; `answered` brings the number back. 0: refused."""
        return self._requests.what_if(change) if self._may_ask("what_if") else 0

    def check(self, nodes: tuple[ItemId, ...]) -> int:
        """Ask for a gradcheck of the nodes; `answered` brings the number back. 0: refused."""
        return self._requests.check(nodes) if self._may_ask("check") else 0

    def weigh_memory(self) -> None:
        """Ask what each node holds; `answered` brings it, the result store keeps it."""
        if self._may_ask("weigh_memory"):
            self._requests.weigh_memory()

    def fetch(
        self,
        node: ItemId,
        output: int,
        grad: bool,
        name: str,
        index: tuple[int, ...],
        rows: tuple[int, int],
        columns: tuple[int, int],
    ) -> int:
        """Ask for a table of a live tensor; the number comes back with `fetched`."""
        return self._requests.fetch(node, output, grad, name, index, rows, columns)

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
        self._attention.look_at_now()
        if reason := self.why_not(asked):
            self.refused.emit(reason)
            return
        self._engine.start()
        self._requests.load()
        self._verb_begins = len(self._results.timeline.ticks)
        self._stopped_at = None
        self._set(busy=True, verb=asked if asked.startswith("step") else verb, outcome="", reason="", hit="")
        self._engine.set_busy(True)
        breakpoints = self._debug.active if self._debug is not None else ()
        self._requests.do(msgspec.structs.replace(messages.Do(verb=verb, breakpoints=breakpoints), **fields))

    def _may_ask(self, command: Command) -> bool:
        if reason := self.why_not(command):
            self.refused.emit(reason)
            return False
        self._engine.start()
        self._requests.load()
        return True

    def _set(self, **changes: object) -> None:
        self.state = msgspec.structs.replace(self.state, **changes)
        self.state_changed.emit(self.state)

    def _engine_lost(self, how: str, outcome: str = "died") -> None:
        was_busy = self.state.busy
        self._stop_timer.stop()
        self._following = self._follows_newer = False
        self._requests.engine_changed()
        self._results.set_counter(ItemId(""))
        self._results.set_stale(True)
        self._results.release()
        reason = f"{how}; the run is lost, the document is not." if was_busy else ""
        self._set(
            busy=False,
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
        self._results.set_incomplete({row.node: row.reason for row in program.incomplete})
        self._results.set_texts(self._texts, repeated_nodes(program.statements))
        self._memory.prefer(self._store.graph.header.device)
        self.program_changed.emit(program)

    def _on_store_edited(self, edits: Edits) -> None:
        if all(isinstance(edit, SetPlaces) for edit in edits):
            if not self._settle.pending:
                self._requests.places_changed()
            return
        self._requests.program_changed()
        if not self._following:
            self._settle.request()

    def _on_store_replaced(self) -> None:
        self._requests.document_changed()
        self._following = self._follows_newer = False
        self._results.clear()
        self.state = RunState()
        self._set()
        self._settle.request()

    def _on_settle_due(self) -> None:
        if self.state.busy or not self._engine.ready:
            assert self.program is not None  # compiled now; the next `Paused`, or `Hello`, comes back here
            return
        self._requests.load()
        self._requests.infer()

    def _on_stop_timer_timeout(self) -> None:
        if self.state.busy:
            self._engine_lost("Stopped: the operator under way did not answer, so the engine was replaced", "stopped")
            self._engine.kill_and_restart()

    def _on_engine_died(self, how: str) -> None:
        self._engine_lost(f"The engine died: {how}. A new one is started")
        self._settle.request()

    def _on_engine_received(self, event: messages.Event) -> None:
        match event:
            case messages.Hello(ready=True):
                self._requests.engine_changed()
                self._engine.send(messages.SampleMemory(every_ms=100))
                self._settle.request()
            case messages.Loaded():
                self._on_loaded(event)
            case messages.Started():
                self._on_started(event)
            case messages.Paused():
                self._on_paused(event)
            case messages.Failed():
                self._on_failed(event)
            case debugging.Hit():
                self._on_hit(event)
            case messages.Fetched():
                self.fetched.emit(event)
            case debugging.WhatIfAnswered() | debugging.Checked():
                self.answered.emit(event)
            case debugging.MemoryByNode():
                self._results.set_memory(event)
                self.answered.emit(event)
            case _:
                run_events.keep(event, self._results, self._memory, self._texts, self._store.graph.revision)

    def _on_loaded(self, event: messages.Loaded) -> None:
        if event.document != self._requests.document:
            return
        if not self._following:
            self._results.set_stale(event.stale or not event.live)  # what a lost run left belongs to none
        self._set(stale=event.stale, live=event.live)

    def _on_started(self, event: messages.Started) -> None:
        results = self._results
        if event.fresh:
            self._verb_begins = 0
        results.begin(event.fresh, held=event.verb == "repeat")
        if self._debug is not None:
            self._debug.begin(event.fresh)
        results.set_running(next(iter(self._texts), ItemId("")) if event.fresh else results.next_node)
        self._set(live=True, stale=False, pass_number=event.pass_number)

    def _on_hit(self, event: debugging.Hit) -> None:
        if self._debug is not None:
            self._debug.add_hit(event)
        if event.stopped:
            self._stopped_at = event

    def _on_failed(self, event: messages.Failed) -> None:
        advice = explain(event, self._store.graph)
        self._results.add_failure(Failure(event, advice.explanation, advice.fixes, self._texts.get(event.node, "")))

    def _on_paused(self, event: messages.Paused) -> None:
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
        )
        if event.outcome == "refused":
            self.refused.emit(event.reason)
        self._results.release()
        self._look_where_it_paused(event)
        self._go_on_following()

    def _look_where_it_paused(self, event: messages.Paused) -> None:
        """A breakpoint in a backward, or a step that ran one, is looked at in its record."""
        hit = self._stopped_at
        if event.outcome == "breakpoint" and hit is not None and hit.backward:
            self._walk.to_place(hit.backward, hit.place)
        elif event.verb == "step" and self.state.verb == "step":
            self._walk.to_backward_since(self._verb_begins)

    def _go_on_following(self) -> None:
        if self._follows_newer:
            self._follows_newer = False
            self.repeat()
            return
        followed, self._following = self._following, False
        if followed or not self._requests.up_to_date:
            self._settle.request()
