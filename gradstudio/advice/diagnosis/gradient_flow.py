"""How gradients fare on their way to the leaves: vanishing, exploding."""

import itertools
import math
from collections.abc import Iterator

from gradstudio.advice.diagnosis.activations import LOSSES, word_of
from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.run_facts import RunFacts, largest
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced
from gradstudio.protocol.messages.records import Summary
from gradstudio.protocol.number_format import format_number

VANISHED, EXPLODED = 1e-6, 1e4
"""RMS of a leaf's gradient over that of the gradient the backward began with."""
STRETCH, LEAST_STEPS = 1.5, 4
"""By so much, and so many times, a gradient grows on its way before it is called an explosion."""
SATURATING, LEAST_ACTIVATIONS = ("sigmoid", "tanh", "softmax"), 2
CENTRED = 1e-4
NORMALISING = ("norm", "softmax")
CHANCES = frozenset({"log", "binarycrossentropy"})
"""What a loss takes of chances: the sigmoid that made them is a part of it."""
CANCELLING = frozenset({"bias"})
"""Last words of leaves that shift, and whose gradient is a sum over all examples."""


def fading_gradients(view: ProgramView, facts: RunFacts, traced: BackwardTraced) -> tuple[Finding, ...]:
    """Leaves whose gradient is vanishingly small, or huge, against the one the backward began with.

    One finding for the worst leaf of each kind, with the nodes on the way to it.
    """
    return tuple(_faded(view, facts, traced, leaf, way, kind) for leaf, way, kind in _extremes(traced))


def fades(traced: BackwardTraced) -> bool:
    """Whether a gradient vanishes or explodes on its way to any leaf."""
    return any(_extremes(traced))


def _extremes(traced: BackwardTraced) -> Iterator[tuple[AutogradRow, list[AutogradRow], str]]:
    """The worst leaf of each kind, and the way to it from where the gradient is that of the model's result."""
    start = next((rms for row in traced.rows for rms in [largest(row.incoming)] if rms), 0.0)
    if not start:
        return
    ends = (row for row in traced.rows if row.values and not row.next)
    leaves = [(rms / start, row) for row in ends if (rms := largest(row.incoming))]
    users = _users(traced) if leaves and min(leaves, key=_ratio)[0] < VANISHED else {}
    small = [(ratio, row) for ratio, row in leaves if ratio < VANISHED]
    for _, row in sorted(small, key=_ratio):
        way = _behind_the_loss(_way_to(traced, row, users))
        begins = largest(way[0].incoming) if way else 0.0
        is_less = bool(begins) and largest(row.incoming) / begins < VANISHED
        came = users[row.id][0] if row.id in users else 0.0
        if largest(row.incoming) < VANISHED * 100 * came:
            continue  # what comes by several ways sums to 0: it stands at an optimum
        if len(way) > 1 and is_less and not _cancels(way) and not _is_centred(way):
            yield row, way, "vanishing"
            break
    large = max(leaves, key=_ratio, default=None)
    if large is not None and large[0] > EXPLODED:
        way = _behind_the_loss(_way_to(traced, large[1], users or _users(traced)))
        if _stretches(way) >= LEAST_STEPS and largest(way[-1].incoming) > EXPLODED * largest(way[0].incoming):
            yield large[1], way, "exploding"


def _stretches(way: list[AutogradRow]) -> int:
    """How many steps of a way make the gradient larger: one large factor is no explosion."""
    sizes = [size for row in way if (size := largest(row.incoming))]
    return sum(after > STRETCH * before for before, after in itertools.pairwise(sizes))


def _is_centred(way: list[AutogradRow]) -> bool:
    """Whether a normalisation takes it away in one step: the mean of what is normalised does not change."""
    for before, after in itertools.pairwise(way):
        if any(word in word_of(before.autograd) for word in NORMALISING):
            came, went = largest(before.incoming), largest(after.incoming)
            if came and went < CENTRED * came:
                return True
    return False


def _ratio(pair: tuple[float, AutogradRow]) -> float:
    return pair[0]


