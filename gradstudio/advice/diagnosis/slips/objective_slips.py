"""Terms of an objective that pull the wrong way, or teach what was not to learn: seen in what a backward recorded.

What was drawn and what code called are judged alike, by the autograd nodes and the gradients that went through them.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.run_facts import RunFacts, leaf_rows
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced

UNCHANGING = frozenset(
    "View UnsafeView Reshape ReshapeAlias Squeeze Unsqueeze Clone Alias Expand ToCopy Select Index Neg".split()
)
"""What leaves numbers as they are, but for their sign and their place."""
LAYERS, LOGARITHMS = frozenset({"Addmm", "Mm", "Bmm"}), frozenset({"LogSoftmax", "Log", "Sub"})
DIFFERENCES, MAXIMA = frozenset({"Sub", "Rsub"}), frozenset({"Max", "Amax"})
ERRORS = frozenset({"MseLoss", "SmoothL1Loss", "HuberLoss", "L1Loss"})
COMPARING, SUMS = ERRORS | DIFFERENCES, DIFFERENCES | {"Add"}
LOSSES = ERRORS | {"NllLoss", "NllLossNd", "BinaryCrossEntropy", "BinaryCrossEntropyWithLogits"}
MEASURES = frozenset({"Abs", "LinalgVectorNorm", "Norm"})
"""What says how large weights are; squares do, too."""
SCALING = frozenset({"mul", "sum", "mean", "div", "truediv", "neg"})
MOST_TERMS, MOST_STEPS = 32, 5
Rows = Mapping[int, AutogradRow]


class _Term(NamedTuple):
    """One of those that a sum has, and its sign in it."""

    sign: int
    row: AutogradRow


def objective_slips(view: ProgramView, facts: RunFacts) -> Iterator[Finding]:
    """All of them, of the newest backward of each statement."""
    newest = {traced.statement: traced for traced in facts.backwards()}
    found: dict[tuple[str, ItemId], Finding] = {}
    for traced in newest.values():
        for finding in _of_backward(view, traced):
            found.setdefault((finding.kind, finding.node), finding)
    yield from found.values()


def _of_backward(view: ProgramView, traced: BackwardTraced) -> Iterator[Finding]:
    rows = {row.id: row for row in traced.rows if row.order == 1}
    sums = [row for row in rows.values() if word_of(row.autograd) in SUMS]
    divergences = [one for row in sums if (one := _divergence(row, rows)) is not None]
    if divergences and all(_falls(square) for _, square in divergences):
        yield _negative_divergence(_named(view, divergences[0][0].node))
    yield from _praised_weights(view, traced, rows)
    for row in rows.values():
        word = word_of(row.autograd)
        if word == "Mul" and _is_policy(row, rows):
            yield _learning_advantage(row)
        elif word in COMPARING and _has_learning_target(row, rows):
            yield _learning_target(row)
        elif word == "Exp" and _is_ratio_to_itself(row, rows):
            yield _ratio_of_one(row)


def _praised_weights(view: ProgramView, traced: BackwardTraced, rows: Rows) -> Iterator[Finding]:
    """A measure of a model's weights that stands with a minus beside an error: the larger they are, the better."""
    errors = (row for row in rows.values() if word_of(row.autograd) in LOSSES)
    if not any(_rises(row) for row in errors):
        return
    weights = {row.id: row.values[0] for key, row in leaf_rows(traced) if key[1]}
    for row in rows.values():
        weight = weights.get(_input(row))
        if weight is None or not (word_of(row.autograd) in MEASURES or _is_square(row)) or not _falls(row):
            continue
        yield Finding(
            "diverges",
            "warning",
            row.node,
            f"The penalty on {weight.path} has a minus in the loss: every step makes the weights larger, not smaller",
            "A step goes to where the loss is smaller, and this term gets smaller the larger the weights are. Add a "
            "penalty: loss + factor * weights.abs().sum().",
            (row.node,),
        )
        return


