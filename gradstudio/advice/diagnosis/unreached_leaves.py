"""Leaves that require grad and that no backward reached: where the way to them ends; and sums over backwards."""

from collections.abc import Iterable, Mapping, Set
from typing import NamedTuple

from gradstudio.advice.diagnosis.finding import Finding, Severity
from gradstudio.advice.diagnosis.program_view import ProgramView, is_changed_by_hand, leads_to
from gradstudio.advice.diagnosis.run_facts import Gap, RunFacts
from gradstudio.advice.diagnosis.training_steps import STEP, is_given_whole
from gradstudio.advice.failure_sentences import is_backward
from gradstudio.graph.analysis.call_paths import TUPLE
from gradstudio.graph.groups.call_ids import INPUTS, path_of
from gradstudio.graph.model import ROOT, ItemId
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.events import GradRow
from gradstudio.protocol.messages.records import (
    ModuleRecord,
    ObjectRecord,
    OptimizerRecord,
    PlainRecord,
    Record,
    TensorRecord,
    TupleRecord,
)

TELLING = frozenset({"not_reached", "accumulated", "cut"})
"""States of a gradient that may be worth a word."""
CUTTING = frozenset({"no_grad", "inference_mode"})
MEASURES = frozenset(
    "size shape dim ndim numel len stride device dtype zeros_like ones_like empty_like full_like rand_like randn_like "
    "new_zeros new_ones new_empty new_full new_tensor requires_grad is_leaf grad grad_fn type isinstance str "
    "print".split()
)
"""What asks a value for something else than its numbers: there is nothing to send back."""
COUNTING = frozenset(
    "argmax argmin argsort multinomial bincount searchsorted bucketize nonzero eq ne lt le gt ge long int bool".split()
)
"""What gives places, counts and answers: whole numbers, which have no slope."""
DETACHING = frozenset({"detach"})
"""What cuts even where its result requires grad later, by requires_grad_()."""
REDUCING = frozenset({"mean", "sum", "neg"})
NEW_TENSOR, ROOTS = "torch.tensor", ("self", "tensors", "tensors.0")
RENEWED = frozenset({"requires_grad_", "requires_grad"})
ATTRIBUTE = "python.attribute"
ANEW = "torch.tensor makes a new leaf of plain numbers, without what they were computed from"
MOST_ENDS = 3
SWITCHES = ("requires_grad_", "requires_grad=")
"""Statements that let a leaf require grad."""


class End(NamedTuple):
    """Where the way from a leaf to the loss ends.

    Attributes:
        words: what cuts it.
        is_block: a block around it does, which somebody wrote down for that.
        is_number: what comes out is a number, and no tensor any more.
        is_hidden: it has no slope, and what is made of it is said to require grad: the backward runs all the same.
    """

    item: ItemId
    words: str
    is_block: bool = False
    is_number: bool = False
    is_hidden: bool = False


def without_gradient(
    view: ProgramView, facts: RunFacts, gradients: Iterable[GradRow], backwards: Mapping[int, BackwardTraced]
) -> tuple[Finding, ...]:
    """Leaves that require grad and that a backward has run without reaching; and sums over several backwards.

    Args:
        backwards: by number, to name the statement that added last.
    """
    known = tuple(gradients)
    missed: dict[ItemId, list[GradRow]] = {}
    sums: dict[ItemId, Finding] = {}
    for row in known:
        node = view.node(row.node)
        if node is None or (node.operator == TUPLE and len(node.names) > 1):
            continue  # what a loop hands out, or several names share, is told of where each was made
        if row.state == "not_reached" and _is_parameter(view, facts, row):
            missed.setdefault(_owner(facts, row), []).append(row)
        elif row.state == "accumulated" and len(row.parts) != 1 and _owner(facts, row) == row.node:
            sums.setdefault(row.node, _accumulated(view, row, backwards))
    missing = _without_parts(facts, missed)
    steps = _backwards_by_optimizer(view, facts) if missing else {}
    reports = (_not_reached(view, facts, owner, rows, backwards, steps) for owner, rows in missing.items())
    return (*(report for report in reports if report is not None), *sums.values())


def _accumulated(view: ProgramView, row: GradRow, backwards: Mapping[int, BackwardTraced]) -> Finding:
    name = view.name(row.node) + (f".{row.path}" if row.path else "")
    number = row.parts[-1].backward if row.parts else 0
    last = backwards[number].statement if number in backwards else ItemId("")
    return Finding(
        "accumulates",
        "info",
        row.node,
        f"{name}.grad holds more than the last backward gave",
        f"{row.reason or 'backward adds to .grad.'} Nothing is wrong where the sum is meant.",
        (row.node, last) if last in view.graph else (row.node,),
        number,
    )


