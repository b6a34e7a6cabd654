"""What the text says of optimizers and schedules: nothing to step with, no rate, no step."""

from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.analysis.program_analysis import effects
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.text.item_titles import title
from gradstudio.operators.model import Effect
from gradstudio.protocol.messages.records import OptimizerRecord, TensorRecord

OPTIMIZERS, SCHEDULES = "torch.optim.", "torch.optim.lr_scheduler."
FOLLOWING = 3
"""How far a second name, or a list, is followed from an optimizer to its step."""
STEEP = 0.05
"""A rate that falls to this share, or below, in each step is gone after a few."""


def makes_optimizer(key: str) -> bool:
    """Whether an operator constructs an optimizer."""
    return key.startswith(OPTIMIZERS) and not key.startswith(SCHEDULES) and _is_class(key)


def makes_schedule(view: ProgramView, item: ItemId) -> bool:
    """Whether an item constructs a schedule of a learning rate."""
    node = view.node(item)
    return node is not None and node.operator.startswith(SCHEDULES) and _is_class(node.operator)


def _is_class(key: str) -> bool:
    """Whether the last word of an operator is a class, and no method of one."""
    return key.rpartition(".")[2][:1].isupper()


def of_optimizers(graph: Graph, lookup: Lookup) -> Iterator[Finding]:
    """All that can be said of them without a run, or by the values that a run has made."""
    if not any(key.startswith((OPTIMIZERS, SCHEDULES)) for key in {node.operator for node in graph.nodes.values()}):
        return
    for item, node in graph.nodes.items():
        if node.muted or node.bypassed:
            continue
        if makes_optimizer(node.operator):
            yield from _frozen(graph, item, lookup)
            yield from _no_rate(graph, item, lookup)
            yield from _no_step(graph, item)
        elif node.operator.startswith(SCHEDULES) and _is_class(node.operator):
            yield from _idle_schedule(graph, item)
            yield from _steep_schedule(graph, item)


def _steep_schedule(graph: Graph, item: ItemId) -> Iterator[Finding]:
    """A schedule that takes nearly all of the rate away in each of its steps."""
    literals = graph.nodes[item].literals
    word = graph.nodes[item].operator.rpartition(".")[2]
    if word != "ExponentialLR" and (word != "StepLR" or literals.get("step_size") != "1"):
        return
    try:
        factor = float(literals.get("gamma", "0.1"))
    except ValueError:
        return
    if not 0 < factor <= STEEP:
        return
    yield Finding(
        "no_rate",
        "warning",
        item,
        f"{title(graph, item)} multiplies the learning rate by {factor:g} in every step: after three it is "
        f"{factor**3:.0e} of what it was, and nothing is learnt any more",
        "Let it fall more rarely (a larger step_size), or by less (gamma 0.9 … 0.99 for every epoch).",
        (item,),
    )


def _frozen(graph: Graph, item: ItemId, lookup: Lookup) -> Iterator[Finding]:
    """A leaf that an optimizer is given and that never gets a gradient."""
    for wire in graph.wires_to(item):
        record = lookup(wire.source, wire.output) if wire.port.partition(".")[0] == "params" else None
        if isinstance(record, TensorRecord) and not record.requires_grad and not graph.wires_to(wire.source):
            name = title(graph, wire.source)
            yield Finding(
                "frozen_parameter",
                "warning",
                item,
                f"{title(graph, item)} is to update {name}, which does not require grad",
                f"{name} never gets a gradient, so a step leaves it as it is. Set its requires_grad to True, or do not "
                "give it to the optimizer.",
                (item, wire.source),
            )


def _no_rate(graph: Graph, item: ItemId, lookup: Lookup) -> Iterator[Finding]:
    """A learning rate of 0, also where a schedule that code makes began with it."""
    record = lookup(item, 0)
    groups = record.groups if isinstance(record, OptimizerRecord) else ()
    rates = [group.get("initial_lr", group.get("lr")) for group in groups]
    written = graph.nodes[item].literals.get("lr", "")
    is_zero = bool(rates) and not any(rates) if rates else written in ("0", "0.0", "0.")
    if is_zero and not any(graph.nodes[u].operator.startswith(SCHEDULES) for u in _users(graph, item)):
        name = title(graph, item)
        yield Finding(
            "no_rate",
            "warning",
            item,
            f"The learning rate of {name} is 0, so its steps change nothing",
            "Every step adds the gradient times lr. Give it a rate above 0: 0.1 … 0.001 for SGD, 0.001 for Adam.",
            (item,),
        )


def _no_step(graph: Graph, item: ItemId) -> Iterator[Finding]:
    """An optimizer that is told to forget gradients, and never to use them."""
    words = {graph.nodes[user].operator.rpartition(".")[2] for user in _users(graph, item)}
    is_used = "step" in words or not words <= {"zero_grad", "state_dict", "add_param_group"}
    if is_used or not words or not any(Effect.BACKWARD in effects(graph, one) for one in graph.nodes):
        return
    name = title(graph, item)
    yield Finding(
        "no_step",
        "warning",
        item,
        f"{name} never steps: gradients are computed and nothing is learnt",
        f"Only {name}.step() changes parameters; zero_grad and backward do not. Put it behind the backward.",
        (item,),
    )


def steps_in_functions(view: ProgramView) -> Iterator[Finding]:
    """The same of an optimizer that a function makes for itself."""
    for full, inner, item in view.insides():
        node = inner.nodes.get(item)
        if inner is view.graph or node is None or node.muted or not makes_optimizer(node.operator):
            continue
        if all(wire.target in inner.nodes for wire in inner.wires_from(item)):  # none that is given back
            yield from (one._replace(node=full, path=(full,)) for one in _no_step(inner, item))


def _idle_schedule(graph: Graph, item: ItemId) -> Iterator[Finding]:
    """A schedule that is made and never goes on, although the optimizer steps."""
    if _users(graph, item) or not any(node.operator.endswith("Optimizer.step") for node in graph.nodes.values()):
        return
    name = title(graph, item)
    yield Finding(
        "no_step",
        "warning",
        item,
        f"{name} never steps: the learning rate stays what it is",
        f"A schedule changes the rate only when {name}.step() is called, as a rule once an epoch, behind the "
        "optimizer's step.",
        (item,),
    )


def _users(graph: Graph, item: ItemId) -> tuple[ItemId, ...]:
    """The nodes that take a result, seen through second names and lists."""
    found: dict[ItemId, None] = {}
    near = [item]
    for _ in range(FOLLOWING):
        near = [wire.target for one in near for wire in graph.wires_from(one) if wire.target in graph.nodes]
        found.update(dict.fromkeys(near))
    return tuple(found)
