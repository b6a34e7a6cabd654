"""What a failure only shows: a gradient that is None was cut off long before, sizes that differ were mixed up."""

import math
from collections.abc import Iterable

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.groups.call_ids import is_call_item
from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.messages.records import TensorRecord

GRADIENT, NONE = "torch.Tensor.grad", "NoneType"
SLOPELESS = "derivative for aten::floor_divide"
FARTHEST, MOST = 30, 100
SIGNS = {"gt": ">", "lt": "<", "ge": ">=", "le": "<=", "eq": "==", "ne": "!="}
WITHOUT_GRAPH, FREED = "does not require grad and does not have a grad_fn", "backward through the graph a second time"
SLOPELESS_WORDS = frozenset("gt lt ge le eq ne round floor ceil sign argmax argmin argsort long int bool".split())
"""What has no slope, or gives no number that has one."""
VIEWS = frozenset({"view", "reshape"})
SIZES = ("batch_size", "size of tensor", "shapes cannot be multiplied", "must be the same as")


def _nothing_known(_item: ItemId, _output: int) -> None:
    """A lookup where no value is known."""


def failure_cause(
    graph: Graph, failing: ItemId, message: str, found: Iterable[Finding], lookup: Lookup = _nothing_known
) -> Finding | None:
    """What keeps a gradient away that is None, or mixed up the sizes; as grave as the failure that comes of it.

    Args:
        message: torch's or Python's own.
        lookup: what is known of a value.
    """
    if any(words in message for words in SIZES):
        view = ProgramView(graph)
        return _mixed_up(view, failing, found) or _other_rows(view, failing, message, lookup)
    if WITHOUT_GRAPH in message:
        unknown = (one._replace(severity="error") for one in found if one.kind == "unknown_attribute")
        return next(unknown, None) or _without_slope(ProgramView(graph), failing, lookup)
    if FREED in message:
        return next((one._replace(severity="error") for one in found if one.kind == "computed_parameter"), None)
    if SLOPELESS in message:
        return next((one._replace(severity="error") for one in found if one.kind == "rounds_down"), None)
    if NONE not in message:
        return None
    owners = _owners(ProgramView(graph), failing)
    cut = (one for one in found if one.kind == "no_gradient" and owners.intersection(one.path[:1]))
    first = next(cut, None)
    return first._replace(severity="error") if first is not None else None


def _mixed_up(view: ProgramView, failing: ItemId, found: Iterable[Finding]) -> Finding | None:
    """What exchanged dimensions on the way to a statement whose sizes do not fit."""
    mixed = {one.node: one for one in found if one.kind == "mixed_dimensions"}
    behind = view.behind(failing, FARTHEST) if mixed else ()
    return next((mixed[at]._replace(severity="error") for at in behind if at in mixed), None)


def _without_slope(view: ProgramView, failing: ItemId, lookup: Lookup) -> Finding | None:
    """The nearest comparison or rounding of what learns, inside the calls by which a root was computed."""
    for at in filter(is_call_item, view.behind(failing, MOST)):
        word = view.word(at)
        given = [lookup(*view.resolve(one.item, one.output)) for one in view.sources(at)]
        if word in SLOPELESS_WORDS and any(isinstance(one, TensorRecord) and one.requires_grad for one in given):
            sign = SIGNS.get(word, word)
            return Finding(
                "no_gradient",
                "error",
                at,
                f"{sign} has no slope: what is computed of its result has no way back to the model",
                "It gives whole numbers, or yes and no, and a small change of what goes in changes nothing. Compute "
                "the loss from the scores or probabilities themselves.",
                (at, failing),
            )
    return None


def _other_rows(view: ProgramView, failing: ItemId, message: str, lookup: Lookup) -> Finding | None:
    """A view that takes the rows of a batch apart, or together, where a loss then misses as many as that."""
    if "batch_size" not in message:
        return None
    for at in filter(is_call_item, view.behind(failing, MOST)):
        source, after = view.source(at, ("self", "input")), lookup(at, 0)
        before = lookup(*view.resolve(source.item, source.output)) if source is not None else None
        if view.word(at) not in VIEWS or not isinstance(before, TensorRecord) or not isinstance(after, TensorRecord):
            continue
        old, new = before.summary.shape, after.summary.shape
        if old and new and f"({new[0]})" in message and f"({old[0]})" in message and old[0] != new[0]:
            return Finding(
                "view_for_transpose",
                "error",
                at,
                f"{view.applied(view.word(at), at)} made {new[0]} rows of a batch of {old[0]}: {list(old)} becomes "
                f"{list(new)}",
                f"An example has {math.prod(old[1:])} numbers. Write flatten(1), or view(x.size(0), -1): then the next "
                "layer says how many it wants.",
                (at, failing),
            )
    return None


def _owners(view: ProgramView, item: ItemId) -> set[ItemId]:
    """Whose gradients go into an item: leaves, and the modules that they are parameters of."""
    found, seen = set[ItemId](), {item}
    todo = [(item, False)]
    while todo and len(seen) < FARTHEST:
        here, is_owner = todo.pop(0)
        node = view.node(here)
        is_owner = is_owner or (node is not None and node.operator == GRADIENT)
        for source in view.sources(here):
            at, _ = view.resolve(source.item, source.output)
            if at not in seen:
                seen.add(at)
                todo.append((at, is_owner))
            if is_owner:
                found.add(at)
    return found