def _without_parts(facts: RunFacts, missed: dict[ItemId, list[GradRow]]) -> dict[ItemId, list[GradRow]]:
    """Without layers whose parameters are those of a module that is told of."""
    homes = {owner: {s for row in rows for s in facts.storages((row.node, row.path))} for owner, rows in missed.items()}
    return {
        owner: rows
        for owner, rows in missed.items()
        if not any(other != owner and homes[owner] and homes[owner] < homes[other] for other in missed)
    }


def _owner(facts: RunFacts, row: GradRow) -> ItemId:
    """The module that a parameter is told of by."""
    found = (facts.leaves[storage] for storage in facts.storages((row.node, row.path)) if storage in facts.leaves)
    leaf = next(found, None)
    return leaf.owner if leaf is not None else row.node


def _not_reached(
    view: ProgramView,
    facts: RunFacts,
    owner: ItemId,
    rows: list[GradRow],
    backwards: Mapping[int, BackwardTraced],
    steps: Mapping[ItemId, Set[ItemId]],
) -> Finding | None:
    """Where the ways from a leaf, or from a module's parameters, end that a gradient would have to come back on."""
    storages = {storage for row in rows for storage in facts.storages((row.node, row.path))}
    optimizers = [item for item, held in facts.held.items() if storages & held.keys()]
    name = _name(view, facts, owner, rows)
    node = owner
    ran = {traced.statement for traced in backwards.values()}
    if leads_to(view, rows[0].node, lambda item: is_backward(view.graph, item) and item not in ran):
        return None  # the backward that is meant for it may be still to come
    ends, reaches = _ends(view, facts, rows[0].node, ran)
    own = {statement for optimizer in optimizers for statement in steps.get(optimizer, ())}
    ends = [end for end in ends if leads_to(view, end.item, own.__contains__)] or ends
    severity = _severity(view, facts, rows, storages, ends)
    late = _too_late(view, facts, rows[0].node)
    if late is not None:
        return _late_leaf(view, late[0], name, late[1])
    ends = _first_ends(view, ends)
    hidden = next((end for end in ends if end.is_hidden), None)
    if ends:
        where = "; and at ".join(f"{view.where(end.item)}: {end.words}" for end in ends[:MOST_ENDS])
        why = f"Its way to the loss is cut at {where}."
        node = ends[0].item if hidden is None else hidden.item
        title = _cut_title(view, ends[0], name) if hidden is None else _hidden_title(view, hidden, name)
        severity = "warning" if hidden is not None else severity
    elif reaches:
        return None  # a backward that failed, or one that nobody here knows better of
    elif (made := _made_of_numbers(view, backwards)) is not None:
        node, title, why, ends = made.item, f"{ANEW}: {name} gets no gradient", made.words, [made]
    else:
        if severity == "info" and _is_only_evaluated(view, owner):
            return None
        title = f"{name} gets no gradient: nothing the backward began from was computed from it"
        why = "A wire is missing, or it is not used."
        if severity == "info" and is_changed_by_hand(view, rows[0].node):
            why = "Nothing is wrong where it is only there to be changed by hand."
    whom = f" {view.name(optimizers[0])} steps with it in vain." if optimizers else ""
    return Finding(
        "no_gradient",
        severity,
        node,
        title,
        f"{rows[0].reason or 'The backward did not reach it.'} {why}{whom}",
        (owner, *(end.item for end in ends)),
        max(backwards, default=0),
    )


def _severity(view: ProgramView, facts: RunFacts, rows: list[GradRow], storages: set[int], ends: list[End]) -> Severity:
    """A warning where somebody meant to train it, or where its own module goes round it."""
    optimizers = [item for item, held in facts.held.items() if storages & held.keys()]
    if ends and all(end.is_block for end in ends):
        is_listed = any(is_given_whole(view, facts, optimizer, storages) for optimizer in optimizers)
        return "warning" if is_listed else "info"
    if not optimizers and any(not end.is_block and not end.is_number for end in ends) and rows[0].path:
        is_part = any(storages < facts.module_storages(item) for item in facts.latest) and not facts.held
        return "warning" if is_part else "info"  # a module behind a detach, which nobody is to train
    if optimizers:
        return "warning"
    return "info" if facts.held or is_changed_by_hand(view, rows[0].node) else "warning"


