"""Parameters that no optimizer was given: forgotten, made behind it, or not listed by their module."""

from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView, written_nodes
from gradstudio.advice.diagnosis.run_facts import Leaf, LeafKey, RunFacts
from gradstudio.advice.quotations import written as written_text
from gradstudio.graph.analysis.call_paths import TUPLE
from gradstudio.graph.card_grouping import CALL
from gradstudio.graph.groups.call_ids import SEPARATOR
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import ModuleRecord, TensorRecord

ADD_GROUP = "torch.optim.Optimizer.add_param_group"
DIFFERENTIATES, LISTED = "torch.autograd.grad", frozenset({"list", "tuple"})
LEAST_TURNS = 2
MOST_NAMES = 3


def left_out(
    view: ProgramView,
    facts: RunFacts,
    next_step: dict[LeafKey, ItemId],
    reached: dict[LeafKey, int],
    written: set[int],
) -> Iterator[Finding]:
    """Parameters that get gradients, and that no optimizer was given.

    Args:
        next_step: the optimizer that stepped first behind a backward that reached a leaf.
        reached: leaves that got gradients, and in how many backwards something was in `.grad` before.
        written: leaves that the program writes into itself.
    """
    if not next_step or any(node.operator == ADD_GROUP for node in written_nodes(view.graph)):
        return
    held = {storage for leaves in facts.held.values() for storage in leaves}
    has_modules = any(facts.leaves[storage].path for storage in held if storage in facts.leaves)
    learns = _is_module_of(facts, held)
    left: dict[int, ItemId] = {}
    asked = _differentiated_by(view, facts)
    for key, times in reached.items():
        storages = facts.storages(key)
        if not storages or storages & (held | written | asked):
            continue
        is_meant = times < LEAST_TURNS if not key[1] else not (has_modules or learns)
        if not is_meant and key in next_step:
            left.update(dict.fromkeys(storages, next_step[key]))
    names = names_of(view, facts, list(left))
    optimizer = next(iter(left.values()), ItemId(""))
    if names and all(_is_inside(view, facts.leaves[one].owner) for one in left if one in facts.leaves):
        yield _unregistered(view, facts, optimizer, list(left), names)
    elif names and _are_made_behind(facts, list(left), optimizer):
        yield _replaced(view, facts, optimizer, list(left), names)
    elif names:
        yield Finding(
            "left_out",
            "warning",
            optimizer,
            f"{view.name(optimizer)} does not update {names}: it was not given to it",
            f"{names} gets gradients with every backward, no optimizer has it, and so it stays as it was made. Give "
            "its parameters to the optimizer, or freeze it (requires_grad_(False)), which saves their gradients.",
            (optimizer, *owners_of(view, facts, list(left))),
        )


def _is_inside(view: ProgramView, owner: ItemId) -> bool:
    """Whether a class of the program's own made it."""
    return view.statement(owner) != owner


def _are_made_behind(facts: RunFacts, left: list[int], optimizer: ItemId) -> bool:
    """Whether leaves were first seen when the optimizer had been made."""
    made = next((k for k, row in enumerate(facts.rows) if row.node == optimizer), len(facts.rows))
    return bool(left) and all(facts.births.get(storage, -1) > made for storage in left)


def _replaced(view: ProgramView, facts: RunFacts, optimizer: ItemId, left: list[int], names: str) -> Finding:
    name, owners = view.name(optimizer), owners_of(view, facts, left)
    rows = [row.node for row in facts.rows]
    is_new = bool(owners) and owners[0] in rows and rows.index(owners[0]) > rows.index(optimizer)
    place = view.place(owners[0]) if is_new else None  # else a part of it was made anew
    text = written_text(*place) if place is not None else ""
    return Finding(
        "left_out",
        "warning",
        optimizer,
        f"{name} does not update {names}: {names} was made behind {name}, which has what was there before",
        f"An optimizer keeps the tensors it was given, not their names. Make {name} behind `{text or names}`, or give "
        f"it the new parameters ({name}.add_param_group).",
        (optimizer, *owners),
    )


