"""Executes one statement at a time in the live namespace and records what it did."""

import time
from collections.abc import Callable
from typing import Any

from gradstudio.engine.aim import ORDINARY
from gradstudio.engine.backward import Recording
from gradstudio.engine.cursor import NOBODY, HeadFailed
from gradstudio.engine.failures import failed_block, failed_step
from gradstudio.engine.guard import refuse_too_large
from gradstudio.engine.insides import FailedInside, Hands, Insides, is_call
from gradstudio.engine.live import Live, Loaded
from gradstudio.engine.memory import LiveBytes, allocated_bytes
from gradstudio.engine.modules_now import modules_now
from gradstudio.engine.neutral import neutral
from gradstudio.engine.pauses import Pauses
from gradstudio.engine.recorded import completed, run_backward
from gradstudio.engine.rows import Outputs, Pending, Rows
from gradstudio.engine.segments import Ran, Segment, Segments
from gradstudio.engine.source import Head, Step
from gradstudio.engine.values import requires_grad
from gradstudio.engine.wires import called
from gradstudio.engine.writes import versions
from gradstudio.graph.model import ItemId
from gradstudio.protocol.autograd import BackwardTraced
from gradstudio.protocol.message import Message
from gradstudio.protocol.messages import Gradients, Traced

FLUSH_AFTER_S = 0.033
FLUSH_ROWS = 256


