"""Ways out of what a look over a run, or over the graph, has found: edits where it is plain what would help."""

import math
import re
from collections.abc import Callable, Iterator
from functools import partial

from gradstudio.advice.diagnosis.data.gathered_graphs import PACKERS
from gradstudio.advice.diagnosis.finding import Finding, FindingKind
from gradstudio.advice.diagnosis.mistakes.loss_mistakes import CHANCES, SIGMOIDS, gives_chances
from gradstudio.advice.diagnosis.mistakes.optimizer_mistakes import makes_optimizer
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.slips.attribute_slips import near_attribute
from gradstudio.advice.failure_case import Offer
from gradstudio.advice.failure_sentences import is_backward
from gradstudio.advice.fixes.code_fixes import code_fixes
from gradstudio.advice.fixes.cut_fixes import uncut
from gradstudio.advice.fixes.gradient_fixes import new_tensor_words
from gradstudio.advice.fixes.inside_calls import fixes_where, id_inside
from gradstudio.advice.fixes.layer_fixes import more_outputs
from gradstudio.advice.fixes.recipe_trial import edits_of
from gradstudio.advice.model import Fix
from gradstudio.advice.quotations import source_name, written
from gradstudio.graph import recipes
from gradstudio.graph.card_grouping import EVAL, TRAIN, makes_module
from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.model import Graph, ItemId, Wire
from gradstudio.graph.names import value_words
from gradstudio.graph.ports.item_ports import operator_of
from gradstudio.graph.shared_storage import receiver_wire
from gradstudio.graph.text.item_titles import title
from gradstudio.graph.text.name_bindings import name_of

SMALLEST = "1e-08"
"""What keeps log and sqrt and their derivatives finite in float32."""
NEEDS_POSITIVE = frozenset({"log", "log2", "log10", "sqrt", "rsqrt", "reciprocal"})
DETACH = "torch.Tensor.detach"
FLOOR_DIVISION, TRUE_DIVISION = "operator.floordiv", "operator.truediv"
PICKED = "[ ]"
"""What an element or a part is called that no name is bound to: its text says more."""
OPTIMIZER_STEP = "torch.optim.Optimizer.step"
OPTIMIZER_ZERO_GRAD = "torch.optim.Optimizer.zero_grad"
MEANS = {"torch.Tensor.sum": "torch.Tensor.mean", "torch.sum": "torch.mean"}
LONGEST = 1000
"""By so much a rate is shortened at most: what overflows grows faster than any curvature says."""
TINY = 1e-9
"""What rounding may take away from a whole number."""
SET_ATTRIBUTE, MODULE_ZERO_GRAD = "python.set_attribute", "torch.nn.Module.zero_grad"


def finding_fixes(finding: Finding, graph: Graph) -> tuple[Fix, ...]:
    """The ways out that apply to this graph, as undo steps; none for many findings.

    What is found inside a function or a class is mended there.
    """
    if finding.kind not in MAKERS and not finding.line:
        return ()
    here = finding._replace(node=id_inside(finding.node), path=tuple(map(id_inside, finding.path)))
    return fixes_where(graph, finding.node, partial(_fixes_in, here))


def _fixes_in(finding: Finding, graph: Graph) -> tuple[Fix, ...]:
    maker = code_fixes if finding.line else MAKERS.get(finding.kind)
    found: dict[str, Fix] = {}
    for words, recipe in maker(finding, graph) if maker is not None else ():
        edits = edits_of(graph, recipe)
        if edits:
            found.setdefault(words, Fix(words, edits))
    return tuple(found.values())


def _keep_positive(finding: Finding, graph: Graph) -> Iterator[Offer]:
    """Where a NaN or an infinity was born in a logarithm or a root: keep what goes in above 0."""
    item = next((step for step in (finding.node, *finding.path[:1]) if step in graph.nodes), None)
    operator = operator_of(graph, item) if item is not None else None
    wire = next(iter(graph.wires_to(item)), None) if item is not None else None
    if operator is None or wire is None or operator.word not in NEEDS_POSITIVE or operator.writes:
        return
    yield (
        f"Keep {value_words(source_name(graph, wire))} above 0 (clamp(min={SMALLEST}))",
        lambda now: recipes.insert(now, wire, "torch.Tensor.clamp", {"min": SMALLEST}),
    )


