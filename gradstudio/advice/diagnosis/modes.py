"""Calls of a model in the wrong mode: evaluated while it trains, trained while it evaluates."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.remade_models import is_in_functions, loops_around
from gradstudio.advice.diagnosis.program_view import ProgramView, written_nodes
from gradstudio.advice.diagnosis.run_facts import Gap, RunFacts
from gradstudio.graph.analysis.module_modes import depends_on_mode
from gradstudio.graph.card_grouping import CALL, CALLED, SELF
from gradstudio.graph.groups.call_ids import SEPARATOR, path_of
from gradstudio.graph.groups.definitions import definition_graph, group_of
from gradstudio.graph.model import ROOT, Graph, ItemId
from gradstudio.graph.text.code_records import code_of, is_code
from gradstudio.protocol.messages.backward_trace import BackwardTraced

CUTTING = frozenset({"no_grad", "inference_mode"})
SWITCHES = frozenset({"train", "eval"})
SWITCHING = re.compile(r"\.(train|eval)\(")
"""What may switch a mode in code, which nobody sees run."""


class _Use(NamedTuple):
    """A call of a module, or what switches its mode; `switches_to`: whether to training, None of a call."""

    module: ItemId
    switches_to: bool | None = None


def wrong_modes(view: ProgramView, facts: RunFacts) -> Iterator[Finding]:
    """Of each call of the program and of its functions, in the order they ran, one finding at most."""
    trained, is_on = False, dict[ItemId, bool | None]()  # None: a gap may have switched it
    asked = set[ItemId]()  # switched to training behind the last backward: it is meant so
    found: dict[ItemId, Finding] = {}
    uses: dict[ItemId, _Use | None] = {}  # an item may run in each of many turns
    switches = dict(_switches(view)) if any(isinstance(event, Gap) for event in facts.course) else {}
    is_seen = not any(is_code(node) and SWITCHING.search(code_of(node)) for node in written_nodes(view.graph))
    for event in facts.course:
        if isinstance(event, BackwardTraced):
            trained = True
            asked.clear()
            continue
        if isinstance(event, Gap):
            is_on |= {module: None for item, module in switches.items() if _may_have_run(view, event, item)}
            continue
        if event.node not in uses:
            uses[event.node] = _use_of_module(view, event.node)
        use = uses[event.node]
        if use is None:
            continue
        module = use.module
        if use.switches_to is not None:
            is_on[module] = use.switches_to
            (asked.add if use.switches_to else asked.discard)(module)
            continue
        if event.node in found or not _has_modes(view, module):
            continue
        training = is_on.get(module, True)
        is_cut = stands_cut(view, event.node)
        if training and is_cut and trained and module not in asked and not _samples(view, event.node, module):
            found[event.node] = _evaluated(view, event.node, module)
        elif (
            training is False
            and not is_cut
            and event.turns
            and is_seen
            and _is_learning(view, facts, event.node, module)
        ):
            found[event.node] = _trained(view, event.node, module)
    yield from found.values()


def _switches(view: ProgramView) -> Iterator[tuple[ItemId, ItemId]]:
    """All that switches a mode, and of which module."""
    for item, _, _ in view.insides():
        use = _use_of_module(view, item)
        if use is not None and use.switches_to is not None:
            yield item, use.module


def _may_have_run(view: ProgramView, gap: Gap, item: ItemId) -> bool:
    """Whether an item stands in the loop that a gap lies in."""
    before, after = gap
    if before is None or after is None:
        return True
    within: ItemId | None = None
    loops = loops_around(view, before.node), loops_around(view, after.node)
    for loop, other, was, now in zip(*loops, before.turns, after.turns, strict=False):
        if loop != other:
            break
        within = loop
        if was != now:
            break
    return within is None or within in loops_around(view, item)


def _use_of_module(view: ProgramView, item: ItemId) -> _Use | None:
    """What an item does with a module; None where it neither calls nor switches one."""
    node = view.node(item)
    if node is None:
        return None
    word = view.word(item) if node.operator != CALL else ""
    if not (node.operator == CALL or word in SWITCHES) or not is_in_functions(view, item):
        return None
    source = view.source(item, (CALLED, SELF))
    module = view.resolve(source.item, source.output)[0] if source is not None else ItemId("")
    if node.operator == CALL:
        return _Use(module)
    return _Use(module, word == "train" and node.literals.get("mode", "True") != "False")


def _evaluated(view: ProgramView, call: ItemId, module: ItemId) -> Finding:
    name = view.name(module)
    return Finding(
        "wrong_mode",
        "warning",
        call,
        f"{name} is in training mode where it is evaluated: eval() is missing",
        "Under no_grad dropout still drops, and batch normalisation goes by this batch and takes it into its running "
        f"averages. Call {name}.eval() before, and {name}.train() before training goes on.",
        (call, module),
    )


def _trained(view: ProgramView, call: ItemId, module: ItemId) -> Finding:
    name = view.name(module)
    return Finding(
        "wrong_mode",
        "warning",
        call,
        f"{name} is in eval mode while it is trained: train() is missing",
        "Dropout does nothing, and batch normalisation keeps its old averages. "
        f"Call {name}.train() where an epoch of training begins.",
        (call, module),
    )


def _samples(view: ProgramView, call: ItemId, module: ItemId) -> bool:
    """Whether a model is asked the same again and again, with nothing learnt in between: its chance is looked at."""
    given = _given(view, call)
    if given is None:
        return False
    loops = loops_around(view, call)
    others = [one for one in view.calls(module) if one != call and loops_around(view, one) == loops]
    if any(stands_cut(view, one) and _given(view, one) == given for one in others):
        return True
    if not loops or loops[-1] in (given[0], *loops_around(view, given[0])):
        return False
    return not any(
        view.word(one) == "backward" and loops[-1] in loops_around(view, one) for one, _, _ in view.insides()
    )


def _given(view: ProgramView, call: ItemId) -> tuple[ItemId, int] | None:
    """What a module is called with."""
    source = view.source(call, ("inputs.0",))
    return view.resolve(source.item, source.output) if source is not None else None


def _has_modes(view: ProgramView, module: ItemId) -> bool:
    """Whether a module computes something else in training than in evaluation."""
    place = view.place(module)
    return place is not None and _changes(place.graph, place.item)


def _changes(graph: Graph, module: ItemId) -> bool:
    if depends_on_mode(graph, module):
        return True
    group = group_of(graph, module)
    inner = definition_graph(graph, group) if group in graph.definitions else None
    return inner is not None and any(_changes(inner, item) for item in inner.nodes)


def stands_cut(view: ProgramView, item: ItemId) -> bool:
    """Whether it, or a call around it, stands where no graph is made."""
    path = path_of(item)
    for depth in range(1, len(path) + 1):
        place = view.place(ItemId(SEPARATOR.join(path[:depth])))
        around = (
            (place.graph.blocks.get(ItemId(b)) for b in place.graph.ancestors(place.item) if b != ROOT) if place else ()
        )
        if any(block is not None and block.kind in CUTTING for block in around):
            return True
    return False


def _is_learning(view: ProgramView, facts: RunFacts, call: ItemId, module: ItemId) -> bool:
    """Whether a loop around a call has a backward, and an optimizer that updates the module."""
    own = facts.module_storages(module)
    held = {storage for leaves in facts.held.values() for storage in leaves}
    around = {loop for traced in facts.backwards() for loop in loops_around(view, traced.statement)}
    return bool(own & held) and not around.isdisjoint(loops_around(view, call))
