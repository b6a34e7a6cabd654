"""Which sizes of which operands clash, for what is drawn beside the wires of a node that torch refuses."""

import re
from typing import NamedTuple

from gradstudio.advice.explanation import failed_of
from gradstudio.advice.failure_case import Lookup
from gradstudio.advice.shape_rules import PRODUCTS, Shape
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.ports.arguments import find_operator
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.protocol.messages.records import Record, TensorRecord

BROADCASTS = re.compile(r"non-singleton dimension|broadcast|target size|must be the same as input size")
JOINS = re.compile(r"must match except in dimension|same number of dimensions|to be equal size")
MAX_OPERANDS = 6


class Operand(NamedTuple):
    """A tensor that goes into a refused node: the port, its shape, and the dimensions that clash."""

    port: str
    shape: Shape
    clashing: frozenset[int]


def operands_of(graph: Graph, node: ItemId, words: str, lookup: Lookup) -> tuple[Operand, ...]:
    """What is expected to go in, in the order of the arguments; `words` are torch's."""
    failed = failed_of(PortInference(node=node, refusal=words), graph, lookup)
    return conflicting_operands(graph, node, words, failed.operands)


def conflicting_operands(
    graph: Graph, node: ItemId, words: str, operands: tuple[tuple[str, Record], ...]
) -> tuple[Operand, ...]:
    """The operands, with the dimensions that cannot go together; none where that is not known."""
    told = [(port, record.summary.shape) for port, record in operands if isinstance(record, TensorRecord)][
        :MAX_OPERANDS
    ]
    operator = find_operator(graph, graph.nodes[node]) if node in graph.nodes else None
    shapes = [shape for _, shape in told]
    found = _dims(operator.word if operator is not None else "", words, shapes)
    return tuple(Operand(port, shape, dims) for (port, shape), dims in zip(told, found, strict=True))


def _dims(word: str, words: str, shapes: list[Shape]) -> list[frozenset[int]]:
    if JOINS.search(words) or word in ("cat", "stack", "hstack", "vstack"):
        return _joined(shapes)
    if len(shapes) == 2 and word in PRODUCTS and all(shapes):
        return _product(*shapes)
    if len(shapes) >= 2 and word == "linear" and all(shapes[:2]) and shapes[0][-1] != shapes[1][-1]:
        return [frozenset({len(shape) - 1}) for shape in shapes[:2]] + [frozenset()] * (len(shapes) - 2)
    if len(shapes) == 2 and BROADCASTS.search(words):
        return _elementwise(*shapes)
    return [frozenset()] * len(shapes)


def _product(first: Shape, second: Shape) -> list[frozenset[int]]:
    """The columns of the left and the rows of the right; else the batches."""
    row = max(len(second) - 2, 0)
    if first[-1] != second[row]:
        return [frozenset({len(first) - 1}), frozenset({row})]
    left, right = _elementwise(first[:-2], second[:-2])
    return [left, right]


def _elementwise(first: Shape, second: Shape) -> list[frozenset[int]]:
    """Compared from the right: sizes that differ and of which none is 1."""
    wrong = [
        k
        for k in range(1, min(len(first), len(second)) + 1)
        if first[-k] != second[-k] and 1 not in (first[-k], second[-k])
    ]
    return [frozenset(len(shape) - k for k in wrong) for shape in (first, second)]


def _joined(shapes: list[Shape]) -> list[frozenset[int]]:
    """Dimensions in which a tensor differs from the first."""
    if not shapes:
        return []
    first = shapes[0]
    differ = [frozenset(d for d, n in enumerate(s) if d >= len(first) or n != first[d]) for s in shapes[1:]]
    return [frozenset(d for d in range(len(first)) if any(d in dims for dims in differ)), *differ]