def _zero_first(finding: Finding, graph: Graph) -> Iterator[Offer]:
    """Forget what `.grad` holds, by a statement before the backward that added to it."""
    before = next((item for item in finding.path[1:] if is_backward(graph, item)), None)
    if before is None or finding.node not in graph.nodes:
        return
    name = title(graph, finding.node)
    zero = partial(recipes.statement_before, source=finding.node, output=0, before=before)
    if not finding.title.startswith(f"{name}.grad "):  # of a module's parameter: model.fc.weight.grad
        yield f"Zero the gradients before this backward ({name}.zero_grad())", partial(zero, key=MODULE_ZERO_GRAD)
        return
    literals = {"name": "grad", "value": "None"}
    words = f"Zero the gradient before this backward ({name}.grad = None)"
    yield words, partial(zero, key=SET_ATTRIBUTE, literals=literals)


def _new_tensor(finding: Finding, graph: Graph) -> Iterator[Offer]:
    """The operator that returns a new tensor: then every other reader reads the old numbers, in any order."""
    operator = operator_of(graph, finding.node) if finding.node in graph.nodes else None
    words = new_tensor_words(operator) if operator is not None else ""
    wire = receiver_wire(graph, finding.node) if words else None
    if wire is not None:
        yield (
            f"Use the operator that returns a new tensor ({words} on {source_name(graph, wire)})",
            partial(recipes.out_of_place, item=finding.node),
        )


def _one_shape(finding: Finding, graph: Graph) -> Iterator[Offer]:
    """A column of a vector, or a vector of a column, where the two would broadcast."""
    wire = _wire_from(finding, graph)
    if wire is None:
        return
    first = next(iter(re.findall(r"\[(\d+(?:, 1)?)\]", finding.title)), "")
    ports = [other.port for other in graph.wires_to(finding.node) if other.port != "module"]
    is_first = wire.port == min(ports)
    wanted = f"{first.partition(',')[0]}, 1" if is_first == ("," not in first) else f"{first.partition(',')[0]},"
    name = source_name(graph, wire)
    if name == PICKED:
        name = written(graph, wire.source) or name
    yield (
        f"Give {name} the other's shape ({name}.reshape({wanted.rstrip(',')}))",
        lambda now: recipes.insert(now, wire, "torch.Tensor.reshape", {"shape": f"({wanted})"}),
    )


def _without_activation(finding: Finding, graph: Graph) -> Iterator[Offer]:
    """Wire the scores themselves into the loss, where the softmax or sigmoid is a node of its own."""
    wire = _wire_from(finding, graph)
    if wire is None or ProgramView(graph).word(wire.source) not in CHANCES | SIGMOIDS:
        return
    scores = next((w for w in graph.wires_to(wire.source) if w.port != "module"), None)
    if scores is not None:
        yield (
            f"Give it the scores ({source_name(graph, scores)} instead of {source_name(graph, wire)})",
            lambda now: recipes.connect(now, scores.source, scores.output, wire.target, wire.port),
        )


def _logarithm(finding: Finding, graph: Graph) -> Iterator[Offer]:
    """log_softmax in front of the loss; of probabilities their logarithm."""
    wire = _wire_from(finding, graph)
    if wire is None:
        return
    name = source_name(graph, wire)
    if gives_chances(ProgramView(graph), wire.source, wire.output):
        yield f"Take the logarithm of {name} ({name}.log())", lambda now: recipes.insert(now, wire, "torch.Tensor.log")
        return
    yield (
        f"Put log_softmax in front of it (log_softmax({name}, dim=1))",
        lambda now: recipes.insert(now, wire, "torch.nn.functional.log_softmax", {"dim": "1"}),
    )


def _zero_before(finding: Finding, graph: Graph) -> Iterator[Offer]:
    """Zero the gradients before the backward that adds to them: by the optimizer, or the leaf's own `.grad`."""
    backward, owner = finding.node, next(iter(finding.path[1:2]), None)
    if backward not in graph.nodes:
        return
    given = _optimizer_that_is_given(graph)
    if owner not in graph.nodes and given is not None:
        words = f"Zero the gradients before this backward ({name_of(graph, (given.source, given.output))}.zero_grad())"
        zero = partial(recipes.statement_before, source=given.source, output=given.output, before=backward)
        yield words, partial(zero, key=OPTIMIZER_ZERO_GRAD)
    if owner not in graph.nodes:
        return
    if makes_optimizer(graph.nodes[owner].operator):
        words = f"Zero the gradients before this backward ({title(graph, owner)}.zero_grad())"
        yield words, partial(recipes.statement_before, source=owner, output=0, before=backward, key=OPTIMIZER_ZERO_GRAD)
        return
    leaf = next(iter(finding.path[2:3]), owner)
    name, literals = title(graph, leaf), {"name": "grad", "value": "None"}
    zero = partial(recipes.statement_before, source=leaf, output=0, before=backward)
    yield (
        f"Zero the gradient before this backward ({name}.grad = None)",
        partial(zero, key=SET_ATTRIBUTE, literals=literals),
    )


