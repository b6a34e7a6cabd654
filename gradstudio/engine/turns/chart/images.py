"""Images: of data with what they are and were taken for, of what a layer gives, and the filters of a layer."""

import math
from typing import Final, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from gradstudio.engine.errors import CannotDraw
from gradstudio.engine.turns.chart.row_values import RowValues, classes_said
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.charts import MOST_TILE_PX, MOST_TILES, ImagesDrawn

COLOUR: Final = 3
LEAST_SIDE: Final = 3
MIDDLE: Final = 128
NO_IMAGES: Final = (
    "It has no images: neither (rows, height, width), nor channels before them, nor rows that are a square."
)
NO_FILTERS: Final = "Its weights are no images."


class _Planes(NamedTuple):
    """Images `(count, channels, height, width)`, and whether each is a row of the data."""

    values: Tensor
    are_rows: bool


def filters(node: ItemId, step: int, module: nn.Module) -> ImagesDrawn:
    """The weights of the first convolution in a module, or of the first layer whose inputs are a square.

    Raises:
        CannotDraw: none of its weights are images.
    """
    for inner in module.modules():
        weight = getattr(inner, "weight", None)
        if isinstance(weight, Tensor) and weight.is_floating_point():
            kernels = weight.detach()
            many = kernels.ndim == 4 and kernels.shape[1] not in (1, COLOUR)
            planes = _planes(kernels.flatten(0, 1).unsqueeze(1) if many else kernels)
            if planes is not None:
                return images_drawn(node, step, planes.values, signed=True)
    raise CannotDraw(NO_FILTERS)


def images(node: ItemId, step: int, rows: RowValues) -> ImagesDrawn:
    """Some of the images that a node gives; of one with many channels these, side by side.

    Raises:
        CannotDraw: it gives none.
    """
    planes = _planes(rows.values)
    if planes is None:
        raise CannotDraw(NO_IMAGES)
    truths: tuple[int, ...] = ()
    said: tuple[int, ...] = ()
    targets, result = rows.compared.targets, rows.result
    if planes.are_rows and targets is not None and not targets.is_floating_point():
        chosen = _evenly(len(planes.values)).to(targets.device)
        truths = tuple(targets[chosen].tolist())
        if result is not None and (result.shape[1] > 1 or not result.is_floating_point()):
            said = tuple(classes_said(result[chosen], are_logits=False).tolist())
    return images_drawn(node, step, planes.values, truths, said, signed=bool((planes.values < 0).any()))


def images_drawn(
    node: ItemId, step: int, planes: Tensor, truths: tuple[int, ...] = (), said: tuple[int, ...] = (), *, signed: bool
) -> ImagesDrawn:
    """Some of the images `(count, channels, height, width)`, large ones made smaller, all on one scale."""
    some = planes[_evenly(len(planes)).to(planes.device)]
    height, width = some.shape[2:]
    if max(height, width) > MOST_TILE_PX:
        factor = MOST_TILE_PX / max(height, width)
        sides = (max(1, round(height * factor)), max(1, round(width * factor)))
        some = functional.interpolate(some, size=sides, mode="area")
    span = _span(some, signed=signed)
    levels = _levels(some, span, signed=signed).permute(0, 2, 3, 1).contiguous()
    return ImagesDrawn(
        node=node, step=step, height=some.shape[2], width=some.shape[3], channels=some.shape[1],
        pixels=levels.cpu().numpy().tobytes(), truths=truths, said=said, total=len(planes), signed=signed, span=span,
        sizes=(height, width),
    )  # fmt: skip


def _planes(values: Tensor) -> _Planes | None:
    """The images of a tensor; None where there are none."""
    values = values.float()
    if values.ndim == 4 and min(values.shape[2:]) >= LEAST_SIDE:
        is_picture = values.shape[1] in (1, COLOUR)
        return _Planes(values, True) if is_picture else _Planes(values[0].unsqueeze(1), False)
    if values.ndim == 3 and min(values.shape[1:]) >= LEAST_SIDE:
        is_colour = values.shape[0] == COLOUR
        return _Planes(values.unsqueeze(0), False) if is_colour else _Planes(values.unsqueeze(1), True)
    side = math.isqrt(values.shape[-1]) if values.ndim == 2 else 0
    if side > LEAST_SIDE and side**2 == values.shape[1]:
        return _Planes(values.reshape(-1, 1, side, side), True)
    return None


def _evenly(count: int) -> Tensor:
    """Which of so many are drawn."""
    return torch.linspace(0, count - 1, min(count, MOST_TILES)).long()


def _span(some: Tensor, *, signed: bool) -> tuple[float, float]:
    """The ends of the scale: the least and the largest number, or as far below zero as above it."""
    finite = some[torch.isfinite(some)]
    if not finite.numel():
        return 0.0, 0.0
    if signed:
        farthest = float(finite.abs().max())
        return -farthest, farthest
    return float(finite.min()), float(finite.max())


def _levels(some: Tensor, span: tuple[float, float], *, signed: bool) -> Tensor:
    """Bytes on that scale."""
    low, high = span
    if signed:
        share = some / (high or 1.0) * (MIDDLE - 1) + MIDDLE
    else:
        share = (some - low) / ((high - low) or 1.0) * 255
    return share.nan_to_num(float(MIDDLE)).clamp(0, 255).round().to(torch.uint8)