class Runner:
    """Runs statements of one live state; `stopped` is asked between them.

    Summaries of values wait until a statement comes that could overwrite one, or until it is
    time to show something: torch then runs undisturbed for a while, and a value is still told as
    it was at its own moment.

    Attributes:
        breaks: what to pause at and to note; None when there is nothing, which costs nothing.
        rows: makes the rows; says of which nodes values are summarised at once.
        breaks_stop: whether breakpoints stop, or are only told; `hit` the one that stopped last.
    """

    def __init__(self, send: Callable[[Message], None], stopped: Callable[[], bool], memory: LiveBytes) -> None:
        """Events go to `send`."""
        self._send, self._stopped = send, stopped
        self._pending: list[Pending] = []
        self._flushed_at = 0.0
        self._traced: BackwardTraced | None = None
        self.pauses = Pauses(send, self.flush)
        self.live: Live | None = None
        self._current: Step | Head | None = None
        self._segments = Segments()
        self._segments_of: Loaded | None = None
        self._insides: Insides | None = None
        self.rows = Rows(lambda: self._stopped(), memory)
        self._unfinished: list[tuple[Recording, BackwardTraced]] = []

    # -------------------------------------------------------------- going on

    @property
    def current(self) -> Step | Head | None:
        """The statement at work."""
        return self._segments.current or self._current

    def go(
        self, live: Live, before: Callable[[Step], bool], after: Callable[[Step], bool], behind: ItemId = NOBODY
    ) -> str:
        """Run until told: "done", "stopped", "failed" or "breakpoint".

        Args:
            live: whose cursor moves.
            before, after: whether to stop directly before, directly behind a statement.
            behind: a block, to stop directly behind.
        """
        self._take(live)
        live.failed = False
        try:
            return self._go(live, before, after, behind)
        finally:
            live.paused = True
            self._current = None
            self.flush()

    def run_again(self, live: Live, step: Step) -> str:
        """Run a statement that is behind the counter once more, the counter left where it is."""
        self._take(live)
        behind = live.behind
        live.namespace.update(live.backward_parts)
        try:
            if not self._execute(live, step):
                return "failed"
            return "breakpoint" if self._pauses_behind(live, step) else "done"
        finally:
            live.behind = behind
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
        with neutral():
            waiting.reverse()
            first, take = self.rows.first, waiting.pop
            rows = tuple([first(live, take()) for _ in range(len(waiting))])  # each is let go behind its row
        self._send(Traced(revision=live.loaded.revision, rows=rows))

    def complete(self, limit: int | None = None) -> bool:
        """Tell in full what was only outlined, up to `limit` rows; True while there is more."""
        live = self.live
        if live is None:
            return False
        later = self.rows.later
        chunk, self.rows.later = later[:limit], later[limit:] if limit else []
        with neutral():
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

    def _finish_backwards(self, live: Live) -> None:
        live.gradients.visible = None
        for recording, traced in self._unfinished:
            self._send(completed(recording, traced))
        self._unfinished = []
        self.send_gradients(live)

    def _take(self, live: Live) -> None:
        if live is not self.live:
            self.let_go()
            self.live = live
        if live.loaded is not self._segments_of:
            self._segments, self._segments_of = Segments(), live.loaded
        live.gradients.visible = self.rows.visible
        program = live.loaded.program
        if program.insides and (self._insides is None or self._insides.program is not program):
            self._insides = Insides(live, Hands(self._execute, self._pending_inside, self._fail_head))

    def _pending_inside(self, entry: Pending) -> None:
        self._pending.append(entry)

    def send_gradients(self, live: Live) -> None:
        """Say of every tensor known what state its gradient is in."""
        with neutral():
            rows = live.gradients.rows()
            modules = modules_now(live, self.rows.max_values, live.gradients.visible)
        self._send(Gradients(revision=live.loaded.revision, rows=rows, modules=modules))

    # -------------------------------------------------------------- one statement

    def _go(self, live: Live, before: Callable[[Step], bool], after: Callable[[Step], bool], behind: ItemId) -> str:
        cursor = live.cursor
        heads = asked = self.pauses.begin(live)
        while not self._stopped():
            met = False
            try:
                step = cursor.reach(behind, asked)
            except HeadFailed as error:
                self._fail_head(live, error)
                return "failed"
            finally:
                if cursor.bound:
                    met = self._bind_loop_variables(live)
            if met:
                return "breakpoint"
            if isinstance(step, Head):
                if self.pauses.before(live, step):
                    return "breakpoint"
                asked = heads - {step.id}
                continue
            asked = heads
            if step is None or before(step):
                return "done"
            if step.id in live.setup and step.id not in live.anew:
                live.rebind(step)
                live.forget(step.statement.drops)
                live.behind = (step.id, cursor.turns)
                cursor.advance()
                continue
            several = self._run_several(live, before, after) if step.pure else None
            if several is not None:
                if several:
                    return several
                continue
            outcome = self._run_one(live, step)
            if outcome or after(step):
                return outcome or "done"
        return "stopped"

    def _run_several(self, live: Live, before: Callable[[Step], bool], after: Callable[[Step], bool]) -> str | None:
        """Run the segment that begins here; "" when it went well, None when the statement is to run alone."""
        frame = live.cursor.frames[-1]
        segment = None
        if self.pauses.breaks is None:
            segment = self._segments.at(frame.items, frame.index, live.namespace)
        if segment is None or not live.setup.keys().isdisjoint(segment.fresh):
            return None
        if (before not in ORDINARY or after not in ORDINARY) and any(before(s) or after(s) for s in segment.steps):
            return None
        ran = self._segments.run(segment, live.namespace)
        self._book(live, segment, ran)
        frame.index += len(ran.notes)
        if ran.error is not None:
            self._fail(live, segment.steps[len(ran.notes)], ran.error)
            return "failed"
        if time.perf_counter() - self._flushed_at > FLUSH_AFTER_S or len(self._pending) >= FLUSH_ROWS:
            self.flush()
        return ""

    def _book(self, live: Live, segment: Segment, ran: Ran) -> None:
        """Note what the statements of a segment did, as if each had run alone."""
        cursor, scope, binder = live.cursor, ran.before, live.binder
        turns, block, pass_number = cursor.turns, cursor.gradless_block, live.pass_number
        offset, begun = time.monotonic() - time.perf_counter(), ran.started
        get, executed, enqueue = scope.get, live.executed, self._pending.append
        for step, (ended, given) in zip(segment.steps, ran.notes, strict=False):
            ended, allocated = (ended, ()) if ended.__class__ is float else ended
            names = step.statement.names
            outputs = (given,) if len(names) == 1 else given
            call = called(step, scope, binder, turns)
            entry = Pending(step, outputs, turns, ended - begun, pass_number, ended + offset, allocated)
            if call is not None or any(map(requires_grad, map(get, step.source.operands))):
                entry.needs, entry.call, entry.block = True, call, block
            else:
                entry.inputs = tuple(map(binder.get, step.source.operands))
            enqueue(entry)
            if step.statement.repeated:
                executed[step.id] = step
                for place, name in enumerate(names):
                    binder[name], scope[name] = (step.id, place), outputs[place]
            else:
                live.bind(step, outputs)
                scope.update(zip(names, outputs, strict=True))
            begun = ended
        if ran.notes:
            live.behind = (segment.steps[len(ran.notes) - 1].id, turns)
        if len(ran.notes) == len(segment.steps):
            live.forget(segment.steps[-1].statement.drops)

    def _run_one(self, live: Live, step: Step) -> str:
        """Run the statement that is next; "" when nothing speaks against going on."""
        if self.pauses.breaks is not None and self.pauses.before(live, step):
            return "breakpoint"
        if not step.pure:
            self.flush()
            if self._stopped():
                return "stopped"
        if not self._execute(live, step):
            return "failed"
        live.cursor.advance()
        return "breakpoint" if self._pauses_behind(live, step) else ""

    def _pauses_behind(self, live: Live, step: Step) -> bool:
        if self.pauses.breaks is None:
            return False
        return self.pauses.behind(live, step, lambda: self._outputs(step, live.namespace), self._traced)

    def _bind_loop_variables(self, live: Live) -> bool:
        """Note what the loops around have bound on the way; whether a breakpoint stops there."""
        bound = live.cursor.bound
        with neutral():
            live.bind_loop_variables(live.cursor.turns)
        return self.pauses.bound(live, bound)

    def _execute(self, live: Live, step: Step) -> bool:
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
        call = called(step, namespace, live.binder, cursor.turns) if needs and not step.statement.backward else None
        if self._insides is not None:
            call = self._insides.within(step, call, needs)
        written = () if step.pure or step.statement.backward else versions(step, namespace)
        started = time.perf_counter()
        try:
            refuse_too_large(step, namespace)
            if self._insides is not None and is_call(step):
                self._insides.run(step, call)
            elif step.statement.backward:
                run_backward(live, step, lambda: self._outputs(step, namespace), self._tell_backward)
            else:
                exec(step.source.code, namespace)
            outputs = self._outputs(step, namespace)
        except FailedInside:
            return False
        except Exception as error:  # noqa: BLE001 - the step boundary
            self._fail(live, step, error)
            return False
        ended = time.perf_counter()
        if call is not None:
            call.settle()
        if written:
            live.writes.note(step, cursor.turns, written)
        live.behind = (step.id, cursor.turns)
        entry = Pending(
            step, outputs, cursor.turns, ended - started, live.pass_number, time.monotonic(), allocated_bytes()
        )
        self._segments.learn(step, operands, outputs, ended - started)
        entry.needs, entry.inputs, entry.call = needs, inputs, call
        entry.block = cursor.gradless_block if needs else None
        self._pending.append(entry)
        self._bound(live, step, outputs)
        if ended - self._flushed_at > FLUSH_AFTER_S or len(self._pending) >= FLUSH_ROWS:
            self.flush()
        return True

    def _bound(self, live: Live, step: Step, outputs: Outputs) -> None:
        live.bind(step, outputs if step.statement.names else ())
        live.anew.discard(step.id)
        if step.statement.drops:
            live.forget(step.statement.drops)
        if not step.pure:
            self._tell_leaves(live, step.statement.backward)

    def _tell_leaves(self, live: Live, backward: bool) -> None:
        """Tell at once of leaves whose `.grad` a statement has changed, and what a backward returned or missed."""
        gradients = live.gradients
        with neutral():
            if backward:
                leaves = [leaf for leaf in gradients.leaves.values() if leaf.returned]
                values, gradients.given_back = [*gradients.given_back, *gradients.missed], []
            else:
                leaves, values = gradients.observe(), []
        if leaves or values:
            self.flush()
            with neutral():
                rows = (*gradients.rows_of(leaves), *map(gradients.row, values))
            self._send(Gradients(revision=live.loaded.revision, rows=rows, whole=False))

    def _outputs(self, step: Step, namespace: dict[str, Any]) -> Outputs:
        if step.statement.names:
            return tuple(namespace[name] for name in step.statement.names)
        return () if step.result is None else (eval(step.result, namespace),)  # noqa: S307 - the printed text

    def _tell_backward(self, recording: Recording, traced: BackwardTraced) -> None:
        self._traced = traced
        self._send(traced)
        if not recording.complete:
            self._unfinished.append((recording, traced))

    # -------------------------------------------------------------- failures

    def _fail(self, live: Live, step: Step, error: Exception) -> None:
        live.failed = True
        self.flush()
        with neutral():
            self._send(failed_step(live, step, error, self.rows.max_values))

    def _fail_head(self, live: Live, error: HeadFailed) -> None:
        live.failed = True
        self.flush()
        self._send(failed_block(live, error))
