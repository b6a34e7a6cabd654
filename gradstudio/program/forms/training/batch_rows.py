"""Rows: whether the data of a step are the rows of a batch, so that its loss is the mean over them.

Then any part of the rows is a smaller batch, and processes that share them out average to the same gradient.
Only what is known to treat each row by itself counts; anything else is computed from all the data at once.
"""

from collections.abc import Iterable

import msgspec

from gradstudio.graph.model import ItemId, Node
from gradstudio.graph.ports.module_calls import origin
from gradstudio.operators.model import Face, Family, Operator
from gradstudio.program.forms.statement_units import Units, Value
from gradstudio.program.forms.training.static_shapes import Shapes


class Rows(msgspec.Struct, frozen=True):
    """A value with a row for each row of the data; `rank` counts its dimensions."""

    rank: int


class Fixed(msgspec.Struct, frozen=True):
    """A value that the data have no part in; None when its number of dimensions is not known."""

    rank: int | None


class Mean(msgspec.Struct, frozen=True):
    """A number that is the mean over the rows, or adds to such a one."""


Kind = Rows | Fixed | Mean | None
"""None: anything else."""

_POINTWISE = frozenset(
    "relu tanh sigmoid exp log log1p expm1 sqrt square abs sin cos tan erf neg float double clamp dropout gelu silu "
    "leaky_relu softplus elu selu hardtanh logsigmoid relu6 mish pow reciprocal rsqrt sinh cosh atan".split()
)
_ACTIVATIONS = frozenset(word.replace("_", "") for word in _POINTWISE)
_ALONG_LAST = frozenset({"softmax", "log_softmax"})
_LAYERS = frozenset(
    "Linear Dropout Dropout2d BatchNorm1d BatchNorm2d BatchNorm3d LayerNorm GroupNorm Identity Conv1d Conv2d Conv3d "
    "MaxPool1d MaxPool2d AvgPool1d AvgPool2d AdaptiveAvgPool1d AdaptiveAvgPool2d".split()
)
_LAYER_RANKS = {"Conv1d": 3, "Conv2d": 4, "Conv3d": 5, "MaxPool1d": 3, "MaxPool2d": 4, "BatchNorm2d": 4}
_POOLS = {
    **dict.fromkeys(("max_pool1d", "avg_pool1d", "adaptive_avg_pool1d"), 3),
    **dict.fromkeys(("max_pool2d", "avg_pool2d", "adaptive_avg_pool2d"), 4),
}
_LOSSES = frozenset(
    "mse_loss l1_loss smooth_l1_loss huber_loss cross_entropy nll_loss binary_cross_entropy "
    "binary_cross_entropy_with_logits soft_margin_loss".split()
)
_LOSS_MODULES = frozenset(
    "MSELoss L1Loss SmoothL1Loss HuberLoss CrossEntropyLoss NLLLoss BCELoss BCEWithLogitsLoss SoftMarginLoss".split()
)
_CLASSES = frozenset({"cross_entropy", "nll_loss", "CrossEntropyLoss", "NLLLoss"})
_REFUSED_IN_LOSSES = frozenset({"weight", "ignore_index", "reduction", "size_average", "reduce", "pos_weight"})


def are_rows(units: Units, forward: Iterable[ItemId], inputs: Iterable[Value], loss: Value) -> bool:
    """Whether the inputs share their first dimension, at least two rows, and the loss is a mean over it."""
    shapes = Shapes(units)
    known = [shapes.of(value) for value in inputs]
    counts = {shape[0] if shape else 0 for shape in known}
    if not known or len(counts) != 1 or min(counts) < 2:
        return False
    kinds: dict[Value, Kind] = {}
    for value, shape in zip(inputs, known, strict=True):
        kinds[value] = Rows(len(shape)) if shape else None
    return _Walk(units, shapes, kinds).walk(forward, loss)


