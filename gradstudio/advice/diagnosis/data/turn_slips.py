"""What turns of a loop leave behind: nothing at all, data that each writes into, batches of one class."""

from collections.abc import Iterator

from gradstudio.advice.diagnosis.data.row_origins import RowOrigins
from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.loss_mistakes import (
    CROSS,
    ELEMENTWISE,
    LOGITS,
    NLL,
    REDUCING,
    SECOND,
    leads_to_backward,
)
from gradstudio.advice.diagnosis.mistakes.remade_models import loops_around
from gradstudio.advice.diagnosis.program_view import ProgramView, is_call
from gradstudio.advice.diagnosis.run_facts import RunFacts
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.analysis.call_paths import prefix_of
from gradstudio.graph.card_grouping import CALL
from gradstudio.graph.model import BodyId, Graph, ItemId, Node
from gradstudio.graph.operator_rows import GROUP
from gradstudio.graph.text.code_records import CODE, FREE_METHOD, FREE_PATH
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Face
from gradstudio.protocol.messages.records import (
    ModuleRecord,
    PlainRecord,
    Record,
    TensorRecord,
    TupleRecord,
)

QUIET = frozenset({CODE, FREE_METHOD, FREE_PATH})
"""What nobody knows the effects of."""
ACTING = frozenset(
    "append extend insert add_ setitem setattr delitem delattr print backward step zero_grad train eval "
    "load_state_dict update manual_seed write save".split()
)
EMPTY = frozenset("zeros zeros_like ones ones_like empty empty_like full full_like".split())
"""What begins as nothing is there to be written."""
COUNTING = frozenset("add iadd item sum float int to".split())
EQUALITIES = frozenset({"eq"})
HANDING = frozenset({"data", "detach"})
HOLDERS = frozenset({"ModuleList", "Sequential"})
CLASSED = CROSS | NLL | LOGITS
COMPARED = CLASSED | ELEMENTWISE | {"binary_cross_entropy", "BCELoss"}
MOST, FEWEST, FEW_TURNS = 24, 4, 4


def turn_slips(view: ProgramView, facts: RunFacts) -> Iterator[Finding]:
    """What of it is seen in the turns of a run."""
    if any(row.turns and row.turns[-1] for row in facts.latest.values()):
        for full, graph, item in view.insides():
            if item in graph.blocks and graph.blocks[item].kind == "for":
                yield from _forgotten_turns(view, full, graph, item, facts)
                yield from _forgotten_losses(view, full, graph, item, facts)
        yield from _unmixed_batches(view, facts)
    yield from _repeated_layers(view, facts)


def _forgotten_turns(
    view: ProgramView, item: ItemId, graph: Graph, block: ItemId, facts: RunFacts
) -> Iterator[Finding]:
    """A loop without effects, of which only the last turn is seen behind it."""
    inside = set(graph.order(BodyId(block)))
    nodes = [graph.nodes[one] for one in inside if one in graph.nodes]
    is_carried = any(wire.output and wire.target in inside for wire in graph.wires_from(block))
    if is_carried or any(_acts(node) for node in nodes):
        return
    varying = _varying(graph, block, inside)
    prefix = prefix_of(item)
    for node in nodes:
        leaves = [wire for wire in graph.wires_from(node.id) if wire.target not in inside]
        row = facts.latest.get(ItemId(prefix + node.id))
        if not leaves or node.id not in varying or row is None or not row.turns or row.turns[-1] < 1:
            continue
        if not any(graph.nodes[one].operator == CALL for one in varying if one in graph.nodes):
            continue
        full = ItemId(prefix + node.id)
        variable = graph.blocks[block].variable or "…"
        yield Finding(
            "forgotten_turns",
            "warning",
            full,
            f"Only the last turn of for {variable} counts: {view.name(full)} is made anew in each, and nothing of the "
            "turns before is kept",
            f"All {row.turns[-1] + 1} turns are computed, and the others go nowhere. Carry a state from turn to turn "
            "(made once, before the loop), or add each turn's value to a sum or a list.",
            (full, item),
        )
        return


def _forgotten_losses(
    view: ProgramView, item: ItemId, graph: Graph, block: ItemId, facts: RunFacts
) -> Iterator[Finding]:
    """A loss with a target of its own in each turn, of which a backward behind the loop sees the last alone."""
    inside = set(graph.order(BodyId(block)))
    varying = _varying(graph, block, inside)
    prefix = prefix_of(item)
    for node in (graph.nodes[one] for one in inside if one in graph.nodes):
        full = ItemId(prefix + node.id)
        users = [wire.target for wire in graph.wires_from(node.id)]
        if not users or block in users or inside.intersection(users) or view.word(full) not in COMPARED:
            continue
        target = next((one for port in SECOND if (one := graph.wire_into(node.id, port)) is not None), None)
        row = facts.latest.get(full)
        has_turns = row is not None and bool(row.turns) and row.turns[-1] > 0
        if target is None or target.source not in varying or not has_turns:
            continue
        if not leads_to_backward(view, full, REDUCING):
            continue
        yield Finding(
            "forgotten_turns",
            "warning",
            full,
            f"Only the last turn of for {graph.blocks[block].variable or '…'} is learnt from: {view.name(full)} is "
            "made anew in each, and the backward stands behind the loop",
            "Each turn compares with a target of its own, and only the last result is left. Add them up: loss = 0 "
            "before the loop, loss = loss + … in it, and divide by the number of turns.",
            (full, item),
        )
        return


