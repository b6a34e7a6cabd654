"""Models, tensors and optimizers that are made anew in each turn of their training: what they learn is lost."""

from collections.abc import Iterator
from typing import NamedTuple

from gradstudio.advice.diagnosis.finding import Finding, Severity
from gradstudio.advice.diagnosis.mistakes.optimizer_mistakes import makes_optimizer
from gradstudio.advice.diagnosis.program_view import ProgramView, written_nodes
from gradstudio.graph.analysis.module_modes import has_parameters, holders
from gradstudio.graph.card_grouping import CALL, makes_module
from gradstudio.graph.groups.call_ids import SEPARATOR, path_of
from gradstudio.graph.groups.definitions import group_of
from gradstudio.graph.model import ROOT, Graph, ItemId
from gradstudio.graph.operator_rows import row_of

STEP = "torch.optim.Optimizer.step"
FORGETFUL = "torch.optim.SGD"
"""Without momentum it keeps nothing from step to step."""
ROUND = "epoch"
"""What a loop over the data is called: a model is to last longer than that."""
CONDITION = "builtins.bool"
"""What decides whether the turn of an ``if`` is taken."""
Loops = tuple[ItemId, ...]


class _Made(NamedTuple):
    """What is constructed: by which node of which graph, inside of which loops, the outermost first."""

    full: ItemId
    graph: Graph
    item: ItemId
    loops: Loops


def remade_models(view: ProgramView) -> Iterator[Finding]:
    """Of each loop one finding: the models that are made anew, else the tensors, else the optimizers."""
    if not any(node.operator == STEP for node in written_nodes(view.graph)):
        return
    steps, made = list[Loops](), list[_Made]()
    for full, graph, item in view.insides():
        node = graph.nodes.get(item)
        if node is None or node.muted or node.bypassed or not is_in_functions(view, full):
            continue
        if node.operator == STEP:
            steps.append(loops_around(view, full))
        elif _makes_what_learns(graph, item):
            made.append(_Made(full, graph, item, loops_around(view, full)))
    found: dict[ItemId, list[_Made]] = {}
    for one in made:
        loop = next((loop for step in steps if (loop := _remaking(view, one, step)) is not None), None)
        if loop is not None:
            found.setdefault(loop, []).append(one)
    for loop, several in found.items():
        yield from _of_loop(view, loop, several)


def _of_loop(view: ProgramView, loop: ItemId, made: list[_Made]) -> Iterator[Finding]:
    optimizers = [one for one in made if makes_optimizer(one.graph.nodes[one.item].operator)]
    others = [one for one in made if one not in optimizers]
    own = {(id(one.graph), one.item) for one in others}
    wholes = [
        one for one in others if not any((id(one.graph), holder) in own for holder in holders(one.graph, one.item))
    ]
    tensors = [one for one in wholes if _makes_tensor(one.graph, one.item)]
    modules = [one for one in wholes if one not in tensors]
    given = [one for one in tensors if _is_given(one, optimizers)]
    if modules or given:
        yield _finding(view, loop, modules or given, "warning")
    elif optimizers:
        forgets = all(_keeps_nothing(one) for one in optimizers)
        yield _finding(view, loop, optimizers, "info" if forgets else "warning", is_optimizer=True)


def _finding(
    view: ProgramView, loop: ItemId, made: list[_Made], severity: Severity, *, is_optimizer: bool = False
) -> Finding:
    *most, last = [view.name(one.full) for one in made]
    names = f"{', '.join(most)} and {last} are" if most else f"{last} is"
    if is_optimizer:
        lost = "what it keeps from step to step (momentum, averages) begins from nothing"
        if severity == "info":
            lost = "here nothing is lost by it, with momentum or Adam it would be"
    else:
        lost = "what it has learnt is lost"
    whole = made[-1]
    return Finding(
        "made_each_turn",
        severity,
        whole.full,
        f"{names} made anew in each turn of {view.name(loop)}: {lost}",
        "Make it once, before the loop, and let the turns change it." if not most else "Make them before the loop.",
        tuple(dict.fromkeys((whole.full, *(one.full for one in made), loop))),
    )


