"""How large Python's own numbers, texts and lists become, told before they are made; nothing is computed that is large.

Python computes `9**9**9` for hours and `[0] * 10**12` until the memory ends, and neither can be stopped
halfway. What the text alone decides is followed with its sizes; what it does not decide is not judged.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

from gradstudio.graph.model import ItemId
from gradstudio.program.model import BlockStatement, Statement
from gradstudio.program.python_limits import (
    TooBig,
    bits_of_choice,
    refuse_bits,
    refuse_count,
    refuse_formats,
    refuse_sizes,
    refuse_wide,
)

EXACT_BITS = 10_000
"""Up to here whole numbers are known themselves, beyond only by their size."""
_TAKES_ALL = frozenset(
    "list tuple set frozenset sorted sum min max any all torch.tensor torch.as_tensor np.array np.asarray".split()
)
_PADS = frozenset({"ljust", "rjust", "center", "zfill"})
_SIZED = frozenset(f"torch.{word}" for word in ("ones", "zeros", "empty", "rand", "randn", "full", "eye"))
_LISTS = frozenset({"list", "tuple", "sorted"})
_OF_PERCENT = re.compile(r"%(?:\(\w*\))?[-#0 +]*([\d.]*)")
_SMALL: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip


class Whole(NamedTuple):
    """A whole number: about so many bits, and its value where it is small enough."""

    bits: float
    value: int | None = None


class Items(NamedTuple):
    """A text ("text"), a list or tuple ("list") or a range ("range") of so many elements."""

    number: int
    kind: str


Size = Whole | Items | None
Lookup = Callable[[str], Size]


class Oversize(NamedTuple):
    """A statement that makes something too large, and why."""

    node: ItemId
    reason: str


def of_value(value: object) -> Size:
    """The size of a value that is there."""
    if type(value) is int:
        return whole_number(value)
    if isinstance(value, str):
        return Items(len(value), "text")
    if isinstance(value, list | tuple):
        return Items(len(value), "list")
    if isinstance(value, range):
        return Items(_count(value.start, value.stop, value.step), "range")
    return None


def whole_number(value: int) -> Whole:
    """A whole number that is known."""
    bits = value.bit_length()
    return Whole(bits, value if bits <= EXACT_BITS else None)


def refuse(text: str, lookup: Lookup) -> None:
    """Look at one statement, whose names have these sizes.

    Raises:
        TooBig: it makes something too large.
    """
    tree = _tree(text)
    if not _asks(text):
        return
    for part in ast.iter_child_nodes(tree):
        if isinstance(part, ast.expr):
            _Sizes(lookup).of(part)
    _augmented(tree, lookup)


def too_big(statements: Iterable[Statement | BlockStatement]) -> tuple[Oversize, ...]:
    """The statements of a program that surely run and make something too large, in order."""
    found: list[Oversize] = []
    _Walk(found).body(statements, sure=True)
    return tuple(found)


class _Walk:
    """A pass through a program with the sizes of its names."""

    def __init__(self, found: list[Oversize]) -> None:
        self._found = found
        self._known: dict[str, Size] = {}

    def body(self, statements: Iterable[Statement | BlockStatement], sure: bool) -> None:
        for one in statements:
            if isinstance(one, Statement):
                self._statement(one, sure)
            else:
                self._block(one, sure)

    def _block(self, block: BlockStatement, sure: bool) -> None:
        bound = set(_bound(block.body)) | {block.variable}
        if block.kind in ("for", "if"):
            self._forget(bound)
        turns = self._expression(block, block.iterable, sure) if block.kind == "for" else None
        happens = block.kind != "if" and (block.kind != "for" or (isinstance(turns, Items) and turns.number > 0))
        if block.kind == "if":
            self._expression(block, block.condition, sure)
        self.body(block.body, sure and happens)
        if block.kind in ("for", "if"):
            self._forget(bound)

    def _forget(self, names: Iterable[str]) -> None:
        for name in names:
            self._known.pop(name, None)

    def _expression(self, block: BlockStatement, text: str, sure: bool) -> Size:
        try:
            tree = _tree(text or "None")
            return _Sizes(self._known.get).of(tree.value) if isinstance(tree, ast.Expr) else None
        except TooBig as error:
            if sure:
                self._found.append(Oversize(block.block, str(error)))
            return None

    def _statement(self, statement: Statement, sure: bool) -> None:
        tree = _tree(statement.text)
        size: Size = None
        try:
            size = self._made_by(statement, tree)
        except TooBig as error:
            if sure:
                self._found.append(Oversize(statement.node, str(error)))
        self._forget(statement.names)
        self._forget(name for name in statement.writes if name in self._known)
        if isinstance(tree, ast.AugAssign) and isinstance(tree.target, ast.Name):
            self._known[tree.target.id] = size
        elif len(statement.names) == 1:
            self._known[statement.names[0]] = size

    def _made_by(self, statement: Statement, tree: ast.stmt) -> Size:
        """The size of what a statement binds.

        Raises:
            TooBig: it makes something too large.
        """
        known = self._known
        if isinstance(tree, ast.AugAssign):
            return _augmented(tree, known.get)
        size: Size = None
        if any(known.get(name) is not None for name in _names(statement.text)):
            value = getattr(tree, "value", None)
            size = _Sizes(known.get).of(value) if isinstance(value, ast.expr) else None
        else:
            size, words = _alone(statement.text)
            if words:
                raise TooBig(words)
        return size if isinstance(tree, ast.Assign) and len(statement.names) == 1 else None


def _bound(statements: Iterable[Statement | BlockStatement]) -> Iterable[str]:
    for one in statements:
        if isinstance(one, BlockStatement):
            yield one.variable
            yield from _bound(one.body)
        else:
            yield from (*one.names, *one.writes)


@lru_cache(maxsize=8192)
def _tree(text: str) -> ast.stmt:
    body = ast.parse(text).body
    return body[0] if body else ast.Pass()


@lru_cache(maxsize=8192)
def _names(text: str) -> tuple[str, ...]:
    return tuple({part.id for part in ast.walk(_tree(text)) if isinstance(part, ast.Name)})


@lru_cache(maxsize=8192)
def _alone(text: str) -> tuple[Size, str]:
    """The size of what a text gives when nothing is known of its names, and why that is too large."""
    value = getattr(_tree(text), "value", None)
    try:
        return (_Sizes(_nothing).of(value) if isinstance(value, ast.expr) else None), ""
    except TooBig as error:
        return None, str(error)


def _nothing(_: str) -> Size:
    return None


@lru_cache(maxsize=8192)
def _asks(text: str) -> bool:
    """Whether a statement could make something too large: it combines values with an operator, or calls a function."""
    kinds = ast.BinOp | ast.AugAssign | ast.Call
    return any(isinstance(part, kinds) for part in ast.walk(_tree(text)))


def _augmented(tree: ast.stmt, lookup: Lookup) -> Size:
    if not isinstance(tree, ast.AugAssign) or not isinstance(tree.target, ast.Name):
        return None
    sizes = _Sizes(lookup)
    return sizes.combined(tree.op, lookup(tree.target.id), sizes.of(tree.value))


class _Sizes:
    """The sizes of expressions."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    def of(self, node: ast.expr) -> Size:
        """The size of what an expression gives, and of all that it makes on the way; None where it is not known."""
        match node:
            case ast.Constant(value=value):
                return of_value(value)
            case ast.Name(id=name):
                return self._lookup(name)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
                size = self.of(operand)
                if not isinstance(size, Whole):
                    return None
                value = size.value if isinstance(sign, ast.UAdd) or size.value is None else -size.value
                return Whole(size.bits, value)
            case ast.BinOp(left=ast.Constant(value=str() as text), op=ast.Mod(), right=right):
                self.of(right)
                refuse_wide(spec for spec in _OF_PERCENT.findall(text))
                return None
            case ast.BinOp(left=left, op=op, right=right):
                return self.combined(op, self.of(left), self.of(right))
            case ast.List(elts=items) | ast.Tuple(elts=items):
                for item in items:
                    self.of(item)
                return Items(len(items), "list")
            case ast.Call():
                return self._call(node)
            case ast.IfExp(test=first) | ast.BoolOp(values=[first, *_]):
                self.of(first)  # the rest may not be reached
                return None
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self.of(child)
                return None

    def combined(self, op: ast.operator, left: Size, right: Size) -> Size:
        """The size of two values combined."""
        if isinstance(left, Items) or isinstance(right, Items):
            return _repeated(left, right) if isinstance(op, ast.Mult) else _joined(op, left, right)
        if left is None or right is None:
            return None
        match op:
            case ast.Pow():
                return _power(left, right)
            case ast.Mult():
                return _product(left, right)
            case ast.LShift():
                return _shifted(left, right)
        if left.value is None or right.value is None or type(op) not in _SMALL:
            return None
        if (isinstance(op, ast.FloorDiv | ast.Mod) and not right.value) or (
            isinstance(op, ast.RShift) and right.value < 0
        ):
            return None
        return whole_number(_SMALL[type(op)](left.value, right.value))

    def _call(self, node: ast.Call) -> Size:
        sizes = [self.of(argument) for argument in node.args]
        for keyword in node.keywords:
            self.of(keyword.value)
        if isinstance(node.func, ast.Attribute):
            self.of(node.func.value)
        word = ast.unparse(node.func) if isinstance(node.func, ast.Name | ast.Attribute) else ""
        method = word.rpartition(".")[2]
        refuse_formats(node, word, method)
        values = [size.value if isinstance(size, Whole) else None for size in sizes]
        first = sizes[0] if sizes else None
        match word, len(sizes):
            case "range", 1 | 2 | 3:
                return _range([value for value in values if value is not None], len(sizes))
            case "len", 1 if isinstance(first, Items):
                return whole_number(first.number)
            case "abs" | "int" | "list.__len__", 1 if isinstance(first, Whole):
                if first.value is None:
                    return first
                return whole_number(abs(first.value) if word == "abs" else first.value)
            case "pow", 2:
                return self.combined(ast.Pow(), first, sizes[1])
            case "math.factorial" | "math.perm" | "math.comb", _:
                refuse_bits(bits_of_choice(method, values))
            case _ if word in _SIZED:
                refuse_sizes(values if word != "torch.full" else values[:1])
            case "bytes" | "bytearray", 1 if isinstance(first, Whole):
                refuse_count(_number(first), "bytes")
        if method in _PADS and isinstance(first, Whole):
            refuse_count(_number(first), "characters")
        if word in _TAKES_ALL and isinstance(first, Items):
            refuse_count(first.number, "elements")
            return Items(first.number, "list") if word in _LISTS else None
        return None


