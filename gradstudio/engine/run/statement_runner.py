"""Executes one statement at a time in the live namespace and records what it did."""

import time
from collections.abc import Callable

from gradstudio.engine.backward.backward_recording import Recording
from gradstudio.engine.backward.backward_statement import complete_record, run_backward
from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.code.meeting import meeting
from gradstudio.engine.errors import Stopped
from gradstudio.engine.gradient.inplace_writes import versions
from gradstudio.engine.gradient.wire_edges import call_of
from gradstudio.engine.live.call_frames import Execution
from gradstudio.engine.live.live_state import Live, Loaded
from gradstudio.engine.live.whole_telling import whole_telling
from gradstudio.engine.memory.allocation_guard import refuse_too_large
from gradstudio.engine.memory.memory_sampler import LiveBytes, allocated_bytes
from gradstudio.engine.memory.training_bytes import TrainingBytes
from gradstudio.engine.run import inside_code
from gradstudio.engine.run.call_tracing import CallTracer, is_call
from gradstudio.engine.run.pause_policy import PausePolicy
from gradstudio.engine.run.run_failures import RunFailures
from gradstudio.engine.run.segment_log import log_segment
from gradstudio.engine.run.segments import Segments
from gradstudio.engine.run.trace_rows import Outputs, Pending, Rows, Telling
from gradstudio.engine.script.compiled_steps import Head, Step, results_of
from gradstudio.engine.script.cursor import NOBODY, Frame, HeadFailed
from gradstudio.engine.script.stop_conditions import ORDINARY, Goal
from gradstudio.engine.turns.turn_sampling import TurnSampling
from gradstudio.engine.value.value_records import requires_grad
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import Gradients, Traced

FLUSH_AFTER_S = 0.033
FLUSH_ROWS = 256
ENTERED = "entered"


