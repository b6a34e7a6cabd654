"""How gradients fare on their way: vanishing, exploding, dead, never arrived, saturated activations."""

import itertools
from array import array
from collections.abc import Iterable, Iterator, Mapping

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.names import title
from gradstudio.operators.catalogue.loader import load
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced
from gradstudio.protocol.messages.events import GradRow, Row
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.protocol.number_format import format_number

VANISHED, EXPLODED = 1e-6, 1e4
"""RMS of a leaf's gradient over that of the gradient the backward began with."""
SATURATED_SHARE, FEWEST = 0.9, 8
"""Share of the elements looked at, and how many there must be."""
EDGES = {"sigmoid": (0.01, 0.99), "tanh": (-0.99, 0.99), "hardsigmoid": (0.0, 1.0), "hardtanh": (-1.0, 1.0)}
"""By activation: below the first or above the second its slope is next to nothing."""
TELLING = frozenset({"not_reached", "accumulated", "cut"})
"""States of a gradient that may be worth a word."""
RECTIFIERS = frozenset({"relu", "relu6", "threshold"})


def fading_gradients(graph: Graph, traced: BackwardTraced) -> tuple[Finding, ...]:
    """Leaves whose gradient is vanishingly small, or huge, against the one the backward began with.

    One finding for the worst leaf of each kind, with the nodes on the way to it.
    """
    return tuple(_faded(graph, traced, leaf, start, kind) for leaf, start, kind in _extremes(traced))


def fades(traced: BackwardTraced) -> bool:
    """Whether a gradient vanishes or explodes on its way to any leaf."""
    return any(_extremes(traced))


def _extremes(traced: BackwardTraced) -> Iterator[tuple[AutogradRow, float, str]]:
    """The worst leaf of each kind, and the RMS that the backward began with."""
    start = next((rms for row in traced.rows for rms in [_largest(row.incoming)] if rms), 0.0)
    if not start:
        return
    ends = (row for row in traced.rows if row.values and not row.next)
    leaves = [(rms / start, row) for row in ends if (rms := _largest(row.incoming))]
    small = min(leaves, key=lambda pair: pair[0], default=None)
    large = max(leaves, key=lambda pair: pair[0], default=None)
    if small is not None and small[0] < VANISHED:
        yield small[1], start, "vanishing"
    if large is not None and large[0] > EXPLODED:
        yield large[1], start, "exploding"


def dies(traced: BackwardTraced) -> bool:
    """Whether any node made nothing but zeros of a gradient."""
    return any(_zeroed(traced))


def _zeroed(traced: BackwardTraced) -> Iterator[tuple[int, AutogradRow]]:
    for place, row in enumerate(traced.rows):
        went = [summary for summary in row.outgoing if summary is not None]
        if went and all(map(_is_zero, went)) and _largest(row.incoming):
            yield place, row


def dead_nodes(graph: Graph, traced: BackwardTraced) -> tuple[Finding, ...]:
    """Nodes into which a gradient came and out of which nothing but zeros went."""
    found: dict[ItemId, Finding] = {}
    for place, row in _zeroed(traced):
        if row.node not in graph.nodes:
            continue
        name = title(graph, row.node)
        found.setdefault(
            row.node,
            Finding(
                "dead",
                "warning",
                row.node,
                f"{name} sends back nothing but zeros",
                f"A gradient arrived ({format_number(_largest(row.incoming))} RMS), and {row.autograd} made zeros "
                "of it: every element stands where the slope is 0 (relu below 0, clamp outside its limits, round, "
                "sign). Nothing behind it can learn from this.",
                (row.node,),
                traced.backward,
                place,
            ),
        )
    return tuple(found.values())


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


def samples_of(rows: Iterable[Row]) -> tuple[Sample, ...]:
    """Of each statement what it gave last, where that is a tensor that requires grad."""
    latest = {row.node: row for row in rows}
    records = ((node, row.outputs[0]) for node, row in latest.items() if row.outputs)
    tensors = ((node, record) for node, record in records if isinstance(record, TensorRecord))
    return tuple(Sample(node, record.summary) for node, record in tensors if record.requires_grad)


def saturated_activations(graph: Graph, samples: Iterable[Sample]) -> tuple[Finding, ...]:
    """Activations whose results lie where their slope is next to nothing."""
    return tuple(finding for sample in samples if (finding := _saturated(graph, sample)) is not None)


def without_gradient(
    graph: Graph, gradients: Iterable[GradRow], backwards: Mapping[int, BackwardTraced] | None = None
) -> tuple[Finding, ...]:
    """Leaves that require grad and that a backward has run without reaching; and sums over several backwards.

    Args:
        backwards: by number, to name the statement that added last.
    """
    found = []
    known, ran = tuple(gradients), backwards or {}
    cuts = {row.node: row for row in known if row.state == "cut"}
    for row in known:
        if row.node not in graph.nodes:
            continue
        name = title(graph, row.node) + (f".{row.path}" if row.path else "")
        if row.state == "not_reached" and _is_parameter(graph, row):
            found.append(_not_reached(graph, row, name, cuts, max(ran, default=0)))
        elif row.state == "accumulated" and len(row.parts) != 1:
            number = row.parts[-1].backward if row.parts else 0
            last = ran[number].statement if number in ran else ItemId("")
            found.append(
                Finding(
                    "accumulates",
                    "info",
                    row.node,
                    f"{name}.grad holds more than the last backward gave",
                    f"{row.reason or 'backward adds to .grad.'} Nothing is wrong where the sum is meant.",
                    (row.node, last) if last in graph else (row.node,),
                    number,
                )
            )
    return tuple(found)