def _backwards_by_optimizer(view: ProgramView, facts: RunFacts) -> Mapping[ItemId, Set[ItemId]]:
    """By optimizer, the statements of the backwards by which it steps: those since the step before."""
    found, since = dict[ItemId, set[ItemId]](), set[ItemId]()
    for event in facts.course:
        if isinstance(event, BackwardTraced):
            since.add(event.statement)
        elif isinstance(event, Gap):
            since = set()
        elif (node := view.node(event.node)) is not None and node.operator == STEP:
            source = view.source(event.node, ("self",))
            if source is not None:
                found.setdefault(view.resolve(source.item, source.output)[0], set()).update(since)
            since = set()
    return found


def _too_late(view: ProgramView, facts: RunFacts, leaf: ItemId) -> tuple[ItemId, ItemId] | None:
    """What lets a leaf require grad behind all that was computed from it, and the last of that; None: nothing does."""
    order = {row.node: k for k, row in enumerate(facts.rows) if not row.caught_up}
    users = sorted((user for user in view.followers(leaf) if user in order), key=order.__getitem__)
    switches = [user for user in users if _is_switch(view, user)]
    others = [user for user in users if view.word(user) not in MEASURES and user not in switches]
    if not switches or not others or order[others[-1]] > order[switches[0]]:
        return None
    return switches[0], others[-1]


def _is_switch(view: ProgramView, item: ItemId) -> bool:
    node = view.node(item)
    return node is not None and node.operator.endswith(SWITCHES)


def _late_leaf(view: ProgramView, late: ItemId, name: str, user: ItemId) -> Finding:
    return Finding(
        "no_gradient",
        "warning",
        late,
        f"{name} requires grad only behind what was computed from it: {view.where(user)} did not know of it",
        f"What is computed notes at that moment what requires grad. Let {name} require grad where it is made, or "
        "before it is used; then compute the loss.",
        (late, user),
    )


def _cut_title(view: ProgramView, end: End, name: str) -> str:
    """Who cuts it, before what comes of it."""
    if end.is_block:
        return f"{view.where(end.item)} {end.words.removeprefix('it ')}, so {name} gets no gradient"
    return f"{view.where(end.item)} cuts {name} off from the loss ({end.words}): {name} gets no gradient"


def _made_of_numbers(view: ProgramView, backwards: Mapping[int, BackwardTraced]) -> End | None:
    """The leaf made anew of what was computed that every backward began from, or from what that is reduced to."""
    found = [_new_leaf(view, statement) for statement in {traced.statement for traced in backwards.values()}]
    return found[0] if found and all(one is not None for one in found) else None


def _new_leaf(view: ProgramView, statement: ItemId) -> End | None:
    source = view.source(statement, ROOTS)
    stages = view.stages(source.item, source.output) if source is not None else ()
    first = next((stage for stage in stages if stage.word not in REDUCING), None)
    if first is None or first.node.operator != NEW_TENSOR or first.node.literals.get("requires_grad") != "True":
        return None
    data = view.source(first.item, ("data",))
    if data is None:
        return None
    name = view.source_name(data)
    words = f"Take the tensors themselves: leave .item() away, and write torch.stack({name}) where {name} is a list."
    return End(first.item, words, is_number=True)


def _hidden_title(view: ProgramView, end: End, name: str) -> str:
    return (
        f"{view.word(end.item)} has no slope: {name} gets no gradient, and requires_grad_() behind it only hides that"
    )


def _name(view: ProgramView, facts: RunFacts, owner: ItemId, rows: list[GradRow]) -> str:
    record = facts.record(owner, 0)
    if isinstance(record, ModuleRecord) and len({_path(facts, row) for row in rows}) < len(record.parameters):
        paths = {row.path if row.node == owner else _path(facts, row) for row in rows}
        reached = {_layer(path) for path in record.parameters if path not in paths}
        modules = sorted({path if _layer(path) in reached else _layer(path) for path in paths})
        return f"{view.name(owner)}.{modules[0]}" + (f" (and {len(modules) - 1} more)" if modules[1:] else "")
    return _shared_names(view, facts, owner, rows) or view.name(owner)


def _shared_names(view: ProgramView, facts: RunFacts, owner: ItemId, rows: list[GradRow]) -> str:
    """Of several names that one statement binds, those of what holds these parameters: "G" of ``G, D = …``."""
    node, bound = view.node(owner), facts.latest.get(owner)
    if node is None or bound is None or node.operator != TUPLE or len(node.names) != len(bound.outputs):
        return ""
    missed = {storage for row in rows for storage in facts.storages((row.node, row.path))}
    pairs = zip(node.names, bound.outputs, strict=True)
    return ", ".join(name for name, record in pairs if missed & _homes(record))


