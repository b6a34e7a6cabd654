"""What a model is given in other units, or in another order of dimensions, than it was made for: by measured values."""

import itertools
import math
from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.analysis.call_paths import Source
from gradstudio.graph.card_grouping import CALL, CALLED
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import Summary, TensorRecord

CONVOLUTIONS = frozenset({"Conv2d", "conv2d", "Conv3d", "conv3d"})
COLOURS = frozenset({1, 3, 4})
LEAST_BYTE, LARGEST_BYTE = 128, 255
LEAST_EDGE = 5
"""A picture that is smaller may as well be features."""
NEAR, FAR = 0.3, 2.0
"""A mean of data that were normalised, and one that was not, in deviations of the former."""
SPREAD = (0.5, 2.0)
"""Deviations of data that were normalised."""
DEVIATIONS = frozenset({"std", "var", "std_mean", "var_mean"})
MOST_STEPS = 16
GIVEN = ("inputs.0", "input")


def bytes_as_they_are(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """Pictures of 0 … 255 in a convolution."""
    source, summary = _given(view, item, lookup)
    layer = _first_layer(view, item, word)
    if source is None or summary is None or layer not in CONVOLUTIONS or not _is_of_bytes(summary):
        return
    name = _outer_name(view, source)
    yield Finding(
        "unscaled",
        "warning",
        item,
        f"{layer} gets pictures as they are, from {_number(summary.minimum)} to {_number(summary.maximum)}: {name} is "
        "not scaled",
        "Layers begin with weights for numbers near 1. With 255 times as much the scores are far too large, the first "
        f"steps throw the weights about, and units die. Divide by 255, or normalise: {name} / 255.",
        (item, source.item),
    )


def channels_last(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """Pictures whose colours are their last dimension, in a convolution that takes the second one for them."""
    source, summary = _given(view, item, lookup)
    layer = _first_layer(view, item, word)
    if source is None or summary is None or len(summary.shape) != 4 or layer not in ("Conv2d", "conv2d"):
        return
    shape = summary.shape
    if shape[3] not in COLOURS or shape[1] < LEAST_EDGE or shape[1] != shape[2]:
        return
    name = _outer_name(view, source)
    yield Finding(
        "channels_last",
        "warning",
        item,
        f"{layer} takes the rows of {name} {list(shape)} for its {shape[1]} channels: the colours are the last "
        "dimension",
        f"A convolution wants [batch, channels, height, width]. Write {name}.permute(0, 3, 1, 2), and in_channels="
        f"{shape[3]}.",
        (item, source.item),
    )


def other_scale(view: ProgramView, item: ItemId, _word: str, lookup: Lookup) -> Iterator[Finding]:
    """A call of a model with data as they are, where another one has given it normalised data."""
    module, (source, summary) = view.source(item, (CALLED,)), _given(view, item, lookup)
    if module is None or source is None or summary is None or not _is_far(summary) or _is_divided(view, source):
        return
    for call in view.calls(view.resolve(module.item, module.output)[0]):
        other, usual = _given(view, call, lookup)
        if call == item or other is None or usual is None or usual.shape[1:] != summary.shape[1:]:
            continue
        if not _is_normalised(usual) or not _is_divided(view, other):
            continue
        name, first = _outer_name(view, source), _outer_name(view, other)
        yield Finding(
            "unscaled",
            "warning",
            item,
            f"{name} is not normalised as {first} is, with which the model is trained: its mean is "
            f"{_number(summary.mean)}, not {_number(usual.mean)}",
            f"What the model has learnt holds for data of one scale. Bring {name} there by the same figures, those of "
            "the training data: (x - mean) / std.",
            (item, source.item, call),
        )
        return


# ------------------------------------------------------------------ helpers


def _given(view: ProgramView, item: ItemId, lookup: Lookup) -> tuple[Source | None, Summary | None]:
    """The data that a call is given: nothing that was computed by what learns."""
    source = view.source(item, GIVEN)
    if source is None:
        return None, None
    at, output = view.resolve(source.item, source.output)
    record = lookup(at, output) or lookup(source.item, source.output)
    if not isinstance(record, TensorRecord) or record.requires_grad or _is_computed(view, at):
        return None, None
    return source, record.summary


def _is_computed(view: ProgramView, item: ItemId) -> bool:
    """Whether a module has computed it, one without gradients, say."""
    node = view.node(item)
    return node is not None and node.operator == CALL


def _is_of_bytes(summary: Summary) -> bool:
    low, high, mean = summary.minimum, summary.maximum, summary.mean
    if low is None or high is None or mean is None or len(summary.shape) < 3:
        return False
    return low >= 0 and LEAST_BYTE <= high <= LARGEST_BYTE and mean > 1


def _deviation(summary: Summary) -> float | None:
    if summary.mean is None or summary.rms is None:
        return None
    return math.sqrt(max(summary.rms**2 - summary.mean**2, 0.0))


def _is_normalised(summary: Summary) -> bool:
    deviation = _deviation(summary)
    if deviation is None or summary.mean is None:
        return False
    return abs(summary.mean) < NEAR and SPREAD[0] < deviation < SPREAD[1]


def _is_far(summary: Summary) -> bool:
    deviation = _deviation(summary)
    if deviation is None or summary.mean is None:
        return False
    return abs(summary.mean) > FAR and abs(summary.mean) > FAR / 4 * deviation


def _outer_name(view: ProgramView, source: Source) -> str:
    """How data are called where they were made, also inside the class that is given them."""
    return view.name(*view.resolve(source.item, source.output))


def _first_layer(view: ProgramView, item: ItemId, word: str) -> str:
    """What a call gives its input to first: the first layer of a container."""
    own = [stage.word for stage in itertools.takewhile(lambda one: one.item == item, view.stages(item, 0))]
    return own[-1] if own else word


def _is_divided(view: ProgramView, source: Source) -> bool:
    """Whether a deviation was divided by."""
    at, _ = view.resolve(source.item, source.output)
    return any(view.word(one) in DEVIATIONS for one in (at, *view.behind(at, MOST_STEPS)))


def _number(number: float | None) -> str:
    return f"{number or 0:.3g}"
