"""Attention maps: the weights of the first item of a batch, a picture a head, queries down and keys across."""

import msgspec
import torch
from torch import Tensor

from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.errors import CannotDraw
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.turns.chart.data_flow import NOT_CALLED, DataFlow, flows_to
from gradstudio.engine.turns.chart.histogram import NOT_FINITE
from gradstudio.engine.turns.chart.images import images_drawn
from gradstudio.engine.turns.chart.modules_at_rest import modules_at_rest
from gradstudio.engine.turns.chart.program_lines import ProgramLines
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.charts import ImagesDrawn

TOLERANCE = 1e-2
"""So far from one a row of weights may sum: half precision."""
NO_MAP = "It gives no map: choose the card of weights, numbers (…, queries, keys), such as what softmax gives."


def attention(node: ItemId, live: Live, lines: ProgramLines) -> ImagesDrawn:
    """What a node, or the call of the module that it makes, gives for the first row of the data, under evaluation.

    Of several values it is the first whose rows are weights, else the first that is a map at all. Of `(B, H, L, S)` the
    first of B is drawn, of `(H, L, S)` each.

    Raises:
        CannotDraw: it gives no map; the message is the reason.
    """
    reason = NOT_CALLED
    for flow in flows_to(live, lines, node, most=1):
        maps = _maps(flow)
        if not maps:
            reason = NO_MAP
            continue
        values = next(filter(are_weights, maps), maps[0])
        while values.ndim > 3:
            values = values[0]
        planes = values.reshape(-1, 1, *values.shape[-2:])
        planes = planes if planes.dtype == torch.float64 else planes.float()
        if not torch.isfinite(planes).any():
            raise CannotDraw(NOT_FINITE)
        drawn = images_drawn(node, live.step_count, planes, signed=bool((planes < 0).any()))
        return msgspec.structs.replace(drawn, kind="attention")
    raise CannotDraw(reason)


def are_weights(values: Tensor) -> bool:
    """Whether no number is negative and each row sums to one."""
    return bool((values >= 0).all()) and bool(((values.sum(-1) - 1).abs() < TOLERANCE).all())


def _maps(flow: DataFlow) -> list[Tensor]:
    """The values of a statement that are rows of floats."""
    with modules_at_rest(flow.modules()), clean_modes():
        values = [flow.value(name, flow.place) for name in flow.step.statement.names]
        return [
            value.detach()
            for value in values
            if isinstance(value, Tensor) and value.ndim > 1 and value.is_floating_point() and value.numel()
        ]
