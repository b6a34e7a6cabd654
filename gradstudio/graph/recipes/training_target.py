"""The target that a prediction learns: where one is missing, which values can be it, and the edits that wire it."""

from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from gradstudio.graph.analysis.program_analysis import analyse, may_require_grad
from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.edits import AddNode, AddWire, Edits
from gradstudio.graph.model import ROOT, Graph, ItemId, Wire
from gradstudio.graph.names import fresh_name
from gradstudio.graph.operator_rows import row_of
from gradstudio.graph.ports.item_ports import input_ports, shown_outputs
from gradstudio.graph.ports.module_calls import maker_of
from gradstudio.graph.recipes.draft import Draft
from gradstudio.graph.recipes.nodes import fresh_node
from gradstudio.graph.recipes.repairs import combine_steps
from gradstudio.graph.recipes.wiring.connection import connect
from gradstudio.graph.rules import ancestors_of
from gradstudio.operators.catalogue.loader import load

TARGET: Final = "target"
INPUTS: Final = ("input", "inputs.0")
FUNCTIONAL: Final = "torch.nn.functional."
OF_CLASSES: Final = ("cross_entropy",)
OF_NUMBERS: Final = ("mse_loss", "l1_loss", "smooth_l1_loss", "binary_cross_entropy_with_logits")
CLASS_WORDS: Final = frozenset({"cross_entropy", "nll_loss", "CrossEntropyLoss", "NLLLoss"})
FLOATS: Final = frozenset({"float16", "bfloat16", "float32", "float64"})
Shape = tuple[int, ...]
Value = tuple[ItemId, int]


class KnownTensor(NamedTuple):
    """What is known of a tensor before or after a run; the dtype as torch calls it, "float32"."""

    shape: Shape
    dtype: str


KnownOf = Callable[[Value], KnownTensor | None]


class Goal(NamedTuple):
    """Where a target is missing.

    Attributes:
        prediction: what is compared with it; `shape` its shape.
        loss: whose port `port` it goes into; None: there is no loss yet.
        word: the operator of the loss, "mse_loss"; "" of none.
    """

    prediction: Value
    shape: Shape
    loss: ItemId | None = None
    port: str = TARGET
    word: str = ""


class Target(NamedTuple):
    """A value that can be learnt, and the losses it can be learnt by, the usual one first.

    Attributes:
        value: the value; None: a new one is made.
        name: what it is called; `is_input`: the prediction is computed from it.
        width: the last size that the prediction has to get for it; 0: it has it.
    """

    value: Value | None
    name: str
    losses: tuple[str, ...]
    is_input: bool = False
    width: int = 0


def find_goal(graph: Graph, current: ItemId | None, known_of: KnownOf) -> Goal | None:
    """Where a target is missing: at what is selected, else anywhere; None where nothing misses one.

    A loss whose target is empty, or a prediction of at least one dimension that no loss is computed from.
    """
    chosen = [] if current is None else [current, *filter(None, [card_groups(graph).calls.get(current)])]
    for item in (*reversed(chosen), *graph.bodies[ROOT]):
        goal = _open_loss(graph, item, known_of)
        if goal is not None:
            return goal
    root = analyse(graph).root
    if root is None or graph.parents.get(root) != ROOT:
        return None
    last = known_of((root, 0))
    if last is None or not last.shape:
        return None  # a loss is there, or nothing is known
    within = ancestors_of(graph, root)
    for item in (*(one for one in reversed(chosen) if one in within), root):
        known = known_of((item, 0))
        if known is not None and known.shape and (item, 0) in may_require_grad(graph):
            return Goal((item, 0), known.shape)
    return None


def targets(graph: Graph, goal: Goal, known_of: KnownOf, *, sets_width: bool = False) -> list[Target]:
    """Values of the main program that fit, the nearest first and what is put into the model last; then a new one.

    Args:
        sets_width: the last size of the prediction can be set, so numbers of another fit as well.
    """
    above = ancestors_of(graph, goal.prediction[0])
    learnt = may_require_grad(graph)
    found: list[Target] = []
    for item in reversed(graph.bodies[ROOT]):
        for output in shown_outputs(graph, item) if item in graph.nodes else ():
            value = item, output.index
            known = known_of(value)
            is_mine = value == goal.prediction or value in learnt
            if known is None or is_mine or not output.name or output.name == "_":
                continue
            losses, width = _losses(goal, known), 0
            if not losses and sets_width and item not in above and _differs_in_width(goal, known):
                losses, width = (goal.word,) if goal.loss is not None else OF_NUMBERS, known.shape[-1]
            if losses:
                found.append(Target(value, output.name, losses, item in above, width))
    new = (goal.word,) if goal.loss is not None else (*_class_losses(goal), *OF_NUMBERS)
    return [*sorted(found, key=lambda one: (one.width > 0, one.is_input)), Target(None, "", new)]