def _differentiated_by(view: ProgramView, facts: RunFacts) -> set[int]:
    """Where lives what `torch.autograd.grad` differentiates by: inputs whose slope is wanted, not to be learnt."""
    nodes = ((full, graph.nodes.get(item)) for full, graph, item in view.insides())
    asked = [full for full, node in nodes if node is not None and node.operator == DIFFERENTIATES]
    todo = [one for item in asked for one in view.sources(item) if one.port.startswith("inputs")]
    found = set[ItemId]()
    while todo:
        source = todo.pop()
        item, _ = view.resolve(source.item, source.output)
        todo += view.sources(item) if item not in found and view.word(item) in LISTED else ()
        found |= {item, source.item}
    records = (record for row in facts.rows if row.node in found for record in row.outputs)
    return {record.storage for record in records if isinstance(record, TensorRecord)}


def _unregistered(view: ProgramView, facts: RunFacts, optimizer: ItemId, left: list[int], names: str) -> Finding:
    """Layers and tensors that a class of the program's own made, and that its `parameters()` does not list."""
    why = "parameters() does not list what is in a plain list, or no nn.Parameter"
    advice = "A module knows the layers and parameters that are its attributes. Keep layers in nn.ModuleList, and make "
    advice += "a tensor that is to learn an nn.Parameter."
    owners = [facts.leaves[one].owner for one in left if one in facts.leaves]
    if owners and all(_is_made_in_a_call(view, owner) for owner in owners):
        why = f"{names} is made anew in each call, with new random weights"
        advice = (
            "What is made in forward is gone when forward ends, and so is what it would have learnt. Make it once, "
        )
        advice += "in __init__, as an attribute of the module."
    return Finding(
        "left_out",
        "warning",
        optimizer,
        f"{view.name(optimizer)} does not update {names}: {why}",
        advice,
        (optimizer, *owners_of(view, facts, left)),
    )


def _is_made_in_a_call(view: ProgramView, owner: ItemId) -> bool:
    """Whether a layer is made where its result is computed: of what is given to the call."""
    place = view.place(owner)
    around = view.node(ItemId(owner.rpartition(SEPARATOR)[0]))
    node = view.node(owner)
    if place is None or around is None or around.operator != CALL or node is None or node.operator == TUPLE:
        return False  # what a loop takes out of a list was made elsewhere
    return any(wire.port != "device" for wire in place.graph.wires_to(place.item))


def _is_module_of(facts: RunFacts, held: set[int]) -> bool:
    """Whether more than one tensor made by hand is held: a model without modules."""
    return sum(storage in facts.leaves for storage in held) > 1


def names_of(view: ProgramView, facts: RunFacts, storages: list[int]) -> str:
    """The modules and tensors that live there, as a person calls them."""
    leaves = [facts.leaves[storage] for storage in storages if storage in facts.leaves]
    found = list(dict.fromkeys(_module_name(view, facts, leaf, storages) for leaf in leaves))
    more = [f"{len(found) - MOST_NAMES} more"] if len(found) > MOST_NAMES else []
    *most, last = [*found[:MOST_NAMES], *more] or [""]
    return f"{', '.join(most)} and {last}" if most else last


def _module_name(view: ProgramView, facts: RunFacts, leaf: Leaf, storages: list[int]) -> str:
    """The module of a parameter; the module around it where all of that is meant."""
    whole = [storage for storage, other in facts.leaves.items() if other.owner == leaf.owner]
    output = facts.module_output(leaf.owner)
    if output is None and (several := _module_of(facts, leaf, storages)) is not None:
        output, whole = several
    name = view.name(leaf.owner, output)
    if not leaf.path or set(whole) <= set(storages):
        return name
    return f"{name}.{leaf.path.rpartition('.')[0] or leaf.path}"


def _module_of(facts: RunFacts, leaf: Leaf, storages: list[int]) -> tuple[int, list[int]] | None:
    """Of several modules that one statement binds the one with a parameter that is left, and where all of it lives."""
    row = facts.latest.get(leaf.owner)
    for output, record in enumerate(row.outputs if row is not None and len(row.outputs) > 1 else ()):
        if isinstance(record, ModuleRecord) and leaf.path in record.parameters:
            own = [tensor.storage for tensor in record.parameters.values()]
            if record.parameters[leaf.path].storage in storages:
                return output, own
    return None


def owners_of(view: ProgramView, facts: RunFacts, storages: list[int]) -> tuple[ItemId, ...]:
    """The statements of the program, and of its functions, that made what lives there."""
    owners = (view.statement(facts.leaves[storage].owner) for storage in storages if storage in facts.leaves)
    return tuple(dict.fromkeys(owners))
