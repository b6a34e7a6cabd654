"""The run as the window sees it: turns buttons into requests and events into results."""

import uuid
from typing import Literal as OneOf

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from gradstudio.advice.errors import explain
from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits, SetPlaces
from gradstudio.graph.model import ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.program.model import Program, flat, has_backward
from gradstudio.protocol import messages
from gradstudio.protocol.messages import Verb
from gradstudio.ui.state.engine_client import EngineClient
from gradstudio.ui.state.graph_store import GraphStore
from gradstudio.ui.state.memory_store import MemoryStore
from gradstudio.ui.state.result_store import Failure, ResultStore
from gradstudio.ui.state.throttle import Throttle

SETTLE_MS = 60
STOP_PATIENCE_MS = 400
Command = OneOf["run", "forward", "backward", "step", "zero_grad", "repeat", "stop"]
"""What can be asked: the verbs of SEMANTICS 6."""


class RunState(msgspec.Struct, frozen=True):
    """Where the run stands.

    Attributes:
        live: the engine holds a namespace; `stale`: it belongs to an older program.
        at_end: the counter is behind the last statement.
        outcome: of the newest verb: "", "done", "stopped" (asked for, with the engine or without), "failed",
            "refused", "died".
        reason: words to the outcome.
        changed_by_hand: the run is no longer what the script alone would give.
    """

    busy: bool = False
    verb: str = ""
    live: bool = False
    stale: bool = False
    at_end: bool = False
    next_node: ItemId = ItemId("")
    pass_number: int = 1
    changed_by_hand: bool = False
    outcome: str = ""
    reason: str = ""
    seconds: float = 0.0


