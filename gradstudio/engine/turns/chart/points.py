"""Rows as points: predictions against targets, and the two principal components of what a layer gives."""

from typing import Final

import torch
from torch import Tensor

from gradstudio.engine.errors import CannotDraw
from gradstudio.engine.turns.chart.levels import Scale, scale_of, target_levels
from gradstudio.engine.turns.chart.row_values import RowValues, targets_of
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.charts import PointsDrawn

MOST_POINTS: Final = 1000
MOST_FEATURES: Final = 4096
MARGIN: Final = 1.08
ARE_CLASSES: Final = "What is right are classes: choose Confusion matrix."
SEVERAL: Final = "It gives {count} numbers a row where one is right: choose the card of the prediction."
NO_FEATURES: Final = "It gives one number a row, which has no two components."
NOT_FINITE: Final = "No row of it is finite."
Span = tuple[float, float, float, float]


def prediction(node: ItemId, step: int, rows: RowValues, known: Span | None) -> PointsDrawn:
    """What was said over what is right, on one scale.

    Raises:
        CannotDraw: there are no numbers to compare.
    """
    targets = targets_of(rows)
    result = rows.result
    if not targets.is_floating_point():
        raise CannotDraw(ARE_CLASSES)
    if result is None or result.shape[1] != 1:
        raise CannotDraw(SEVERAL.format(count=result.shape[1] if result is not None else "no"))
    pairs = torch.stack((targets.double(), result[:, 0].double()), 1)
    pairs = pairs[torch.isfinite(pairs).all(1)]
    if not len(pairs):
        raise CannotDraw(NOT_FINITE)
    span = _square(pairs.min().item(), pairs.max().item(), known)
    right, said = pairs[:, 0], pairs[:, 1]
    spread = ((right - right.mean()) ** 2).sum().item()
    figure = 1 - ((said - right) ** 2).sum().item() / spread if spread else None
    return PointsDrawn(
        node=node, step=step, kind="prediction", span=span, points=_bytes(_some(pairs)), figure=figure, rows=len(pairs)
    )  # fmt: skip


def components(node: ItemId, step: int, rows: RowValues, known: Span | None) -> PointsDrawn:
    """The two principal components: https://en.wikipedia.org/wiki/Principal_component_analysis.

    A component is so turned that the largest of its weights is positive.

    Raises:
        CannotDraw: there are not two.
    """
    flat = rows.flat
    if flat.shape[1] < 2 or len(flat) < 2:
        raise CannotDraw(NO_FEATURES)
    if flat.shape[1] > MOST_FEATURES:
        raise CannotDraw(f"Each row of it has more than {MOST_FEATURES:,} numbers, too many to be looked at so often.")
    flat = _some(flat.double())
    targets = rows.compared.targets
    targets = _some(targets) if targets is not None else None
    finite = torch.isfinite(flat).all(1)
    if int(finite.sum()) < 2:
        raise CannotDraw(NOT_FINITE)
    flat = flat[finite]
    centred = flat - flat.mean(0)
    _, weights, directions = torch.linalg.svd(centred, full_matrices=False)
    directions = directions[:2]
    largest = directions.gather(1, directions.abs().argmax(1, keepdim=True))
    points = centred @ (directions * largest.sign()).T
    whole = (weights**2).sum().item()
    farthest = points.abs().max().item() or 1.0
    scale = _scale(targets[finite]) if targets is not None else None
    return PointsDrawn(
        node=node, step=step, kind="components", span=_square(-farthest, farthest, known), points=_bytes(points),
        point_levels=_levels(targets[finite], scale) if targets is not None and scale is not None else b"",
        classes=scale.classes if scale is not None else 0,
        figure=(weights[:2] ** 2).sum().item() / whole if whole else None, rows=len(rows.flat),
    )  # fmt: skip


def _scale(targets: Tensor) -> Scale | None:
    """What colours mean; none of more classes than there are colours for."""
    values = targets.reshape(-1, 1)
    if not targets.is_floating_point() and int(targets.min()) < 0:
        return None
    try:
        return scale_of(values, targets, are_logits=False)
    except CannotDraw:
        return None


def _levels(targets: Tensor, scale: Scale) -> bytes:
    return target_levels(targets, scale).cpu().numpy().tobytes()


def _some(rows: Tensor) -> Tensor:
    """Rows, or so many of them, evenly."""
    if len(rows) <= MOST_POINTS:
        return rows
    return rows[torch.linspace(0, len(rows) - 1, MOST_POINTS).long().to(rows.device)]


def _bytes(points: Tensor) -> bytes:
    return points.to(device="cpu", dtype=torch.float32).contiguous().numpy().tobytes()


def _square(low: float, high: float, known: Span | None) -> Span:
    """One scale across and up, with room at its edge; what it was, while that is neither too small nor too large."""
    half = (high - low) / 2 * MARGIN or 1.0
    middle = (low + high) / 2
    if known is not None and known[0] <= low and high <= known[1] and known[1] - known[0] < 4 * half:
        return known
    return middle - half, middle + half, middle - half, middle + half
