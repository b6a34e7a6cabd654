"""Which function of two inputs leads to a node: the statements between the data and what the node gives.

Where what is learnt first meets a tensor of two columns, or two tensors of one each, there the function begins; what it
gives for a plane of points is computed by the same statements.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gradstudio.engine import access
from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.errors import CannotDraw
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.engine.turns.chart.data_flow import EFFECTS, NOT_CALLED, ONE_FOR_ALL, DataFlow, flows_to, refuse_effects
from gradstudio.engine.turns.chart.modules_at_rest import modules_at_rest
from gradstudio.engine.turns.chart.program_lines import ProgramLines
from gradstudio.graph.model import ItemId

TWO = 2
NO_DATA = "It is computed from no data."
NOT_RUN = "It has not run yet."


@dataclass(frozen=True)
class PlaneFunction:
    """Two inputs, the statements that follow from them, and what comes out.

    Attributes:
        inputs: the name of a tensor of two columns, or those of two tensors of one number a row.
        steps: in the order of the program; `result` the name that the last of them binds.
        modules: what is set to evaluation meanwhile.
        points: the data, `(rows, 2)`; `targets` what the loss compares with, a row each, where there is a loss.
        are_logits: the loss takes the sigmoid itself.
    """

    inputs: tuple[str, ...]
    steps: tuple[Step, ...]
    result: str
    modules: tuple[nn.Module, ...]
    shapes: tuple[torch.Size, ...]
    points: Tensor
    targets: Tensor | None
    are_logits: bool

    def values(self, namespace: dict[str, Any], points: Tensor) -> Tensor:
        """What it gives for points `(rows, 2)`, under evaluation and without gradients; `(rows, outputs)`.

        Raises:
            CannotDraw: it gives something else than a row for each row.
        """
        names = dict(namespace)
        names.update(zip(self.inputs, self._as_inputs(points), strict=True))
        with modules_at_rest(self.modules), clean_modes():
            for step in self.steps:
                access.execute(step.source.code, names)
        value = names.get(self.result)
        if not isinstance(value, Tensor) or value.is_complex() or not value.ndim or len(value) != len(points):
            raise CannotDraw("It does not give one row for each row that it is given.")
        return value.detach().reshape(len(points), -1)

    def _as_inputs(self, points: Tensor) -> tuple[Tensor, ...]:
        if len(self.inputs) == 1:
            return (points,)
        columns = (points[:, 0], points[:, 1])
        pairs = zip(columns, self.shapes, strict=True)
        return tuple([one.reshape(len(points), *shape[1:]) for one, shape in pairs])


def plane_function(live: Live, lines: ProgramLines, node: ItemId) -> PlaneFunction:
    """The function that leads to what a node gives, or that the module it makes is first called for.

    Raises:
        CannotDraw: there is none; the message is the reason.
    """
    reason = CannotDraw(NOT_CALLED)
    for flow in flows_to(live, lines, node):
        made = live.namespace.get(flow.result)
        if flow.step.id == node and isinstance(made, Tensor) and not made.ndim:
            raise CannotDraw(ONE_FOR_ALL)
        try:
            return _function(flow)
        except CannotDraw as error:
            reason = error
    raise reason


def steps_from(flow: DataFlow, inputs: set[str], borders: set[int]) -> tuple[Step, ...]:
    """From the inputs on, in order; what else they read is there under its name, or is computed along.

    Args:
        inputs, borders: their names, and where those are bound.

    Raises:
        CannotDraw: a statement on the way cannot be run twice.
    """

    def is_there(name: str, at: int) -> bool:
        return (name in inputs and at in borders) or flow.is_given(at) or flow.stands(name, at)

    found = flow.lines.leading_to(flow.place, is_there)
    steps = [item for at in found if isinstance(item := flow.lines.items[at], Step)]
    made = {name for step in steps for name in step.statement.names}
    for item in flow.lines.items[found[0] : flow.place + 1]:
        if isinstance(item, Step) and item.statement.writes and not made.isdisjoint(item.source.operands):
            raise CannotDraw(EFFECTS)
    for step in steps:
        refuse_effects(step)
    return tuple(steps)


def _function(flow: DataFlow) -> PlaneFunction:
    learns = flow.that_learn(flow.inside(flow.place))
    begins = sorted({pair for at in learns for pair in flow.lines.reads(at) if pair[1] not in learns}, key=_place)
    with modules_at_rest(flow.modules()), clean_modes():
        inputs = _inputs(flow, begins)
        values = [flow.space[name] for name in inputs]
        compared = flow.compared(len(values[0]) if values[0].ndim == TWO or len(inputs) > 1 else 1)
    one = values[0].reshape(-1, TWO) if len(inputs) == 1 else torch.stack([one.reshape(-1) for one in values], 1)
    steps = steps_from(flow, set(inputs), {at for name, at in begins if name in inputs})
    shapes = tuple([one.shape for one in values])
    return PlaneFunction(
        inputs, steps, flow.result, flow.modules(), shapes, one.detach(), compared.targets, compared.are_logits
    )


def _inputs(flow: DataFlow, begins: list[tuple[str, int]]) -> tuple[str, ...]:
    """The names of what is data of two columns."""
    tensors = [(name, value) for name, at in begins if isinstance(value := flow.value(name, at), Tensor)]
    floats = [(name, value) for name, value in tensors if value.is_floating_point() and not value.requires_grad]
    pairs = [(len(value) if value.ndim == TWO else 0, name) for name, value in floats if _is_pair(value)]
    if pairs:
        return (max(pairs, key=lambda pair: pair[0])[1],)
    ones = [(name, value.shape) for name, value in floats if _is_column(value)]
    if len(ones) == TWO and ones[0][1][0] == ones[1][1][0]:
        return (ones[0][0], ones[1][0])
    if not tensors:
        has_run = any(flow.space.get(name) is not None for name, _ in begins)
        raise CannotDraw(NO_DATA if has_run else NOT_RUN)
    words = ", ".join(f"{name} {tuple(value.shape)}" for name, value in tensors[:TWO])
    raise CannotDraw(f"A boundary is drawn of functions of two numbers; this one is of {words}.")


def _place(pair: tuple[str, int]) -> int:
    return pair[1]


def _is_pair(value: Tensor) -> bool:
    return value.ndim in (1, TWO) and value.shape[-1] == TWO


def _is_column(value: Tensor) -> bool:
    return value.ndim == 1 or (value.ndim == TWO and value.shape[1] == 1)
