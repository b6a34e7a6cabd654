"""Figures of a node that a canvas can be coloured by: gradients, values, time, bytes, dtype, device."""

import math
from collections.abc import Callable, Iterable
from typing import Final, Protocol
from typing import Literal as OneOf

import msgspec

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.debugging import NodeMemory
from gradstudio.protocol.messages.events import GradRow
from gradstudio.protocol.messages.records import ModuleRecord, Record, Summary, TensorRecord

Kind = OneOf["log", "category"]
"""How a colour is chosen: by the logarithm of the figure, or a colour a word."""


class Readings(Protocol):
    """What a metric asks of a run; `ui.state.ResultStore` answers."""

    def outputs(self, node: ItemId, /) -> tuple[Record, ...] | None:
        """Records of a node's results; None before it ran."""

    def gradients_of(self, node: ItemId, /) -> tuple[GradRow, ...]:
        """Gradients of its results and parameters."""

    def seconds(self, node: ItemId, /) -> tuple[float, float]:
        """Wall time in the forward and in the backward, seconds; 0 where it did not run."""

    def saved_bytes(self, node: ItemId, /) -> int:
        """What its autograd nodes keep for a backward."""

    def released_bytes(self, node: ItemId, /) -> int:
        """What its autograd nodes kept and let go when a backward had gone through them."""

    def node_memory(self, node: ItemId, /) -> NodeMemory | None:
        """What it holds; None while nobody asked."""


class Metric(msgspec.Struct, frozen=True):
    """One figure of a node.

    Attributes:
        name: under which it is chosen and kept.
        unit: "s", "B", or "" for bare numbers and words.
        of_zero: what a figure of zero means, where that is not plain.
    """

    name: str
    title: str
    unit: str
    kind: Kind
    read: Callable[[Readings, ItemId], float | str | None]
    of_zero: str = ""


def value_of(name: str, readings: Readings, node: ItemId) -> float | str | None:
    """The figure of a node, or its word; None where there is none.

    Raises:
        KeyError: no metric of that name.
    """
    found = METRICS[name].read(readings, node)
    if isinstance(found, float) and not math.isfinite(found):
        return None
    return found


def gradient_rms(readings: Readings, node: ItemId) -> float | None:
    """Root mean square over all gradients of the node, each element counted once."""
    return _rms(row.grad for row in readings.gradients_of(node))


def value_range(readings: Readings, node: ItemId) -> float | None:
    """The largest magnitude among its finite values; of a module, among its parameters."""
    extents = [
        max(abs(summary.minimum), abs(summary.maximum))
        for summary in _summaries(readings, node)
        if summary.minimum is not None and summary.maximum is not None
    ]
    return float(max(extents)) if extents else None


def forward_seconds(readings: Readings, node: ItemId) -> float | None:
    """Wall time of its statement."""
    return readings.seconds(node)[0] or None


def backward_seconds(readings: Readings, node: ItemId) -> float | None:
    """Wall time of its autograd nodes."""
    return readings.seconds(node)[1] or None


def both_seconds(readings: Readings, node: ItemId) -> float | None:
    """Wall time forward and backward."""
    return sum(readings.seconds(node)) or None


def alive_bytes(readings: Readings, node: ItemId) -> float | None:
    """Storages that its results brought into being and the program still holds, 0 when it let them go; of a view none.

    Until the engine was asked: the storages of its newest results.
    """
    weighed = readings.node_memory(node)
    if weighed is not None:
        return float(weighed.alive_bytes) if weighed.alive_bytes or weighed.freed_step else None
    records = [record for record in readings.outputs(node) or () if isinstance(record, TensorRecord)]
    by_storage = {record.storage or -k: record.size_bytes for k, record in enumerate(records)}
    return float(sum(by_storage.values())) or None


def saved_for_backward(readings: Readings, node: ItemId) -> float | None:
    """Bytes that its autograd nodes keep, 0 when they let them go; None where nothing is ever saved."""
    saved = readings.saved_bytes(node)
    return float(saved) if saved or readings.released_bytes(node) else None


def dtype(readings: Readings, node: ItemId) -> str | None:
    """Of its first tensor."""
    return next((summary.dtype.removeprefix("torch.") for summary in _summaries(readings, node)), None)


def device(readings: Readings, node: ItemId) -> str | None:
    """Of its first tensor."""
    return next((record.device for record in _tensors(readings, node)), None)


def _tensors(readings: Readings, node: ItemId) -> list[TensorRecord]:
    found: list[TensorRecord] = []
    for record in readings.outputs(node) or ():
        if isinstance(record, TensorRecord):
            found.append(record)
        elif isinstance(record, ModuleRecord):
            found.extend(record.parameters.values())
    return found


def _summaries(readings: Readings, node: ItemId) -> list[Summary]:
    return [record.summary for record in _tensors(readings, node)]


def _rms(grads: Iterable[Summary | None]) -> float | None:
    squares, count = 0.0, 0
    for grad in grads:
        if grad is not None and grad.rms is not None:
            elements = math.prod(grad.shape) - grad.nan - grad.posinf - grad.neginf
            squares, count = squares + grad.rms**2 * elements, count + elements
    return math.sqrt(squares / count) if count else None


METRICS: Final[dict[str, Metric]] = {
    metric.name: metric
    for metric in (
        Metric("gradient_rms", "Gradient RMS", "", "log", gradient_rms),
        Metric("value_range", "Largest value", "", "log", value_range),
        Metric("time_forward", "Time forward", "s", "log", forward_seconds),
        Metric("time_backward", "Time backward", "s", "log", backward_seconds),
        Metric("time", "Time, both", "s", "log", both_seconds),
        Metric("alive_bytes", "Bytes alive", "B", "log", alive_bytes, "freed"),
        Metric("saved_bytes", "Bytes saved for backward", "B", "log", saved_for_backward, "freed by the backward"),
        Metric("dtype", "Dtype", "", "category", dtype),
        Metric("device", "Device", "", "category", device),
    )
}
"""By name, in the order of a menu."""