def usual_target(found: list[Target]) -> int | None:
    """The place of what is surely meant: the only value that fits, or a new one where none does; None: to be chosen."""
    own = [one for one in found if one.value is not None]
    outside = [one for one in own if not one.is_input and not one.width]
    surest = outside or own or found
    return found.index(surest[0]) if len(surest) == 1 else None


def wire_target(graph: Graph, goal: Goal, target: Target, loss: str) -> Edits:
    """The target at the loss; a loss by that word, and a new target, are made where there is none.

    Raises:
        Refused: no order of the statements allows it.
    """
    end: list[ItemId] = [] if goal.loss is None else [goal.loss]
    start: list[Value] = [] if target.value is None else [target.value]

    def make_loss(now: Graph) -> Edits:
        draft = Draft(now)
        node = fresh_node(draft, load()[FUNCTIONAL + loss])
        end.append(node.id)
        draft.do(AddNode(node, ROOT, draft.end_of(ROOT)), AddWire(Wire(*goal.prediction, node.id, INPUTS[0])))
        return draft.finish()

    def make_target(now: Graph) -> Edits:
        draft = Draft(now)
        node = fresh_node(draft, load()["torch.randint" if _takes_classes(loss) else "torch.randn"])
        literals = {**node.literals, **_sizes(goal, loss)}
        node = msgspec.structs.replace(
            node, names=(fresh_name(draft.taken_names(), TARGET),), literals=literals, lengths={}
        )
        start.append((node.id, 0))
        index = now.bodies[ROOT].index(goal.prediction[0])
        draft.do(AddNode(node, ROOT, index + 1))
        return draft.finish()

    steps = [] if goal.loss is not None else [make_loss]
    steps += [] if target.value is not None else [make_target]
    return combine_steps(graph, *steps, lambda now: connect(now, *start[0], end[0], goal.port))


def _open_loss(graph: Graph, item: ItemId, known_of: KnownOf) -> Goal | None:
    """The loss at an item whose target is empty while its prediction is wired."""
    node = graph.nodes.get(item)
    if node is None:
        return None
    ports = {port.label: port for port in input_ports(graph, item)}
    port, fed = ports.get(TARGET), ports.get("input")
    if port is None or fed is None or port.state != "empty" or not port.required:
        return None
    wire = graph.wires.get((item, fed.path))
    known = known_of((wire.source, wire.output)) if wire is not None else None
    if wire is None or known is None:
        return None
    operator = maker_of(graph, node) or row_of(graph, node)
    word = operator.word if operator is not None else ""
    return Goal((wire.source, wire.output), known.shape, item, port.path, word)


def _losses(goal: Goal, known: KnownTensor) -> tuple[str, ...]:
    """The losses by which a prediction can be compared with a tensor."""
    is_classes = known.dtype == "int64" and known.shape == _class_shape(goal.shape)
    is_like = known.dtype in FLOATS and known.shape == goal.shape
    if goal.loss is not None:
        takes = is_classes or is_like if _takes_classes(goal.word) else is_like
        return (goal.word,) if takes else ()
    if is_classes and _class_losses(goal):
        return OF_CLASSES
    return OF_NUMBERS if is_like else ()


def _differs_in_width(goal: Goal, known: KnownTensor) -> bool:
    """Whether a tensor has the numbers that a prediction would be compared with, were it as wide."""
    is_compared = known.dtype in FLOATS and not _takes_classes(goal.word)
    return is_compared and len(known.shape) == len(goal.shape) > 1 and known.shape[:-1] == goal.shape[:-1]


def _class_losses(goal: Goal) -> tuple[str, ...]:
    """Of a prediction with scores in its second dimension those of classes."""
    return OF_CLASSES if len(goal.shape) > 1 and goal.shape[1] > 1 else ()


def _takes_classes(word: str) -> bool:
    return word in CLASS_WORDS


def _class_shape(shape: Shape) -> Shape:
    """Of classes, where scores have this shape: without its second size, of a single row without its only one."""
    return (shape[0], *shape[2:]) if len(shape) > 1 else ()


def _sizes(goal: Goal, loss: str) -> dict[str, str]:
    """The arguments of what makes a new target."""
    if not _takes_classes(loss):
        return {"size": repr(goal.shape)}
    count = goal.shape[1] if len(goal.shape) > 1 else goal.shape[0]
    return {"high": str(count), "size": repr(_class_shape(goal.shape))}