def _homes(record: Record) -> set[int]:
    if isinstance(record, ModuleRecord):
        return {tensor.storage for tensor in record.parameters.values()}
    return {record.storage} if isinstance(record, TensorRecord) else set()


def _layer(path: str) -> str:
    """The layer that a parameter belongs to, or itself where it is the module's own."""
    return path.rpartition(".")[0] or path


def _path(facts: RunFacts, row: GradRow) -> str:
    storages = facts.storages((row.node, row.path))
    return next((facts.leaves[storage].path for storage in storages if storage in facts.leaves), row.path)


def _ends(view: ProgramView, facts: RunFacts, leaf: ItemId, statements: set[ItemId]) -> tuple[list[End], bool]:
    """Where the ways from a leaf end, and whether one comes to a statement that went backward."""
    after, todo, ends, reaches = {leaf}, [leaf], list[End](), False
    while todo:
        for target in view.followers(todo.pop()):
            if target in after:
                continue
            after.add(target)
            reaches = reaches or target in statements  # torch.autograd.grad, too, whose word is among the measures
            if view.word(target) in MEASURES or _reads_setting(view, facts, target):
                continue
            end = _end(view, facts, target)
            if end is None:
                todo.append(target)
            elif leads_to(view, target, statements.__contains__):
                ends.append(end)
    return ends, reaches


def _is_only_evaluated(view: ProgramView, module: ItemId) -> bool:
    """Whether a module is called, and always where nothing is to be learnt: an average of weights, or a target."""
    calls = list(view.calls(module))
    return bool(calls) and all(CUTTING.intersection(blocks_around(view, call)) for call in calls)


def _reads_setting(view: ProgramView, facts: RunFacts, item: ItemId) -> bool:
    """Whether an attribute of a module is read that is no tensor: self.training is computed from no weight."""
    node, row = view.node(item), facts.latest.get(item)
    return node is not None and node.operator == ATTRIBUTE and row is not None and not any(map(_is_value, row.outputs))


def _is_value(record: Record) -> bool:
    return not isinstance(record, PlainRecord)


def _first_ends(view: ProgramView, ends: list[End]) -> list[End]:
    """Those that no other one leads to: what is cut once needs no second cut."""
    items = {end.item for end in ends}
    behind = {item for item in items if any(leads_to(view, one, item.__eq__) for one in items - {item})}
    return [end for end in ends if end.item not in behind] or ends


def _end(view: ProgramView, facts: RunFacts, item: ItemId) -> End | None:
    """Whether no gradient comes back through an item, as far as its results tell."""
    row = facts.latest.get(item)
    word = view.word(item) or view.name(item)
    if row is None or view.node(item) is None or not row.outputs:
        return None
    if word not in DETACHING and any(map(_may_carry, row.outputs)):
        return None
    block = next((b for b in blocks_around(view, item) if b in CUTTING), "")
    if block:
        return End(item, f"it stands under {block}", is_block=True)
    if word in COUNTING and leads_to(view, item, lambda target: view.word(target) in RENEWED):
        return End(item, f"{word} gives whole numbers, which have no slope", is_hidden=True)
    if not isinstance(row.outputs[0], TensorRecord):
        return End(item, f"{word} gives a plain number: there is no graph behind it", is_number=True)
    if word == "sample":
        return End(item, "sample draws numbers without a graph, rsample with one")
    return End(item, f"{word} gives a tensor that does not require grad")


def blocks_around(view: ProgramView, item: ItemId) -> list[str]:
    """The kinds of the blocks that an item stands in."""
    place = view.place(item)
    if place is None:
        return []
    bodies = place.graph.ancestors(place.item)
    return [place.graph.blocks[ItemId(body)].kind for body in bodies if body != ROOT]


def _may_carry(record: Record) -> bool:
    """Whether a gradient may come back to a result; of what is no tensor and no number, nobody knows."""
    match record:
        case TensorRecord(requires_grad=requires):
            return requires
        case ModuleRecord() | OptimizerRecord():
            return True
        case TupleRecord(items=items):
            return not items or any(map(_may_carry, items))
        case _:
            return isinstance(record, ObjectRecord)


def _is_parameter(view: ProgramView, facts: RunFacts, row: GradRow) -> bool:
    """A leaf someone wants a gradient of: made here or a module's; not the result of an operator over tensors."""
    if path_of(row.node)[-1] == INPUTS:
        return False
    if row.path:
        return facts.is_module(row.node) or facts.record(row.node, row.output) is None
    place = view.place(row.node)
    wires = place.graph.wires_to(place.item) if place is not None else ()
    return not any(wire.port not in ("size", "requires_grad", "data") for wire in wires)