class RunController(QObject):
    """Compiles the graph, loads it into the engine, carries out verbs, spreads what comes back.

    Signals:
        state_changed(object): the new `RunState`.
        program_changed(object): the newly compiled `Program`.
        fetched(object): an answer to `fetch`.
        refused(object): a verb was refused; the words why.
    """

    state_changed = Signal(object)
    program_changed = Signal(object)
    fetched = Signal(object)
    refused = Signal(object)

    def __init__(
        self,
        store: GraphStore,
        engine: EngineClient,
        results: ResultStore,
        memory: MemoryStore,
        parent: QObject | None = None,
    ) -> None:
        """Listen to the store and the engine."""
        super().__init__(parent)
        self._store, self._engine, self._results, self._memory = store, engine, results, memory
        self._document = uuid.uuid4().hex
        self._given_tensors: set[str] = set()
        self._loaded_revision = -1
        self._program: Program | None = None
        self._texts: dict[ItemId, str] = {}
        self._requests = 0
        self.state = RunState()
        self.visible: tuple[ItemId, ...] = ()
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
        state = self.state
        if command == "stop":
            return state.busy
        if state.busy or self._engine.state == "dead" or not self._store.graph.nodes:
            return False
        if command == "zero_grad":
            return state.live and not state.stale
        return not (command == "step" and state.live and state.at_end and not state.stale)

    def run(self) -> None:
        """The program as written, from nothing; paused, it goes on instead."""
        self._do("run")

    def forward(self) -> None:
        """On to the next backward statement, or the end."""
        self._do("forward")

    def backward(self) -> None:
        """On to behind the next backward; without one in the program, it is appended."""
        if self.state.busy:
            return
        if not has_backward(self.program.statements) and not self._store.attempt(
            recipes.append_backward, "Append backward", self._backward_root()
        ):
            return
        self._do("backward")

    def step(self) -> None:
        """One node."""
        self._do("step")

    def zero_grad(self) -> None:
        """``.grad = None`` on every leaf of the run; the program does not change."""
        self._do("zero_grad")

    def stop(self) -> None:
        """Ask the engine to stop between two nodes; if it cannot, kill it."""
        if self.state.busy:
            self._engine.send(messages.Stop())
            self._stop_timer.start()

    def restart_engine(self) -> None:
        """Kill the engine whatever it does and take the spare."""
        self._engine_lost("The engine was restarted", "stopped")
        self._engine.kill_and_restart()

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
        self._requests += 1
        self._engine.send(
            messages.Fetch(
                request=self._requests,
                node=node,
                output=output,
                grad=grad,
                name=name,
                index=index,
                rows=rows,
                columns=columns,
            )
        )
        return self._requests

    @property
    def program(self) -> Program:
        """The graph as it stands, compiled."""
        if self._program is None:
            self._program = compile_graph(self._store.graph)
            self._texts = {statement.node: statement.text for statement in flat(self._program.statements)}
            self._results.set_incomplete({row.node: row.reason for row in self._program.incomplete})
            self._results.set_texts(self._texts)
            self._memory.prefer(self._store.graph.header.device)
            self.program_changed.emit(self._program)
        return self._program

    # ------------------------------------------------------------------ inner workings

    def _backward_root(self) -> ItemId | None:
        return next((node.id for node in self._store.graph.nodes.values() if "root" in node.marks), None)

    def _do(self, verb: Verb) -> None:
        if not self.can(verb):
            self.refused.emit(self._why_not(verb))
            return
        self._engine.start()
        self._load()
        self._set(busy=True, verb=verb, outcome="", reason="")
        self._engine.set_busy(True)
        self._engine.send(messages.Do(verb=verb, visible=self.visible))

    def _why_not(self, verb: Verb) -> str:
        if self.state.busy:
            return "A run is under way. Stop it first (Shift+F5)."
        if not self._store.graph.nodes:
            return "There is nothing to run yet: drag an operator from the library onto the canvas."
        if verb == "zero_grad":
            return "There are no gradients to clear: run the program first."
        if verb == "step":
            return "The program is at its end. Run or Forward begins again."
        return "The engine does not start. See the log, then Run ▸ Restart Engine."

    def _load(self) -> None:
        """Send the program if the engine has not this revision yet."""
        graph = self._store.graph
        if self._loaded_revision == graph.revision and self._program is not None:
            return
        program = self.program
        self._engine.send(
            messages.Load(
                document=self._document, revision=graph.revision, program=program, tensors=self._new_tensors(program)
            )
        )
        self._loaded_revision = graph.revision

    def _new_tensors(self, program: Program) -> dict[str, bytes]:
        wanted = [digest for digest in program.tensors if digest not in self._given_tensors]
        self._given_tensors.update(wanted)
        return {digest: self._store.graph.tensors[digest].data for digest in wanted}

    def _set(self, **changes: object) -> None:
        self.state = msgspec.structs.replace(self.state, **changes)
        self.state_changed.emit(self.state)

    def _engine_lost(self, how: str, outcome: str = "died") -> None:
        was_busy = self.state.busy
        self._stop_timer.stop()
        self._loaded_revision = -1
        self._given_tensors.clear()
        self._results.set_counter(ItemId(""))
        self._results.set_stale(True)
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

    def _on_store_edited(self, edits: Edits) -> None:
        if all(isinstance(edit, SetPlaces) for edit in edits):
            if self._loaded_revision >= 0 and self._program is not None and not self._settle.pending:
                self._loaded_revision = self._store.graph.revision
            return
        self._program = None
        self._settle.request()

    def _on_store_replaced(self) -> None:
        self._document = uuid.uuid4().hex
        self._program = None
        self._loaded_revision = -1
        self._results.clear()
        self.state = RunState()
        self._set()
        self._settle.request()

    def _on_settle_due(self) -> None:
        program = self.program
        if self.state.busy or not self._engine.ready:
            return  # the next `Paused`, or the engine's `Hello`, comes back here
        self._load()
        self._engine.send(
            messages.Infer(revision=self._store.graph.revision, program=program, tensors=self._new_tensors(program))
        )

    def _on_stop_timer_timeout(self) -> None:
        if self.state.busy:
            self._engine_lost("Stopped: the operator under way did not answer, so the engine was replaced", "stopped")
            self._engine.kill_and_restart()

    def _on_engine_died(self, how: str) -> None:
        self._engine_lost(f"The engine died: {how}. A new one is started")
        self._settle.request()

    def _on_engine_received(self, event: messages.Event) -> None:
        results = self._results
        match event:
            case messages.Hello(ready=True):
                self._loaded_revision = -1  # whoever answers now may not have heard what was sent before
                self._given_tensors.clear()
                self._engine.send(messages.SampleMemory(every_ms=100))
                self._settle.request()
            case messages.Loaded():
                self._on_loaded(event)
            case messages.Started(fresh=fresh, pass_number=number):
                results.begin(fresh)
                results.set_running(next(iter(self._texts), ItemId("")) if fresh else results.next_node)
                self._set(live=True, stale=False, pass_number=number)
            case messages.Traced(rows=rows):
                results.add_rows(rows)
                results.set_running(self._after(rows[-1].node) if rows else ItemId(""))
            case messages.Gradients(rows=grad_rows, whole=whole):
                results.set_gradients(grad_rows, whole)
            case messages.Paused():
                self._on_paused(event)
            case messages.Failed():
                self._on_failed(event)
            case messages.Warned():
                results.add_warning(event)
            case messages.Printed():
                results.add_print(event)
            case messages.Memory():
                self._memory.add(event)
            case messages.Inferred(revision=revision, ports=ports):
                if revision == self._store.graph.revision:
                    results.set_inference(ports)
            case messages.Fetched():
                self.fetched.emit(event)
            case _:
                pass

    def _after(self, node: ItemId) -> ItemId:
        """The node whose statement follows in the text: as far as can be told, the one at work now."""
        nodes = list(self._texts)
        index = nodes.index(node) + 1 if node in self._texts else len(nodes)
        return nodes[index] if index < len(nodes) else ItemId("")

    def _on_loaded(self, event: messages.Loaded) -> None:
        if event.document != self._document:
            return
        self._results.set_stale(event.stale or not event.live)  # what a lost run left belongs to none
        self._set(stale=event.stale, live=event.live)

    def _on_failed(self, event: messages.Failed) -> None:
        advice = explain(event, self._store.graph)
        text = self._texts.get(event.node, "")
        self._results.add_failure(Failure(event, advice.explanation, advice.fixes, text))

    def _on_paused(self, event: messages.Paused) -> None:
        self._stop_timer.stop()
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
        )
        if event.outcome == "refused":
            self.refused.emit(event.reason)
        if self._loaded_revision != self._store.graph.revision:
            self._settle.request()