def _rises(row: AutogradRow) -> bool:
    """Whether the loss gets larger with a value."""
    summary = next(iter(row.incoming), None)
    return summary is not None and summary.minimum is not None and summary.minimum > 0


def _is_ratio_to_itself(row: AutogradRow, rows: Rows) -> bool:
    """Whether it is 1 everywhere, as a ratio of two chances of one kind that both learn: what one gets the other loses.

    The slope of exp is its value, so the gradient goes through unchanged where that is 1.
    """
    difference = _giver(_input(row), rows)
    arrived, left = next(iter(row.incoming), None), next(iter(row.outgoing), None)
    if difference is None or word_of(difference.autograd) not in DIFFERENCES or arrived is None or left is None:
        return False
    sides = [_giver(place, rows) for place, _ in difference.next[:2]]
    if (
        len(sides) != 2
        or sides[0] is None
        or sides[1] is None
        or word_of(sides[0].autograd) != word_of(sides[1].autograd)
    ):
        return False
    figures = [(one.minimum, one.maximum, one.rms) for one in (arrived, left)]
    return figures[0] == figures[1] and bool(arrived.rms)


def _ratio_of_one(row: AutogradRow) -> Finding:
    return Finding(
        "undetached",
        "warning",
        row.node,
        "The ratio is 1 everywhere, and both of its sides require grad: what the new log_prob learns is taken back by "
        "the old one",
        "The ratio compares the policy with the one that acted, whose log_prob is a number: compute it once, before "
        "the updates, under torch.no_grad(), or detach it. As it is, the gradients of both cancel to 0.",
        (row.node,),
    )


def _divergence(row: AutogradRow, rows: Rows) -> tuple[AutogradRow, AutogradRow] | None:
    """The sum that is the divergence of N(mu, exp(v)) from N(0, 1), and the square of mu in it.

    It is mu² + exp(v) − v − 1, or the same with every sign turned.
    """
    terms = _terms(row, rows)
    for grown in (one for one in terms if word_of(one.row.autograd) == "Exp"):
        exponent = _input(grown.row)
        squares = [one.row for one in terms if one.sign == grown.sign and _is_square(one.row)]
        if squares and any(one.row.id == exponent and one.sign == -grown.sign for one in terms):
            return row, squares[0]
    return None


def _falls(square: AutogradRow) -> bool:
    """Whether the loss gets smaller the larger the square gets."""
    summary = next(iter(square.incoming), None)
    if summary is None or summary.minimum is None or summary.maximum is None:
        return False
    return summary.minimum < 0 and summary.maximum <= 0


def _negative_divergence(item: ItemId) -> Finding:
    return Finding(
        "diverges",
        "warning",
        item,
        "The KL divergence has the wrong sign in the loss (a minus too few or too many): every step pushes the code "
        "away from the normal distribution",
        "1 + logvar − mu² − exp(logvar) is never above 0, and is 0 where the code is a normal distribution. The loss "
        "takes it with a minus: −0.5 · sum(1 + logvar − mu² − exp(logvar)). With a plus it falls without end.",
        (item,),
    )


def _is_policy(row: AutogradRow, rows: Rows) -> bool:
    """Whether the logarithm of a chosen chance is multiplied by a difference that a layer's value is a part of."""
    factors = [_giver(place, rows) for place, _ in row.next]
    chosen = next((one for one in factors if one is not None and word_of(one.autograd) == "Gather"), None)
    others = [one for one in factors if one is not None and one is not chosen]
    if chosen is None or len(factors) != 2 or len(others) != 1 or word_of(others[0].autograd) not in DIFFERENCES:
        return False
    chances = _giver(_input(chosen), rows)
    if chances is None or word_of(chances.autograd) not in LOGARITHMS:
        return False
    return any(_comes_of_layer(one.row, rows) for one in _terms(others[0], rows))


