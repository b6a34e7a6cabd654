"""The run as the window sees it: turns buttons into requests and events into results."""

from collections.abc import Callable
from functools import partial

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from gradstudio.graph.analysis.validity import incomplete_inside
from gradstudio.graph.edits import Edits, SetPlaces
from gradstudio.graph.model import ItemId
from gradstudio.program.model import Program, has_backward
from gradstudio.protocol.messages import debugging, events, progress, requests
from gradstudio.protocol.messages.base import Verb
from gradstudio.protocol.messages.inference import DataLooked, Inferred
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.idle_work import IdleWork
from gradstudio.ui.state.results.memory_store import MemoryStore
from gradstudio.ui.state.results.record_stepper import RecordStepper
from gradstudio.ui.state.results.result_store import ResultStore
from gradstudio.ui.state.run import run_events
from gradstudio.ui.state.run.displaced_run import AwayRun, DisplacedRun
from gradstudio.ui.state.run.engine_line import EngineLine
from gradstudio.ui.state.run.memory_check import MemoryCheck, mark_needs
from gradstudio.ui.state.run.run_questions import RunQuestions
from gradstudio.ui.state.run.run_requests import RunRequests, repeated_nodes
from gradstudio.ui.state.run.run_state import (
    OF_AUTOGRAD,
    BreakpointSource,
    Command,
    RunState,
    Situation,
    waiting_words,
    why_not,
)
from gradstudio.ui.state.run.run_status import RunStatus
from gradstudio.ui.state.run.run_stepper import RunStepper
from gradstudio.ui.state.run.shape_requests import ShapeRequests
from gradstudio.ui.state.trust.code_question import CodeQuestion


