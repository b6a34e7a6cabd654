"""Operators that let no gradient pass: every element stands where the slope is 0, or next to nothing."""

from array import array
from collections.abc import Iterable, Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.run_facts import is_zero, largest, magnitude
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import Record, Summary, TensorRecord
from gradstudio.protocol.number_format import format_number

SATURATED_SHARE, FEWEST = 0.9, 8
"""Share of the elements looked at, and how many there must be."""
EDGES = {"sigmoid": (0.01, 0.99), "tanh": (-0.99, 0.99), "hardsigmoid": (0.0, 1.0), "hardtanh": (-1.0, 1.0)}
"""By activation: below the first or above the second its slope is next to nothing."""
RECTIFIERS = frozenset({"relu", "relu6", "threshold"})
FLAT = {
    "relu": "every input is below 0, where relu is flat",
    "relu6": "every input is below 0 or above 6, where relu6 is flat",
    "clamp": "every input is outside the limits of clamp, where it is flat",
    "hardtanh": "every input is outside the limits of hardtanh, where it is flat",
    "round": "round is flat between its steps: its slope is 0",
    "floor": "floor is flat between its steps: its slope is 0",
    "ceil": "ceil is flat between its steps: its slope is 0",
    "trunc": "trunc is flat between its steps: its slope is 0",
    "sign": "sign is flat on both sides of 0: its slope is 0",
    "sgn": "sgn is flat on both sides of 0: its slope is 0",
    "tanh": "tanh is saturated: every input is so far from 0 that its slope is 0",
    "sigmoid": "sigmoid is saturated: every input is so far from 0 that its slope is 0",
}
"""By the word of an autograd node: why it made nothing but zeros."""
PRODUCTS = frozenset("mm addmm bmm baddbmm mul dot mv".split())
"""What sends back its factors times what arrived: zeros where they are all 0."""
MARGINS, SUMS = RECTIFIERS | {"clamp", "clampmin", "clampmax"}, frozenset("mean sum add sub mul div neg".split())
STRAIGHT = frozenset(
    "where index select slice gather maskedfill maskedselect scatter copyslices indexput max min".split()
)
"""What sends back zeros where it was not asked, by construction."""


def dies(traced: BackwardTraced) -> bool:
    """Whether any node made nothing but zeros of a gradient."""
    return any(_zeroed(traced))


def dead_nodes(view: ProgramView, traced: BackwardTraced, latest: dict[ItemId, Row]) -> tuple[Finding, ...]:
    """Nodes into which a gradient came and out of which nothing but zeros went, in all turns of a loop."""
    found: dict[ItemId, Finding] = {}
    alive = {row.node for row in traced.rows if largest(row.outgoing)}
    for place, row in _zeroed(traced):
        node = view.node(row.node)
        if node is None or row.node in found:
            continue
        word = word_of(row)
        if (row.node in alive and word not in FLAT) or (word in MARGINS and _is_the_loss(traced, place)):
            continue
        why = FLAT.get(word, "")
        if not why and word in PRODUCTS:
            why = _zero_factor(view, row.node, latest)
        if not why:
            continue
        name = view.where(row.node)
        found[row.node] = Finding(
            "dead",
            "warning",
            row.node,
            f"No gradient passes {name}: {why}",
            f"A gradient arrived ({format_number(largest(row.incoming))} RMS), and {row.autograd} made zeros of it. "
            f"Nothing behind it can learn from this. {_way_out(word)}",
            (row.node,),
            traced.backward,
            place,
        )
    return tuple(found.values())


def _is_the_loss(traced: BackwardTraced, place: int) -> bool:
    """Whether a place is a margin, whose mean is the loss: of a difference that is kept it costs nothing, as it should.

    Only sums and means stand before it, and behind it a difference, with something added perhaps.
    """
    behind = next((word for row in traced.rows[place + 1 :] if (word := word_of(row)) != "add"), "")
    return behind in ("sub", "rsub") and all(word_of(row) in SUMS for row in traced.rows[:place])


def _zeroed(traced: BackwardTraced) -> Iterator[tuple[int, AutogradRow]]:
    for place, row in enumerate(traced.rows):
        went = [summary for summary in row.outgoing if summary is not None]
        if went and all(map(is_zero, went)) and largest(row.incoming) and word_of(row) not in STRAIGHT:
            yield place, row


def word_of(row: AutogradRow) -> str:
    """``relu`` of ``ReluBackward0``."""
    return row.autograd.partition("Backward")[0].lower()


