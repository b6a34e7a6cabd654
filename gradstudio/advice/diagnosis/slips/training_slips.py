"""Statements of a training that do another thing than they look like: clips, labels and choices of classes."""

from collections.abc import Iterator
from typing import NamedTuple

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.loss_mistakes import (
    ELEMENTWISE,
    EQUALITIES,
    FIRST,
    LOGITS,
    SECOND,
    SIGMOIDS,
    UNCHANGING,
)
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.analysis.call_paths import ALIAS
from gradstudio.graph.card_grouping import CALL, CALLED
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import TensorRecord

CLIPS = frozenset({"clip_grad_norm", "clip_grad_value"})
SCALE, UNSCALE = "GradScaler.scale", "GradScaler.unscale_"
DETACH = "torch.Tensor.detach"
CHOOSING = frozenset({"argmax", "max"})
JUDGES = LOGITS | ELEMENTWISE | {"binary_cross_entropy", "BCELoss"}
FILLED = {"zeros": "0", "zeros_like": "0", "ones": "1", "ones_like": "1"}
STEPS = 6


def scaled_clip(view: ProgramView, item: ItemId, word: str, _lookup: Lookup) -> Iterator[Finding]:
    """Gradients that are clipped while they are multiplied by the scale of a GradScaler."""
    place = view.place(item)
    if place is None:
        return
    nodes = place.graph.nodes.values()
    scaling = next((node for node in nodes if node.operator.endswith(SCALE)), None)
    if scaling is None or any(node.operator.endswith(UNSCALE) for node in nodes):
        return
    scaler = view.source(ItemId(item.removesuffix(place.item) + scaling.id), ("self",))
    name = view.source_name(scaler) if scaler is not None else "scaler"
    made = view.node(view.resolve(scaler.item, scaler.output)[0]) if scaler is not None else None
    if made is not None and made.literals.get("enabled") == "False":
        return
    yield Finding(
        "scaled_clip",
        "warning",
        item,
        f"{word}_ clips gradients that are still scaled: {name}.unscale_(optimizer) is missing before it",
        f"{name}.scale multiplies the loss, and with it every gradient, by thousands, so the bound cuts nearly all of "
        f"it away, and {name}.step divides what is left. The order is backward, unscale_, clip, step.",
        (item,),
    )


def wrong_choice(view: ProgramView, item: ItemId, word: str, lookup: Lookup) -> Iterator[Finding]:
    """The largest score of each class over the batch, compared as if it were the class of each example."""
    node, source = view.node(item), view.source(item, ("self", "input"))
    record = lookup(*view.resolve(source.item, source.output)) if source is not None else None
    if node is None or node.literals.get("dim") not in ("0", "-2") or not isinstance(record, TensorRecord):
        return
    shape = record.summary.shape
    if len(shape) != 2 or min(shape) < 2 or source is None or not _are_scores(view, source.item, source.output):
        return
    users = list(view.followers(item))
    users += [after for user in users for after in view.followers(user)]
    if not any(view.word(user) in EQUALITIES for user in users):
        return
    yield Finding(
        "wrong_choice",
        "warning",
        item,
        f"{view.applied(word, item)} runs over the batch (dimension 0): it gives numbers of examples, not classes",
        f"Each row of {list(shape)} holds the scores of one example. Write dim=1 (or -1).",
        (item, source.item),
    )


def _are_scores(view: ProgramView, item: ItemId, output: int) -> bool:
    """Whether the numbers of one row come out of a linear layer."""
    words = (stage.word for stage in view.stages(item, output))
    quiet = UNCHANGING | {"softmax", "log_softmax", "Softmax", "LogSoftmax", "detach"}
    return next((word for word in words if word not in quiet), "") in ("Linear", "linear", "addmm")


class _Verdict(NamedTuple):
    """A loss of what a module says of a value: of which, cut off from its maker or not, and what it is to say."""

    loss: ItemId
    judge: tuple[ItemId, int]
    value: tuple[ItemId, int]
    is_cut: bool
    target: object


def praised_fakes(view: ProgramView) -> Iterator[Finding]:
    """A generator that is taught by the very label by which its discriminator calls its results fake."""
    losses = [item for item, _, _ in view.insides() if view.word(item) in JUDGES]
    verdicts = [one for loss in losses if (one := _verdict(view, loss)) is not None]
    for own in verdicts:
        other = next((one for one in verdicts if one.is_cut and one[1:3] == own[1:3]), None)
        if own.is_cut or other is None or other.target != own.target:
            continue
        judge, value = view.name(own.judge[0]), view.name(own.value[0])
        yield Finding(
            "same_label",
            "warning",
            own.loss,
            f"{view.name(own.loss)} gives {value} the label that {view.name(other.loss)} has for fakes: who makes "
            f"{value} learns to be found out",
            f"{judge} is to call {value} fake, and its maker wants it called real. Give {view.name(own.loss)} the "
            "label of real examples.",
            (own.loss, other.loss),
        )


def _verdict(view: ProgramView, loss: ItemId) -> _Verdict | None:
    given, target = view.source(loss, FIRST), view.source(loss, SECOND)
    for _ in range(STEPS):
        node = view.node(given.item) if given is not None else None
        if given is None or target is None or node is None:
            return None
        if node.operator == CALL and view.word(given.item) not in UNCHANGING | SIGMOIDS:
            break
        if node.operator != ALIAS and view.word(given.item) not in UNCHANGING | SIGMOIDS:
            return None
        given = view.source(given.item)
    if given is None or target is None:
        return None
    module, value = view.source(given.item, (CALLED,)), view.source(given.item, ("inputs.0",))
    if module is None or value is None:
        return None
    is_cut = view.word(value.item) == "detach"
    base = view.source(value.item, ("self", "input")) if is_cut else value
    if base is None:
        return None
    judge = view.resolve(module.item, module.output)
    return _Verdict(loss, judge, view.resolve(base.item, base.output), is_cut, _label(view, target.item, target.output))


def _label(view: ProgramView, item: ItemId, output: int) -> object:
    """What a target is: a number for a tensor that is full of it."""
    at, number = view.resolve(item, output)
    node = view.node(at)
    word = view.word(at)
    if node is not None and word in ("full", "full_like") and "fill_value" in node.literals:
        return node.literals["fill_value"].removesuffix(".0")
    return FILLED.get(word, (at, number))
