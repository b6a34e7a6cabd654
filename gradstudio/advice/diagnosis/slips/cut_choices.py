"""Choices of the nearest code, and draws, that a model is trained through: they have no slope, nothing goes past."""

from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.unreached_leaves import CUTTING, MEASURES, blocks_around
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.analysis.call_paths import Source
from gradstudio.graph.card_grouping import CALL, CALLED
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import TensorRecord

LOOKUPS = frozenset({"Embedding", "embedding", "getitem", "index_select"})
CHOICES = frozenset({"argmin", "argmax", "min", "max", "topk"})
REARRANGING = frozenset("view reshape flatten contiguous permute transpose squeeze unsqueeze".split())
PASSING = REARRANGING | {"detach", "tuple"}
LOSSES = ("Loss", "_loss", "entropy")
MOST_STEPS = 40
SAMPLES = frozenset({"sample"})
DIFFERENTIABLE = frozenset(
    "Normal LogNormal MultivariateNormal LowRankMultivariateNormal Laplace Cauchy StudentT Gamma Beta Dirichlet "
    "Uniform Exponential HalfNormal Gumbel Kumaraswamy".split()
)
"""Distributions that can draw with a graph."""
LIKELIHOODS = frozenset({"log_prob"})
PARTING = MEASURES | {"detach", "item", "tolist", "numpy"}


def untaught_encoder(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """Codes that go into a further layer as they were looked up, by an index that something which learns has chosen."""
    table = view.source(item, (CALLED, "weight", "a", "self", "input") if word != "embedding" else ("weight",))
    index = view.source(item, ("inputs.0", "index.0", "index") if word != "embedding" else ("input",))
    choice = _choice(view, index) if table is not None and index is not None else None
    if table is None or choice is None:
        return
    codebook = view.resolve(table.item, table.output)[0]
    behind = [choice, *view.behind(choice, MOST_STEPS)]
    if codebook not in behind:
        return  # a token that was chosen by its score, say
    code = next((one for one in behind if _learns(view, one, codebook, lookup)), None)
    layer = _next_layer(view, item)
    if code is None or layer is None:
        return
    name, chosen = view.name(code), view.name(item)
    yield Finding(
        "cut_code",
        "warning",
        item,
        f"{view.word(choice)} has no slope, so nothing that comes behind {chosen} teaches {name}: the straight-through "
        "estimator is missing",
        f"The codes are looked up by an index, and the gradient of {view.name(layer)} ends in the codebook. Send it "
        f"past the choice: {name} + ({chosen} - {name}).detach() goes into {view.name(layer)}.",
        (item, choice, code, layer),
    )


def draw_without_graph(view: ProgramView, item: ItemId, _word: str, lookup: Lookup) -> Iterator[Finding]:
    """What is drawn from a distribution that is learnt and goes into the loss, where no log_prob weighs it."""
    owner = view.source(item, ("module", "self"))
    made = view.resolve(owner.item, owner.output)[0] if owner is not None else item
    learnt = [one for one in view.sources(made) if _requires_grad(lookup(one.item, one.output))]
    if view.word(made) not in DIFFERENTIABLE or not learnt or CUTTING.intersection(blocks_around(view, item)):
        return
    drawn = lookup(item, 0)
    if not isinstance(drawn, TensorRecord) or drawn.requires_grad or not _is_learnt_by(view, made, item):
        return
    names = " and ".join(dict.fromkeys(view.source_name(one) for one in learnt))
    yield Finding(
        "no_gradient",
        "warning",
        item,
        f"sample() of {view.word(made)} draws numbers without a graph: through them no gradient comes to {names}",
        "The loss is computed of what was drawn, and does not know what it was drawn from. Write rsample(), which "
        "draws with a graph (mean + std · noise).",
        (item, made),
    )


def _requires_grad(record: object) -> bool:
    return isinstance(record, TensorRecord) and record.requires_grad


def _is_learnt_by(view: ProgramView, distribution: ItemId, drawn: ItemId) -> bool:
    """Whether a backward begins from what is computed of a draw, and no log_prob of either is asked for."""
    todo, seen, goes_back = [drawn], {drawn}, False
    while todo and len(seen) < MOST_STEPS:
        for user in view.followers(todo.pop(0)):
            word = view.word(user)
            if word in LIKELIHOODS:
                return False
            goes_back = goes_back or word == "backward"
            if user not in seen and word not in PARTING:
                seen.add(user)
                todo.append(user)
    return goes_back and not any(view.word(user) in LIKELIHOODS for user in view.followers(distribution))


def _choice(view: ProgramView, index: Source) -> ItemId | None:
    """What chose an index; None where it was not chosen as the best."""
    at, _ = view.resolve(index.item, index.output)
    for _ in range(len(REARRANGING)):
        if view.word(at) not in REARRANGING:
            break
        source = view.source(at)
        if source is None:
            return None
        at, _ = view.resolve(source.item, source.output)
    return at if view.word(at) in CHOICES else None


def _learns(view: ProgramView, item: ItemId, codebook: ItemId, lookup: Lookup) -> bool:
    """Whether it is what a layer has computed, with a graph behind it, and not of the codebook."""
    node, record = view.node(item), lookup(item, 0)
    if item == codebook or node is None or node.operator != CALL:
        return False
    return isinstance(record, TensorRecord) and record.requires_grad and not record.is_leaf


def _next_layer(view: ProgramView, item: ItemId) -> ItemId | None:
    """The layer that takes what was looked up as it is, or only laid out otherwise."""
    todo, seen = [item], {item}
    while todo and len(seen) < MOST_STEPS:
        for user in view.followers(todo.pop(0)):
            node = view.node(user)
            if user in seen or node is None:
                continue
            seen.add(user)
            word = view.word(user)
            if word in PASSING:
                todo.append(user)
            elif node.operator == CALL and not any(part in word for part in LOSSES) and _is_layer(view, user):
                return user
    return None


def _is_layer(view: ProgramView, call: ItemId) -> bool:
    return view.maker(call) is not None
