"""In what scale a model answers, by what it was trained with: scores or chances, scaled targets or plain ones."""

from collections.abc import Iterator

from gradstudio.advice.diagnosis.data.row_origins import RowOrigins, Rows
from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.loss_mistakes import (
    DIFFERENCES,
    FIRST,
    SECOND,
    SHUFFLES,
    UNCHANGING,
)
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.card_grouping import CALL, CALLED
from gradstudio.graph.model import ItemId

BOUNDS = frozenset({"gt", "ge", "lt", "le"})
HALF = frozenset({"0.5", ".5"})
MOST = 12
IN_ORDER = {
    "TripletMarginLoss": ("anchor", "positive", "negative"),
    "TripletMarginWithDistanceLoss": ("anchor", "positive", "negative"),
    "triplet_margin_loss": ("anchor", "positive", "negative"),
}
"""Losses whose arguments are of one kind, so that nothing but their names says which is which."""


def bound_for_chances(view: ProgramView, item: ItemId, word: str, _lookup: Lookup) -> Iterator[Finding]:
    """Scores, which a loss takes as such, and which are compared with a half elsewhere."""
    call = _answer(view, item)
    module = view.source(call, (CALLED,)) if call is not None else None
    if call is None or module is None:
        return
    made, _ = view.resolve(module.item, module.output)
    for other in dict.fromkeys((call, *view.calls(made))):
        for user in _unchanged(view, other):
            node = view.node(user)
            if view.word(user) in BOUNDS and node is not None and node.literals.get("b") in HALF:
                yield Finding(
                    "wrong_choice",
                    "warning",
                    user,
                    f"0.5 is the bound for chances, and {view.name(made)} gives scores, as {word} wants them: "
                    "their bound is 0",
                    "A score of 0 is a chance of 0.5; a score of 0.5 is one of 0.62. Compare with 0, or take the "
                    "sigmoid of the scores first.",
                    (user, other, item),
                )
                return


def other_scale_of_targets(
    view: ProgramView, lookup: Lookup, origins: RowOrigins, items: list[ItemId]
) -> list[Finding]:
    """Answers in the scale of targets that were scaled, compared with targets that are not.

    Args:
        items: the losses that compare numbers.
    """
    scaled: dict[ItemId, tuple[ItemId, ItemId]] = {}
    plain: list[tuple[ItemId, ItemId, tuple[ItemId, int]]] = []
    for item in items:
        call, target = _answer_and_target(view, item, origins)
        module = view.source(call, (CALLED,)) if call is not None else None
        if target is None or module is None:
            continue
        made, _ = view.resolve(module.item, module.output)
        record = lookup(item, 0)
        if target.statistics and getattr(record, "requires_grad", False):
            scaled[made] = item, target.statistics[0].item
        elif not target.statistics:
            plain.append((item, made, target.made))
    found = list[Finding]()
    for item, made, data in plain:
        trained = scaled.get(made)
        of = _answer_and_target(view, trained[0], origins)[1] if trained is not None else None
        if trained is None or of is None or of.made != data:
            continue
        word, name = _who(view, item), view.name(made)
        found.append(
            Finding(
                "out_of_reach",
                "warning",
                item,
                f"{word} compares in two scales: {name} was trained on targets that were scaled by "
                f"{view.word(trained[1])}, and these are not",
                f"What {name} says is in the scale it was trained in. Scale it back (prediction * std + mean) before "
                "it is compared, or scale these targets, too.",
                (item, trained[0], trained[1]),
            )
        )
    return found


def two_orders(view: ProgramView, origins: RowOrigins, items: list[ItemId]) -> Iterator[Finding]:
    """Inputs and targets that are each put into a random order of its own.

    Args:
        items: the losses.
    """
    for item in items:
        call, target = _answer_and_target(view, item, origins)
        given = origins.source(call, ("inputs.0",)) if call is not None else None
        orders = [one.order for one in (given, target) if one is not None and one.order is not None]
        if len(set(orders)) < 2 or any(view.word(order) not in SHUFFLES for order in orders):
            continue
        yield Finding(
            "shuffled_apart",
            "warning",
            item,
            f"{_who(view, item)} compares inputs in one random order with targets in another: each randperm is new",
            "No example meets its own target, so nothing can be learnt. Draw one order, and take both by it: x[order], "
            "y[order].",
            (item, *orders),
        )


def crossed_names(view: ProgramView, item: ItemId, word: str, _lookup: Lookup) -> Iterator[Finding]:
    """Two arguments of one kind, each under the name of the other one."""
    names = IN_ORDER[word]
    sources = [view.source(item, (name, f"inputs.{place}")) for place, name in enumerate(names)]
    given = [_plain_name(view, one.item, one.output) if one is not None else "" for one in sources]
    for k, first in enumerate(names):
        for j in range(k + 1, len(names)):
            if given[k].startswith(names[j]) and given[j].startswith(first):
                yield Finding(
                    "swapped_target",
                    "warning",
                    item,
                    f"{word} takes ({', '.join(names)}), and is given {given[k]} where {first} belongs and {given[j]} "
                    f"where {names[j]} belongs: they are swapped",
                    f"Nothing but their order says which is which, so the loss pulls apart what belongs together. "
                    f"Write {', '.join(names)}.",
                    (item,),
                )
                return


def _plain_name(view: ProgramView, item: ItemId, output: int) -> str:
    """How a person calls a value; of what a model makes of one, how that one is called."""
    node = view.node(item)
    given = view.source(item, ("inputs.0",)) if node is not None and node.operator == CALL and not node.names else None
    return (view.source_name(given) if given is not None else view.name(item, output)).lower()


def _who(view: ProgramView, item: ItemId) -> str:
    """What compares, as a person calls it."""
    word = view.word(item)
    return "The loss" if word in DIFFERENCES else word


def _answer_and_target(view: ProgramView, item: ItemId, origins: RowOrigins) -> tuple[ItemId | None, Rows | None]:
    """The call whose result a loss is given as it is, and the rows it is compared with; of a difference either way."""
    call = _answer(view, item)
    if call is None and view.word(item) in DIFFERENCES:
        return _answer(view, item, SECOND), origins.source(item, FIRST)
    return call, origins.source(item, SECOND)


def _answer(view: ProgramView, item: ItemId, ports: tuple[str, ...] = FIRST) -> ItemId | None:
    """The call whose result a loss is given as it is."""
    source = view.source(item, ports)
    for _ in range(MOST):
        node = view.node(source.item) if source is not None else None
        if source is None or node is None:
            return None
        if node.operator == CALL:
            return source.item
        if view.word(source.item) not in UNCHANGING and not node.operator.startswith("python.alias"):
            return None
        source = view.source(source.item)
    return None


def _unchanged(view: ProgramView, call: ItemId) -> Iterator[ItemId]:
    """What takes the result of a call as it is."""
    todo, seen = [call], {call}
    while todo and len(seen) < MOST:
        for user in view.followers(todo.pop(0)):
            if user not in seen:
                seen.add(user)
                yield user
                if view.word(user) in UNCHANGING:
                    todo.append(user)
