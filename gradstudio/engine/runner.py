"""Executes one statement at a time in the live namespace and records what it did."""

import time
from collections.abc import Callable
from typing import Any

from torch import Tensor

from gradstudio.engine.backward import Recording
from gradstudio.engine.breaks import Breaks, Found
from gradstudio.engine.cursor import NOBODY, HeadFailed
from gradstudio.engine.failures import failed_block, failed_step
from gradstudio.engine.guard import refuse_too_large
from gradstudio.engine.live import Binding, Live
from gradstudio.engine.memory import LiveBytes
from gradstudio.engine.neutral import neutral
from gradstudio.engine.source import Head, Step
from gradstudio.engine.states import cut_here, passed_on
from gradstudio.engine.summary import dtype_name
from gradstudio.engine.values import record_of, requires_grad
from gradstudio.engine.watched import Cut
from gradstudio.engine.wires import Call, called
from gradstudio.engine.writes import versions
from gradstudio.graph.model import ItemId
from gradstudio.protocol.autograd import BackwardTraced
from gradstudio.protocol.message import Message
from gradstudio.protocol.messages import Gradients, Row, Traced

FLUSH_AFTER_S = 0.033
FLUSH_ROWS = 256
Outputs = tuple[Any, ...]


class Pending:
    """A statement that ran and is not summarised yet."""

    __slots__ = ("at_s", "block", "call", "inputs", "needs", "outputs", "pass_number", "seconds", "step", "turns")

    def __init__(self, step: Step, outputs: Outputs, turns: tuple[int, ...], seconds: float, pass_number: int) -> None:
        """Hold what it gave; why gradients were cut is filled in by the runner."""
        self.step, self.outputs, self.turns = step, outputs, turns
        self.seconds, self.pass_number = seconds, pass_number
        self.needs = False
        self.inputs: tuple[Binding | None, ...] = ()
        self.block: ItemId | None = None
        self.call: Call | None = None
        self.at_s = time.monotonic()