def _optimizer_that_is_given(graph: Graph) -> Wire | None:
    """How the only optimizer that steps here comes into a function that is given it."""
    wires = [graph.wire_into(node.id, "self") for node in graph.nodes.values() if node.operator == OPTIMIZER_STEP]
    return wires[0] if len(wires) == 1 else None


def _other_dimension(finding: Finding, graph: Graph) -> Iterator[Offer]:
    """Let the softmax run over the last dimension."""
    node = graph.nodes.get(finding.node)
    if node is not None and "dim" in node.literals:
        yield "Set dim to -1", lambda now: recipes.set_literal(now, finding.node, "dim", "-1")


def _real_division(finding: Finding, graph: Graph) -> Iterator[Offer]:
    """/ for //."""
    node = graph.nodes.get(finding.node)
    if node is not None and node.operator == FLOOR_DIVISION:
        yield "Divide by / instead of //", lambda now: recipes.replace_operator(now, finding.node, TRUE_DIVISION)


def _evaluate(finding: Finding, graph: Graph) -> Iterator[Offer]:
    """``eval()``, or ``train()``, before the call."""
    if len(finding.path) < 2:
        return
    call, module = finding.path[:2]
    if call not in graph.nodes or module not in graph.nodes:
        return
    key = EVAL if "eval() is missing" in finding.title else TRAIN
    word = key.rpartition(".")[2]
    words = f"Switch the mode before this call ({title(graph, module)}.{word}())"
    yield words, partial(recipes.statement_before, source=module, output=0, before=call, key=key)


def _rate(finding: Finding, graph: Graph) -> Iterator[Offer]:
    """A usual learning rate for one that is 0 or too small to be seen."""
    node = graph.nodes.get(finding.node)
    rate = _number(node.literals.get("lr", "")) if node is not None else None
    if node is None or rate is None:
        return
    usual = "0.001" if "Adam" in node.operator else "0.01"
    if rate < float(usual):
        yield f"Set lr to {usual}", lambda now: recipes.set_literal(now, finding.node, "lr", usual)


def _shorter_steps(finding: Finding, graph: Graph) -> Iterator[Offer]:
    """What ends a divergence by its cause: the mean of a sum, a usual momentum, a rate that the growth allows."""
    node = graph.nodes.get(finding.node)
    rate = _number(node.literals.get("lr", "")) if node is not None else None
    if "sum over" in finding.title:
        yield from _mean_for_sum(finding, graph)
    elif "momentum" in finding.title:
        yield "Set momentum to 0.9", lambda now: recipes.set_literal(now, finding.node, "momentum", "0.9")
    elif rate and "not normalised" not in finding.title:
        text = _stable_rate(rate, finding.title)
        yield f"Set lr to {text}", lambda now: recipes.set_literal(now, finding.node, "lr", text)


def _stable_rate(rate: float, title_words: str) -> str:
    """A rate with which a loss that grows as it is said to does not: a tenth, or less.

    Where a loss grows by g a step, a step multiplies the distance to the minimum by √g, which is lr · curvature − 1:
    of half the largest rate that converges, 1 / curvature, that leaves lr / (1 + √g).
    """
    told = re.search(r"×([\d.e+,]+) a step", title_words)
    growth = _number(told[1].replace(",", "")) if told is not None else None
    stable = min(rate / 10, max(rate / (1 + math.sqrt(growth or 1.0)), rate / LONGEST))
    exponent = math.floor(math.log10(stable) + TINY)
    return f"{math.floor(stable / 10**exponent + TINY) * 10**exponent:g}"


def _mean_for_sum(finding: Finding, graph: Graph) -> Iterator[Offer]:
    """The mean where a loss adds up all its elements."""
    loss = next(iter(finding.path[1:2]), None)
    stages = ProgramView(graph).stages(loss, 0) if loss is not None else iter(())
    for stage in stages:
        item = stage.node.id
        if item in graph.nodes and stage.node.literals.get("reduction", "").strip("'\"") == "sum":
            mean = partial(recipes.set_literal, item=item, path="reduction", text="'mean'")
            yield "Take the mean (reduction='mean')", mean
            return
        if item in graph.nodes and stage.node.operator in MEANS:
            key = MEANS[stage.node.operator]
            yield "Take the mean for the sum", partial(recipes.replace_operator, item=item, key=key)
            return


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _let_graph_go(finding: Finding, graph: Graph) -> Iterator[Offer]:
    """Detach what a sum over the turns adds up, or the one thing that a list gathers, in a tuple perhaps."""
    *inner, whole = finding.path
    is_sum = whole in graph.blocks
    wires = [wire for item in dict.fromkeys((finding.node, *inner)) for wire in graph.wires_to(item)]
    parts = [wire for wire in wires if (wire.target == finding.node if is_sum else wire.source in inner)]
    kept = [wire for wire in parts if wire.source in graph.nodes and graph.nodes[wire.source].operator not in PACKERS]
    for wire in kept if is_sum or len(kept) == 1 else ():
        name = source_name(graph, wire)
        yield f"Detach {name} ({name}.detach())", partial(recipes.insert, wire=wire, key=DETACH)


