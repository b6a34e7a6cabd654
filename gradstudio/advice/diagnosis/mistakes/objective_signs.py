"""Errors that training makes larger: a loss with a minus in front of it, an update that adds its gradient."""

from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.loss_mistakes import CROSS, ELEMENTWISE, LOGARITHMS, LOGITS
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.run_facts import Leaf, RunFacts, leaf_rows
from gradstudio.advice.diagnosis.training_steps import Role
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import OptimizerRecord

ERRORS = ELEMENTWISE | CROSS | LOGITS
SCALING = frozenset({"mul", "mean", "sum", "add"})
SHAPING = frozenset({"squeeze", "view", "reshape", "flatten"})
PICKING = frozenset({"getitem", "gather", "take_along_dim"})
PARAMETER = "torch.nn.Parameter"
POWERS = frozenset({"pow", "square", "abs"})


def negated_errors(view: ProgramView, facts: RunFacts, roles: dict[ItemId, Role]) -> Iterator[Finding]:
    """A loss that is minus an error, and an optimizer of a model's parameters that makes it small."""
    optimizer = next((role.of for role in roles.values() if role.act == "step"), None)
    record = facts.record(optimizer, 0) if optimizer is not None else None
    if optimizer is None or not isinstance(record, OptimizerRecord) or any(g.get("maximize") for g in record.groups):
        return
    held = facts.held.get(optimizer, {})
    if not any(is_parameter(view, facts.leaves[storage]) for storage in held if storage in facts.leaves):
        return  # an input that is to fool a model
    roots = {value.node for traced in facts.backwards() for row in traced.rows[:1] for value in row.values}
    for root in sorted(roots) if len(roots) == 1 else ():  # of several losses one may work against another
        words = [stage.word for stage in view.stages(root, 0)]
        if _is_likelihood(words):
            yield _falling_likelihood(view, root, optimizer)
        if words[:1] != ["neg"] or len(words) < 2 or words[1] not in ELEMENTWISE:
            continue
        name = view.name(root)
        yield Finding(
            "diverges",
            "warning",
            root,
            f"{name} is minus {words[1]}, so the steps of {view.name(optimizer)} make the error larger, not smaller",
            "A step goes to where the loss is smaller: of the negative of an error that is where the error is larger. "
            "Take the minus away.",
            (root, optimizer),
        )


def is_parameter(view: ProgramView, leaf: Leaf) -> bool:
    """Whether a leaf is a weight of a model, and no input that is looked for."""
    node = view.node(leaf.owner)
    return bool(leaf.path) or (node is not None and node.operator == PARAMETER)


def _is_likelihood(words: list[str]) -> bool:
    """Whether it is the mean of the logarithms of the chances of the right classes, with no minus on the way."""
    reduction, choice, logarithm = [*(word for word in words if word not in SHAPING), "", "", ""][:3]
    return reduction in ("mean", "sum") and choice in PICKING and logarithm in LOGARITHMS


def _falling_likelihood(view: ProgramView, root: ItemId, optimizer: ItemId) -> Finding:
    name = view.name(root)
    return Finding(
        "diverges",
        "warning",
        root,
        f"{name} is the log-likelihood without a minus, so the steps of {view.name(optimizer)} make the right classes "
        "less likely",
        f"A step makes {name} smaller, and the logarithm of a chance falls without end. Take its negative (nll_loss "
        "and cross_entropy do).",
        (root, optimizer),
    )


def is_error(view: ProgramView, loss: ItemId) -> bool:
    """Whether a loss compares with a target: by a loss of torch, or as the mean of squared differences."""
    words = [stage.word for stage in view.stages(loss, 0)]
    while words and words[0] in SCALING:
        words.pop(0)
    return words[:1] != [] and (words[0] in ERRORS or (words[0] in POWERS and words[1:2] == ["sub"]))


def learns_all(facts: RunFacts, written: set[ItemId]) -> bool:
    """Whether whatever gets a gradient is also written: then it is weights that are trained, and no input."""
    reached = {key for traced in facts.backwards() for key, _ in leaf_rows(traced)}
    return bool(reached) and all(owner in written and not path for owner, path in reached)
