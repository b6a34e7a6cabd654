"""Inference before running: whether the shapes and dtypes it states are those of the run."""

from gradstudio.errors import GradStudioError
from gradstudio.program.compile import compile_graph
from gradstudio.protocol.messages.inference import PortInference
from tools.conformance.canvas import Canvas, Held
from tools.conformance.engine import Engine
from tools.conformance.literals import NotWritable
from tools.conformance.opinfo import SEED
from tools.conformance.plan import Plan, Unplanned
from tools.conformance.tally import Verdict

MAX_OUTPUTS = 16
"""Of a long list so many elements are asked for."""


def judge(name: str, plan: Plan | Unplanned, engine: Engine) -> tuple[Verdict, Verdict] | None:
    """How inference does with small values computed, and without; None when there is nothing to state.

    The state of a verdict is "same", "unknown" (known after a run, or nothing said), "refused" (it forbids what
    torch allows) or "differs" (a wrong shape or dtype).
    """
    if isinstance(plan, Unplanned) or plan.error is not None or not plan.values:
        return None
    try:
        canvas = Canvas(plan, SEED, backward=False)
        held = canvas.element_nodes()[:MAX_OUTPUTS]
    except (GradStudioError, NotWritable):
        return None
    program = compile_graph(canvas.graph)
    if program.incomplete:
        return None
    first, second = (
        _verdict(
            name,
            plan,
            held,
            {(p.node, p.output): p for p in engine.infer(canvas.graph, program, run_small=small).ports},
        )
        for small in (True, False)
    )
    return first, second


def _verdict(name: str, plan: Plan, held: list[Held], ports: dict[tuple[str, int], PortInference]) -> Verdict:
    states = []
    for wire, value in zip(held, plan.values, strict=False):
        port = ports.get((wire.item, wire.output))
        if port is not None and port.refusal:
            states.append(("refused", port.refusal[:200]))
        elif port is None or port.shape is None or port.known_after_run:
            states.append(
                ("unknown", "known after a run" if port is not None and port.known_after_run else "nothing said")
            )
        elif tuple(port.shape) != tuple(value.shape) or port.dtype.removeprefix("torch.") != str(value.dtype)[6:]:
            told = f"{port.dtype} {tuple(port.shape)} instead of {str(value.dtype)[6:]} {tuple(value.shape)}"
            states.append(("differs", told))
    for state in ("differs", "refused", "unknown"):
        found = next((why for kind, why in states if kind == state), None)
        if found is not None:
            return Verdict(name, state, found)
    return Verdict(name, "same")