def _acts(node: Node) -> bool:
    """Whether it does more than to compute a value, or nobody knows."""
    row = load().get(node.operator)
    if node.operator == CALL:
        return False
    if row is None or node.operator in QUIET or node.operator.startswith(GROUP):
        return True
    return row.word in ACTING or writes_in_place(node.operator)


def writes_in_place(key: str) -> bool:
    """Whether an operator writes into what it is given: ``x += 1``, ``x.add_(1)``."""
    row = load().get(key)
    return row is not None and (row.face is Face.AUGMENTED or row.word.endswith("_"))


def _varying(graph: Graph, block: ItemId, inside: set[ItemId]) -> set[ItemId]:
    """What in a loop is computed from what its turns go over."""
    todo, found = [block], set[ItemId]()
    while todo:
        for wire in graph.wires_from(todo.pop()):
            if wire.target in inside and wire.target not in found:
                found.add(wire.target)
                todo.append(wire.target)
    return found


def written_data(view: ProgramView, items: list[ItemId], lookup: Lookup, origins: RowOrigins) -> Iterator[Finding]:
    """What writes into the data themselves, or into a view of them, in each turn of a training."""
    for item in items:
        yield from _written_data(view, item, lookup, origins)


def _written_data(view: ProgramView, item: ItemId, lookup: Lookup, origins: RowOrigins) -> Iterator[Finding]:
    node, source, after = view.node(item), view.source(item, ("self", "a", "input")), lookup(item, 0)
    if node is None or source is None or not isinstance(after, TensorRecord) or after.requires_grad:
        return
    rows = origins.of(source.item, source.output)
    made = rows.made[0] if rows is not None else None
    before = lookup(*rows.made) if rows is not None else None
    if made is None or not isinstance(before, TensorRecord) or not before.storage or before.storage != after.storage:
        return
    loops = [loop for loop in loops_around(view, item) if loop not in loops_around(view, made)]
    if not loops or view.word(made) in EMPTY or not before.summary.dtype.startswith("float"):
        return
    if not any(is_call(view, user) for user in _behind(view, item)) or not _trains(view, loops):
        return
    name = view.name(*rows.made) if rows is not None else ""
    yield Finding(
        "written_data",
        "warning",
        item,
        f"{view.word(item)} writes into {name} itself: each turn changes the data that the turns behind it are given",
        "A slice is no copy, and an operator in place writes into what it is a slice of. Write x = x + … instead, or "
        "take a clone of the batch first.",
        (item, made),
    )


def mixed_with_itself(view: ProgramView, items: list[ItemId], lookup: Lookup) -> Iterator[Finding]:
    """What keeps another one's memory under a name of its own, and is mixed with that one in place."""
    for item in items:
        own, other, after = view.source(item, ("self", "a")), view.source(item, ("other", "b", "end")), lookup(item, 0)
        given = lookup(other.item, other.output) if other is not None else None
        if own is None or other is None or not isinstance(after, TensorRecord) or not isinstance(given, TensorRecord):
            continue
        is_same = after.storage == given.storage and after.summary.shape == given.summary.shape
        if not is_same or not after.storage or not given.requires_grad:
            continue
        kept, home = _written_first(view, own.item, own.output), _written_first(view, other.item, other.output)
        if kept == home:
            continue
        name = view.name(*kept)
        called = view.source_name(kept_in) if (kept_in := view.source(kept[0], ("a",))) is not None else name
        yield Finding(
            "kept_reference",
            "warning",
            item,
            f"{called} holds {view.name(*home)} itself, and no copy of it: {view.word(item)} mixes it with itself",
            f"Whatever changes the one changes the other, so nothing is averaged or kept. Fill {called} with copies: "
            f"{view.name(*home)}.detach().clone().",
            tuple(dict.fromkeys((item, kept[0], home[0]))),
        )


def _written_first(view: ProgramView, item: ItemId, output: int) -> tuple[ItemId, int]:
    """Whose memory operators in place, and `.data`, hand on."""
    at = view.resolve(item, output)
    for _ in range(MOST):
        node, source = view.node(at[0]), view.source(at[0], ("self", "a"))
        is_handed = node is not None and (writes_in_place(node.operator) or view.word(at[0]) in HANDING)
        if not is_handed or source is None:
            break
        at = view.resolve(source.item, source.output)
    return at


def _behind(view: ProgramView, item: ItemId) -> list[ItemId]:
    """What takes a value, and what takes that."""
    users = list(view.followers(item))
    return users + [after for user in users for after in view.followers(user)]


def _trains(view: ProgramView, loops: list[ItemId]) -> bool:
    """Whether a backward stands in one of these loops."""
    for full, _, _ in view.insides():
        if view.word(full) == "backward" and set(loops) & set(loops_around(view, full)):
            return True
    return False