def _zero_factor(view: ProgramView, item: ItemId, latest: dict[ItemId, Row]) -> str:
    """Which factor of a product is 0."""
    zeros = list[tuple[bool, ItemId]]()
    for source in view.sources(item):
        row = latest.get(source.item)
        record = row.outputs[source.output] if row is not None and source.output < len(row.outputs) else None
        if isinstance(record, TensorRecord) and magnitude(record) == 0:
            zeros.append((record.is_leaf and record.requires_grad, source.item))
    if zeros:
        _, factor = max(zeros, key=lambda zero: zero[0])  # weights rather than what they made
        return f"{view.name(factor)} is 0 everywhere, and what is multiplied by 0 sends 0 back"
    return "the factors it would send back are 0 everywhere: weights that are all 0 learn nothing"


def _way_out(word: str) -> str:
    if word in ("relu", "relu6"):
        return "A smaller learning rate, a bias near 0, or leaky_relu keeps it alive."
    if word in PRODUCTS:
        return "Begin with small random weights instead of zeros."
    if word in ("tanh", "sigmoid"):
        return "Smaller inputs (normalise them, scale the weights down) bring it back to where it can learn."
    return "Leave it out of what is to be learnt, or send the gradient past it: x + (f(x) - x).detach()."


class Sample:
    """Elements of the first result of a statement that ran; what was worked out of them is kept."""

    def __init__(self, node: ItemId, summary: Summary) -> None:
        """The statement, and what is known of its result."""
        self.node, self._summary = node, summary
        self._shares: dict[str, float] = {}

    def share_at_rest(self, word: str) -> float:
        """The share of the elements that lie where the slope of this activation is next to nothing."""
        if word not in self._shares:
            low, high = EDGES.get(word, (0.0, float("inf")))
            values = _values(self._summary)
            at_rest = [value for value in values if value <= low or value >= high]
            self._shares[word] = len(at_rest) / len(values) if len(values) >= FEWEST else 0.0
        return self._shares[word]


def samples_of(latest: dict[ItemId, Row]) -> tuple[Sample, ...]:
    """Of each statement what it gave last, where that is a tensor that requires grad."""
    records = ((node, row.outputs[0]) for node, row in latest.items() if row.outputs)
    tensors = ((node, record) for node, record in records if isinstance(record, TensorRecord))
    return tuple(Sample(node, record.summary) for node, record in tensors if record.requires_grad)


def saturated_activations(
    view: ProgramView, samples: Iterable[Sample], latest: dict[ItemId, Row]
) -> tuple[Finding, ...]:
    """Activations whose results lie where their slope is next to nothing, and whose gradient is to pass."""
    return tuple(finding for sample in samples if (finding := _saturated(view, sample, latest)) is not None)


def _saturated(view: ProgramView, sample: Sample, latest: dict[ItemId, Row]) -> Finding | None:
    word = view.word(sample.node).lower()
    share = sample.share_at_rest(word) if word in EDGES or word in RECTIFIERS else 0.0
    if share < SATURATED_SHARE:
        return None
    name, percent = view.where(sample.node), round(100 * share)
    if word in RECTIFIERS:
        title, why = f"{name} is nearly dead: {percent} % of its values are 0", "There the slope is 0, so hardly any"
    else:
        title = f"{word} is saturated in {name}: {percent} % of its values lie at its ends"
        why = "There the slope is next to nothing, so hardly any"
    return Finding(
        "saturated",
        "info" if word in RECTIFIERS else "warning",
        sample.node,
        title,
        f"{why} gradient passes. {_incoming(view, sample.node, latest)}Smaller inputs (normalise them, scale the "
        "weights down) bring it back to where it can learn.",
        (sample.node,),
    )


def _incoming(view: ProgramView, item: ItemId, latest: dict[ItemId, Row]) -> str:
    """How far what goes in reaches."""
    source = view.source(item)
    row = latest.get(source.item) if source is not None else None
    record: Record | None = None
    if source is not None and row is not None and source.output < len(row.outputs):
        record = row.outputs[source.output]
    reach = magnitude(record)
    return f"What goes in reaches {format_number(reach)}. " if reach is not None and source is not None else ""


def _values(summary: Summary) -> list[float]:
    """The elements of the preview; a sample of larger tensors."""
    if summary.preview is not None:
        return array("f", summary.preview.data).tolist()
    return [float(value) for value in _flat(summary.value) if isinstance(value, int | float)]


def _flat(value: object) -> Iterator[object]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _flat(item)
    else:
        yield value
