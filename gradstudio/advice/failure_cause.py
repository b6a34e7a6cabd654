"""What a failure only shows: a gradient that is None was cut off long before, sizes that differ were mixed up."""

from collections.abc import Iterable

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.graph.model import Graph, ItemId

GRADIENT, NONE = "torch.Tensor.grad", "NoneType"
SLOPELESS = "derivative for aten::floor_divide"
FARTHEST = 30
SIZES = ("batch_size", "size of tensor", "shapes cannot be multiplied", "must be the same as")


def failure_cause(graph: Graph, failing: ItemId, message: str, found: Iterable[Finding]) -> Finding | None:
    """What keeps a gradient away that is None, or mixed up the sizes; as grave as the failure that comes of it.

    Args:
        message: torch's or Python's own.
    """
    if any(words in message for words in SIZES):
        return _mixed_up(ProgramView(graph), failing, found)
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
    seen, todo = {failing}, [failing]
    while todo and mixed and len(seen) < FARTHEST:
        for source in view.sources(todo.pop(0)):
            at, _ = view.resolve(source.item, source.output)
            if at in mixed:
                return mixed[at]._replace(severity="error")
            if at not in seen:
                seen.add(at)
                todo.append(at)
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
