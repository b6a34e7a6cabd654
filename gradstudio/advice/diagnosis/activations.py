"""Operators that let no gradient pass: every element stands where the slope is 0, or next to nothing."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.run_facts import is_zero, largest, magnitude
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import ModuleRecord, Record, Summary, TensorRecord
from gradstudio.protocol.number_format import format_number

SATURATED_SHARE, FEWEST = 0.8, 8
"""Share of the elements looked at, and how many there must be."""
NOTHING = frozenset({"0", "0.0", "0.", "-0.0"})
FLAT_SLOPES = {"sigmoid": 0.0099, "tanh": 0.0199, "hardsigmoid": 1e-6, "hardtanh": 1e-6}
"""By activation: a smaller slope is next to nothing; that of tanh beyond ±0.99, of sigmoid below 0.01 or above 0.99."""
LARGE = 10.0
"""Inputs that reach farther are not normalised."""
NORMALISE = "Bring the inputs to mean 0 and deviation 1: (x - x.mean(0)) / x.std(0), or pixels / 255."
MOST_STEPS = 40
SURE = 0.1
"""A loss that is smaller needs no more gradient: predictions that are sure are right."""
LOSSES = frozenset(
    "mean sum pow sub rsub mseloss smoothl1loss l1loss huberloss nllloss nllloss2d logsoftmax neg abs squeeze "
    "unsqueeze view unsafeview reshapealias div log logsigmoid binarycrossentropy "
    "binarycrossentropywithlogits kldiv".split()
)
"""What a loss is made of: its own slope is small where the loss is, which is no fault of the way."""
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


def dead_nodes(
    view: ProgramView, traced: BackwardTraced, latest: dict[ItemId, Row], everything: Sequence[BackwardTraced]
) -> tuple[Finding, ...]:
    """Nodes into which a gradient came and out of which nothing but zeros went, in all turns of a loop.

    Args:
        everything: all backwards: data that are 0 in one of them alone hold nothing up.
    """
    found: dict[ItemId, Finding] = {}
    alive = {row.node for row in traced.rows if largest(row.outgoing)}
    for place, row in _zeroed(traced):
        node = view.node(row.node)
        if node is None or row.node in found:
            continue
        word = word_of(row.autograd)
        if (row.node in alive and word not in FLAT) or (word in MARGINS and _is_the_loss(traced, place)):
            continue
        why, out = FLAT.get(word, ""), _way_out(word)
        if not why and word in PRODUCTS:
            why, data_name = _zero_factor(view, row.node, latest)
            if data_name and any(_passes(one, row.node) for one in everything):
                continue
            out = f"Look at how {data_name} is made, and print it." if data_name else out
        if not why:
            continue
        title = f"No gradient passes {view.where(row.node)}: {why}"
        data = large_input(view, row.node, latest) if word in FLAT_SLOPES else None
        if data is not None:
            title = f"{unnormalised(view, data)}, so {word} is saturated in {view.where(row.node)}: no gradient passes"
        found[row.node] = Finding(
            "dead",
            "warning",
            row.node,
            title,
            f"A gradient arrived ({format_number(largest(row.incoming))} RMS), and {row.autograd} made zeros of it. "
            f"Nothing behind it can learn from this. {out if data is None else NORMALISE}",
            (row.node,),
            traced.backward,
            place,
        )
    return tuple(found.values())


def _is_the_loss(traced: BackwardTraced, place: int) -> bool:
    """Whether a place is a margin, whose mean is the loss: of a difference that is kept it costs nothing, as it should.

    Only sums and means stand before it, and behind it a difference, with something added perhaps.
    """
    behind = next((word for row in traced.rows[place + 1 :] if (word := word_of(row.autograd)) != "add"), "")
    return behind in ("sub", "rsub") and all(word_of(row.autograd) in SUMS for row in traced.rows[:place])


def _zeroed(traced: BackwardTraced) -> Iterator[tuple[int, AutogradRow]]:
    for place, row in enumerate(traced.rows):
        went = [summary for summary in row.outgoing if summary is not None]
        if went and all(map(is_zero, went)) and largest(row.incoming) and word_of(row.autograd) not in STRAIGHT:
            yield place, row


@lru_cache(maxsize=1000)
def word_of(autograd: str) -> str:
    """``relu`` of ``ReluBackward0``."""
    return autograd.partition("Backward")[0].lower()


def _passes(traced: BackwardTraced, item: ItemId) -> bool:
    """Whether an item let something of a gradient through."""
    return any(row.node == item and largest(row.outgoing) for row in traced.rows)


def _zero_factor(view: ProgramView, item: ItemId, latest: dict[ItemId, Row]) -> tuple[str, str]:
    """Which factor of a product is 0, and its name where it is data; "" where the text says 0, which is meant."""
    node = view.node(item)
    if node is not None and NOTHING & set(node.literals.values()):
        return "", ""
    zeros = list[tuple[bool, bool, ItemId]]()
    for source in view.sources(item):
        row = latest.get(source.item)
        record = row.outputs[source.output] if row is not None and source.output < len(row.outputs) else None
        if isinstance(record, TensorRecord) and magnitude(record) == 0:
            zeros.append((record.is_leaf and record.requires_grad, record.requires_grad, source.item))
    if zeros:
        _, learns, factor = max(zeros, key=lambda zero: zero[:2])  # weights rather than what they made, or data
        name = view.name(factor)
        return f"{name} is 0 everywhere, and what is multiplied by 0 sends 0 back", "" if learns else name
    return "the factors it would send back are 0 everywhere: weights that are all 0 learn nothing", ""


def _way_out(word: str) -> str:
    if word in ("relu", "relu6"):
        return "A smaller learning rate, a bias near 0, or leaky_relu keeps it alive."
    if word in PRODUCTS:
        return "Begin with small random weights instead of zeros."
    if word in ("tanh", "sigmoid"):
        return "Smaller inputs (normalise them, scale the weights down) bring it back to where it can learn."
    return "Leave it out of what is to be learnt, or send the gradient past it: x + (f(x) - x).detach()."


class Saturation(NamedTuple):
    """An activation in one backward, and the share of its elements that sent next to nothing back."""

    node: ItemId
    word: str
    share: float
    backward: int
    place: int
    root: ItemId
    is_last: bool


def saturations(traced: BackwardTraced) -> Iterator[Saturation]:
    """The activations of a backward that let hardly any of the gradient pass that came to them."""
    root = next((value.node for row in traced.rows[:1] for value in row.values), ItemId(""))
    is_last = True
    for place, row in enumerate(traced.rows):
        word = word_of(row.autograd)
        slope = 1e-6 if word in RECTIFIERS else FLAT_SLOPES.get(word)
        if slope is not None and (share := _flat_share(row, slope)) >= SATURATED_SHARE:
            yield Saturation(row.node, word, share, traced.backward, place, root, is_last)
        is_last = is_last and word in LOSSES


def _flat_share(row: AutogradRow, slope: float) -> float:
    """Of the elements to which a gradient came, the share that sent less than `slope` times it back."""
    came, went = (summaries[0] if summaries else None for summaries in (row.incoming, row.outgoing))
    if came is None or went is None or not came.rms or (went.rms or 0.0) > came.rms / 2:
        return 0.0
    pairs = [(before, after) for before, after in zip(_values(came), _values(went), strict=False) if before]
    flat = sum(abs(after) < slope * abs(before) for before, after in pairs)
    return flat / len(pairs) if len(pairs) >= FEWEST else 0.0


def saturated_activations(
    view: ProgramView, found: Iterable[Saturation], latest: dict[ItemId, Row]
) -> tuple[Finding, ...]:
    """Activations at their ends, where hardly any gradient passes; not those of predictions that are sure and right."""
    kept = (one for one in found if view.node(one.node) is not None and not _is_sure(one, latest))
    return tuple(_saturated(view, one, latest) for one in kept)


def _is_sure(saturation: Saturation, latest: dict[ItemId, Row]) -> bool:
    row = latest.get(saturation.root)
    loss = magnitude(row.outputs[0]) if row is not None and row.outputs else None
    return saturation.is_last and loss is not None and loss < SURE


def _saturated(view: ProgramView, saturation: Saturation, latest: dict[ItemId, Row]) -> Finding:
    item, word = saturation.node, saturation.word
    name, percent = view.where(item), round(100 * saturation.share)
    data = large_input(view, item, latest)
    why, out = "There the slope is next to nothing, so hardly any", "Smaller inputs (normalise them, scale the weights "
    out += "down) bring it back to where it can learn."
    if word in RECTIFIERS:
        title, why = f"{name} is nearly dead: {percent} % of its values are 0", "There the slope is 0, so hardly any"
    elif data is not None:
        title = f"{unnormalised(view, data)}, so {word} is saturated in {name}: {percent} % of its values lie at its "
        title += "ends"
        out = NORMALISE
    else:
        title = f"{word} is saturated in {name}: {percent} % of its values lie at its ends"
    return Finding(
        "saturated",
        "info" if word in RECTIFIERS else "warning",
        item,
        title,
        f"{why} gradient passes. {out}",
        (item,) if data is None else (item, data[0]),
        saturation.backward,
        saturation.place,
    )


def unnormalised(view: ProgramView, data: tuple[ItemId, float]) -> str:
    """That inputs reach too far, in words."""
    return f"The inputs are not normalised ({view.name(data[0])} reaches {format_number(data[1])})"


def large_input(view: ProgramView, item: ItemId, latest: dict[ItemId, Row]) -> tuple[ItemId, float] | None:
    """The data that meet weights on the way to a value, and that reach far from 0; None where none do."""
    found = dict[ItemId, float]()
    todo, seen = [item], {item}
    while todo and len(seen) < MOST_STEPS:
        known = [(at, record) for at, record in _inputs(view, todo.pop(0), latest) if at not in seen]
        meets_weights = any(_learns(record) for _, record in known)
        for at, record in known:
            seen.add(at)
            if not isinstance(record, TensorRecord):
                continue
            if record.requires_grad:
                todo.append(at)
            elif meets_weights and record.summary.dtype.startswith("float"):
                found[at] = magnitude(record) or 0.0
    farthest = max(found, key=lambda one: found[one], default=None)
    if farthest is None or not LARGE < found[farthest] < float("inf"):
        return None
    return farthest, found[farthest]


def _inputs(view: ProgramView, item: ItemId, latest: dict[ItemId, Row]) -> Iterator[tuple[ItemId, Record | None]]:
    """What goes into a statement: who computed it, and what it was."""
    for source in view.sources(item):
        at, output = view.resolve(source.item, source.output)
        row = latest.get(at)
        yield at, row.outputs[output] if row is not None and output < len(row.outputs) else None


def _learns(record: Record | None) -> bool:
    """Whether it is a weight, or a layer with weights."""
    if isinstance(record, ModuleRecord):
        return bool(record.parameters)
    return isinstance(record, TensorRecord) and record.is_leaf and record.requires_grad


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
