"""Expressions that choose while they run, as one text with holes: ``v0 is not None and v0.sum() > 0``.

A part of such an expression must not run where Python would not run it, so that it is no node of its own:
`and`, `or`, `if … else`, chained comparisons. `v0`, `v1`, … stand for values, in the order of the text.
Parsed, never evaluated; what it may hold is a closed list: operators, literals, attributes that can be read,
and what the catalogue has to call without an effect. Printed as `ruff format` leaves it.
"""

import ast
import re
from collections.abc import Callable
from functools import lru_cache

import msgspec

from gradstudio.graph.errors import Refused
from gradstudio.graph.text.allowed_calls import (
    allowed_attribute,
    allowed_keyword,
    allowed_method,
    allowed_path,
    path_of,
    spelled_path,
)
from gradstudio.graph.text.format_templates import NO_REACH, reaches
from gradstudio.graph.text.literal_text import (
    AND,
    BINARY,
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    COMPARISON,
    CONDITIONAL,
    NOT,
    NUMBER,
    OR,
    POWER,
    PRIMARY,
    PRODUCT,
    SHIFT,
    TUPLE,
    UNARY,
    NotALiteral,
    quote,
    slice_text,
    spell,
)
from gradstudio.graph.text.operand_spacing import is_simple, is_simple_bound
from gradstudio.graph.text.printed_syntax import parse_expression, says_the_same, source_segment

MAX_DEPTH = 40
_BINARY: dict[type[ast.operator], tuple[str, int]] = BINARY | {
    ast.MatMult: ("@", PRODUCT), ast.BitAnd: ("&", BIT_AND), ast.BitOr: ("|", BIT_OR), ast.BitXor: ("^", BIT_XOR),
    ast.LShift: ("<<", SHIFT), ast.RShift: (">>", SHIFT),
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], tuple[str, int]] = {
    ast.USub: ("-", UNARY), ast.UAdd: ("+", UNARY), ast.Invert: ("~", UNARY), ast.Not: ("not ", NOT),
}  # fmt: skip
_DISPLAYED = (
    *(ast.List, ast.Tuple, ast.Starred, ast.Name, ast.Load, ast.Constant, ast.USub, ast.UnaryOp),
    *(ast.JoinedStr, ast.FormattedValue, ast.Dict),
)
"""What only puts values beside one another."""


class Hole(msgspec.Struct, frozen=True):
    """Text, and the value behind it.

    Attributes:
        floor: how tightly the value must bind there; None when nothing follows.
    """

    text: str
    floor: int | None


class Conditional(msgspec.Struct, frozen=True):
    """An expression with holes.

    Attributes:
        holes: its text in pieces.
        count: how many values it takes.
        precedence: how tightly it binds.
        modules: what it needs to be imported: ``torch``, ``F``.
        is_display: it only puts its values beside one another, ``[*v0, v1]``, so that each of them is computed.
    """

    holes: tuple[Hole, ...]
    count: int
    precedence: int
    modules: frozenset[str]
    is_display: bool = False

    @property
    def text(self) -> str:
        """The expression with `v0`, `v1`, … for its values."""
        count, found = 0, []
        for hole in self.holes:
            found.append(hole.text)
            if hole.floor is not None:
                found.append(f"v{count}")
                count += 1
        return "".join(found)


@lru_cache(maxsize=1024)
def read_conditional(literal: str) -> Conditional:
    """The expression that a text literal holds.

    Raises:
        Refused: it is none, or holds what a canvas does not run.
    """
    try:
        text = ast.literal_eval(literal)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        text = None
    if not isinstance(text, str):
        raise Refused('An expression is meant, written as a text, such as "v0 > 0 and v1 > 0".')
    lines = [line.encode() for line in re.split(r"\r\n|\r|\n", text.strip())]
    return conditional_of(parse_expression(text), lambda node: source_segment(lines, node))


def conditional_of(body: ast.expr, written: Callable[[ast.expr], str] = ast.unparse) -> Conditional:
    """The same of a syntax tree, in which names `v0`, `v1`, … stand for the values; numbers as they were `written`.

    Raises:
        Refused: it holds what a canvas does not run.
    """
    printer = _Printer(written)
    try:
        precedence = printer.expression(body, TUPLE)
    except RecursionError:
        raise Refused(f"It is nested more than {MAX_DEPTH} deep.") from None
    is_display = all(isinstance(part, _DISPLAYED) for part in ast.walk(body))
    found = Conditional(printer.holes(), printer.count, precedence, frozenset(printer.modules), is_display)
    if not says_the_same(found.text, body):
        raise Refused("It would be printed as something else.")
    return found


