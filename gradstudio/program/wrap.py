"""Wrap: a logical line broken into lines of at most 88 characters, as `ruff format` breaks it."""

import ast
from functools import lru_cache

import msgspec

from gradstudio.program.documents import (
    BestFit,
    Break,
    Choice,
    Document,
    FirstThatFits,
    FitsBroken,
    Group,
    Indent,
    Text,
    lay_out,
)

WIDTH = 88
Documents = list[Document]

TOP, PARENTHESIZED = -1, -2
"""Levels of an expression; a number from 0 is the key of the optional parentheses around it."""
_PRECEDENCE: dict[type[ast.AST], int] = {
    ast.Pow: 2,
    **dict.fromkeys((ast.Mult, ast.MatMult, ast.Div, ast.Mod, ast.FloorDiv), 4),
    **dict.fromkeys((ast.Add, ast.Sub), 5),
    **dict.fromkeys((ast.LShift, ast.RShift), 6),
    ast.BitAnd: 7,
    ast.BitXor: 8,
    ast.BitOr: 9,
}
_PARENTHESIZED_STATEMENTS = ast.BitOr | ast.BitXor | ast.LShift | ast.RShift | ast.Add | ast.Sub
ATTRIBUTE, INVERSION, COMPARISON = 1, 3, 10
ROOT_KEY = 0


class Wrapped(msgspec.Struct, frozen=True):
    """Lines of text, and where each piece of the logical line went.

    Attributes:
        pieces: (offset in the logical line, length, line, column), ascending.
    """

    lines: tuple[str, ...]
    pieces: tuple[tuple[int, int, int, int], ...]


@lru_cache(maxsize=256)
def wrap(text: str, indent: int) -> Wrapped:
    """The lines of one logical line that stands `indent` characters deep."""
    layout = lay_out(_statement(text), indent, WIDTH)
    return Wrapped(tuple(layout.lines), tuple(layout.pieces))


def _statement(text: str) -> Documents:
    suffix = " pass" if text.endswith(":") else ""
    statement = ast.parse(text + suffix).body[0]
    builder = _Builder(text)
    match statement:
        case ast.Assign(targets=[target], value=value) | ast.AugAssign(target=target, value=value):
            return builder.assignment(target, value)
        case ast.Return(value=ast.expr() as value):
            return [Text(text[:7], 0), *builder.optional(value, 7)]
        case ast.Expr(value=ast.BinOp(op=operator) as value) if isinstance(operator, _PARENTHESIZED_STATEMENTS):
            return builder.optional(value, 0)
        case ast.Expr(value=value):
            return builder.expression(value, 0, TOP)
        case ast.For(iter=value) | ast.If(test=value):
            start = builder.start(value)
            return [Text(text[:start], 0), *builder.optional(value, start), Text(":", len(text) - 1)]
        case ast.With(items=[ast.withitem(context_expr=value)]):
            return [Text("with ", 0), *builder.expression(value, 5, TOP), Text(":", len(text) - 1)]
        case _:
            return [Text(text, 0)]


