"""The loss over two numbers as contours, and the path that these took on it while they were learnt."""

from typing import Final, NamedTuple

import torch
from torch import Tensor

from gradstudio.engine.live.live_state import Live
from gradstudio.engine.turns.chart.loss_surface import LossSurface, loss_surface
from gradstudio.engine.turns.chart.parameter_paths import ParameterPaths
from gradstudio.engine.turns.chart.plane_grid import Span, grid, square_around
from gradstudio.engine.turns.chart.program_lines import ProgramLines
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.charts import COLOURS, DescentDrawn

MARGIN: Final = 1.25
COARSE: Final = 40
"""Pixels across and down where the points are computed one by one."""


class Contours(NamedTuple):
    """The loss over a square as bytes."""

    span: Span
    side: int
    levels: bytes


class Descents:
    """Draws paths on the contours of the loss.

    Contours stay while a loop runs, as long as they hold the path; where it rests they are computed anew.

    Attributes:
        paths: where the numbers stood at the end of each turn.
    """

    def __init__(self) -> None:
        """Nothing is drawn."""
        self.paths = ParameterPaths()
        self._contours: dict[ItemId, Contours] = {}

    def clear(self) -> None:
        """A start from nothing."""
        self.paths.clear()
        self._contours.clear()

    def drawn(self, live: Live, lines: ProgramLines, node: ItemId, side: int, *, is_at_rest: bool) -> DescentDrawn:
        """The contours around the path so far, and around the point zero.

        Raises:
            CannotDraw: the node holds no two numbers that a loss is computed from.
        """
        surface = loss_surface(live, lines, node)
        self.paths.note(live)
        points = self.paths.points(node)
        path = torch.tensor([(point.x, point.y) for point in points], dtype=torch.float64)
        known = self._contours.get(node)
        span = square_around(torch.cat((path, path.new_zeros(1, 2))), known.span if known else None, MARGIN)
        if is_at_rest or known is None or known.span != span:
            known = self._contours[node] = _contours(surface, span, side)
        losses = _losses(surface, path.to(surface.like))
        return DescentDrawn(
            node=node,
            step=live.step_count,
            side=known.side,
            levels=known.levels,
            span=span,
            names=surface.axes,
            path=_bytes(path),
            losses=_bytes(losses),
            steps=tuple(point.step for point in points),
        )


def _contours(surface: LossSurface, span: Span, side: int) -> Contours:
    """As fine as it is wanted, where torch computes many points at once."""
    try:
        return Contours(span, side, _levels(surface.losses(grid(span, surface.like, side))))
    except RuntimeError:
        coarse = grid(span, surface.like, COARSE)
        return Contours(span, COARSE, _levels(surface.losses(coarse, at_once=False)))


def _losses(surface: LossSurface, points: Tensor) -> Tensor:
    try:
        return surface.losses(points)
    except RuntimeError:
        return surface.losses(points, at_once=False)


def _levels(losses: Tensor) -> bytes:
    """A byte each (`protocol.messages.charts.DescentDrawn`)."""
    finite = losses[torch.isfinite(losses)].double()
    low, high = (finite.min(), finite.max()) if len(finite) else (losses.new_zeros(()), losses.new_ones(()))
    share = ((losses.double() - low) / (high - low).clamp(min=torch.finfo(torch.float64).tiny)).clamp(0, 1)
    level = (share.nan_to_num(1.0) ** (1 / 3) * (COLOURS - 1)).round()
    return level.to("cpu", torch.uint8).numpy().tobytes()


def _bytes(numbers: Tensor) -> bytes:
    return numbers.to("cpu", torch.float32).contiguous().numpy().tobytes()