def _not_reached(graph: Graph, row: GradRow, name: str, cuts: Mapping[ItemId, GradRow], backward: int) -> Finding:
    """Where the ways from it end that a gradient would have to come back on."""
    after, todo, ends = {row.node}, [row.node], dict[ItemId, None]()
    while todo:
        for wire in graph.wires_from(todo.pop()):
            if wire.target in cuts:
                ends[wire.target] = None
            elif wire.target not in after:
                after.add(wire.target)
                todo.append(wire.target)
    where = "; and at ".join(f"{title(graph, item)}: {_cut_words(graph, cuts[item])}" for item in ends)
    why = (
        f"Its way to the loss is cut at {where}."
        if ends
        else "Nothing the backward began from was computed from it: a wire is missing, or it is not used."
    )
    return Finding(
        "no_gradient", "warning", row.node, f"{name} requires grad and gets none",
        f"{row.reason or 'The backward did not reach it.'} {why}", (row.node, *ends), backward,
    )  # fmt: skip


def _cut_words(graph: Graph, cut: GradRow) -> str:
    """Which cut it is: the kind of the block around, or what the operator gives."""
    if cut.cause in graph.blocks:
        return f"it stands under {graph.blocks[cut.cause].kind}"
    return cut.reason.removeprefix("Cut here: ").rstrip(".") or "it does not require grad"


def _faded(graph: Graph, traced: BackwardTraced, leaf: AutogradRow, start: float, kind: str) -> Finding:
    way = _way_to(traced, leaf)
    name = title(graph, leaf.values[0].node)
    figures = [(row, rms) for row in way if row.node in graph.nodes and (rms := _largest(row.incoming))]
    factors = [(one.node, rms / before) for (one, before), (_, rms) in itertools.pairwise(figures)]
    pick = min if kind == "vanishing" else max
    worst = pick(factors, key=lambda pair: pair[1], default=None)
    words = "vanishes" if kind == "vanishing" else "explodes"
    steepest = (
        f" The steepest step is through {title(graph, worst[0])}: × {format_number(worst[1])}."
        if worst is not None
        else ""
    )
    return Finding(
        "vanishing" if kind == "vanishing" else "exploding",
        "warning",
        leaf.values[0].node,
        f"The gradient {words} on its way to {name}",
        f"It began with {format_number(start)} RMS and arrives with {format_number(_largest(leaf.incoming))}, "
        f"{len(way)} steps of the backward later.{steepest} "
        + (
            "Saturating activations (sigmoid, tanh), small weights and deep chains do that; relu, normalisation, "
            "residual connections or a larger initialisation help."
            if kind == "vanishing"
            else "Large weights and deep chains do that; a smaller initialisation, normalisation or clipping help."
        ),
        tuple(dict.fromkeys(row.node for row in way if row.node)),
        traced.backward,
        traced.rows.index(leaf),
    )


def _way_to(traced: BackwardTraced, leaf: AutogradRow) -> list[AutogradRow]:
    """From the root to the leaf: at each node back along the edge with the largest gradient."""
    users: dict[int, tuple[float, AutogradRow]] = {}
    for row in traced.rows:
        for (target, _), summary in zip(row.next, row.outgoing, strict=False):
            rms = _largest((summary,))
            if rms and rms >= users.get(target, (0.0, row))[0]:
                users[target] = (rms, row)
    way, here = [leaf], leaf
    while here.id in users and len(way) <= len(traced.rows):
        here = users[here.id][1]
        way.append(here)
    return way[::-1]


def _saturated(graph: Graph, sample: Sample) -> Finding | None:
    node = graph.nodes.get(sample.node)
    operator = load().get(node.operator) if node is not None else None
    word = operator.word.rstrip("_") if operator is not None else ""
    share = sample.share_at_rest(word) if word in EDGES or word in RECTIFIERS else 0.0
    if share < SATURATED_SHARE:
        return None
    name, percent = title(graph, sample.node), round(100 * share)
    what = "are 0" if word in RECTIFIERS else f"lie at the ends of {word}"
    return Finding(
        "saturated",
        "info" if word in RECTIFIERS else "warning",
        sample.node,
        f"{name} is saturated: {percent} % of its values {what}",
        "There the slope is next to nothing, so hardly any gradient passes. Smaller inputs (normalise, scale the "
        "weights down) bring it back to where it can learn.",
        (sample.node,),
    )


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


def _is_parameter(graph: Graph, row: GradRow) -> bool:
    """A leaf someone wants a gradient of: made here or a module's; not the result of an operator over tensors."""
    return bool(row.path) or not any(wire.port not in ("size", "requires_grad") for wire in graph.wires_to(row.node))


def _is_zero(summary: Summary) -> bool:
    return summary.minimum == 0 and summary.maximum == 0 and not (summary.nan or summary.posinf or summary.neginf)


def _largest(summaries: Iterable[Summary | None]) -> float:
    return max((summary.rms or 0.0 for summary in summaries if summary is not None), default=0.0)