class _Walk:
    """Follows the rows through a step."""

    def __init__(self, units: Units, shapes: Shapes, kinds: dict[Value, Kind]) -> None:
        self.units = units
        self.graph = units.graph
        self.shapes = shapes
        self.kinds = kinds

    def walk(self, forward: Iterable[ItemId], loss: Value) -> bool:
        for unit in forward:
            if unit not in self.graph.nodes:
                return False
            for item in sorted(self.units.members(unit), key=self.units.position.__getitem__):
                node = self.graph.nodes.get(item)
                operator = self.units.operator(item)
                if node is None or operator is None or operator.writes:
                    return False
                kind = self._kind(node, operator)
                self.kinds.update({(item, k): kind for k in range(max(1, len(node.names)))})
        return isinstance(self._of(loss), Mean)

    def _of(self, value: Value) -> Kind:
        value = self.units.validity.binding(*value)
        if value in self.kinds:
            return self.kinds[value]
        shape = self.shapes.of(value)
        return Fixed(len(shape) if shape is not None else None)

    def _kind(self, node: Node, operator: Operator) -> Kind:
        wires = [self.graph.wires[node.id, port] for port in self.units.validity.ports[node.id]]
        given = [self._of((wire.source, wire.output)) for wire in wires if not self._is_module(wire)]
        if all(isinstance(kind, Fixed) for kind in given):
            return self._fixed(node, operator, given)
        if None in given:
            return None
        if operator.face is Face.CALL:
            return self._called(node, given)
        if operator.face in (Face.INFIX, Face.PREFIX):
            return self._combined(node, operator)
        return self._applied(node, operator, given)

    def _is_module(self, wire: object) -> bool:
        operator = self.units.operator(wire.source)  # type: ignore[attr-defined]  # a wire
        return operator is not None and bool(operator.results) and operator.results[0].family is Family.MODULE

    def _fixed(self, node: Node, operator: Operator, given: list[Kind]) -> Kind:
        if operator.word in ("sum", "mean", "norm") and "dim" not in node.literals:
            return Fixed(0)
        ranks = [kind.rank for kind in given if isinstance(kind, Fixed)]
        known = [rank for rank in ranks if rank is not None]
        keeps = operator.face in (Face.INFIX, Face.PREFIX) and operator.symbol != "@"
        return Fixed(max(known, default=0) if keeps and len(known) == len(ranks) else None)

    def _combined(self, node: Node, operator: Operator) -> Kind:
        sides = [self._side(node, parameter.name) for parameter in operator.parameters]
        symbol = operator.symbol
        if len(sides) == 1:
            return sides[0] if symbol == "-" else None
        left, right = sides
        if symbol == "@":
            if isinstance(left, Rows) and left.rank > 1 and isinstance(right, Fixed) and right.rank in (1, 2):
                return Rows(left.rank + right.rank - 2)
            return None
        if isinstance(left, Mean) or isinstance(right, Mean):
            return self._of_means(left, right, symbol)
        if symbol not in ("+", "-", "*", "/", "**", ">", "<", ">=", "<=", "=="):
            return None
        return _side_by_side(left, right)

    def _side(self, node: Node, name: str) -> Kind:
        wire = self.graph.wires.get((node.id, name))
        return self._of((wire.source, wire.output)) if wire is not None else Fixed(0)

    def _of_means(self, left: Kind, right: Kind, symbol: str) -> Kind:
        """A mean with something added to it, or times a number, is one still."""
        others = [kind for kind in (left, right) if not isinstance(kind, Mean)]
        if any(not isinstance(kind, Fixed) or kind.rank != 0 for kind in others):
            return None
        if symbol in ("+", "-") or (symbol == "*" and others) or (symbol == "/" and isinstance(right, Fixed)):
            return Mean()
        return None

    def _called(self, node: Node, given: list[Kind]) -> Kind:
        wire = self.graph.wires.get((node.id, "module"))
        source = self.graph.nodes.get(wire.source) if wire is not None else None
        maker = origin(self.graph, source) if source is not None else None
        known = self.units.operator(maker.id) if maker is not None else None
        if maker is None or known is None:
            return None
        if known.word in _LOSS_MODULES:
            return self._loss(maker, known.word, given)
        return self._layer(maker, known, given[0]) if len(given) == 1 else None

    def _layer(self, maker: Node, known: Operator, kind: Kind) -> Kind:
        if not isinstance(kind, Rows):
            return None
        word = known.word
        if word == "Sequential":
            return self._sequence(maker, kind)
        if word == "Embedding":
            return Rows(kind.rank + 1)
        if kind.rank < 2 or _LAYER_RANKS.get(word, kind.rank) != kind.rank:
            return None
        if word == "Flatten":
            return Rows(2) if not maker.literals and not self.graph.wires_to(maker.id) else None
        is_pointwise = word.lower() in _ACTIVATIONS
        return kind if word in _LAYERS or is_pointwise or self._is_along_last(maker, word.lower()) else None

    def _sequence(self, maker: Node, kind: Kind) -> Kind:
        for k in range(maker.lengths.get("args", 0)):
            wire = self.graph.wires.get((maker.id, f"args.{k}"))
            given = self.graph.nodes.get(wire.source) if wire is not None else None
            child = origin(self.graph, given) if given is not None else None
            known = self.units.operator(child.id) if child is not None else None
            kind = self._layer(child, known, kind) if child is not None and known is not None else None
        return kind if maker.lengths.get("args") else None

    def _is_along_last(self, node: Node, word: str) -> bool:
        return word.replace("logsoftmax", "log_softmax") in _ALONG_LAST and node.literals.get("dim") in ("1", "-1")

    def _applied(self, node: Node, operator: Operator, given: list[Kind]) -> Kind:
        word, first = operator.word, given[0]
        if word in _LOSSES:
            return self._loss(node, word, given)
        if not isinstance(first, Rows) or not all(isinstance(kind, Fixed) for kind in given[1:]):
            return None
        if word == "mean" and "dim" not in node.literals and len(given) == 1:
            return Mean()
        if word == "linear" and first.rank > 1:
            return first
        if word == "matmul" and first.rank > 1 and len(given) == 2:
            rank = given[1].rank if isinstance(given[1], Fixed) else None
            return Rows(first.rank + rank - 2) if rank in (1, 2) and rank is not None else None
        if len(given) > 1:
            return None
        if word in _ALONG_LAST:
            return first if first.rank > 1 and self._is_along_last(node, word) else None
        return self._shaped(node, word, first)

    def _shaped(self, node: Node, word: str, first: Rows) -> Kind:
        dim = node.literals.get("dim")
        is_last = dim in ("-1", str(first.rank - 1)) and first.rank > 1
        if word in _POINTWISE or (_POOLS.get(word) == first.rank and "return_indices" not in node.literals):
            return first
        if word in ("sum", "mean") and is_last:
            return first if node.literals.get("keepdim") == "True" else Rows(first.rank - 1)
        if word == "squeeze" and is_last:
            return Rows(first.rank - 1)
        if word == "unsqueeze" and dim in ("-1", str(first.rank)):
            return Rows(first.rank + 1)
        if word == "flatten" and node.literals.get("start_dim") == "1" and "end_dim" not in node.literals:
            return Rows(2)
        return None

    def _loss(self, node: Node, word: str, given: list[Kind]) -> Kind:
        """The mean over the rows, when that is what the loss takes."""
        if len(given) != 2 or not all(isinstance(kind, Rows) for kind in given):
            return None
        literals = {name: text for name, text in node.literals.items() if name in _REFUSED_IN_LOSSES}
        wired = {wire.port for wire in self.graph.wires_to(node.id)} & _REFUSED_IN_LOSSES
        if wired or any(name != "reduction" or text.strip("'\"") != "mean" for name, text in literals.items()):
            return None
        ranks = [kind.rank for kind in given if isinstance(kind, Rows)]
        return Mean() if word in _CLASSES or ranks[0] == ranks[1] else None


def _side_by_side(left: Kind, right: Kind) -> Kind:
    """Elementwise: rows meet rows of as many dimensions, or what is repeated for each row."""
    match left, right:
        case Rows(rank=a), Rows(rank=b):
            return left if a == b else None
        case (Rows(rank=a), Fixed(rank=b)) | (Fixed(rank=b), Rows(rank=a)):
            return Rows(a) if b is not None and b < a else None
        case _:
            return None
