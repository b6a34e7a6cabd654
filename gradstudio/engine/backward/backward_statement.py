"""Runs a backward statement under a `Recording` and makes its record."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
from torch import Tensor, nn

from gradstudio.engine import access
from gradstudio.engine.backward.backward_recording import Recording
from gradstudio.engine.backward.backward_seeds import seed_gradients, seeds_of
from gradstudio.engine.backward.bucket_reductions import Reductions
from gradstudio.engine.backward.missing_gradients import explain_missing, note_writes
from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.engine.value.rank_spread import Here
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import BackwardTraced

Tell = Callable[[Recording, BackwardTraced], None]


def run_backward(live: Live, step: Step, outputs: Callable[[], tuple[Any, ...]], tell: Tell) -> None:
    """Execute the statement; its record is told also when it fails.

    Args:
        live: the state it runs in.
        step: the backward statement.
        outputs: gives what it bound, once it ran.
        tell: takes the record.

    Raises:
        Exception: whatever the statement raises.
    """
    namespace, gradients, source = live.namespace, live.gradients, step.source
    note_backward(live, step)
    roots = () if source.roots is None else (access.evaluate(source.roots, namespace),)
    grads = seed_gradients(live, step)
    with clean_modes():
        gradients.observe()
        gradients.given_back.clear()
        seeds = seeds_of(live, step, roots, grads)
        note_writes(live)
    returns = source.inputs is not None or "inputs=" in step.statement.text
    recording = Recording(
        gradients, roots, gradients.backwards + 1, seeds,
        returns=returns, shared=bool(grads), reductions=reductions_of(live),
    )  # fmt: skip
    done, began = False, time.monotonic()
    try:
        with recording:
            access.execute(source.code, namespace)
        done = True
    finally:
        with clean_modes():
            if done and source.inputs is not None:
                _give_back(live, step, outputs())
            gradients.backward_ran(recording.leaves, done or bool(recording.rows))
            explain_missing(live)
        live.autograd_rows.extend(recording.rows)
        tell(recording, _traced(live, step, recording, began))


def reductions_of(live: Live) -> Reductions | None:
    """What ranks do together in a backward that begins here; None in a process that is no rank."""
    return Reductions(partial(_node_of, live), live.cursor.turns) if Here.rank is not None else None


def note_backward(live: Live, step: Step) -> None:
    """The statement is the last backward from now on."""
    namespace = live.namespace
    live.last_backward = step
    live.backward_parts = {name: namespace[name] for name in step.statement.drops if name in namespace}


def complete_record(recording: Recording, traced: BackwardTraced) -> BackwardTraced:
    """The record with every summary, where some were only outlined."""
    with clean_modes():
        recording.finish_later()
    return msgspec.structs.replace(traced, rows=tuple(recording.rows), wires=tuple(recording.wires))


def _traced(live: Live, step: Step, recording: Recording, began: float) -> BackwardTraced:
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


def _node_of(live: Live, model: nn.Module) -> ItemId:
    """The node that has bound a model to a name; "" where none has."""
    names = (name for name, value in live.namespace.items() if value is model and name in live.binder)
    return next((live.binder[name][0] for name in names), ItemId(""))


def _give_back(live: Live, step: Step, values: tuple[Any, ...]) -> None:
    """`torch.autograd.grad` returns gradients: they belong to what it differentiated by."""
    assert step.source.inputs is not None
    inputs = access.evaluate(step.source.inputs, live.namespace)
    grads = values[0] if len(values) == 1 and isinstance(values[0], tuple | list) else values
    for tensor, grad in zip(inputs if isinstance(inputs, tuple | list) else (inputs,), grads, strict=False):
        if isinstance(tensor, Tensor):
            live.gradients.returned(tensor, grad)
