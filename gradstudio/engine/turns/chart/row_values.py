"""What a node gives for the rows of the data, and what each row is to be."""

from typing import Final, NamedTuple

import torch
from torch import Tensor

from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.errors import CannotDraw
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.turns.chart.data_flow import NOT_CALLED, ONE_FOR_ALL, Compared, DataFlow, flows_to
from gradstudio.engine.turns.chart.modules_at_rest import modules_at_rest
from gradstudio.engine.turns.chart.program_lines import ProgramLines
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.charts import MOST_CLASSES

NO_ROWS: Final = "It gives no tensor with a row for each row of the data."
NO_TARGETS: Final = "The program compares it with nothing that says what is right for each row."
NOT_CLASSES: Final = "What is right are numbers, not classes: choose Prediction against target."
TOO_MANY: Final = f"It tells more than {MOST_CLASSES} classes apart, which is more than there is room for."


class RowValues(NamedTuple):
    """What a node gives: `values`, a row each; and what they are compared with.

    Attributes:
        result: of what is compared with the targets, `(rows, outputs)`: what the node gives, or what follows from it;
            None where nothing is.
    """

    values: Tensor
    compared: Compared
    result: Tensor | None

    @property
    def flat(self) -> Tensor:
        """Values `(rows, outputs)`."""
        return self.values.reshape(len(self.values), -1)


def row_values(live: Live, lines: ProgramLines, node: ItemId) -> RowValues:
    """What a node, or the call of the module that it makes, gives under evaluation for the rows that are known.

    Raises:
        CannotDraw: it is no tensor with rows; the message is the reason.
    """
    reason = NOT_CALLED
    for flow in flows_to(live, lines, node):
        with modules_at_rest(flow.modules()), clean_modes():
            value = flow.value(flow.result, flow.place)
            if not isinstance(value, Tensor) or value.is_complex() or not value.numel():
                reason = NO_ROWS
                continue
            if not value.ndim:
                reason = ONE_FOR_ALL
                continue
            compared, result = _compared(flow, len(value))
        return RowValues(value.detach(), compared, result)
    raise CannotDraw(reason)


def _compared(flow: DataFlow, rows: int) -> tuple[Compared, Tensor | None]:
    """What so many rows are to be, and what is said of them, `(rows, outputs)`.

    Of data it is what is said by what learns from it; where that is not of the same rows, only what is right is known.
    """
    onward = flow if flow.is_learnt else flow.learner()
    compared = onward.compared(rows) if onward is not None else Compared()
    if onward is None or compared.targets is None:
        return flow.compared(rows), None
    result = onward.value(compared.result, compared.place)
    if not isinstance(result, Tensor) or not result.ndim or len(result) != rows:
        return compared, None
    return compared, result.detach().reshape(rows, -1)


def targets_of(rows: RowValues) -> Tensor:
    """What is right, `(rows,)`.

    Raises:
        CannotDraw: it is not known.
    """
    if rows.compared.targets is None:
        raise CannotDraw(NO_TARGETS)
    return rows.compared.targets


def classes_said(result: Tensor, *, are_logits: bool) -> Tensor:
    """The class that wins in each row `(rows,)` of scores, of one probability or score, or of numbers of classes."""
    if result.shape[1] > 1:
        return result.argmax(1)
    column = result[:, 0]
    if not column.is_floating_point():
        return column.long()
    return (column > (0.0 if are_logits else 0.5)).long()


def classes_right(targets: Tensor) -> Tensor:
    """Targets as numbers of classes.

    Raises:
        CannotDraw: they are other numbers.
    """
    if targets.is_floating_point() and not torch.equal(targets, targets.round()):
        raise CannotDraw(NOT_CLASSES)
    return targets.long()
