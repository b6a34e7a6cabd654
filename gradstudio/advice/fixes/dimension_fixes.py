"""Ways out of errors about dimensions: their order and count, sizes left open, products of any kind."""

import re
from collections.abc import Callable, Iterator
from functools import partial

from gradstudio.advice.failure_case import Case, Offer
from gradstudio.advice.model import FixKind
from gradstudio.advice.shape_rules import matmul, transpose_shape
from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits
from gradstudio.graph.model import Graph, ItemId, Wire

SIZES = ("shape", "size", "sizes", "dims", "repeats")


def replace_if(case: Case, kind: FixKind) -> Iterator[Offer]:
    """Another operator in the failing one's place, where that is one of those named in the kind's port."""
    word = case.operator.word if case.operator is not None else ""
    if word in kind.port.split():
        new = kind.text.rsplit(".", 1)[-1]
        yield f"Use {new} instead of {word}", partial(recipes.replace_operator, item=case.item, key=kind.text)


def each_rank(case: Case, kind: FixKind) -> Iterator[Offer]:
    """Insert dimensions in front of every operand that has too few."""
    short = [(o.wire, int(kind.text) - len(o.shape)) for o in case.operands if len(o.shape) < int(kind.text)]
    steps = [partial(_unsqueezed, target=wire.target, port=wire.port) for wire, times in short for _ in range(times)]
    if steps:
        names = " and ".join(case.source_name(wire) for wire, _ in short)
        yield (
            f"Insert a dimension in front of {names} (unsqueeze(0))",
            lambda graph: recipes.combine_steps(graph, *steps),
        )


def reverse_dims(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """All dimensions, the last first."""
    count = int(case.groups.get("a", "0"))
    dims = f"({', '.join(str(dim) for dim in reversed(range(count)))})"
    if count and case.node is not None:
        yield f"Turn all dimensions round (dims={dims})", partial(_write, item=case.item, name="dims", text=dims)


def lead_sizes(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """A size for the dimensions in front, which are kept as they are."""
    operand, word = next(iter(case.operands), None), case.operator.word if case.operator is not None else ""
    name, sizes = _sizes(case)
    if operand is not None and name and len(sizes) < len(operand.shape):
        kept = ["-1" if word == "expand" else "1"] * (len(operand.shape) - len(sizes))
        text = f"({', '.join((*kept, *sizes))})"
        yield f"Keep the dimensions in front ({name}={text})", partial(_write, item=case.item, name=name, text=text)


def one_unknown(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """The first -1 alone."""
    name, sizes = _sizes(case)
    at = sizes.index("-1") if "-1" in sizes else 0
    left = [size for k, size in enumerate(sizes) if size != "-1" or k == at]
    if name and len(left) < len(sizes):
        text = f"({', '.join(left)}{',' if len(left) == 1 else ''})"
        yield f"Keep one -1 ({name}={text})", partial(_write, item=case.item, name=name, text=text)


def transpose_any(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Transpose the second of two operands of a product, where the sizes agree then."""
    pair = case.operands[:2]
    word = case.operator.word if case.operator is not None else ""
    if len(pair) == 2 and word != "cdist" and matmul(pair[0].shape, transpose_shape(pair[1].shape)) is not None:
        name = case.source_name(pair[1].wire)
        yield f"Transpose {name} ({name}.T)", _insert(pair[1].wire, "torch.Tensor.mT")


def transpose_mask(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Transpose the mask, where it has the tensor's shape then."""
    tensor, mask = case.operand("self") or case.operand("a"), case.operand("index")
    if mask is not None and (tensor is None or mask.shape == transpose_shape(tensor.shape)):
        name = case.source_name(mask.wire)
        yield f"Transpose {name} ({name}.T)", _insert(mask.wire, "torch.Tensor.mT")


def exchange(case: Case, kind: FixKind) -> Iterator[Offer]:
    """Two literals in each other's place."""
    first, second = kind.port.split()
    texts = case.literals()
    if case.node is not None and first in texts and second in texts:
        yield (
            f"Exchange {first} and {second}",
            lambda graph: recipes.combine_steps(
                graph,
                lambda now: recipes.set_literal(now, case.item, first, texts[second]),
                lambda now: recipes.set_literal(now, case.item, second, texts[first]),
            ),
        )


def clamp_any(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Bring an index between 0 and the last element."""
    index, count = case.operand("index") or case.operand("indices"), int(case.groups.get("n", "0"))
    if index is not None and count:
        last = str(count - 1)
        title = f"Cut the index off at the first and the last element (clamp(min=0, max={last}))"
        yield title, _insert(index.wire, "torch.Tensor.clamp", min="0", max=last)


def clamp_unit(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Bring probabilities between 0 and 1."""
    operand = case.operand("target") or next(iter(case.operands), None)
    if operand is not None:
        name = case.source_name(operand.wire)
        yield f"Cut {name} off at 0 and 1 (clamp(0, 1))", _insert(operand.wire, "torch.Tensor.clamp", min="0", max="1")


def softmax_first(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Make probabilities of the weights."""
    if case.first is not None:
        name = case.source_name(case.first)
        yield f"Make probabilities of {name} (softmax)", _insert(case.first, "torch.softmax", dim="-1")


# ------------------------------------------------------------------ helpers


def _sizes(case: Case) -> tuple[str, list[str]]:
    """The argument that holds sizes, and what is written there, also in a port per element."""
    texts = case.literals()
    for name in SIZES:
        count = case.node.lengths.get(name, 0) if case.node is not None else 0
        parts = [texts.get(f"{name}.{k}", "") for k in range(count)] or re.findall(r"-?\d+", texts.get(name, ""))
        if parts and all(re.fullmatch(r"-?\d+", part.strip()) for part in parts):
            return name, [part.strip() for part in parts]
    return "", []


def _write(graph: Graph, item: ItemId, name: str, text: str) -> Edits:
    steps: list[Callable[[Graph], Edits]] = []
    if name in graph.nodes[item].lengths:
        steps.append(lambda now: recipes.join_list(now, item, name))
    return recipes.combine_steps(graph, *steps, lambda now: recipes.set_literal(now, item, name, text))


def _unsqueezed(graph: Graph, target: ItemId, port: str) -> Edits:
    return recipes.insert(graph, graph.wires[target, port], "torch.Tensor.unsqueeze", {"dim": "0"})


def _insert(wire: Wire, key: str, **literals: str) -> Callable[[Graph], Edits]:
    return lambda graph: recipes.insert(graph, wire, key, literals)
