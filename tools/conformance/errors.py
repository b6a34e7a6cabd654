"""Wrong calls: what torch refuses must fail at the node, with torch's words."""

import warnings
from collections.abc import Iterator
from typing import Any

import torch

from gradstudio.errors import GradStudioError
from gradstudio.program.compile import compile_graph
from tools.conformance.canvas import Canvas
from tools.conformance.engine import Engine, Ran
from tools.conformance.literals import NotWritable
from tools.conformance.opinfo import SEED, plan_of
from tools.conformance.plan import Plan, Unplanned
from tools.conformance.tally import Verdict


def plans(op: Any, seed: int) -> Iterator[Plan | Unplanned]:
    """Every wrong call of an entry that torch does refuse."""
    if op.error_inputs_func is None:
        return
    torch.default_generator.manual_seed(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(op.error_inputs("cpu"))
        for wrong in found:
            sample = wrong.sample_input
            try:
                plan = plan_of(op, op.op, (sample.input, *sample.args), sample.kwargs, "function")
            except Unplanned as reason:
                yield reason
            else:
                if plan.error is not None:
                    yield plan


def judge(name: str, plan: Plan | Unplanned, engine: Engine) -> Verdict:
    """Whether the canvas of a wrong call fails as torch does."""
    if isinstance(plan, Unplanned):
        return Verdict(name, "unbuilt", str(plan))
    try:
        canvas = Canvas(plan, SEED, strict=False, backward=False)
    except (GradStudioError, NotWritable) as error:
        return Verdict(name, "unbuilt", f"{plan.calls[-1].path if plan.calls else ''}: {error}")
    program = compile_graph(canvas.graph)
    if program.incomplete:
        return Verdict(name, "unbuilt", f"incomplete: {program.incomplete[0].reason}")
    engine.submit(canvas.graph, program)
    why = _differs(plan, canvas, engine.collect())
    return Verdict(name, "differs" if why else "same", why)


def _differs(plan: Plan, canvas: Canvas, ran: Ran) -> str:
    assert plan.error is not None
    if ran.failed is None:
        return f"it runs; torch says {plan.error[0]}: {plan.error[1][:200]}"
    if ran.failed.node != canvas.last:
        return f"it fails at another node: {ran.failed.message[:200]}"
    told = (ran.failed.type_name, ran.failed.message)
    if told != plan.error:
        return f"{told[0]}: {told[1][:200]}; torch says {plan.error[0]}: {plan.error[1][:200]}"
    return ""
