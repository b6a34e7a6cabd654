"""Shapes: of what a program sets up, as far as its text tells; they say whether its data are rows of a batch."""

import ast
from itertools import zip_longest

from gradstudio.graph.model import DOCUMENT_DEVICE, ItemId, Node
from gradstudio.graph.text.record_checks import digest_of
from gradstudio.operators.model import Face, Operator
from gradstudio.program.forms.statement_units import Units, Value

Shape = tuple[int, ...]

_SIZED = frozenset("randn rand zeros ones empty full randint normal".split())
_POINTWISE = frozenset(
    "sin cos tan exp log sqrt abs square tanh sigmoid relu float double half long int bool to clone detach contiguous "
    "neg sign round floor ceil requires_grad_ clamp randn_like rand_like zeros_like ones_like full_like "
    "bernoulli Parameter".split()
)
_DEEPEST = 50


class Shapes:
    """The shapes of values that literals decide."""

    def __init__(self, units: Units) -> None:
        """Look at nothing yet."""
        self.units = units
        self.graph = units.graph
        self._known: dict[Value, Shape | None] = {}

    def of(self, value: Value, depth: int = 0) -> Shape | None:
        """The shape of a value, () for a number; None when the text does not tell."""
        if value not in self._known:
            node = self.graph.nodes.get(value[0])
            operator = self.units.operator(value[0])
            is_plain = node is not None and operator is not None and value[1] == 0 and depth < _DEEPEST
            self._known[value] = self._shape(node, operator, depth) if is_plain and node and operator else None
        return self._known[value]

    def number(self, item: ItemId, path: str) -> object:
        """The literal of a port, or what a literal statement wired to it says; None when it is computed."""
        wire = self.graph.wires.get((item, path))
        if wire is not None:
            node = self.graph.nodes.get(wire.source)
            operator = self.units.operator(wire.source)
            if node is None or operator is None or operator.face not in (Face.LITERAL, Face.TUPLE):
                return None
            item = node.id
            path = operator.parameters[0].name
            if operator.face is Face.TUPLE:
                return self._element(node, path, wire.output) if len(node.names) > 1 else None
        owner = self.graph.nodes.get(item) or self.graph.blocks[item]
        return literal(owner.literals.get(path, ""))

    def _element(self, node: Node, path: str, output: int) -> object:
        """What ``a, b = 2, 6`` says of one of its names."""
        if node.lengths.get(path) is not None:
            return self.number(node.id, f"{path}.{output}")
        whole = literal(node.literals.get(path, ""))
        return whole[output] if isinstance(whole, tuple) and output < len(whole) else None

    def given(self, node: Node, name: str) -> list[Value]:
        """The values wired to a parameter, its elements included."""
        wires = sorted(self.graph.wires_to(node.id), key=lambda wire: wire.port)
        return [(w.source, w.output) for w in wires if w.port == name or w.port.startswith(f"{name}.")]

    def _shape(self, node: Node, operator: Operator, depth: int) -> Shape | None:
        word = operator.word
        first = operator.parameters[0].name if operator.parameters else ""
        if operator.face is Face.STORED:
            stored = self.graph.tensors.get(digest_of(node))
            return tuple(stored.shape) if stored is not None else None
        if operator.face in (Face.LITERAL, Face.ALIAS) and not self.given(node, first):
            return ()
        if word in _SIZED and operator.creates:
            return self._size(node, "size")
        if word in ("tensor", "arange", "linspace"):
            return self._made(node, word)
        if operator.face in (Face.INFIX, Face.PREFIX):
            shapes = [self._port(node, parameter.name, depth) for parameter in operator.parameters]
            return _product(*shapes) if operator.symbol == "@" else _broadcast(shapes)
        before = self._port(node, first, depth)
        if before is None:
            return None
        if word in _POINTWISE or operator.face is Face.ALIAS:
            return before
        return self._reshaped(node, word, before)

    def _port(self, node: Node, name: str, depth: int) -> Shape | None:
        given = self.given(node, name)
        return self.of(given[0], depth + 1) if given else ()

    def _size(self, node: Node, name: str) -> Shape | None:
        if name not in node.lengths:
            found = self.number(node.id, name)
            numbers = list(found) if isinstance(found, tuple | list) else [found]
        else:
            numbers = [self.number(node.id, f"{name}.{k}") for k in range(node.lengths[name])]
        sizes = tuple(n for n in numbers if isinstance(n, int))
        return sizes if len(sizes) == len(numbers) else None

    def _made(self, node: Node, word: str) -> Shape | None:
        if word == "tensor":
            return None if self.given(node, "data") else _nested(literal(node.literals.get("data", "")))
        count = self.number(node.id, "steps" if word == "linspace" else "end")
        has_start = word == "arange" and "start" in node.literals
        return (count,) if isinstance(count, int) and not has_start else None

    def _reshaped(self, node: Node, word: str, before: Shape) -> Shape | None:
        dim = self.number(node.id, "dim")
        if word in ("reshape", "view"):
            return _filled(before, self._size(node, "shape"))
        if word == "unsqueeze" and isinstance(dim, int):
            place = dim if dim >= 0 else dim + len(before) + 1
            return (*before[:place], 1, *before[place:])
        if word in ("sum", "mean") and isinstance(dim, int) and -len(before) <= dim < len(before):
            place = dim % len(before)
            kept = (1,) if node.literals.get("keepdim") == "True" else ()
            return (*before[:place], *kept, *before[place + 1 :])
        return None


def literal(text: str) -> object:
    """What a literal of numbers, tuples and lists says; None for any other."""
    if not text or text == DOCUMENT_DEVICE:
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _nested(data: object) -> Shape | None:
    shape: list[int] = []
    while isinstance(data, list | tuple):
        shape.append(len(data))
        data = data[0] if data else None
    return tuple(shape) if isinstance(data, int | float | complex) else None


def _broadcast(shapes: list[Shape | None]) -> Shape | None:
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes):
        return None
    return tuple(max(sizes) for sizes in zip_longest(*(shape[::-1] for shape in known), fillvalue=1))[::-1]


def _product(left: Shape | None, right: Shape | None) -> Shape | None:
    if left is None or right is None or not left or len(right) not in (1, 2):
        return None
    return (*left[:-1], *right[1:])


def _filled(before: Shape, sizes: Shape | None) -> Shape | None:
    if sizes is None or sizes.count(-1) > 1:
        return None
    count = 1
    rest = 1
    for size in before:
        count *= size
    for size in sizes:
        rest *= size if size != -1 else 1
    return tuple(count // rest if size == -1 and rest else size for size in sizes)
