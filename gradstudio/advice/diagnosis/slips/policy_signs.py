"""Policies that learn the wrong way: a loss that is log_prob times what was won, without a minus.

Told by the autograd nodes and the gradients that came to them, however the chances were gathered: in one tensor, by a
stack, or one by one in a list.
"""

import re
from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.run_facts import RunFacts
from gradstudio.advice.diagnosis.slips.error_directions import place_of_root, root_of, trains_weights
from gradstudio.advice.diagnosis.slips.objective_slips import LOGARITHMS, UNCHANGING, Rows, word_of
from gradstudio.graph.analysis.call_paths import Source
from gradstudio.graph.groups.call_ids import outermost
from gradstudio.graph.groups.code_ids import code_call
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced
from gradstudio.protocol.messages.records import TensorRecord

GATHERING = UNCHANGING - {"Neg"} | {"Stack", "Cat", "Unbind", "Slice"}
"""What hands chances on as they are."""
CHOOSING = frozenset({"Gather", "Index"})
CHANCE, DRAWN = "log_prob", "rsample"
COSTS = re.compile(r"cost|loss|penalt|regret|error", re.IGNORECASE)
"""What is to become less, by its name."""
GAINS = re.compile(r"return|reward|gain|^[RG]$", re.IGNORECASE)
"""What is to become more, by its name: as it is taken away, its difference is to become less."""
MOST_BACKWARDS, MOST_STEPS, MOST_BEHIND = 20, 200, 12


def falling_policies(view: ProgramView, facts: RunFacts) -> Iterator[Finding]:
    """The one loss of a training in which chances of what was drawn stand with a plus, times what was won."""
    backwards = list(facts.backwards())[-MOST_BACKWARDS:]
    roots = {place_of_root(root): root for traced in backwards if (root := root_of(traced)) is not None}
    if len(roots) != 1 or not trains_weights(view, facts) or any(view.word(row.node) == DRAWN for row in facts.rows):
        return  # of several losses one may work against another; a drawn value that learns is no action
    products = [product for traced in backwards for product in _products(view, traced)]
    if not products or not all(_rises(row) for row in products):
        return
    gains = [gain for row in products for gain in [_range_of(row)] if gain is not None]
    first = gains[0] if gains else (0.0, 0.0)
    is_one_number = first[0] == first[1] != 0 and all(gain == first for gain in gains)
    if is_one_number or _is_to_fall(view, facts, products[-1], gains):
        return
    root = next(iter(roots.values()))
    name = view.name(root) if code_call(root) is None else "The loss"
    yield Finding(
        "diverges",
        "warning",
        root,
        f"{name} is log_prob times the reward without a minus, so every step makes rewarded actions less likely",
        f"A step makes {name} smaller, and what was rewarded is to become more likely. Take its negative: "
        "-(log_prob * reward).mean().",
        (root,),
    )


def _products(view: ProgramView, traced: BackwardTraced) -> Iterator[AutogradRow]:
    """Where chances of what was drawn are multiplied by what does not learn."""
    rows = {row.id: row for row in traced.rows if row.order == 1}
    for row in rows.values():
        if word_of(row.autograd) != "Mul" or len(row.next) != 2:
            continue
        sides = [place for place, _ in row.next if place in rows]
        if len(sides) == 1 and _are_chances(view, rows[sides[0]], rows):
            yield row


def _are_chances(view: ProgramView, row: AutogradRow, rows: Rows) -> bool:
    """Whether a value is nothing but logarithms of chances, gathered perhaps."""
    todo, seen = [row], {row.id}
    while todo and len(seen) < MOST_STEPS:
        here = todo.pop()
        if _is_chance(view, here, rows):
            continue
        if word_of(here.autograd) not in GATHERING or not here.next:
            return False
        for place, _ in here.next:
            if place in rows and place not in seen:
                seen.add(place)
                todo.append(rows[place])
    return not todo


def _is_chance(view: ProgramView, row: AutogradRow, rows: Rows) -> bool:
    if view.word(outermost(row.node)) == CHANCE:
        return True
    chosen = rows.get(row.next[0][0]) if word_of(row.autograd) in CHOOSING and row.next else None
    return chosen is not None and word_of(chosen.autograd) in LOGARITHMS


def _rises(row: AutogradRow) -> bool:
    summary = next(iter(row.incoming), None)
    return summary is not None and summary.minimum is not None and summary.minimum > 0


def _range_of(row: AutogradRow) -> tuple[float, float] | None:
    """From where to where what was won reaches, in the scale of the gradient."""
    summary = next((one for one in row.outgoing if one is not None), None)
    if summary is None or summary.minimum is None or summary.maximum is None:
        return None
    return float(summary.minimum), float(summary.maximum)


def _is_to_fall(view: ProgramView, facts: RunFacts, row: AutogradRow, gains: list[tuple[float, float]]) -> bool:
    """Whether what chances are multiplied by is a cost, or has the minus itself; in code, where it may have one."""
    others = [source for source in view.sources(row.node) if _is_plain(view, facts, source)]
    if len(others) != 1:
        return any(low < 0 for low, _ in gains)
    at, _ = view.resolve(others[0].item, others[0].output)
    if COSTS.search(view.source_name(others[0])):
        return True
    taken = view.source(at, ("b", "other")) if view.word(at) == "sub" else None
    if taken is not None and GAINS.search(view.source_name(taken)):
        return True
    return any(_turns(view, one) for one in (at, *view.behind(at, MOST_BEHIND)))


def _is_plain(view: ProgramView, facts: RunFacts, source: Source) -> bool:
    at, output = view.resolve(source.item, source.output)
    record = facts.record(at, output) or facts.record(source.item, source.output)
    return isinstance(record, TensorRecord) and not record.requires_grad


def _turns(view: ProgramView, item: ItemId) -> bool:
    """Whether a sign is turned: by a minus, or a negative factor."""
    node = view.node(item)
    is_factor = view.word(item) in ("mul", "truediv", "div")
    return view.word(item) == "neg" or (
        node is not None and is_factor and any(text.startswith("-") for text in node.literals.values())
    )