def wrong_share(view: ProgramView, item: ItemId, _word: str, lookup: Lookup) -> Iterator[Finding]:
    """A count of right answers, divided by something that is less than how many there were."""
    count, by = view.source(item, ("a", "self", "input")), view.source(item, ("b", "other"))
    value = _number(lookup(item, 0))
    if count is None or by is None or value is None or value <= 1 or not _is_count(view, *count[1:]):
        return
    name = view.source_name(by)
    if view.word(by.item) == "len" and (counted := view.source(by.item, ("obj",))) is not None:
        name = f"len({view.source_name(counted)})"
    yield Finding(
        "wrong_share",
        "warning",
        item,
        f"{view.source_name(count)} counts right answers, and is divided by {name}, which is less than how many were "
        f"asked: a share of {value:.3g}",
        "A share of right answers is never above 1. Divide by the number of examples: len(loader) is that of the "
        "batches, len(loader.dataset) that of the examples.",
        (item, count.item, by.item),
    )


def _is_count(view: ProgramView, item: ItemId, output: int) -> bool:
    """Whether it is a sum of comparisons, over turns perhaps, and nothing else."""
    todo, seen, is_found = [view.resolve(item, output)], set[tuple[ItemId, int]](), False
    while todo:
        at = todo.pop()
        if at in seen:
            continue
        seen.add(at)
        word, carried = view.word(at[0]), view.carried(*at)
        if carried:
            todo += [view.resolve(one.item, one.output) for one in carried]
        elif word in EQUALITIES:
            is_found = True
        elif word in COUNTING:
            todo += [view.resolve(one.item, one.output) for one in view.sources(at[0])]
        elif word != "literal":
            return False
        if len(seen) > MOST:
            return False
    return is_found


def _number(record: Record | None) -> float | None:
    if isinstance(record, PlainRecord) and isinstance(record.value, int | float):
        return float(record.value)
    if isinstance(record, TensorRecord) and not record.summary.shape:
        value = record.summary.maximum
        return float(value) if value is not None else None
    return None


def _unmixed_batches(view: ProgramView, facts: RunFacts) -> Iterator[Finding]:
    """Batches that hold one class each, while the classes change from batch to batch."""
    seen: dict[ItemId, list[tuple[float, float]]] = {}
    targets: dict[ItemId, tuple[ItemId, int]] = {}
    for item in facts.latest:
        if view.word(item) in CLASSED and (source := view.source(item, SECOND)) is not None:
            targets[item] = view.resolve(source.item, source.output)
    losses = {at: loss for loss, at in targets.items()}
    for row in facts.rows:
        for output, record in enumerate(row.outputs):
            loss = losses.get((row.node, output))
            if loss is not None and row.turns and isinstance(record, TensorRecord) and _is_classes(record):
                low, high = record.summary.minimum, record.summary.maximum
                if low is not None and high is not None:
                    seen.setdefault(loss, []).append((float(low), float(high)))
    for loss, ranges in seen.items():
        if len(ranges) < FEW_TURNS or any(low != high for low, high in ranges) or len(set(ranges)) < 2:
            continue
        at = targets[loss]
        yield Finding(
            "unmixed_batches",
            "warning",
            loss,
            f"Every batch holds one class alone: {view.name(*at)} is one number throughout each, and another in others",
            "The data are sorted and not shuffled, so each step unlearns what the steps before have learnt. Give the "
            "DataLoader shuffle=True, or take the rows in the order of torch.randperm.",
            (loss, at[0]),
        )


def _repeated_layers(view: ProgramView, facts: RunFacts) -> Iterator[Finding]:
    """Lists that hold one layer several times, however they were made, and that become the layers of a module."""
    told = set[int]()
    for item, row in facts.latest.items():
        record = row.outputs[0] if row.outputs else None
        if not isinstance(record, TupleRecord) or not _holds_modules(view, item):
            continue
        modules = [one for one in record.items if isinstance(one, ModuleRecord) and one.parameters]
        homes = [next(iter(one.parameters.values())).storage for one in modules]
        twice = [home for home in dict.fromkeys(homes) if homes.count(home) > 1 and home not in told]
        told.update(twice)
        for home in twice[:1]:
            name = modules[homes.index(home)].class_name
            yield Finding(
                "shared_layer",
                "warning",
                item,
                f"{name} is in {view.name(item)} {homes.count(home)} times: the same weights, not copies",
                "A list that holds one layer several times shares its weights, and their gradients add up. Make one "
                "for each place: [… for _ in range(n)], or copy.deepcopy.",
                (item,),
            )


def _holds_modules(view: ProgramView, item: ItemId) -> bool:
    """Whether a list goes into a container of layers, through another list perhaps."""
    return any(view.word(user) in HOLDERS for user in _behind(view, item))


def _is_classes(record: TensorRecord) -> bool:
    """Whether it holds several numbers of classes."""
    shape = record.summary.shape
    return len(shape) in (1, 2) and shape[0] >= FEWEST
