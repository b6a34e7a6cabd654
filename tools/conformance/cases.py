"""Cases: a plan drawn, compiled, run by the engine and exported, and what came out differently from torch."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from gradstudio.errors import GradStudioError
from gradstudio.program.compile import compile_graph
from gradstudio.program.model import Program
from gradstudio.protocol.messages.records import ModuleRecord, TensorRecord
from tools.conformance.canvas import Canvas
from tools.conformance.compare import arrays_differ, differs, plain_array, plain_differs, record_at, summary_differs
from tools.conformance.engine import Engine, Ran
from tools.conformance.literals import NotWritable
from tools.conformance.opinfo import SEED
from tools.conformance.plan import Plan, Unplanned
from tools.conformance.scripts import Scripts
from tools.conformance.tally import Verdict
from tools.conformance.wire import Answer, Array

DEPTH = 6
"""Cases on their way at once."""
MAX_ITEMS = 64
"""Of a list the engine records so many items."""


@dataclass(slots=True)
class Flying:
    """A case that was sent."""

    plan: Plan
    canvas: Canvas
    program: Program
    ahead: "list[Verdict]" = field(default_factory=list)


def judge(plans: Iterable[tuple[str, Plan | Unplanned]], engine: Engine, scripts: Scripts) -> Iterator[Verdict]:
    """The verdict on every plan, in order; several are on their way at once."""
    flying: deque[Flying] = deque()
    for name, plan in plans:
        ready = draw(name, plan)
        if isinstance(ready, Verdict):
            if flying:
                flying[-1].ahead.append(ready)
            else:
                yield ready
            continue
        while flying and (len(flying) >= DEPTH or engine.is_due):
            yield from _land(flying.popleft(), engine, scripts)
        _send(ready, engine, scripts)
        flying.append(ready)
    while flying:
        yield from _land(flying.popleft(), engine, scripts)


def draw(name: str, plan: Plan | Unplanned) -> "Flying | Verdict":
    """The plan as a program, or why there is none."""
    if isinstance(plan, Unplanned):
        return Verdict(name, "unbuilt", str(plan))
    if plan.error is not None:
        return Verdict(name, "refused", f"{plan.error[0]}: {plan.error[1]}")
    try:
        canvas = Canvas(plan, SEED)
    except (GradStudioError, NotWritable) as error:
        return Verdict(name, "unbuilt", f"{plan.calls[-1].path if plan.calls else ''}: {error}")
    program = compile_graph(canvas.graph)
    if program.incomplete:
        return Verdict(name, "unbuilt", f"incomplete: {program.incomplete[0].reason}")
    return Flying(plan, canvas, program)


def _send(case: Flying, engine: Engine, scripts: Scripts) -> None:
    engine.submit(case.canvas.graph, case.program)
    outputs = case.canvas.outputs or [("y", ())]
    scripts.submit(case.canvas.graph, case.program, outputs, case.canvas.leaves, plain=not case.plan.outputs)


def _land(case: Flying, engine: Engine, scripts: Scripts) -> Iterator[Verdict]:
    yield verdict(case, engine.collect(), scripts.collect())
    yield from case.ahead


def verdict(case: Flying, ran: Ran, answer: Answer) -> Verdict:
    """Compare what the engine told and what the script gave with what torch gave."""
    of_engine, of_script = engine_differs(case, ran), script_differs(case, answer)
    told = [f"{who}: {text}" for who, text in (("engine", of_engine), ("script", of_script)) if text]
    return Verdict(
        case.plan.name,
        "differs" if told else "same",
        "; ".join(told),
        bool(case.plan.cotangents),
        not of_engine,
        not of_script,
    )


def engine_differs(case: Flying, ran: Ran) -> str:
    """What the engine's report says otherwise than torch; "" when nothing."""
    plan = case.plan
    if ran.failed is not None:
        return f"failed with {ran.failed.type_name}: {ran.failed.message[:200]}"
    if ran.paused is None or ran.paused.outcome != "done":
        return f"ended as {ran.paused.outcome if ran.paused else 'nothing'}"
    for number, (name, way) in enumerate(case.canvas.outputs):
        entry = ran.entries.get(name)
        if entry is None:
            return f"{name} is not in the report"
        if any(step >= MAX_ITEMS for step in way):
            continue
        text = differs(record_at(entry.outputs[0], way), plan.values[number], values=not plan.uninitialised)
        if text:
            return f"output {number}: {text}"
    entry = ran.entries.get("y")
    if not plan.outputs and entry is not None and (text := plain_differs(entry.outputs[0], plan.plain[0])):
        return text
    return _engine_grads(case, ran)


def _engine_grads(case: Flying, ran: Ran) -> str:
    plan = case.plan
    for number, expected in plan.grads.items():
        record = ran.entries[case.canvas.inputs[number]].outputs[0]
        if not isinstance(record, TensorRecord):
            return f"x{number} is no tensor in the report"
        if text := summary_differs(record.grad, expected, values=not plan.uninitialised):
            return f"gradient of x{number}: {text}"
    if plan.parameter_grads:
        module = ran.entries["m"].outputs[0]
        if not isinstance(module, ModuleRecord):
            return "m is no module in the report"
        for path, expected in plan.parameter_grads.items():
            if text := summary_differs(module.parameters[path].grad, expected):
                return f"gradient of {path}: {text}"
    return ""


def script_differs(case: Flying, answer: Answer) -> str:
    """What the exported script gives otherwise than torch; "" when nothing."""
    plan = case.plan
    if answer.error is not None:
        return f"failed with {answer.error[0]}: {answer.error[1][:200]}"
    for number, given in enumerate(answer.outputs if plan.outputs else ()):
        if text := _array_differs(given, plan.values[number], values=not plan.uninitialised):
            return f"output {number}: {text}"
    if not plan.outputs and plan.plain and answer.plain != repr(plan.plain[0]):
        return f"{answer.plain[:80]} instead of {plan.plain[0]!r:.80}"
    expected = {case.canvas.inputs[number]: grad for number, grad in plan.grads.items()}
    expected |= {f"m.{path}": grad for path, grad in plan.parameter_grads.items()}
    for name, grad in expected.items():
        if text := _array_differs(answer.grads.get(name), grad, values=not plan.uninitialised):
            return f"gradient of {name}: {text}"
    return ""


def _array_differs(given: Array | None, expected: object, *, values: bool) -> str:
    if given is None or expected is None:
        return "" if (given is None) == (expected is None) else "a tensor is there on one side only"
    if given.dtype != str(expected.dtype):  # type: ignore[attr-defined]  # a tensor by now
        return f"dtype {given.dtype} instead of {expected.dtype}"  # type: ignore[attr-defined]  # as above
    if given.shape != tuple(expected.shape):  # type: ignore[attr-defined]  # as above
        return f"shape {given.shape} instead of {tuple(expected.shape)}"  # type: ignore[attr-defined]  # as above
    wanted = plain_array(expected)  # type: ignore[arg-type]  # as above
    if not values or not wanted.size:
        return ""
    return arrays_differ(np.frombuffer(given.data, np.dtype(given.kind)).reshape(wanted.shape), wanted)