def _remaking(view: ProgramView, made: _Made, step: Loops) -> ItemId | None:
    """The loop that makes it anew for each step; or for each round over the data, where it is called so."""
    loop = None
    if step and step[-1] in made.loops:
        loop = step[-1]
    elif len(step) > 1 and made.loops and made.loops[-1] == step[-2] and ROUND in view.name(step[-2]):
        loop = step[-2]
    return loop if loop is not None and not _compares(view, loop) else None


def _compares(view: ProgramView, loop: ItemId) -> bool:
    """Whether its turns are trials of what the text lists: other names, other rates."""
    place = view.place(loop)
    return place is not None and "over" in place.graph.blocks[place.item].literals


def loops_around(view: ProgramView, full: ItemId) -> Loops:
    """The loops around an item, those around the calls that it is inside of first."""
    found = list[ItemId]()
    path = path_of(full)
    for depth in range(len(path)):
        outer = ItemId(SEPARATOR.join(path[: depth + 1]))
        place = view.place(outer)
        if place is None or place.item not in place.graph:
            continue
        prefix = outer.removesuffix(place.item)
        bodies = [ItemId(body) for body in place.graph.ancestors(place.item)[::-1] if body != ROOT]
        found += [ItemId(prefix + body) for body in bodies if place.graph.blocks[body].kind == "for"]
    return tuple(found)


def repeating_around(view: ProgramView, full: ItemId) -> set[ItemId]:
    """Those of the loops around an item that are no conditions."""
    found = set[ItemId]()
    for loop in loops_around(view, full):
        place = view.place(loop)
        if place is None or not is_condition(place.graph, place.item):
            found.add(loop)
    return found


def is_condition(graph: Graph, block: ItemId) -> bool:
    """Whether a block is run once or not at all: an ``if``, or a loop over the turns that a condition comes to."""
    if graph.blocks[block].kind == "if":
        return True
    turns = graph.wire_into(block, "range.0")
    node = graph.nodes.get(turns.source) if turns is not None else None
    return node is not None and node.operator == CONDITION


def is_in_functions(view: ProgramView, full: ItemId) -> bool:
    """Whether it runs with every call around it: what stands in a class is made with the object."""
    path = path_of(full)
    around = [view.node(ItemId(SEPARATOR.join(path[:depth]))) for depth in range(1, len(path))]
    return all(node is not None and node.operator != CALL for node in around)


def _makes_what_learns(graph: Graph, item: ItemId) -> bool:
    node = graph.nodes[item]
    if makes_optimizer(node.operator) or _makes_tensor(graph, item):
        return True
    definition = graph.definitions.get(group_of(graph, item))
    if definition is not None:
        inner = definition.graph
        is_made = definition.is_module and node.operator != CALL
        return is_made and any(_makes_what_learns(inner, one) for one in inner.nodes)
    return makes_module(row_of(graph, node)) and has_parameters(graph, item)


def _makes_tensor(graph: Graph, item: ItemId) -> bool:
    """Whether a leaf that requires grad is made here, and of nothing that was there before."""
    node = graph.nodes[item]
    is_leaf = node.literals.get("requires_grad") == "True" or node.operator == "torch.nn.Parameter"
    return is_leaf and node.operator.startswith("torch.") and not any(graph.wires_to(item))


def _is_given(tensor: _Made, optimizers: list[_Made]) -> bool:
    """Whether one of the optimizers has it, directly or in a list."""
    near = {wire.target for wire in tensor.graph.wires_from(tensor.item)}
    near |= {wire.target for one in near if one in tensor.graph.nodes for wire in tensor.graph.wires_from(one)}
    return any(one.graph is tensor.graph and one.item in near for one in optimizers)


def _keeps_nothing(optimizer: _Made) -> bool:
    node = optimizer.graph.nodes[optimizer.item]
    wires = {wire.port for wire in optimizer.graph.wires_to(optimizer.item)}
    return node.operator == FORGETFUL and node.literals.get("momentum", "0") == "0" and "momentum" not in wires
