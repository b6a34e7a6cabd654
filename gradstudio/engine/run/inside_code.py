"""Statements whose Python is not drawn: a recorded run looks at what they call of torch."""

import types
from contextlib import AbstractContextManager, nullcontext

from torch import nn

from gradstudio.engine import access
from gradstudio.engine.bring.layer_constructors import is_stock
from gradstudio.engine.code.code_recorder import InsideCalls
from gradstudio.engine.code.code_recorder import Telling as Telling
from gradstudio.engine.code.freedom import freedom
from gradstudio.engine.live.call_frames import Execution
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.run.call_tracing import CALL, CALLED, CallTracer
from gradstudio.graph.text.code_records import FREE


def execute(live: Live, execution: Execution, telling: Telling) -> None:
    """Execute a statement.

    Raises:
        Exception: whatever it raises.
    """
    with _watching(live, execution, telling):
        access.execute(execution.step.source.code, live.namespace)


def enter(insides: CallTracer, execution: Execution, telling: Telling) -> bool:
    """Execute a statement that calls; True when it calls a definition, whose inside is to run first.

    Raises:
        Exception: whatever it raises.
    """
    with _watching(insides.live, execution, telling):
        return insides.enter(execution)


def _watching(live: Live, execution: Execution, telling: Telling) -> AbstractContextManager[None]:
    if freedom.now and _may_hold_code(live, execution):
        return InsideCalls(live, execution, telling).watching()
    return nullcontext()


def _may_hold_code(live: Live, execution: Execution) -> bool:
    """Whether it is code, or calls what code made; a layer of torch's own is one call, which is the statement.

    So is what `torch.compile` has made: beside hooks torch would compile nothing, and the hooks in place of it.
    """
    statement = execution.step.statement
    if statement.operator != CALL:
        return statement.operator in FREE and not any(
            _is_compiled(live.namespace.get(name)) for name in execution.step.source.reads
        )
    module = live.namespace.get(dict(statement.inputs).get(CALLED, ""))
    return isinstance(module, nn.Module) and not is_stock(module) and not _is_compiled(module)


def _is_compiled(value: object) -> bool:
    """Whether `torch.compile` has made it, or a module within."""
    if isinstance(value, nn.Module):
        return hasattr(value, "_orig_mod") or any(one._compiled_call_impl is not None for one in value.modules())
    return isinstance(value, types.FunctionType) and hasattr(value, "_torchdynamo_orig_callable")