class Runner:
    """Runs statements of one live state; `stopped` is asked between them.

    Summaries of values wait until a statement comes that could overwrite one, or until it is
    time to show something: torch then runs undisturbed for a while, and a value is still told as
    it was at its own moment.

    Attributes:
        breaks: what to pause at and to note; None when there is nothing, which costs nothing.
        breaks_stop: whether breakpoints stop, or are only told; `hit` the one that stopped last.
    """

    def __init__(self, send: Callable[[Message], None], stopped: Callable[[], bool], memory: LiveBytes) -> None:
        """Events go to `send`."""
        self._send, self._stopped, self._memory = send, stopped, memory
        self._pending: list[Pending] = []
        self._flushed_at = 0.0
        self._traced: BackwardTraced | None = None
        self._standing, self._told = NOBODY, NOBODY
        self.breaks: Breaks | None = None
        self.breaks_stop, self.hit = True, ""
        self.live: Live | None = None
        self.current: Step | Head | None = None
        self.max_values = 64

    # -------------------------------------------------------------- going on

    def go(
        self, live: Live, before: Callable[[Step], bool], after: Callable[[Step], bool], behind: ItemId = NOBODY
    ) -> str:
        """Run until told: "done", "stopped", "failed" or "breakpoint".

        Args:
            live: whose cursor moves.
            before, after: whether to stop directly before, directly behind a statement.
            behind: a block, to stop directly behind.
        """
        self.live = live
        live.failed = False
        upcoming = live.cursor.upcoming() if live.paused else None
        self._standing = upcoming.id if upcoming is not None else NOBODY
        self._told = self._told if self._standing else NOBODY
        try:
            return self._go(live, before, after, behind)
        finally:
            live.paused = True
            self.current = None
            self.flush()

    def run_again(self, live: Live, step: Step) -> str:
        """Run a statement that is behind the counter once more, the counter left where it is."""
        self.live = live
        behind = live.behind
        live.namespace.update(live.backward_parts)
        try:
            if not self._execute(live, step):
                return "failed"
            return "breakpoint" if self._meets_behind(live, step) else "done"
        finally:
            live.behind = behind
            live.forget(step.statement.drops)
            self.current = None
            self.flush()

    def flush(self) -> None:
        """Summarise what waits, and send it."""
        live, waiting = self.live, self._pending
        self._flushed_at = time.perf_counter()
        if live is None or not waiting:
            return
        self._pending = []
        with neutral():
            rows = tuple(self._row(live, entry) for entry in waiting)
        self._send(Traced(revision=live.loaded.revision, rows=rows))

    def send_gradients(self, live: Live) -> None:
        """Say of every tensor known what state its gradient is in."""
        with neutral():
            rows = live.gradients.rows()
        self._send(Gradients(revision=live.loaded.revision, rows=rows))

    # -------------------------------------------------------------- one statement

    def _go(self, live: Live, before: Callable[[Step], bool], after: Callable[[Step], bool], behind: ItemId) -> str:
        cursor = live.cursor
        while not self._stopped():
            met = False
            try:
                step = cursor.settle(behind)
            except HeadFailed as error:
                self._fail_head(live, error)
                return "failed"
            finally:
                if cursor.bound:
                    met = self._bind_loop_variables(live)
            if met:
                return "breakpoint"
            if step is None or before(step):
                return "done"
            if step.id in live.setup and step.id not in live.anew:
                live.rebind(step)
                live.forget(step.statement.drops)
                live.behind = (step.id, cursor.turns)
                cursor.advance()
                continue
            outcome = self._run_one(live, step)
            if outcome or after(step):
                return outcome or "done"
        return "stopped"

    def _run_one(self, live: Live, step: Step) -> str:
        """Run the statement that is next; "" when nothing speaks against going on."""
        if self.breaks is not None and self._meets_before(live, step):
            return "breakpoint"
        if not self._execute(live, step):
            return "failed"
        live.cursor.advance()
        return "breakpoint" if self._meets_behind(live, step) else ""

    def _bind_loop_variables(self, live: Live) -> bool:
        """Note what the loops around have bound on the way; whether a breakpoint stops there."""
        bound, turns = live.cursor.bound, live.cursor.turns
        with neutral():
            live.bind_loop_variables(turns)
        if self.breaks is None:
            return False
        found = [
            one
            for block, place, name in bound
            for one in self.breaks.bound(block, place, live.namespace.get(name), turns)
        ]
        return self._meet(live, found)

    # -------------------------------------------------------------- where to pause

    def _meets_before(self, live: Live, step: Step) -> bool:
        """Whether a breakpoint stops before the statement; where the last verb paused, none does again."""
        assert self.breaks is not None
        standing, self._standing = self._standing == step.id, NOBODY
        told, self._told = self._told == step.id, NOBODY
        found = self.breaks.before(step, live.namespace, live.cursor.turns)
        if standing and told:
            return False
        if self._meet(live, found, may_stop=not standing):
            self._told = step.id
            return True
        return False

    def _meets_behind(self, live: Live, step: Step) -> bool:
        """Whether a breakpoint stops directly behind the statement, or stood in the backward it ran."""
        if self.breaks is None:
            return False
        found: list[Found] = []
        if step.statement.backward and self._traced is not None:
            found += self.breaks.backward(self._traced)
        if self.breaks.wants(step):
            found += self.breaks.after(step, self._outputs(step, live.namespace), live.cursor.turns)
        return self._meet(live, found)

    def _meet(self, live: Live, found: list[Found], may_stop: bool = True) -> bool:
        """Tell what was met; whether the first of them that stops does so."""
        if not found:
            return False
        self.flush()
        stopping = next((one for one in found if one.breakpoint.stops), None)
        if not (may_stop and self.breaks_stop):
            stopping = None
        for one in found:
            self._send(one.hit(live.step_count, one is stopping))
        if stopping is not None:
            self.hit = stopping.breakpoint.id
        return stopping is not None

    # -------------------------------------------------------------- one statement

    def _execute(self, live: Live, step: Step) -> bool:
        namespace, cursor = live.namespace, live.cursor
        self.current = step
        if not step.pure:
            self.flush()
        operands = step.source.operands
        needs = any(map(requires_grad, map(namespace.get, operands)))
        inputs = () if needs else tuple(map(live.binder.get, operands))
        call = called(step, namespace, live.binder, cursor.turns) if needs and not step.statement.backward else None
        written = () if step.pure or step.statement.backward else versions(step, namespace)
        started = time.perf_counter()
        try:
            refuse_too_large(step, namespace)
            if step.statement.backward:
                self._backward(live, step)
            else:
                exec(step.source.code, namespace)
            outputs = self._outputs(step, namespace)
        except Exception as error:  # noqa: BLE001 - the step boundary
            self._fail(live, step, error)
            return False
        ended = time.perf_counter()
        if written:
            live.writes.note(step, cursor.turns, written)
        live.behind = (step.id, cursor.turns)
        entry = Pending(step, outputs, cursor.turns, ended - started, live.pass_number)
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
        """Tell at once of leaves whose `.grad` a statement has changed, or that `torch.autograd.grad` returned."""
        gradients = live.gradients
        with neutral():
            if backward:
                leaves = [leaf for leaf in gradients.leaves.values() if leaf.returned]
            else:
                leaves = gradients.observe()
        if leaves:
            self.flush()
            with neutral():
                rows = gradients.rows_of(leaves)
            self._send(Gradients(revision=live.loaded.revision, rows=rows, whole=False))

    def _outputs(self, step: Step, namespace: dict[str, Any]) -> Outputs:
        if step.statement.names:
            return tuple(namespace[name] for name in step.statement.names)
        return () if step.result is None else (eval(step.result, namespace),)  # noqa: S307 - the printed text

    def _backward(self, live: Live, step: Step) -> None:
        namespace, gradients, source = live.namespace, live.gradients, step.source
        live.last_backward = step
        live.backward_parts = {name: namespace[name] for name in step.statement.drops if name in namespace}
        roots = () if source.roots is None else (eval(source.roots, namespace),)  # noqa: S307 - the printed text
        with neutral():
            gradients.observe()
        returns = source.inputs is not None or "inputs=" in step.statement.text
        recording = Recording(gradients, roots, gradients.backwards + 1, returns=returns)
        done, began = False, time.monotonic()
        try:
            with recording:
                exec(source.code, namespace)
            done = True
        finally:
            with neutral():
                if done and source.inputs is not None:
                    self._give_back(live, step)
                gradients.backward_ran(recording.leaves, done or bool(recording.rows))
            live.autograd_rows.extend(recording.rows)
            self._traced = self._trace(live, step, recording, began)
            self._send(self._traced)

    def _trace(self, live: Live, step: Step, recording: Recording, began: float) -> BackwardTraced:
        return BackwardTraced(
            revision=live.loaded.revision,
            rows=tuple(recording.rows),
            wires=tuple(recording.wires),
            backward=recording.number,
            statement=step.id,
            turns=live.cursor.turns,
            pass_number=live.pass_number,
            retained=recording.retained,
            at_s=began,
        )

    def _give_back(self, live: Live, step: Step) -> None:
        """`torch.autograd.grad` returns gradients: they belong to what it differentiated by."""
        assert step.source.inputs is not None
        inputs = eval(step.source.inputs, live.namespace)  # noqa: S307 - the printed text
        values = self._outputs(step, live.namespace)
        grads = values[0] if len(values) == 1 and isinstance(values[0], tuple | list) else values
        for tensor, grad in zip(inputs if isinstance(inputs, tuple | list) else (inputs,), grads, strict=False):
            if isinstance(tensor, Tensor):
                live.gradients.returned(tensor, grad)

    # -------------------------------------------------------------- records

    def _row(self, live: Live, entry: Pending) -> Row:
        step, outputs = entry.step, entry.outputs
        live.step_count += 1
        live.gradients.made(
            step.id, entry.turns, outputs, lambda tensor: self._cut(live, entry, tensor), call=entry.call
        )
        if entry.call is not None and step.statement.writes:
            live.gradients.written(outputs, entry.call)
        for output in outputs:
            if isinstance(output, Tensor):
                self._memory.see(output)
        row = Row(
            step=live.step_count,
            node=step.id,
            outputs=tuple(record_of(output, self.max_values) for output in outputs),
            turns=entry.turns,
            pass_number=entry.pass_number,
            seconds=entry.seconds,
            at_s=entry.at_s,
        )
        live.record(row)
        return row

    def _cut(self, live: Live, entry: Pending, tensor: Tensor) -> Cut | None:
        if entry.needs:
            operator = entry.step.statement.operator
            differentiable = tensor.is_floating_point() or tensor.is_complex()
            return cut_here(entry.step.id, operator, entry.block, dtype_name(tensor.dtype), differentiable)
        for binding in entry.inputs:
            value = live.gradients.values.get((*binding, "")) if binding is not None else None
            if value is not None and value.cut is not None:
                return passed_on(value.cut)
        return None

    def _fail(self, live: Live, step: Step, error: Exception) -> None:
        live.failed = True
        self.flush()
        with neutral():
            self._send(failed_step(live, step, error, self.max_values))

    def _fail_head(self, live: Live, error: HeadFailed) -> None:
        live.failed = True
        self.flush()
        self._send(failed_block(live, error))