def _require(finding: Finding, graph: Graph) -> Iterator[Offer]:
    """Let the tensor that an optimizer is given require grad."""
    source = next(iter(finding.path[1:2]), None)
    if source not in graph.nodes or makes_module(operator_of(graph, source)):
        return
    yield (
        f"Set requires_grad of {title(graph, source)} to True",
        lambda now: recipes.set_literal(now, source, "requires_grad", "True"),
    )


def _in_order(finding: Finding, graph: Graph) -> Iterator[Offer]:
    """The step, or the clip, directly behind the backward."""
    item, backward = finding.node, next(iter(finding.path[1:2]), None)
    if item not in graph.nodes or backward not in graph.nodes:
        return
    parts = (wire.source for wire in graph.wires_to(item) if wire.source in graph.nodes)
    moved = (*(part for part in parts if graph.nodes[part].nested), item)
    words = f"Move {title(graph, item)} behind the backward"
    if graph.parents[item] == graph.parents[backward]:
        yield words, partial(recipes.move_behind, items=moved, other=backward)
    else:
        yield f"{words}, into its loop", partial(_into_body, items=moved, other=backward)


def _into_body(graph: Graph, items: tuple[ItemId, ...], other: ItemId) -> Edits:
    """Move statements to another one's body, behind it."""
    edits = recipes.move_into(graph, items, graph.parents[other])
    draft = graph.copy()
    apply_all(draft, edits)
    return (*edits, *recipes.move_behind(draft, items, other))


def _zero_behind(finding: Finding, graph: Graph) -> Iterator[Offer]:
    """The zeroing behind the step that it is in front of."""
    step = finding.node
    zeroing = next((item for item in finding.path[1:] if _is_zeroing(graph, item)), None)
    if zeroing is not None and step in graph.nodes:
        words = f"Zero the gradients behind {title(graph, step)}"
        yield words, partial(recipes.move_behind, items=(zeroing,), other=step)


def _right_name(finding: Finding, graph: Graph) -> Iterator[Offer]:
    """The attribute that torch reads, for one that it does not know."""
    wrong = graph.nodes[finding.node].literals.get("name", "") if finding.node in graph.nodes else ""
    right = near_attribute(wrong)
    if right:
        yield f"Write {right} for {wrong}", lambda now: recipes.set_literal(now, finding.node, "name", right)


def _score_for_each(finding: Finding, graph: Graph) -> Iterator[Offer]:
    """As many outputs of the last layer as there are classes."""
    wire, wanted = _wire_from(finding, graph), re.search(r" has (\d+) classes", finding.title)
    if wire is not None and wanted is not None:
        yield from more_outputs(graph, wire.source, wire.output, int(wanted[1]))


def _is_zeroing(graph: Graph, item: ItemId) -> bool:
    return item in graph.nodes and graph.nodes[item].operator in (OPTIMIZER_ZERO_GRAD, MODULE_ZERO_GRAD)


def _wire_from(finding: Finding, graph: Graph) -> Wire | None:
    """The wire into the finding's node from the second step of its path."""
    return next((wire for wire in graph.wires_to(finding.node) if wire.source in finding.path[1:2]), None)


MAKERS: dict[FindingKind, Callable[[Finding, Graph], Iterator[Offer]]] = {
    "not_finite": _keep_positive,
    "backward_not_finite": _keep_positive,
    "accumulates": _zero_first,
    "unordered_write": _new_tensor,
    "no_gradient": uncut,
    "lost_term": uncut,
    "broadcasts": _one_shape,
    "twice_softmax": _without_activation,
    "twice_sigmoid": _without_activation,
    "no_zero_grad": _zero_before,
    "late_step": _in_order,
    "step_behind_loop": _in_order,
    "idle_clip": _in_order,
    "idle_step": _zero_behind,
    "batch_softmax": _other_dimension,
    "rounds_down": _real_division,
    "wrong_mode": _evaluate,
    "diverges": _shorter_steps,
    "no_rate": _rate,
    "kept_graph": _let_graph_go,
    "no_logarithm": _logarithm,
    "frozen_parameter": _require,
    "unknown_attribute": _right_name,
    "missing_classes": _score_for_each,
}
"""By the kind of a finding: titles and recipes; a recipe that refuses is not offered."""
