"""Confusion: how often each class was taken for each."""

import torch

from gradstudio.engine.errors import CannotDraw
from gradstudio.engine.turns.chart.row_values import TOO_MANY, RowValues, classes_right, classes_said, targets_of
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.charts import MOST_CLASSES, ConfusionDrawn

NO_CLASSES = "It says nothing that can be compared with classes: choose the card of the prediction."


def confusion(node: ItemId, step: int, rows: RowValues) -> ConfusionDrawn:
    """Counts over the rows; what is to be left out (a class below zero) is.

    Raises:
        CannotDraw: there are no classes, or too many.
    """
    right = classes_right(targets_of(rows))
    if rows.result is None:
        raise CannotDraw(NO_CLASSES)
    said = classes_said(rows.result, are_logits=rows.compared.are_logits)
    kept = (right >= 0) & (said >= 0)
    right, said = right[kept], said[kept]
    if not len(right):
        raise CannotDraw(NO_CLASSES)
    classes = max(rows.result.shape[1], int(right.max()) + 1, int(said.max()) + 1, 2)
    if classes > MOST_CLASSES:
        raise CannotDraw(TOO_MANY)
    counts = torch.bincount(right * classes + said, minlength=classes**2).reshape(classes, classes)
    return ConfusionDrawn(node=node, step=step, counts=tuple(tuple(row) for row in counts.tolist()))