def _number(size: Whole) -> float:
    if size.value is not None and size.bits < 1000:
        return float(size.value)
    return math.pow(2.0, min(size.bits, 1000))  # no float holds more


def _power(left: Whole, right: Whole) -> Size:
    if left.value in (0, 1, -1):
        if right.value is None or right.value < 0:
            return None
        return whole_number(
            left.value ** (right.value % 2 + 2)
        )  # -1 to the power of what is even or odd: 2 or 3 will do
    if right.value is not None and right.value < 0:
        return None
    base = math.log2(abs(left.value)) if left.value is not None and left.bits < 1000 else left.bits
    bits = base * _number(right) if right.value is None or right.value else 1.0
    refuse_bits(bits)
    if left.value is not None and right.value is not None and bits <= EXACT_BITS:
        return whole_number(left.value**right.value)
    return Whole(bits)


def _product(left: Whole, right: Whole) -> Size:
    if 0 in (left.value, right.value):
        return whole_number(0)
    bits = left.bits + right.bits
    refuse_bits(bits - 1)
    if left.value is not None and right.value is not None:
        return whole_number(left.value * right.value)
    return Whole(bits)


def _shifted(left: Whole, right: Whole) -> Size:
    if left.value == 0 or (right.value is not None and right.value < 0):
        return None
    bits = left.bits + _number(right)
    refuse_bits(bits)
    if left.value is None or right.value is None:
        return Whole(bits)
    return whole_number(left.value << right.value)


def _repeated(left: Size, right: Size) -> Size:
    items, times = (left, right) if isinstance(left, Items) else (right, left)
    if not isinstance(items, Items) or not isinstance(times, Whole) or items.kind == "range":
        return None
    count = items.number * max(_number(times), 0)
    refuse_count(count, "characters" if items.kind == "text" else "elements")
    return Items(int(count), items.kind)


def _joined(op: ast.operator, left: Size, right: Size) -> Size:
    if not (isinstance(op, ast.Add) and isinstance(left, Items) and isinstance(right, Items)):
        return None
    if left.kind != right.kind or left.kind == "range":
        return None
    refuse_count(left.number + right.number, "characters" if left.kind == "text" else "elements")
    return Items(left.number + right.number, left.kind)


def _range(values: list[int], given: int) -> Size:
    if len(values) < given or (given == 3 and not values[2]):
        return None
    if given == 1:
        return Items(_count(0, values[0], 1), "range")
    step = values[2] if given == 3 else 1
    return Items(_count(values[0], values[1], step), "range")


def _count(start: int, stop: int, step: int) -> int:
    if step > 0:
        return max(0, -((start - stop) // step))
    return max(0, -((stop - start) // -step))