class _Printer:
    """Prints an expression piece by piece and refuses what is not on the list."""

    def __init__(self, written: Callable[[ast.expr], str]) -> None:
        self._written = written
        self.count = self.depth = 0
        self.modules: set[str] = set()
        self._pieces: list[str | int] = []

    def holes(self) -> tuple[Hole, ...]:
        """What was printed, cut at the values."""
        found, text = [], ""
        for piece in self._pieces:
            if isinstance(piece, str):
                text += piece
            else:
                found.append(Hole(text, piece))
                text = ""
        return (*found, Hole(text, None)) if text else tuple(found)

    def expression(self, node: ast.expr, floor: int) -> int:
        """Print a node, in parentheses where it binds looser than `floor`; how tightly it binds."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Refused(f"It is nested more than {MAX_DEPTH} deep.")
        at = len(self._pieces)
        precedence = self._expression(node, floor)
        self.depth -= 1
        if precedence < floor:
            self._pieces.insert(at, "(")
            self._pieces.append(")")
        return precedence

    def _write(self, text: str) -> None:
        self._pieces.append(text)

    def _expression(self, node: ast.expr, floor: int) -> int:
        match node:
            case ast.Name(id=name):
                return self._value(name, floor)
            case ast.BoolOp(op=operator, values=values):
                return self._and_or(isinstance(operator, ast.And), values)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.expression(body, OR)
                self._write(" if ")
                self.expression(test, OR)
                self._write(" else ")
                self.expression(orelse, CONDITIONAL)
                return CONDITIONAL
            case ast.Compare(left=left, ops=operators, comparators=others):
                return self._compared(left, operators, others)
            case ast.UnaryOp(op=operator, operand=operand):
                symbol, precedence = _UNARY[type(operator)]
                self._write(symbol)
                tight = NUMBER if isinstance(operand, ast.BinOp) and isinstance(operand.op, ast.Pow) else precedence
                self.expression(operand, tight)
                return precedence
            case ast.BinOp(left=left, op=operator, right=right):
                return self._infix(left, operator, right)
            case _:
                return self._primary(node)

    def _value(self, name: str, floor: int) -> int:
        if name in ("float", "int", "bool", "complex", "str", "list", "tuple"):
            self._write(name)
            return PRIMARY
        if name != f"v{self.count}":
            raise Refused(f"'{name[:60]}' stands where 'v{self.count}' is meant: values are numbered as they come.")
        self._pieces.append(floor)
        self.count += 1
        return PRIMARY

    def _and_or(self, is_and: bool, values: list[ast.expr]) -> int:
        precedence = AND if is_and else OR
        for k, value in enumerate(values):
            if k:
                self._write(" and " if is_and else " or ")
            self.expression(value, precedence + 1)
        return precedence

    def _compared(self, left: ast.expr, operators: list[ast.cmpop], others: list[ast.expr]) -> int:
        self.expression(left, COMPARISON + 1)
        for operator, other in zip(operators, others, strict=True):
            self._write(f" {_COMPARE[type(operator)]} ")
            self.expression(other, COMPARISON + 1)
        return COMPARISON

    def _infix(self, left: ast.expr, operator: ast.operator, right: ast.expr) -> int:
        symbol, precedence = _BINARY[type(operator)]
        floors, gap = (precedence, precedence + 1), " "
        if precedence == POWER:
            floors = (NUMBER, UNARY)
            gap = "" if is_simple(left) and is_simple(right) else " "
        self.expression(left, floors[0])
        self._write(f"{gap}{symbol}{gap}")
        self.expression(right, floors[1])
        return precedence

    def _primary(self, node: ast.expr) -> int:
        match node:
            case ast.Constant(value=str() as text):
                self._write(quote(text))
                return PRIMARY
            case ast.Constant():
                return self._constant(node)
            case ast.Attribute():
                self._attribute(node)
            case ast.Call():
                self._call(node)
            case ast.Subscript(value=value, slice=index):
                self.expression(value, PRIMARY)
                self._write("[")
                self._index(index)
                self._write("]")
            case ast.Tuple(elts=elements):
                self._items("(", elements, ",)" if len(elements) == 1 else ")")
            case ast.List(elts=elements):
                self._items("[", elements, "]")
            case ast.Dict(keys=keys, values=values):
                self._entries(keys, values)
            case ast.JoinedStr(values=parts):
                self._formatted(parts)
            case ast.Starred(value=value):
                self._write("*")
                self.expression(value, BIT_OR)
            case _:
                raise Refused(f"`{ast.unparse(node)[:60]}` cannot stand within an expression that chooses.")
        return PRIMARY

    def _constant(self, node: ast.Constant) -> int:
        try:
            spelled = spell(self._written(node))
        except NotALiteral as error:
            raise Refused(str(error)) from None
        self._write(spelled.text)
        return spelled.precedence

    def _attribute(self, node: ast.Attribute) -> None:
        path = path_of(node)
        if path is not None:
            if not allowed_path(path, called=False):
                raise Refused(f"'{path[:60]}' is nothing that has a value of its own here.")
            self._path(path)
            return
        of_device = isinstance(node.value, ast.Attribute) and node.value.attr == "device" and node.attr == "type"
        if not allowed_attribute(node.attr) and not of_device:
            raise Refused(f"'.{node.attr[:60]}' cannot be read within an expression that chooses.")
        self.expression(node.value, PRIMARY)
        self._write(f".{node.attr}")

    def _path(self, path: str) -> None:
        text, module = spelled_path(path)
        self.modules |= {module} if module else set()
        self._write(text)

    def _call(self, node: ast.Call) -> None:
        if reaches(node.func):
            raise Refused(NO_REACH)
        path = path_of(node.func) or (node.func.id if isinstance(node.func, ast.Name) else None)
        if path is not None:
            if not allowed_path(path, called=True):
                raise Refused(f"'{path[:60]}(…)' cannot be called within an expression that chooses.")
            self._path(path)
        elif isinstance(node.func, ast.Attribute) and allowed_method(node.func.attr):
            self.expression(node.func.value, PRIMARY)
            self._write(f".{node.func.attr}")
        else:
            raise Refused(f"`{ast.unparse(node)[:60]}` cannot be called within an expression that chooses.")
        self._arguments(node)

    def _arguments(self, node: ast.Call) -> None:
        self._write("(")
        for k, argument in enumerate(node.args):
            self._write(", " if k else "")
            self.expression(argument, TUPLE)
        for k, keyword in enumerate(node.keywords):
            if keyword.arg is None:
                raise Refused("`**` unpacks while it runs: write the arguments out.")
            if not allowed_keyword(keyword.arg):
                raise Refused(f"'{keyword.arg[:60]}=' cannot be given within an expression that chooses.")
            self._write(f"{', ' if k or node.args else ''}{keyword.arg}=")
            self.expression(keyword.value, TUPLE)
        self._write(")")

    def _items(self, opening: str, elements: list[ast.expr], closing: str) -> None:
        self._write(opening)
        for k, element in enumerate(elements):
            self._write(", " if k else "")
            self.expression(element, TUPLE)
        self._write(closing)

    def _entries(self, keys: list[ast.expr | None], values: list[ast.expr]) -> None:
        for k, (key, value) in enumerate(zip(keys, values, strict=True)):
            if key is None:
                raise Refused("`**` unpacks while it runs: write the entries out.")
            self._write(", " if k else "{")
            self.expression(key, TUPLE)
            self._write(": ")
            self.expression(value, TUPLE)
        self._write("}" if keys else "{}")

    def _index(self, node: ast.expr) -> None:
        elements = node.elts if isinstance(node, ast.Tuple) and node.elts else [node]
        for k, element in enumerate(elements):
            self._write(", " if k else "")
            if isinstance(element, ast.Slice):
                self._slice(element)
            else:
                self.expression(element, TUPLE)
        if isinstance(node, ast.Tuple) and len(node.elts) == 1:
            self._write(",")

    def _slice(self, node: ast.Slice) -> None:
        bounds = (node.lower, node.upper, node.step)
        simple = all(bound is None or is_simple_bound(bound) for bound in bounds)
        marks = [f"\0{k}" if bound is not None else "" for k, bound in enumerate(bounds)]
        text = slice_text(marks[0], marks[1], marks[2] if node.step is not None else None, simple)
        for part in text.replace("\0", "\0\1").split("\0"):
            if part[:1] == "\1":
                bound = bounds[int(part[1])]
                assert bound is not None
                self.expression(bound, TUPLE)
                part = part[2:]
            self._write(part)

    def _formatted(self, parts: list[ast.expr]) -> None:
        fixed = "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))
        if any(mark in fixed for mark in '"\\\n') or not fixed.isprintable():
            raise Refused("A text with values in it is plain within an expression that chooses.")
        self._write('f"')
        self._holes(parts, nested=False)
        self._write('"')

    def _holes(self, parts: list[ast.expr], *, nested: bool) -> None:
        for part in parts:
            if isinstance(part, ast.FormattedValue):
                at = len(self._pieces)
                self._write("{")
                self.expression(part.value, TUPLE)
                if any(
                    isinstance(piece, str) and any(c in piece for c in "{}\"'\\") for piece in self._pieces[at + 1 :]
                ):
                    raise Refused("What stands in the hole of a text is plain within an expression that chooses.")
                self._write(f"!{chr(part.conversion)}" if part.conversion > 0 else "")
                if isinstance(part.format_spec, ast.JoinedStr):
                    self._write(":")
                    self._holes(part.format_spec.values, nested=True)
                self._write("}")
            elif isinstance(part, ast.Constant):
                text = str(part.value)
                if nested and (any(mark in text for mark in "{}\"'\\") or not text.isprintable()):
                    raise Refused("The format of a hole is plain, such as {:.4f}.")
                self._write(text if nested else text.replace("{", "{{").replace("}", "}}"))
