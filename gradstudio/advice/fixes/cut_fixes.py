"""Ways out of a cut on the way to a loss: what cuts is taken away where the gradient then comes to one backward."""

from collections.abc import Callable, Iterator
from functools import partial

from gradstudio.advice.cut_chains import NO_GRADS
from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.failure_case import Offer
from gradstudio.advice.failure_sentences import is_backward
from gradstudio.advice.fixes.gradient_fixes import DETACHING
from gradstudio.graph import recipes
from gradstudio.graph.analysis.program_analysis import may_require_grad
from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId
from gradstudio.graph.ports.item_ports import operator_of
from gradstudio.graph.rules import descendants_of
from gradstudio.graph.text.item_titles import title

NEW_TENSOR = "torch.tensor"
"""What makes a leaf of numbers, whatever they were computed from."""


def uncut(finding: Finding, graph: Graph) -> Iterator[Offer]:
    """Take away the detach, or the block that switches gradients off, where the way to the loss ends."""
    for item in finding.path[1:]:
        operator = operator_of(graph, item) if item in graph.nodes else None
        if operator is None:
            continue
        is_needed = any(graph.nodes[user].operator.endswith(".numpy") for user in _readers(graph, item))
        if operator.cuts and operator.word in DETACHING and not graph.nodes[item].bypassed and not is_needed:
            yield _without_cut(graph, item, operator.word)
        around = (ItemId(body) for body in graph.ancestors(item) if body != ROOT)
        block = next((graph.blocks[body] for body in around if graph.blocks[body].kind in NO_GRADS), None)
        if block is None:
            continue
        inside = graph.bodies[BodyId(block.id)]
        if not any(wire.target in inside for wire in graph.wires_from(item)):
            out = partial(recipes.move_into, items=(item,), body=graph.parents[block.id])
            yield f"Take {title(graph, item)} out of {block.kind}", partial(_joined, item=item, step=out)
        unwrap = partial(recipes.unwrap, block=block.id)
        yield f"Take the block {block.kind} away", partial(_joined, item=item, step=unwrap)


def _without_cut(graph: Graph, item: ItemId, word: str) -> Offer:
    """Let what cuts pass its input on, and so the tensor that is made anew of the number alone that it gave."""
    wires = graph.wires_from(item)
    made = [wire.target for wire in wires if wire.port == "data" and _makes_anew(graph, wire.target)]
    both = made if len(made) == len(wires) == 1 else []
    bypass = partial(recipes.set_bypassed, items=(item, *both), bypassed=True)
    what, where = (f"{word} and torch.tensor", both[0]) if both else (word, item)
    return (
        f"Take {what} away ({title(graph, where)} passes its input on)",
        partial(_joined, item=item, step=bypass),
    )


def _readers(graph: Graph, item: ItemId) -> Iterator[ItemId]:
    """The nodes that take a result."""
    return (wire.target for wire in graph.wires_from(item) if wire.target in graph.nodes)


def _makes_anew(graph: Graph, item: ItemId) -> bool:
    node = graph.nodes.get(item)
    return node is not None and node.operator == NEW_TENSOR and not node.bypassed


def _joined(graph: Graph, item: ItemId, step: Callable[[Graph], Edits]) -> Edits:
    """The step, when behind it a gradient may come to the item's first result.

    Raises:
        Refused: it would be cut all the same, or two backwards would go through it.
    """
    edits = step(graph)
    draft = graph.copy()
    apply_all(draft, edits)
    passes_on = item in draft.nodes and draft.nodes[item].bypassed
    values = [(wire.source, wire.output) for wire in draft.wires_to(item)] if passes_on else [(item, 0)]
    if not any(value in may_require_grad(draft) for value in values):
        raise Refused("Another cut stands in the way.")
    backwards = {one for one in descendants_of(draft, item) if is_backward(draft, one)}
    if len(backwards) > 1:
        raise Refused("Two backwards would go through it: the first frees what the second needs.")
    if backwards and backwards.isdisjoint(_learning_from(draft, item)):
        raise Refused("Another cut follows.")
    return edits


def _learning_from(graph: Graph, item: ItemId) -> set[ItemId]:
    """What is computed of an item, and not of a tensor that is made anew of its numbers."""
    seen, todo = {item}, [item]
    while todo:
        users = {wire.target for wire in graph.wires_from(todo.pop())} - seen
        new = [user for user in users if not _makes_anew(graph, user)]
        seen.update(new)
        todo += new
    return seen