def _learning_advantage(row: AutogradRow) -> Finding:
    return Finding(
        "undetached",
        "warning",
        row.node,
        "The advantage requires grad where log_prob is multiplied by it: the value layer learns from the loss of the "
        "policy, too",
        "An advantage only weighs the actions. As it is, the step changes the predicted values so that the policy's "
        "loss becomes smaller. Take it off the graph: (returns - value.detach()), or value.item().",
        (row.node,),
    )


def _has_learning_target(row: AutogradRow, rows: Rows) -> bool:
    """Whether the value of a chosen action is compared with the best value of a next state, and both learn."""
    sides = [_giver(place, rows) for place, _ in row.next[:2]]
    if len(sides) != 2:
        return False
    for chosen, target in (sides, sides[::-1]):
        if chosen is None or target is None or word_of(chosen.autograd) != "Gather":
            continue
        chances = _giver(_input(chosen), rows)
        best = [one.row for one in _terms(target, rows, through_factors=True)]
        if (
            chances is not None
            and word_of(chances.autograd) in LAYERS
            and any(word_of(one.autograd) in MAXIMA for one in best)
        ):
            return True
    return False


def _learning_target(row: AutogradRow) -> Finding:
    return Finding(
        "undetached",
        "warning",
        row.node,
        "The target learns, too: the best value of the next state is not detached",
        "The value of an action is to come to its target, not the target to the value. Compute the target under "
        "torch.no_grad(), or detach it.",
        (row.node,),
    )


# ------------------------------------------------------------------ helpers


def _named(view: ProgramView, item: ItemId) -> ItemId:
    """The value with a name that a sum is brought to by factors and reductions; itself where there is none."""
    here = item
    for _ in range(MOST_STEPS):
        node = view.node(here)
        if node is not None and any(name != "_" for name in node.names):
            return here
        users = [user for user in view.followers(here) if view.word(user) in SCALING]
        if len(users) != 1:
            break
        here = users[0]
    return item


def _terms(row: AutogradRow, rows: Rows, *, through_factors: bool = False) -> list[_Term]:
    """What a sum is made of; `through_factors`: also what is multiplied by a constant, whose sign is unknown."""
    found, todo = list[_Term](), [_Term(1, row)]
    while todo and len(found) < MOST_TERMS:
        sign, here = todo.pop()
        word, given = word_of(here.autograd), [rows.get(place) for place, _ in here.next]
        signs = {"Add": (1, 1), "Sub": (1, -1), "Rsub": (-1, 1), "Neg": (-1,)}.get(word)
        if word == "Mul" and through_factors and given.count(None) == 1:
            signs = (1, 1)
        elif word in UNCHANGING - {"Neg"}:
            signs = (1,)
        if signs is None:
            found.append(_Term(sign, here))
            continue
        pairs = zip(signs, given, strict=False)
        todo += [_Term(sign * turned, one) for turned, one in pairs if one is not None]
        if word != "Neg" and signs == (1,):
            found.append(_Term(sign, here))
    return found


def _comes_of_layer(row: AutogradRow, rows: Rows) -> bool:
    giver = row if word_of(row.autograd) not in UNCHANGING else _giver(row.id, rows)
    return giver is not None and word_of(giver.autograd) in LAYERS


def _giver(place: int, rows: Rows) -> AutogradRow | None:
    """What computed a value, before it was squeezed, picked out or turned in its sign."""
    here = rows.get(place)
    for _ in range(len(rows)):
        if here is None or word_of(here.autograd) not in UNCHANGING:
            return here
        here = rows.get(_input(here))
    return None


def _input(row: AutogradRow) -> int:
    return row.next[0][0] if row.next else -1


def _is_square(row: AutogradRow) -> bool:
    factors = [place for place, _ in row.next]
    return word_of(row.autograd) == "Pow" or (
        word_of(row.autograd) == "Mul" and len(factors) == 2 and factors[0] == factors[1]
    )


@lru_cache(maxsize=1000)
def word_of(autograd: str) -> str:
    """``LogSoftmax`` for ``LogSoftmaxBackward0``."""
    return autograd.rstrip("0123456789").removesuffix("Backward")
