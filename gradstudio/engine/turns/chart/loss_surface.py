"""The loss as a function of two numbers that are learnt: a tensor of two elements, or two of one each."""

from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor

from gradstudio.engine import access
from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.errors import CannotDraw
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.engine.turns.chart.data_flow import DataFlow
from gradstudio.engine.turns.chart.modules_at_rest import modules_at_rest
from gradstudio.engine.turns.chart.plane_function import steps_from
from gradstudio.engine.turns.chart.program_lines import NOWHERE, ProgramLines
from gradstudio.graph.model import ItemId

TWO: Final = 2
MOST_AT_ONCE: Final = 1 << 20
"""Numbers of the largest tensor that is read, for all points that are computed at once."""
LEAST_AT_ONCE: Final = 64
NOT_TWO: Final = "A path is drawn of two numbers that are learnt: a tensor of two elements, or two of one each."
NO_LOSS: Final = "No loss is computed from it."


@dataclass(frozen=True)
class LossSurface:
    """Two numbers, and the statements from them to the loss.

    Attributes:
        names: of the tensor of two elements, or of two of one each; `shapes` theirs.
        steps: in the order of the program; `result` the name of the loss.
        flow: values by name, of loaders those of all rows; what is set to evaluation meanwhile.
    """

    names: tuple[str, ...]
    shapes: tuple[torch.Size, ...]
    steps: tuple[Step, ...]
    result: str
    flow: DataFlow

    @property
    def axes(self) -> tuple[str, str]:
        """What the two numbers are called."""
        if len(self.names) == TWO:
            return self.names[0], self.names[1]
        return f"{self.names[0]}[0]", f"{self.names[0]}[1]"

    @property
    def like(self) -> Tensor:
        """A tensor of the dtype and the device of the numbers."""
        held: Tensor = self.flow.space[self.names[0]]
        return held.detach()

    def losses(self, points: Tensor, *, at_once: bool = True) -> Tensor:
        """The loss at each of the points `(count, 2)`, under evaluation and without gradients; `(count,)`.

        Args:
            at_once: many points together, which torch cannot do with every statement.

        Raises:
            CannotDraw: it is no number.
            Exception: what a statement raises, or what torch raises where it cannot compute many points at once.
        """
        read = [self.flow.space.get(name) for step in self.steps for name in step.source.operands]
        largest = max((value.numel() for value in read if isinstance(value, Tensor)), default=1)
        with modules_at_rest(self.flow.modules()), clean_modes():
            count = max(MOST_AT_ONCE // max(largest, 1), LEAST_AT_ONCE)
            every: Tensor = (
                torch.vmap(self._loss, chunk_size=count)(points)
                if at_once
                else torch.stack([self._loss(point) for point in points])
            )
        return every.detach().reshape(len(points))

    def _loss(self, point: Tensor) -> Tensor:
        names = dict(self.flow.space)
        parts = (point,) if len(self.names) == 1 else (point[0], point[1])
        for name, part, shape in zip(self.names, parts, self.shapes, strict=True):
            names[name] = part.reshape(shape)
        for step in self.steps:
            access.execute(step.source.code, names)
        value = names.get(self.result)
        if not isinstance(value, Tensor) or value.numel() != 1 or not value.is_floating_point():
            raise CannotDraw(NO_LOSS)
        return value.reshape(())


def loss_surface(live: Live, lines: ProgramLines, node: ItemId) -> LossSurface:
    """The loss over the two numbers that a node holds, or over the one that it holds and the only other.

    Raises:
        CannotDraw: it holds others; the message is the reason.
    """
    place = lines.place_of(node)
    item = lines.items[place] if place != NOWHERE else None
    if not isinstance(item, Step) or not item.statement.names:
        raise CannotDraw(NOT_TWO)
    held = live.namespace.get(item.statement.names[0])
    if not isinstance(held, Tensor) or not held.is_floating_point() or held.numel() not in (1, TWO):
        raise CannotDraw(NOT_TWO)
    for loss in _losses(live, lines):
        flow = DataFlow(live, lines, loss)
        leaves = _leaves(flow)
        if place not in leaves:
            continue
        places = [place] if held.numel() == TWO else [at for at in leaves if _count(live, lines, at) == 1]
        if held.numel() == 1 and len(places) != TWO:
            raise CannotDraw(NOT_TWO)
        names = tuple(_name(lines, at) for at in places)
        shapes = tuple(live.namespace[name].shape for name in names)
        with modules_at_rest(flow.modules()), clean_modes():
            steps = steps_from(flow, set(names), set(places))
        return LossSurface(names, shapes, steps, flow.result, flow)
    raise CannotDraw(NO_LOSS)


def numbers_now(names: tuple[str, ...], namespace: dict[str, Any]) -> tuple[float, float] | None:
    """The two numbers that names stand for now; None where they do not."""
    found: list[float] = []
    for name in names:
        value = namespace.get(name)
        if not isinstance(value, Tensor):
            return None
        found += value.detach().flatten().tolist()
    return (found[0], found[1]) if len(found) == TWO else None


def _losses(live: Live, lines: ProgramLines) -> list[int]:
    """Where what backwards begin from was bound; without any, each number, the last one first."""
    found = [
        at
        for place, item in enumerate(lines.items)
        if isinstance(item, Step) and item.statement.backward
        for _, at in list(lines.reads(place))[:1]
    ]
    if found:
        return list(dict.fromkeys(found))
    steps = [at for at, item in enumerate(lines.items) if isinstance(item, Step) and item.statement.names]
    return [at for at in reversed(steps) if _count(live, lines, at) == 1]


def _leaves(flow: DataFlow) -> list[int]:
    """Where what is learnt was bound that leads to the loss, in the order of the program."""
    *leading, _ = flow.lines.leading_to(flow.place)
    return [at for at in leading if _is_learnt(flow.live, flow.lines, at)]


def _is_learnt(live: Live, lines: ProgramLines, place: int) -> bool:
    value = live.namespace.get(_name(lines, place))
    return isinstance(value, Tensor) and value.requires_grad and value.is_leaf and lines.is_setup(place)


def _count(live: Live, lines: ProgramLines, place: int) -> int:
    value = live.namespace.get(_name(lines, place))
    return value.numel() if isinstance(value, Tensor) and value.is_floating_point() else 0


def _name(lines: ProgramLines, place: int) -> str:
    item = lines.items[place]
    return item.statement.names[0] if isinstance(item, Step) and item.statement.names else ""
