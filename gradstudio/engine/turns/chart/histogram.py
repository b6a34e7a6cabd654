"""Histograms of a weight, a gradient or another tensor, one behind the other as turns go by."""

import time
from typing import Final, NamedTuple

import torch
from torch import Tensor, nn

from gradstudio.engine.errors import CannotDraw
from gradstudio.engine.live.live_state import Live
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.charts import BINS, MOST_RIDGES, HistogramDrawn

MOST_NUMBERS: Final = 1 << 22
"""Of a larger tensor every n-th number is counted: float32, in which torch counts, is exact so far."""
NO_NUMBERS: Final = "It holds no numbers: choose the card of a layer, of a weight, or of what a layer gives."
NO_GRADIENT: Final = "It has no gradient: none has come from a backward, or torch keeps none of what is no leaf."
NOT_FINITE: Final = "No number of it is finite."


class Ridge(NamedTuple):
    """The histogram of one moment.

    Attributes:
        at_s: when that was, on a clock.
        step: how many statements had run, but for those of turns that are not recorded; `turns` those it stood in.
        low, high: where the first bin begins and the last one ends.
        counts: of each bin, uint32.
    """

    at_s: float
    step: int
    turns: tuple[int, ...]
    low: float
    high: float
    counts: bytes


class RidgeHistory:
    """The ridges of one chart, at most `MOST_RIDGES`: of more, the one goes whose neighbours are closest.

    The first and the newest stay.
    """

    def __init__(self) -> None:
        """No moment yet."""
        self._ridges: list[Ridge] = []

    def add(self, ridge: Ridge) -> tuple[Ridge, ...]:
        """Note a moment; all that are kept. One of the same turn, or of a later place in the run, gives way."""
        known, here = self._ridges, (ridge.step, ridge.turns)
        while known and ((known[-1].step, known[-1].turns) >= here or known[-1].turns == ridge.turns != ()):
            known.pop()
        known.append(ridge)
        if len(known) > MOST_RIDGES:
            del known[min(range(1, len(known) - 1), key=lambda at: known[at + 1].at_s - known[at - 1].at_s)]
        return tuple(known)


def histogram(node: ItemId, live: Live, found: object, history: RidgeHistory, *, of_gradient: bool) -> HistogramDrawn:
    """What a module or a tensor holds now, behind what it held before.

    Raises:
        CannotDraw: it holds no numbers.
    """
    name, tensors = _tensors(found)
    if of_gradient:
        tensors = [one.grad for one in tensors if one.grad is not None]
        if not tensors:
            raise CannotDraw(NO_GRADIENT)
        name = f"gradient of {name}" if name else "gradient"
    numbers = sum(one.numel() for one in tensors)
    every = -(-numbers // MOST_NUMBERS)
    flat = torch.cat([one.detach().reshape(-1)[::every] for one in tensors])
    flat = flat if flat.dtype == torch.float64 else flat.float()
    finite = flat[torch.isfinite(flat)]
    if not len(finite):
        raise CannotDraw(NOT_FINITE)
    ridges = history.add(Ridge(time.perf_counter(), live.step_count, live.cursor.turns, *_counts(finite)))
    return HistogramDrawn(
        node=node, step=live.step_count, kind="gradients" if of_gradient else "histogram", of=name, numbers=numbers,
        odd=len(flat) - len(finite), turns=tuple(one.turns[0] + 1 if one.turns else 0 for one in ridges),
        edges=tuple((one.low, one.high) for one in ridges), counts=b"".join(one.counts for one in ridges),
    )  # fmt: skip


def _tensors(found: object) -> tuple[str, list[Tensor]]:
    """The weight of a layer, all parameters of another module, or a tensor itself; and what that is called."""
    if isinstance(found, nn.Module):
        weight = getattr(found, "weight", None)
        if isinstance(weight, Tensor):
            return "weight", [weight]
        parameters: list[Tensor] = [one for one in found.parameters() if one.numel() and not one.is_complex()]
        if not parameters:
            raise CannotDraw(NO_NUMBERS)
        same = {one.device for one in parameters} == {parameters[0].device}
        return "all parameters", parameters if same else parameters[:1]
    if not isinstance(found, Tensor) or found.is_complex() or not found.numel():
        raise CannotDraw(NO_NUMBERS)
    return "", [found]


def _counts(finite: Tensor) -> tuple[float, float, bytes]:
    low, high = finite.min().item(), finite.max().item()
    if low == high:  # torch would choose edges of its own
        low, high = low - 0.5, high + 0.5
    counts = torch.histc(finite, BINS, low, high)
    return low, high, counts.round().to("cpu", torch.int64).numpy().astype("<u4").tobytes()
