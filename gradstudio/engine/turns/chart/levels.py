"""Numbers over the plane as bytes that a picture has colours for (`protocol.messages.charts`)."""

from typing import Final, NamedTuple

import torch
from torch import Tensor

from gradstudio.engine.errors import CannotDraw
from gradstudio.protocol.messages.charts import COLOURS, MOST_CLASSES, shades_of

NEAR_ONE: Final = 1e-4
TOO_MANY: Final = f"It tells more than {MOST_CLASSES} classes apart, which is more than there are colours."


class Scale(NamedTuple):
    """How numbers become bytes.

    Attributes:
        classes: of how many; 0: one number, whose scale goes from `low` to `high`, behind a sigmoid of `are_logits`.
    """

    classes: int
    low: float = 0.0
    high: float = 1.0
    are_logits: bool = False


def scale_of(values: Tensor, targets: Tensor | None, are_logits: bool) -> Scale:
    """The scale of values `(rows, outputs)` that are to be `targets` `(rows)`.

    Raises:
        CannotDraw: there are too many classes.
    """
    count = values.shape[1]
    if count > 1 or not values.is_floating_point():
        known = int(targets.max()) + 1 if targets is not None and not targets.is_floating_point() else 1
        classes = count if count > 1 else max(int(values.max()) + 1, known, 2)
        if classes > MOST_CLASSES:
            raise CannotDraw(TOO_MANY)
        return Scale(classes)
    if are_logits:
        return Scale(0, are_logits=True)
    finite = [one[torch.isfinite(one)] for one in (targets, values) if one is not None]
    ends = next(((float(one.min()), float(one.max())) for one in finite if one.numel()), (0.0, 1.0))
    return Scale(0, *ends) if ends[1] > ends[0] else Scale(0, ends[0] - 0.5, ends[0] + 0.5)


def levels(values: Tensor, scale: Scale) -> Tensor:
    """A byte a row, of values `(rows, outputs)`."""
    if not scale.classes:
        number = values[:, 0].float()
        share = number.sigmoid() if scale.are_logits else (number - scale.low) / (scale.high - scale.low)
        return (share.nan_to_num(0.5).clamp(0, 1) * (COLOURS - 1)).round().to(torch.uint8)
    shades = shades_of(scale.classes)
    if values.shape[1] == 1:
        return class_levels(values[:, 0], scale)
    sure, winner = _shares(values.float()).nan_to_num(0.0).max(1)
    least = 1 / scale.classes
    shade = ((sure - least) / (1 - least)).clamp(0, 1) * (shades - 1)
    return (winner * shades + shade.round().long()).to(torch.uint8)


def class_levels(classes: Tensor, scale: Scale) -> Tensor:
    """A byte a row, of the numbers of classes that are sure."""
    shades = shades_of(scale.classes)
    return (classes.long().clamp(0, scale.classes - 1) * shades + shades - 1).to(torch.uint8)


def target_levels(targets: Tensor, scale: Scale) -> Tensor:
    """A byte a row, of what the values are to be."""
    if scale.classes:
        return class_levels(targets, scale)
    return levels(targets.reshape(-1, 1), scale._replace(are_logits=False))


def _shares(values: Tensor) -> Tensor:
    """Probabilities of values that are those, their logarithms, or scores."""
    if bool((values >= 0).all()) and bool(((values.sum(1) - 1).abs() < NEAR_ONE).all()):
        return values
    return values.softmax(1)  # of logarithms it is what they are the logarithms of