def _behind_the_loss(way: list[AutogradRow]) -> list[AutogradRow]:
    left = list(itertools.dropwhile(lambda row: word_of(row.autograd) in LOSSES, way))
    taken = {word_of(row.autograd) for row in way[: len(way) - len(left)]}
    return left[1:] if left and word_of(left[0].autograd) == "sigmoid" and taken & CHANCES else left


def _cancels(way: list[AutogradRow]) -> bool:
    """Whether only the last step made it small, which sums over examples: what arrives sums to 0.

    So it is with a bias in front of a normalisation, by construction.
    """
    leaf, sender = way[-1], way[-2]
    size, before = _size(leaf.incoming), _size(sender.incoming)
    is_summed = bool(size and before and size < before) or leaf.values[0].path.rpartition(".")[2] in CANCELLING
    return is_summed and largest(leaf.incoming) < VANISHED * 100 * largest(sender.incoming)


def _size(summaries: tuple[Summary | None, ...]) -> int:
    return max((math.prod(summary.shape) for summary in summaries if summary is not None), default=0)


def _faded(
    view: ProgramView,
    facts: RunFacts,
    traced: BackwardTraced,
    leaf: AutogradRow,
    way: list[AutogradRow],
    kind: str,
) -> Finding:
    name = facts.leaf_name(view, (leaf.values[0].node, leaf.values[0].path))
    start = largest(way[0].incoming)
    figures = [(row, rms) for row in way if view.node(row.node) is not None and (rms := largest(row.incoming))]
    factors = [(one.node, rms / before) for (one, before), (_, rms) in itertools.pairwise(figures)]
    vanishes = kind == "vanishing"
    pick = min if vanishes else max
    worst = pick(factors, key=lambda pair: pair[1], default=None)
    steepest = ""
    if worst is not None:
        steepest = f" The steepest step is through {view.where(worst[0])}: × {format_number(worst[1])}."
    if vanishes:
        out = "Saturating activations (sigmoid, tanh), small weights and deep chains do that; relu, normalisation, "
        out += "residual connections or a larger initialisation help."
    else:
        out = "Large weights and deep chains do that; a smaller initialisation, normalisation or clipping help."
    shrinks = f"× {format_number(largest(leaf.incoming) / start, 2)} over {len(way)} steps" if start else ""
    return Finding(
        "vanishing" if vanishes else "exploding",
        "warning",
        leaf.values[0].node,
        f"The gradient {'vanishes' if vanishes else 'explodes'} on its way to {name}{_through(way)}: {shrinks}",
        f"It began with {format_number(start)} RMS and arrives with {format_number(largest(leaf.incoming))}, "
        f"{len(way)} steps of the backward later.{steepest} {out}",
        tuple(dict.fromkeys(row.node for row in way if row.node)),
        traced.backward,
        traced.rows.index(leaf),
    )


def _through(way: list[AutogradRow]) -> str:
    """The saturating activations on a way: ", through 12 × sigmoid"."""
    words = [word_of(row.autograd) for row in way]
    counts = {word: words.count(word) for word in SATURATING if words.count(word) >= LEAST_ACTIVATIONS}
    return ", through " + " and ".join(f"{count} × {word}" for word, count in counts.items()) if counts else ""


def _users(traced: BackwardTraced) -> dict[int, tuple[float, AutogradRow]]:
    """By autograd node, the one that sent the largest gradient to it."""
    users: dict[int, tuple[float, AutogradRow]] = {}
    for row in traced.rows:
        for (target, _), summary in zip(row.next, row.outgoing, strict=False):
            rms = largest((summary,))
            if rms and rms >= users.get(target, (0.0, row))[0]:
                users[target] = (rms, row)
    return users


def _way_to(
    traced: BackwardTraced, leaf: AutogradRow, users: dict[int, tuple[float, AutogradRow]]
) -> list[AutogradRow]:
    """From the root to the leaf: at each node back along the edge with the largest gradient."""
    way, here = [leaf], leaf
    while here.id in users and len(way) <= len(traced.rows):
        here = users[here.id][1]
        way.append(here)
    return way[::-1]