class _Builder:
    """Turns the syntax tree of one logical line into a document with its break points.

    `lo` is always where an expression begins, its own parentheses counted in.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._characters: list[int] | None = None
        if not text.isascii():
            self._characters = []
            for k, character in enumerate(text):
                self._characters += [k] * len(character.encode())
            self._characters.append(len(text))

    def _character(self, byte: int) -> int:
        return byte if self._characters is None else self._characters[byte]

    def start(self, node: ast.expr) -> int:
        return self._character(node.col_offset)

    def end(self, node: ast.expr) -> int:
        return self._character(node.end_col_offset or 0)

    def after(self, node: ast.expr, lo: int) -> int:
        """Where the expression ends, its own parentheses counted in."""
        return self.end(node) + self.start(node) - lo

    def assignment(self, target: ast.expr, value: ast.expr) -> Documents:
        """Target, `=`, value: which of them breaks first depends on what both are."""
        start = self.start(value)
        splits = isinstance(target, ast.Tuple | ast.Subscript)
        if splits:
            before = [*self.expression(target, 0, TOP), self._slice(self.end(target), start)]
        else:
            before = [self._slice(0, start)]
        if self._needs(value, start) != "best_fit" or (splits and isinstance(value, ast.UnaryOp)):
            return [*before, *self.optional(value, start)]
        plain = self.expression(value, start, TOP)
        in_brackets = [*before, Group(tuple(plain), expand=True)]
        is_chain = isinstance(value, ast.Call | ast.Subscript | ast.Attribute)
        if not splits:
            last = [*before, *self.optional(value, start)]
            return [FirstThatFits(([*before, *plain], in_brackets, last))] if is_chain else last
        opened = Indent((Text("("), Break(), *plain))
        parenthesized = [*before, Group((opened, Break(), Text(")")), expand=True)]
        last = [*before, *plain]
        return [FirstThatFits((last, *([in_brackets] if is_chain else []), parenthesized, last))]

    def optional(self, node: ast.expr, lo: int) -> Documents:
        """A value that gets parentheses when it breaks, unless it can break within its own."""
        match self._needs(node, lo):
            case "multiline" if self._can_omit(node, lo):
                broken = Indent((Break(), *self.expression(node, lo, ROOT_KEY)), when=ROOT_KEY)
                opened, closed = Choice((Text("("),)), Choice((Text(")"),))
                return [Group((opened, broken, Break(), closed), key=ROOT_KEY)]
            case "multiline":
                return [self._parenthesized_if_broken(self.expression(node, lo, PARENTHESIZED))]
            case "best_fit":
                return [BestFit(tuple(self.expression(node, lo, ROOT_KEY)), ROOT_KEY)]
            case _:
                return self.expression(node, lo, TOP)

    def expression(self, node: ast.expr, lo: int, level: int, chain: bool | None = None) -> Documents:
        """The document of an expression; `chain` is the layout of the call chain it belongs to."""
        if self.start(node) > lo:
            inner = self._bare(node, PARENTHESIZED, None)
            end = self.after(node, lo)
            return self._brackets(lo, inner, end - 1, level)
        return self._bare(node, level, chain)

    def _bare(self, node: ast.expr, level: int, chain: bool | None) -> Documents:
        match node:
            case ast.BinOp() | ast.Compare():
                return self._binary(node, level)
            case ast.UnaryOp(operand=operand):
                start = self.start(node)
                return [self._slice(start, start + 1), *self.expression(operand, start + 1, level)]
            case ast.Attribute() | ast.Call() | ast.Subscript():
                return self._chained(node, level, chain)
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return self._sequence(node, elements, level)
            case ast.Slice():
                return self._index_slice(node)
            case _:
                return [self._slice(self.start(node), self.end(node))]

    def _slice(self, start: int, end: int) -> Text:
        return Text(self.text[start:end], start)

    def _brackets(self, opening: int, inner: Documents, closing: int, level: int) -> Documents:
        group = Group(
            (
                self._slice(opening, opening + 1),
                Indent((Break(), *inner)),
                Break(),
                self._slice(closing, closing + 1),
            )
        )
        return [FitsBroken((group,), level)] if level >= 0 else [group]

    def _parenthesized_if_broken(self, inner: Documents) -> Group:
        return Group((Choice((Text("("),)), Indent((Break(), *inner)), Break(), Choice((Text(")"),))))

    # ---------------------------------------------------------------- sequences and arguments

    def _comma_separated(self, items: list[Documents], ends: list[int]) -> Documents:
        result: Documents = []
        for k, item in enumerate(items):
            result += item
            if k + 1 < len(items):
                result += [self._slice(ends[k], ends[k] + 1), Break(" ")]
        if len(items) > 1:
            result.append(Choice((Text(","),)))
        return result

    def _elements(self, elements: list[ast.expr], lo: int) -> tuple[list[Documents], list[int]]:
        items, ends = [], []
        for element in elements:
            items.append(self.expression(element, lo, PARENTHESIZED))
            ends.append(self.after(element, lo))
            lo = ends[-1] + 2
        return items, ends

    def _sequence(self, node: ast.expr, elements: list[ast.expr], level: int) -> Documents:
        start, end = self.start(node), self.end(node)
        if not elements:
            return [self._slice(start, end)]
        is_bare = isinstance(node, ast.Tuple) and (self.text[start] != "(" or self.start(elements[0]) == start)
        items, ends = self._elements(elements, start if is_bare else start + 1)
        if is_bare:
            return [self._parenthesized_if_broken(self._comma_separated(items, ends))]
        if isinstance(node, ast.Tuple) and len(items) == 1:
            return self._brackets(start, [*items[0], self._slice(ends[0], ends[0] + 1)], end - 1, level)
        return self._brackets(start, self._comma_separated(items, ends), end - 1, level)

    def _arguments(self, node: ast.Call, opening: int, level: int) -> Documents:
        end = self.end(node)
        items, ends = self._elements(node.args, opening + 1)
        lo = ends[-1] + 2 if ends else opening + 1
        for keyword in node.keywords:
            value = lo + len(keyword.arg or "") + 1
            items.append([self._slice(lo, value), *self.expression(keyword.value, value, PARENTHESIZED)])
            ends.append(self.after(keyword.value, value))
            lo = ends[-1] + 2
        if not items:
            return [self._slice(opening, end)]
        return self._brackets(opening, [Group(tuple(self._comma_separated(items, ends)))], end - 1, level)

    def _index(self, node: ast.Subscript, opening: int, level: int) -> Documents:
        index, lo = node.slice, opening + 1
        if isinstance(index, ast.Tuple) and index.elts and self.start(index.elts[0]) == self.start(index):
            items, ends = self._elements(index.elts, lo)
            if len(items) == 1:
                inner = [*items[0], self._slice(ends[0], ends[0] + 1)]
            else:
                inner = [Group(tuple(self._comma_separated(items, ends)))]
        else:
            inner = self.expression(index, lo, PARENTHESIZED)
        return self._brackets(opening, inner, self.end(node) - 1, level)

    def _index_slice(self, node: ast.Slice) -> Documents:
        result: Documents = []
        place = self.start(node)
        for bound in (node.lower, node.upper, node.step):
            if bound is None:
                continue
            lo = place
            while self.text[lo] in " :":
                lo += 1
            if lo > place:
                result.append(self._slice(place, lo))
            result += self.expression(bound, lo, PARENTHESIZED)
            place = self.after(bound, lo)
        if place < self.end(node):
            result.append(self._slice(place, self.end(node)))
        return result

    # ---------------------------------------------------------------- call chains

    def _chained(self, node: ast.Attribute | ast.Call | ast.Subscript, level: int, chain: bool | None) -> Documents:
        is_root = chain is None
        if chain is None:
            chain = level != TOP and self._is_fluent(node)
        inner_node = node.func if isinstance(node, ast.Call) else node.value
        lo = self.start(node)
        result = self.expression(inner_node, lo, level, chain)
        place = self.after(inner_node, lo)
        match node:
            case ast.Attribute(value=value):
                may_break = chain and (self.start(value) > lo or isinstance(value, ast.Call | ast.Subscript))
                result += [*([Break()] if may_break else []), self._slice(place, self.end(node))]
            case ast.Call():
                result += self._arguments(node, place, level)
            case ast.Subscript():
                result += self._index(node, place, level)
        return [Group(tuple(result))] if is_root and chain else result

    def _is_fluent(self, node: ast.expr) -> bool:
        count = 0
        while True:
            lo = self.start(node)
            match node:
                case ast.Attribute(value=value):
                    if self.start(value) > lo:
                        return count + 1 >= 2
                    count += isinstance(value, ast.Call | ast.Subscript)
                    node = value
                case ast.Call(func=inner) | ast.Subscript(value=inner):
                    if self.start(inner) > lo:
                        break
                    node = inner
                case _:
                    break
        return count >= 2

    # ---------------------------------------------------------------- operators

    def _binary(self, node: ast.BinOp | ast.Compare, level: int) -> Documents:
        flat: list[_Operand | _Operator] = []
        self._flatten(node, self.start(node), flat)
        return self._grouped(self._split(flat, level), level)

    def _flatten(self, node: ast.expr, lo: int, flat: "list[_Operand | _Operator]") -> None:
        if self.start(node) > lo or not isinstance(node, ast.BinOp | ast.Compare):
            flat.append(_Operand(node, lo))
            return
        if isinstance(node, ast.BinOp):
            left, right, precedence = node.left, node.right, _PRECEDENCE[type(node.op)]
        else:
            left, right, precedence = node.left, node.comparators[0], COMPARISON
        self._flatten(left, lo, flat)
        place = self.after(left, lo)
        end = place
        while self.text[end] in " +-*/%@<>=!&|^":
            if self.text[end] in "+-~" and end > place + 1 and self.text[end - 1] == " ":
                break  # the sign of the right operand
            if self.text[end] in "+-~" and self.text[place:end].strip().endswith("**"):
                break
            end += 1
        symbol = self.text[place:end].strip()
        flat.append(_Operator(symbol, self.text.index(symbol, place), precedence, self.text[place] != " "))
        self._flatten(right, end, flat)

    def _split(self, flat: "list[_Operand | _Operator]", level: int) -> Documents:
        if len(flat) == 1:
            return self._operand(flat[0], level)
        lowest = max(part.precedence for part in flat if isinstance(part, _Operator))
        result: Documents = []
        start = 0
        for k, part in enumerate(flat):
            if isinstance(part, _Operator) and part.precedence == lowest:
                result += self._side(flat[start:k], level)
                result += self._gap("" if part.hugs else " ", level)
                result.append(Text(part.symbol, part.offset))
                if not part.hugs:
                    result.append(Text(" "))
                start = k + 1
        return [*result, *self._side(flat[start:], level)]

    def _side(self, flat: "list[_Operand | _Operator]", level: int) -> Documents:
        if len(flat) == 1:
            return self._operand(flat[0], level)
        return self._grouped(self._split(flat, level), level)

    def _operand(self, part: "_Operand | _Operator", level: int) -> Documents:
        assert isinstance(part, _Operand)
        return self.expression(part.node, part.lo, level)

    def _grouped(self, inner: Documents, level: int) -> Documents:
        if level == PARENTHESIZED:
            return [Group(tuple(inner))]
        return [Group(tuple(inner), when=level)] if level >= 0 else inner

    def _gap(self, flat: str, level: int) -> Documents:
        """A break before an operator, but only within parentheses."""
        if level == PARENTHESIZED:
            return [Break(flat)]
        text = [Text(flat)] if flat else []
        return [Choice((Break(flat),), tuple(text), key=level)] if level >= 0 else list(text)

    # ---------------------------------------------------------------- parentheses

    def _needs(self, node: ast.expr, lo: int) -> str:
        """Whether an expression needs parentheses to break: "multiline", "best_fit" or "never"."""
        match node:
            case ast.BinOp() | ast.Compare():
                return "multiline"
            case ast.UnaryOp(operand=operand):
                inner = self.start(node) + 1
                return "never" if self.start(operand) > inner else self._needs(operand, inner)
            case ast.Call(func=inner_node) | ast.Subscript(value=inner_node) | ast.Attribute(value=inner_node):
                if self._is_fluent(node):
                    return "multiline"
                if self.start(inner_node) > self.start(node):
                    return "never"
                return self._needs(inner_node, self.start(node))
            case ast.Name() | ast.Constant():
                return "best_fit"
            case _:
                return "never"

    def _can_omit(self, node: ast.expr, lo: int) -> bool:
        """Whether the value breaks well within its own brackets (ruff's `can_omit_optional_parentheses`)."""
        visit = _Omission(self)
        visit.inside(node)
        if not visit.any_brackets or visit.count > 1:
            return False
        if visit.highest <= ATTRIBUTE:
            return True
        return self._ends_in_brackets(visit.last) or self._ends_in_brackets(visit.first)

    def _ends_in_brackets(self, found: "_Operand | None") -> bool:
        if found is None or isinstance(found.node, ast.Subscript):
            return False
        return self.has_brackets(found.node, found.lo) == "full"

    def has_brackets(self, node: ast.expr, lo: int) -> str:
        """Whether it has brackets of its own or around it: "full", "empty" or ""."""
        match node:
            case ast.Subscript():
                own = "full"
            case ast.List(elts=elements):
                own = "full" if elements else "empty"
            case ast.Tuple(elts=elements):
                own = "full" if elements else "empty"
            case ast.Call(args=arguments, keywords=keywords):
                own = "full" if arguments or keywords else "empty"
            case _:
                own = ""
        return "full" if self.start(node) > lo else own


class _Operand(msgspec.Struct, frozen=True):
    node: ast.expr
    lo: int


class _Operator(msgspec.Struct, frozen=True):
    symbol: str
    offset: int
    precedence: int
    hugs: bool


class _Omission:
    """Collects what `_can_omit` asks for: the loosest operator, how often, and both ends."""

    def __init__(self, builder: _Builder) -> None:
        self.builder = builder
        self.highest = self.count = 0
        self.any_brackets = False
        self.last: _Operand | None = None
        self.first: _Operand | None = None
        self.starts_with_token = False

    def visit(self, node: ast.expr, lo: int) -> None:
        self.last = _Operand(node, lo)
        if self.builder.start(node) > lo:
            self.any_brackets = True
        else:
            self.inside(node)
        if self.first is None and not self.starts_with_token:
            self.first = _Operand(node, lo)

    def inside(self, node: ast.expr) -> None:
        builder, lo = self.builder, self.builder.start(node)
        match node:
            case ast.List() | ast.Tuple():
                self.any_brackets = True
            case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
                self._count(_PRECEDENCE[type(node.op)] if isinstance(node, ast.BinOp) else COMPARISON)
                self.visit(left, lo)
                self.visit(right, self._right_start(left, right, lo))
            case ast.Call(func=inner) | ast.Subscript(value=inner):
                self.any_brackets = True
                self.visit(inner, lo)
                self.last = _Operand(node, lo)
            case ast.Attribute(value=value):
                self.visit(value, lo)
                if builder.has_brackets(value, lo):
                    self._count(ATTRIBUTE)
                self.last = _Operand(node, lo)
            case ast.UnaryOp(op=operator, operand=operand):
                if isinstance(operator, ast.Invert):
                    self._count(INVERSION)
                if self.first is None:
                    self.starts_with_token = True
                self.visit(operand, lo + 1)

    def _right_start(self, left: ast.expr, right: ast.expr, lo: int) -> int:
        start = self.builder.start(right)
        is_parenthesized = self.builder.text[start - 1] == "(" and start - 1 >= self.builder.after(left, lo)
        return start - 1 if is_parenthesized else start

    def _count(self, precedence: int) -> None:
        if precedence > self.highest:
            self.highest, self.count = precedence, 1
        elif precedence == self.highest:
            self.count += 1