class RunController(QObject):
    """Loads the graph into the engine, carries out verbs, spreads what comes back.

    Attributes:
        status: where the run stands, and why something was refused.
        stepper: steps, in the record where it can.
        questions: what can be asked of the run without moving it.
        memory_check: whether the program fits into memory; code_question: whether its code may run.
        shapes: when the engine is asked for shapes; `displaced`, `away`: what the engine does not hold, or holds alone.

    Signals:
        state_changed(object): the new `RunState`, as `status` announces it.
        program_changed(object): the newly compiled `Program`.
    """

    program_changed = Signal(object)

    def __init__(
        self,
        store: GraphStore,
        engine: EngineLine,
        results: ResultStore,
        memory: MemoryStore,
        idle: IdleWork,
        parent: QObject | None = None,
        debug: BreakpointSource | None = None,
    ) -> None:
        """Listen to the store and the engine; breakpoints are those of `debug`, long work is given to `idle`."""
        super().__init__(parent)
        self._store, self._engine, self._results, self._memory = store, engine, results, memory
        self._tables, self._attention, self._debug = results.tables, results.attention, debug
        self._walk = RecordStepper(results, store)
        self._requests = RunRequests(store, engine, self._on_compiled, self.program_changed.emit, idle)
        self._requests.about_turns = results.tables.wanted_of_turns
        self.status = RunStatus(self)
        self.status.stands_in_loop = lambda: bool(results.tables.loops.shown)
        self.state_changed = self.status.changed
        self.memory_check = MemoryCheck(self)
        self.code_question = CodeQuestion(lambda: self.program, self.status.refused.emit)
        self.shapes = ShapeRequests(self._requests, engine, self.status, self)
        self.stepper = RunStepper(self, self.status, results, self._walk, debug)
        self.questions = RunQuestions(self._requests, engine, results.ids, self.status, self.why_not, self)
        self._texts: dict[ItemId, str] = {}
        self._following = self._follows_newer = self._heard_more = False
        self.displaced = DisplacedRun(results.tables, self.status)
        self.away = AwayRun(engine.client, self.status, results.tables, self._requests)
        self._waiting: list[tuple[str, Callable[[], None]]] = []
        self._stop_timer = QTimer(self, singleShot=True)
        self._stop_timer.timeout.connect(self._on_stop_timer_timeout)
        store.edited.connect(self._on_store_edited)
        store.replaced.connect(self._on_store_replaced)
        engine.is_live = lambda: self.state.live or self.state.busy
        engine.received.connect(self._on_engine_received)
        engine.died.connect(self._on_engine_died)
        engine.noted.connect(self.status.noted)
        engine.displaced.connect(self._on_engine_displaced)
        engine.replaced.connect(self._on_engine_replaced)
        engine.state_changed.connect(self._on_engine_state_changed)

    @property
    def state(self) -> RunState:
        """Where the run stands now."""
        return self.status.state

    def can(self, command: Command) -> bool:
        """Whether the button is enabled now (semantics §6); where nothing is a program, Run is, and says so."""
        return self.why_not(command) in ("", OF_AUTOGRAD if command == "run" else "")

    def text_of(self, node: ItemId) -> str:
        """The line of Python that a node is, as last compiled; "" when it is none, or not complete."""
        return self._texts.get(node, "")

    def why_not(self, command: Command) -> str:
        """Why a command cannot be carried out now, in words; "" when it can."""
        graph = self._store.graph
        situation = Situation(self.status.state, graph, self._engine, self._results, self._walk, self.displaced.by)
        is_training = command == "stop" and self.status.stop_training is not None
        return "" if is_training else why_not(command, situation)

    def come_to_front(self) -> None:
        """A person looks: shapes are asked for, and what another document's run took is said, once."""
        self.shapes.wake()
        self.displaced.say_once()

    def run(self) -> None:
        """The program as written, from nothing; paused, it goes on instead, also through a backward's record."""
        if not self.stepper.goes_on_in_record():
            self.do("run")

    def restart(self) -> None:
        """The program as written, from nothing, also when paused."""
        self.do("run", "restart", restart=True)

    def run_to(self, node: ItemId) -> None:
        """On to directly behind this node, inside a group in the call that is shown; from nothing when not ahead."""
        self.do("run", "run_to", until=self._results.ids.full(node))

    def forward(self) -> None:
        """On to the next backward statement, or the end."""
        self.do("forward")

    def backward(self) -> None:
        """On to behind the next backward; without one in the program, it is appended."""
        if self.state.busy and not self.state.waiting:
            return
        if not self.code_question.may_run("backward"):
            return
        from gradstudio.layout.placement.new_item_places import backward_beside

        is_asked = bool(self.why_not("backward")) or has_backward(self.program.statements)
        if is_asked or self._store.attempt(backward_beside, "Append backward"):
            self.do("backward")

    def zero_grad(self) -> None:
        """``.grad = None`` on every leaf of the run; the program does not change."""
        self.do("zero_grad")

    def repeat(self) -> None:
        """From nothing to where the run stands, backwards included."""
        self.do("repeat")

    def follow(self, edits: Edits, label: str, merge_key: str) -> None:
        """An edit of a slider that moves: the run is repeated at once, and the newest value wins.

        Edits with the same merge key are one undo step. With nothing live the edit alone is made.
        """
        may_run = self._following or not (self.code_question.concerns or self.status.is_in_loop)
        self._following = self.status.slide.move(follows=may_run and (self.state.live or self.state.busy))
        self._store.submit(edits, label, merge_key)
        if self.state.busy:
            self._follows_newer = self._following
        elif self._following:
            self.repeat()

    def stop(self, *, behind_turn: bool = False) -> None:
        """Ask the engine to stop, `behind_turn` at the end of a loop's turn; else between nodes, or it is killed."""
        if self.state.waiting:
            self._waiting.clear()
            self.status.set(busy=False, waiting=False, outcome="stopped", reason="Stopped before the engine was ready.")
        elif self.state.busy:
            self._following = self._follows_newer = self._heard_more = False
            self._engine.send(requests.Stop(behind_turn=behind_turn))
            if not behind_turn:
                self._stop_timer.start(self._engine.stop_patience_ms)
        elif self.status.stop_training is not None:
            self.status.stop_training()

    def restart_engine(self) -> None:
        """Kill the engine whatever it does and take the spare."""
        self._engine_lost("The engine was restarted", "stopped")
        self._engine.kill_and_restart()

    def do(self, verb: Verb, command: Command | None = None, /, **fields: object) -> None:
        """Have the engine carry out a verb, as soon as it is ready; why not, when it cannot be, is announced."""
        asked: Command = command or verb
        self.status.preparing.emit()
        self._attention.look_at_now()
        if reason := self.why_not(asked):
            self.status.refused.emit(reason)
        if reason or not self.memory_check.may_allocate(verb) or not self.code_question.may_run(verb):
            return
        self._engine.start()
        self._engine.settle(for_code=self.code_question.concerns)
        named = asked if asked.startswith("step") else verb
        waits = not self._engine.ready or bool(self.shapes.awaited_by)
        self.status.set(busy=True, verb=named, outcome="", reason="", seconds=0.0, hit="", in_backward=0, waiting=waits)
        if self.state.waiting:
            self._waiting.append((asked, partial(self.do, verb, command, **fields)))
            self.status.noted.emit(waiting_words([name for name, _ in self._waiting], self.shapes.awaited_by))
            return
        self._requests.load()
        self.stepper.begin_verb()
        self._engine.set_busy(True)
        stops = self._debug.active if self._debug is not None else ()
        asked_for = requests.Do(verb=verb, breakpoints=stops, trust=self.code_question.yes(), pictures=True)
        self._requests.do(msgspec.structs.replace(asked_for, **fields))

    def begin_waiting(self) -> None:
        """What was asked before is done, one after the other, once the engine is ready and no shapes come first."""
        if self.state.waiting and self._engine.ready and not self.shapes.awaited_by:
            self.status.set(busy=False, waiting=False)
            (self._waiting.pop(0)[1] if self._waiting else self._waiting.clear)()
            if not self.state.outcome and not self.state.busy:  # why it was not begun is said
                self.status.set(outcome="refused")

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

    def _engine_lost(self, how: str, outcome: str = "died") -> None:
        self._stop_timer.stop()
        self._following = self._follows_newer = False
        self._waiting.clear()
        self._requests.engine_changed()
        self._tables.release()
        self._tables.set_counter(ItemId(""))
        self._tables.set_stale(not self.displaced.by or self._tables.is_stale)
        self.status.lose(how, outcome, stale=self._tables.is_stale)

    # ------------------------------------------------------------------ slots

    def _on_compiled(self, program: Program) -> None:
        self._texts = program.texts
        reasons = {row.node: row.reason for row in program.incomplete}
        self._tables.set_incomplete({**incomplete_inside(self._store.graph), **reasons})
        self._tables.set_texts(self._texts, repeated_nodes(program.statements))
        self.displaced.judge(program)
        self._memory.prefer(self._store.graph.header.device)

    def _on_store_edited(self, edits: Edits) -> None:
        if all(isinstance(edit, SetPlaces) for edit in edits):
            if not self.shapes.pending:
                self._requests.places_changed()
            return
        self._requests.program_changed(edits)
        self.memory_check.program_changed()
        if not self._following:
            self.shapes.request()

    def _on_store_replaced(self) -> None:
        self._engine.end_code()  # of the document that was here
        self._requests.document_changed()
        self.memory_check.take_needs(())
        self._waiting.clear()
        self._following = self._follows_newer = False
        self._tables.clear()
        self.displaced.end()
        self.status.reset()
        self.shapes.request()

    def _on_stop_timer_timeout(self) -> None:
        if self.state.busy and self._heard_more:
            self._heard_more = False  # it has gone on meanwhile: its answer lies behind what is still to be read
            self._stop_timer.start()
        elif self.state.busy:
            self._engine_lost("Stopped: the operator under way did not answer, so the engine was replaced", "stopped")
            self._engine.kill_and_restart()

    def _on_engine_died(self, how: str) -> None:
        if self.away.begins(self._engine.words_of_end(how)):
            self._stop_timer.stop()
            self._waiting.clear()
            self._requests.engine_changed()  # the last that was sent may have been lost
            return
        died = f"The engine died: {how}. A new one is started"
        self._engine_lost(how.partition("\n")[0].rstrip(".") if self._engine.place else died)
        self.shapes.request()

    def _on_engine_state_changed(self, state: str) -> None:
        if state == "ready" and self.state.waiting:  # its `Hello` may be about to be heard, or it has said it long ago
            QTimer.singleShot(0, self, self.begin_waiting)

    def _on_engine_replaced(self) -> None:
        self._engine_lost("Another engine takes over", "stopped")

    def _on_engine_displaced(self, title: object) -> None:
        """Another document runs: its namespace takes the place of ours. What was recorded stays."""
        self._requests.displaced()
        if not self.state.live:
            return
        self.displaced.begin(str(title), self.program)
        self._tables.set_counter(ItemId(""))
        self.status.set(live=False, at_end=False, next_node=ItemId(""), changed_by_hand=False)

    def _on_engine_received(self, event: events.Event) -> None:
        self._heard_more = self._heard_more or isinstance(event, run_events.PROGRESS)
        match event:
            case events.Hello(ready=True):
                self._requests.engine_changed()
                self._engine.send(requests.SampleMemory(every_ms=100))
                self.shapes.request()
                self.begin_waiting()
            case events.Loaded():
                self._on_loaded(event)
            case events.Started():
                self._on_started(event)
            case events.Paused():
                self._on_paused(event)
            case events.Failed():
                place = self.code_question.place(event.node, event.line)
                self._tables.add_failure(run_events.failure_of(event, self._store.graph, self._texts, place))
            case debugging.Hit():
                self._on_hit(event)
            case events.Fetched():
                self.questions.fetched.emit(event)
            case debugging.WhatIfAnswered() | debugging.Checked() | progress.CheckpointKept() | DataLooked():
                self.questions.answered.emit(event)
            case debugging.MemoryByNode():
                self._tables.set_memory(event)
                self.questions.answered.emit(event)
            case Inferred() if self._requests.stands(event):
                self.memory_check.take_needs(event.needs)
                self._tables.set_inference(mark_needs(event.ports, event.needs))
            case _:
                run_events.keep(event, self._tables, self._memory, self._texts)

    def _on_loaded(self, event: events.Loaded) -> None:
        if event.document != self._requests.document or event.waits:
            return
        if not self._following and (event.live or not self.displaced.by):
            self._tables.set_stale(event.stale or not event.live)  # what a lost run left belongs to none
        if event.live and not event.stale and event.revision == self._requests.names.graph.revision:
            self._tables.names = self._requests.names  # what ran is still in the program, by other names perhaps
        self.status.set(stale=event.stale, live=event.live)

    def _on_started(self, event: events.Started) -> None:
        self.displaced.end()
        if event.fresh:
            self.stepper.begin_anew()
        self._tables.begin(event.fresh, event.verb in run_events.HELD, self._requests.names, event.back_to)
        if self._debug is not None:
            self._debug.begin(event.fresh)
        self._tables.set_running(next(iter(self._texts), ItemId("")) if event.fresh else self._results.next_node)
        self.status.set(live=True, stale=False, is_record=False, pass_number=event.pass_number)

    def _on_hit(self, event: debugging.Hit) -> None:
        if self._debug is not None:
            self._debug.add_hit(event)
        if event.stopped:
            self.stepper.stop_at(event)

    def _on_paused(self, event: events.Paused) -> None:
        self._stop_timer.stop()
        self._tables.buffer.take_up()
        self._tables.set_counter(event.next_node)
        self._engine.set_busy(False)
        self.status.pause(event, self.stepper.paused_in(event))
        self._tables.release()
        self.stepper.look_where_it_paused(event)
        self._go_on_following()
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
        if followed or self._requests.owes_shapes or not (self._requests.up_to_date and self._requests.has_asked):
            self.shapes.request()