class Runner:
    """Runs statements of one live state; `stopped` is asked between them.

    Summaries of values wait until a statement comes that could overwrite one, or until it is time to show something:
    torch then runs undisturbed for a while, and a value is still told as it was at its own moment.

    Attributes:
        started: when the statement at work began, or the segment that it is in, by `perf_counter`.
        rows: makes the rows; says of which nodes values are summarised at once.
        after_effects: hears of each statement that is not pure, once it has run.
    """

    def __init__(self, send: Callable[[Message], None], stopped: Callable[[], bool], memory: LiveBytes) -> None:
        """Events go to `send`."""
        self._send, self._stopped = send, stopped
        self._pending: list[Pending] = []
        self._flushed_at = self.started = 0.0
        self._traced: BackwardTraced | None = None
        self.pauses = PausePolicy(send, self.flush)
        self.live: Live | None = None
        self._current: Step | None = None
        self._segments = Segments()
        self._segments_of: Loaded | None = None
        self._insides: CallTracer | None = None
        self.rows, self.training = Rows(lambda: self._stopped(), memory), TrainingBytes(memory)
        self._unfinished: list[tuple[Recording, BackwardTraced]] = []
        telling = Telling(lambda entry: self._pending.append(entry), self.flush, lambda: len(self._pending))
        self._telling = inside_code.Telling(lambda entry: self._pending.append(entry), self.flush, self._tell_traced)
        self._failures = RunFailures(send, self.flush, lambda: self.rows.max_values)
        self.sampling = TurnSampling(send, lambda: self._stopped(), telling)
        self.after_effects: Callable[[Step], object] = lambda _step: None

    @property
    def current(self) -> Step | None:
        """The statement at work."""
        return self._segments.current or self._current

    def go(self, live: Live, goal: Goal) -> str:
        """Run until told, from where the innermost call stands: "done", "stopped", "failed" or "breakpoint"."""
        self._take(live)
        live.failed = False
        live.resume()
        try:
            return self._go(live, goal)
        finally:
            live.paused = True
            self._current = None
            self.flush()
            self.sampling.end(live)
            live.suspend()

    def run_again(self, live: Live, step: Step) -> str:
        """Run a statement that is behind the counter once more, the counter left where it is."""
        self._take(live)
        behind, calls, inside = live.behind, live.calls, live.inside
        live.calls, live.inside = [], None
        live.namespace.update(live.backward_parts)
        try:
            outcome = self._execute(live, step)
            if outcome == ENTERED:
                outcome = self._carry_through(live)
            return outcome or ("breakpoint" if self._pauses_behind(live, step) else "done")
        finally:
            live.behind, live.calls, live.inside = behind, calls, inside
            live.forget(step.statement.drops)
            self._current = None
            self.flush()

    def flush(self) -> None:
        """Summarise what waits, and send it."""
        live, waiting = self.live, self._pending
        self._flushed_at = time.perf_counter()
        if live is None or not waiting:
            return
        self._pending = []
        with clean_modes():
            self.rows.summarise(waiting)
            waiting.reverse()
            first, take = self.rows.first, waiting.pop
            rows = tuple([first(live, take()) for _ in range(len(waiting))])  # each is let go behind its row
        self._send(Traced(revision=live.loaded.revision, rows=rows))
        self.training.count_if_asked(live)

    def complete(self, limit: int | None = None) -> bool:
        """Tell in full what was only outlined, up to `limit` rows; True while there is more."""
        live = self.live
        if live is None:
            return False
        later = self.rows.later
        chunk, self.rows.later = later[:limit], later[limit:] if limit else []
        with clean_modes():
            rows = tuple([self.rows.complete(live, entry, number) for number, entry in chunk])
        if rows:
            self._send(Traced(revision=live.loaded.revision, rows=rows))
        if not self.rows.later and self._unfinished:
            self._finish_backwards(live)
        return bool(self.rows.later)

    def let_go(self) -> None:
        """Forget the live state, and with it what was only outlined."""
        self.rows.later, self._unfinished = [], []
        self.live, self._insides, self._pending, self._traced = None, None, [], None
        self.sampling.forget()

    def _finish_backwards(self, live: Live) -> None:
        live.gradients.visible = None
        for recording, traced in self._unfinished:
            self._send(complete_record(recording, traced))
        self._unfinished = []
        self.send_gradients(live)

    def _take(self, live: Live) -> None:
        if live is not self.live:
            self.let_go()
            self.live = live
        if live.loaded is not self._segments_of:
            self._segments, self._segments_of = Segments(), live.loaded
        live.gradients.visible, program = self.rows.visible, live.loaded.program
        if program.insides and self._insides is None:
            self._insides = CallTracer(live, lambda entry: self._pending.append(entry))
        elif self._insides is not None and self._insides.program is not program:
            self._insides.take(program)

    def send_gradients(self, live: Live) -> None:
        """Say of every tensor known what state its gradient is in."""
        with clean_modes():
            told = whole_telling(live, self.rows.max_values)
        self._send(told)
        self.training.conclude(live)

    # -------------------------------------------------------------- one statement

    def _go(self, live: Live, goal: Goal) -> str:
        self.pauses.begin(live)
        self.sampling.begin(live)
        passed = NOBODY
        while not self.sampling.stops() and not self.sampling.pauses_between(live):
            cursor, met = live.cursor, False
            by_turns = self.sampling.is_on and not live.calls
            try:
                item = cursor.reach(goal.behind, self.pauses.heads_but(passed), by_turns)
            except HeadFailed as error:
                return self._failures.at_head(live, error)
            finally:
                if cursor.bound:
                    met = self._bind_loop_variables(live)
            if met:
                return "breakpoint"
            if isinstance(item, Frame):
                end = self.sampling.behind_turn(live, goal, self.pauses.breaks is not None)
                outcome = self._failures.break_off(live, end) if end is not None else self.sampling.ends_verb()
                if outcome:
                    return outcome
                continue
            if isinstance(item, Head):
                if self.pauses.before(live, item):
                    return "breakpoint"
                passed = item.id
                continue
            passed = NOBODY
            if item is not None:
                outcome = self._arrive(live, goal, item)
            elif live.calls and not (goal.behind and cursor.left == goal.behind):
                calling = live.calls[-1].execution.step
                outcome = self._return(live, calling) or self._behind(live, goal, calling)
            else:
                outcome = "done"
            if outcome:
                return outcome
        return "stopped"

    def _arrive(self, live: Live, goal: Goal, step: Step) -> str:
        """Do what there is to do at the statement that is next; "" when nothing speaks against going on."""
        if goal.asks(len(live.calls)) and goal.before(step):
            return "done"
        if live.calls:
            return self._run_one(live, goal, step)
        if step.id in live.setup and step.id not in live.anew:
            live.rebind(step)
            live.forget(step.statement.drops)
            live.behind = (step.id, live.cursor.turns)
            live.cursor.advance()
            return ""
        several = self._run_several(live, goal.before, goal.after) if step.pure else None
        return self._run_one(live, goal, step) if several is None else several

    def _carry_through(self, live: Live) -> str:
        """Run what is inside the calls until all have returned, without a pause; "" or "failed"."""
        while live.calls:
            try:
                step = live.cursor.settle()
            except HeadFailed as error:
                return self._failures.at_head(live, error)
            finally:
                if live.cursor.bound:
                    self._bind_loop_variables(live)
            outcome = self._execute(live, step) if step else self._return(live, live.calls[-1].execution.step)
            if outcome == "failed":
                return outcome
            if not outcome and live.calls:
                live.cursor.advance()
        return ""

    def _return(self, live: Live, step: Step) -> str:
        """All inside the innermost call has run: its statement has, too; "" or "failed"."""
        assert self._insides is not None
        try:
            execution = self._insides.leave()
            outputs = results_of(step, live.namespace)
        except Exception as error:  # noqa: BLE001 - the step boundary
            return self._failures.at_step(live, step, error)
        self._end(live, execution, outputs)
        self.pauses.leave()
        return ""

    def _run_several(self, live: Live, before: Callable[[Step], bool], after: Callable[[Step], bool]) -> str | None:
        """Run the segment that begins here; "" when it went well, None when the statement is to run alone."""
        frame = live.cursor.frames[-1]
        at = self._segments.at
        segment = at(frame.items, frame.index, live.namespace) if self.pauses.breaks is None else None
        if segment is None or not live.setup.keys().isdisjoint(segment.fresh):
            return None
        if (before not in ORDINARY or after not in ORDINARY) and any(before(s) or after(s) for s in segment.steps):
            return None
        self.started = time.perf_counter()
        ran = self._segments.run(segment, live.namespace)
        log_segment(live, segment, ran, self._pending.append)
        frame.index += len(ran.notes)
        if ran.error is not None:
            self._failures.at_step(live, segment.steps[len(ran.notes)], ran.error)
            return "failed"
        if time.perf_counter() - self._flushed_at > FLUSH_AFTER_S or len(self._pending) >= FLUSH_ROWS:
            self.flush()
        return ""

    def _run_one(self, live: Live, goal: Goal, step: Step) -> str:
        """Run the statement that is next; "" when nothing speaks against going on."""
        if self.pauses.breaks is not None and self.pauses.before(live, step):
            return "breakpoint"
        if not step.pure:
            self.flush()
            if self.sampling.stops():
                return "stopped"
        if (outcome := self._execute(live, step)) != ENTERED:
            return outcome or self._behind(live, goal, step)
        self.pauses.enter(step.id, live.groups[step.id])
        entry = live.calls[-1].entry
        live.behind = (entry.id, live.cursor.turns)
        return "done" if goal.asks(len(live.calls)) and goal.after(entry) else ""

    def _behind(self, live: Live, goal: Goal, step: Step) -> str:
        """The statement has run: go behind it, and say why to pause there; "" when nothing speaks for it."""
        live.cursor.advance()
        if self._pauses_behind(live, step):
            return "breakpoint"
        return "done" if goal.asks(len(live.calls)) and goal.after(step) else ""

    def _pauses_behind(self, live: Live, step: Step) -> bool:
        if self.pauses.breaks is None:
            return False
        return self.pauses.behind(live, step, lambda: results_of(step, live.namespace), self._traced)

    def _bind_loop_variables(self, live: Live) -> bool:
        """Note what the loops around have bound on the way; whether a breakpoint stops there."""
        bound = live.cursor.bound
        with clean_modes():
            live.bind_loop_variables(live.cursor.turns)
            self.sampling.begin_turn(live)
        return self.pauses.bound(live, bound)

    def _execute(self, live: Live, step: Step) -> str:
        """Run a statement: "", "failed", or `ENTERED` when what is inside its call is to run first."""
        namespace, insides = live.namespace, self._insides
        execution = self._begin(live, step)
        try:
            refuse_too_large(step, namespace)
            if insides is not None and is_call(step):
                if inside_code.enter(insides, execution, self._telling):
                    return ENTERED
            elif step.statement.backward:
                self.sampling.curves.gradients.before_backward(live.binder, namespace)
                run_backward(live, step, lambda: results_of(step, namespace), self._tell_backward)
            else:
                inside_code.execute(live, execution, self._telling)
            outputs = results_of(step, namespace)
        except Stopped:
            return "stopped"  # while it waited for somebody to type
        except Exception as error:  # noqa: BLE001 - the step boundary
            return self._failures.at_step(live, step, error)
        self._end(live, execution, outputs)
        return ""

    def _begin(self, live: Live, step: Step) -> Execution:
        namespace, cursor = live.namespace, live.cursor
        self._current = step
        if not step.pure:
            self.flush()
            if self._unfinished or (self.rows.later and not step.statement.backward):
                self.complete()
                live.gradients.visible = self.rows.visible
        operands = list(map(namespace.get, step.source.operands))
        needs = any(map(requires_grad, operands))
        inputs = () if needs else tuple(map(live.binder.get, step.source.operands))
        call = call_of(step, namespace, live.binder, cursor.turns) if needs and not step.statement.backward else None
        if self._insides is not None:
            call = self._insides.within(step, call, needs)
        written = [] if step.pure or step.statement.backward else versions(step, namespace)
        self.started = started = time.perf_counter()
        return Execution(step, operands, needs, inputs, call, written, started)

    def _end(self, live: Live, execution: Execution, outputs: Outputs) -> None:
        step, call, cursor = execution.step, execution.call, live.cursor
        ended = time.perf_counter()
        if call is not None:
            call.settle()
        live.behind = (step.id, cursor.turns)
        seconds = ended - execution.started
        entry = Pending(step, outputs, cursor.turns, seconds, live.pass_number, time.monotonic(), allocated_bytes())
        self._segments.learn(step, execution.operands, outputs, seconds)
        entry.needs, entry.inputs, entry.call = execution.needs, execution.inputs, call
        entry.block = cursor.gradless_block if execution.needs else None
        entry.has_met = not step.pure and meeting.has_met()  # at once: the next statement meets others, too
        if execution.written or (live.modules.places and not step.pure):
            entry.writes, entry.modes = live.note_writes(step, execution.written, outputs)
        self._pending.append(entry)
        self._bound(live, step, outputs)
        if ended - self._flushed_at > FLUSH_AFTER_S or len(self._pending) >= FLUSH_ROWS:
            self.flush()

    def _bound(self, live: Live, step: Step, outputs: Outputs) -> None:
        live.bind(step, outputs if step.statement.names else ())
        live.anew.discard(step.id)
        if step.statement.drops:
            live.forget(step.statement.drops)
        if not step.pure:
            self._tell_leaves(live, step)
            self.after_effects(step)

    def _tell_leaves(self, live: Live, step: Step) -> None:
        """Tell at once of leaves whose `.grad` a statement has changed, and what a backward returned or missed."""
        (gradients := live.gradients).distrust(live.loaded.program)
        with clean_modes():
            if step.statement.backward:
                leaves = [leaf for leaf in gradients.leaves.values() if leaf.returned]
                values, gradients.given_back = [*gradients.given_back, *gradients.missed], []
            else:
                leaves, values = gradients.observe(step.id), []
        if leaves or values:
            self.flush()
            with clean_modes():
                rows = (*gradients.rows_of(leaves), *map(gradients.row, values))
            self._send(Gradients(revision=live.loaded.revision, rows=rows, whole=False))

    def _tell_traced(self, traced: BackwardTraced) -> None:
        self._traced = traced
        self._send(traced)

    def _tell_backward(self, recording: Recording, traced: BackwardTraced) -> None:
        self._tell_traced(traced)
        if not recording.complete:
            self._unfinished.append((recording, traced))
