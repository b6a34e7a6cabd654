"""What a segment did, noted as if each of its statements had run alone."""

import time
from collections.abc import Callable

from gradstudio.engine.gradient.wire_edges import call_of
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.run.segments import Segment, SegmentRun
from gradstudio.engine.run.trace_rows import Pending
from gradstudio.engine.value.value_records import requires_grad


def log_segment(live: Live, segment: Segment, ran: SegmentRun, enqueue: Callable[[Pending], None]) -> None:
    """Note what the statements of a segment did, as if each had run alone."""
    cursor, scope, binder = live.cursor, ran.before, live.binder
    turns, block, pass_number = cursor.turns, cursor.gradless_block, live.pass_number
    offset, begun = time.monotonic() - time.perf_counter(), ran.started
    get, executed = scope.get, live.executed
    for step, (ended, given) in zip(segment.steps, ran.notes, strict=False):
        ended, allocated = (ended, ()) if ended.__class__ is float else ended
        names = step.statement.names
        outputs = (given,) if len(names) == 1 else given
        call = call_of(step, scope, binder, turns)
        entry = Pending(step, outputs, turns, ended - begun, pass_number, ended + offset, allocated)
        if call is not None or any(map(requires_grad, map(get, step.source.operands))):
            entry.needs, entry.call, entry.block = True, call, block
        else:
            entry.inputs = tuple(map(binder.get, step.source.operands))
        enqueue(entry)
        if step.statement.repeated:
            executed[step.id] = step
            for name, binding, output in zip(names, step.bindings, outputs, strict=False):
                binder[name], scope[name] = binding, output
        else:
            live.bind(step, outputs)
            scope.update(zip(names, outputs, strict=True))
        begun = ended
    if ran.notes:
        live.behind = (segment.steps[len(ran.notes) - 1].id, turns)
    if len(ran.notes) == len(segment.steps):
        live.forget(segment.steps[-1].statement.drops)
