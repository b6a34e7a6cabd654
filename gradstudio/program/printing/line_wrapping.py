"""Wrap: a logical line broken into lines of at most 88 characters, as `ruff format` breaks it."""

import ast
from functools import lru_cache

import msgspec

from gradstudio.program.printing.break_points import (
    ATTRIBUTE,
    CONDITIONAL,
    INVERSION,
    PARENTHESIZED,
    TOP,
    Documents,
    Layouts,
    Operand,
    sign_length,
)
from gradstudio.program.printing.pretty_printer import (
    BestFit,
    Break,
    Choice,
    FirstThatFits,
    Group,
    Indent,
    Text,
    lay_out,
)

WIDTH = 88
ROOT_KEY = 0
_PARENTHESIZED_STATEMENTS = ast.BitOr | ast.BitXor | ast.LShift | ast.RShift | ast.Add | ast.Sub


class WrappedLines(msgspec.Struct, frozen=True):
    """Lines of text, and where each piece of the logical line went.

    Attributes:
        pieces: (offset in the logical line, length, line, column), ascending.
    """

    lines: tuple[str, ...]
    pieces: tuple[tuple[int, int, int, int], ...]


@lru_cache(maxsize=256)
def wrap(text: str, indent: int) -> WrappedLines:
    """The lines of one logical line that stands `indent` characters deep."""
    layout = lay_out(_statement(text), indent, WIDTH)
    return WrappedLines(tuple(layout.lines), tuple(layout.pieces))


def _statement(text: str) -> Documents:
    suffix = " pass" if text.endswith(":") else ""
    statement = ast.parse(text + suffix).body[0]
    builder = _Builder(Layouts(text))
    match statement:
        case ast.Assign(targets=[target], value=value) | ast.AugAssign(target=target, value=value):
            return builder.assignment(target, value)
        case ast.Return(value=ast.expr() as value):
            return [Text(text[:7], 0), *builder.optional(value, 7)]
        case ast.Assert(test=test, msg=message):
            first = [Text(text[:7], 0), *builder.asserted(test, 7)]
            if message is None:
                return first
            start = builder.layouts.start(message)
            return [*first, builder.layouts.slice(builder.layouts.end(test), start), *builder.asserted(message, start)]
        case ast.Expr(value=ast.BinOp(op=operator) as value) if isinstance(operator, _PARENTHESIZED_STATEMENTS):
            return builder.optional(value, 0)
        case ast.Expr(value=value):
            return builder.layouts.expression(value, 0, TOP)
        case ast.For(iter=value) | ast.If(test=value):
            start = builder.layouts.start(value)
            return [Text(text[:start], 0), *builder.optional(value, start), Text(":", len(text) - 1)]
        case ast.With(items=[ast.withitem(context_expr=value)]):
            return [Text("with ", 0), *builder.layouts.expression(value, 5, TOP), Text(":", len(text) - 1)]
        case _:
            return [Text(text, 0)]


class _Builder:
    """The document of one statement, of the layouts of its expressions."""

    def __init__(self, layouts: Layouts) -> None:
        self.layouts = layouts

    def assignment(self, target: ast.expr, value: ast.expr) -> Documents:
        """Target, `=`, value: which of them breaks first depends on what both are."""
        start = self.layouts.start(value)
        splits = isinstance(target, ast.Tuple | ast.Subscript)
        if splits:
            before = [*self.layouts.expression(target, 0, TOP), self.layouts.slice(self.layouts.end(target), start)]
        else:
            before = [self.layouts.slice(0, start)]
        if self._needs(value, start) != "best_fit" or (splits and isinstance(value, ast.UnaryOp)):
            return [*before, *self.optional(value, start)]
        plain = self.layouts.expression(value, start, TOP)
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
                broken = Indent((Break(), *self.layouts.expression(node, lo, ROOT_KEY)), when=ROOT_KEY)
                opened = Choice((Text("("),))
                closed = Choice((Text(")"),))
                return [Group((opened, broken, Break(), closed), key=ROOT_KEY)]
            case "multiline":
                return [self.layouts.parenthesized_if_broken(self.layouts.expression(node, lo, PARENTHESIZED))]
            case "best_fit":
                return [BestFit(tuple(self.layouts.expression(node, lo, ROOT_KEY)), ROOT_KEY)]
            case _:
                return self.layouts.expression(node, lo, TOP)

    def asserted(self, node: ast.expr, lo: int) -> Documents:
        """A part of an `assert`: a name or a text that does not fit gets parentheses too."""
        if isinstance(node, ast.Constant | ast.JoinedStr | ast.Name | ast.Attribute):
            return [self.layouts.parenthesized_if_broken(self.layouts.expression(node, lo, PARENTHESIZED))]
        return self.optional(node, lo)

    # ---------------------------------------------------------------- parentheses

    def _needs(self, node: ast.expr, lo: int) -> str:
        """Whether an expression needs parentheses to break: "multiline", "best_fit" or "never"."""
        match node:
            case ast.BinOp() | ast.Compare() | ast.BoolOp() | ast.IfExp():
                return "multiline"
            case ast.UnaryOp(operand=operand):
                inner = self.layouts.start(node) + sign_length(node)
                return "never" if self.layouts.start(operand) > inner else self._needs(operand, inner)
            case ast.Call(func=inner_node) | ast.Subscript(value=inner_node) | ast.Attribute(value=inner_node):
                if self.layouts.is_fluent(node):
                    return "multiline"
                if self.layouts.start(inner_node) > self.layouts.start(node):
                    return "never"
                return self._needs(inner_node, self.layouts.start(node))
            case ast.Name() | ast.Constant():
                return "best_fit"
            case _:
                return "never"

    def _can_omit(self, node: ast.expr, lo: int) -> bool:
        """Whether the value breaks well within its own brackets (ruff's `can_omit_optional_parentheses`)."""
        visit = _Omission(self.layouts)
        visit.inside(node)
        if not visit.any_brackets or visit.count > 1:
            return False
        if visit.highest <= ATTRIBUTE:
            return True
        return self._ends_in_brackets(visit.last) or self._ends_in_brackets(visit.first)

    def _ends_in_brackets(self, found: "Operand | None") -> bool:
        if found is None or isinstance(found.node, ast.Subscript):
            return False
        return self.layouts.has_brackets(found.node, found.lo) == "full"


class _Omission:
    """Collects what `_can_omit` asks for: the loosest operator, how often, and both ends."""

    def __init__(self, layouts: Layouts) -> None:
        self.layouts = layouts
        self.highest = self.count = 0
        self.any_brackets = False
        self.last: Operand | None = None
        self.first: Operand | None = None
        self.starts_with_token = False

    def visit(self, node: ast.expr, lo: int) -> None:
        self.last = Operand(node, lo)
        if self.layouts.start(node) > lo:
            self.any_brackets = True
        else:
            self.inside(node)
        if self.first is None and not self.starts_with_token:
            self.first = Operand(node, lo)

    def inside(self, node: ast.expr) -> None:
        layouts = self.layouts
        lo = layouts.start(node)
        match node:
            case ast.List() | ast.Tuple():
                self.any_brackets = True
            case ast.BinOp() | ast.Compare() | ast.BoolOp():
                for part in layouts.chain(node):
                    if isinstance(part, Operand):
                        self.visit(part.node, part.lo)
                    else:
                        self._count(part.precedence)
            case ast.IfExp():
                self._count(CONDITIONAL)
                self._count(CONDITIONAL)
                for part in layouts.conditional(node):
                    self.visit(part.node, part.lo)
            case ast.Call(func=inner) | ast.Subscript(value=inner):
                self.any_brackets = True
                self.visit(inner, lo)
                self.last = Operand(node, lo)
            case ast.Attribute(value=value):
                self.visit(value, lo)
                if layouts.has_brackets(value, lo):
                    self._count(ATTRIBUTE)
                self.last = Operand(node, lo)
            case ast.UnaryOp(op=operator, operand=operand):
                if isinstance(operator, ast.Invert):
                    self._count(INVERSION)
                if self.first is None:
                    self.starts_with_token = True
                self.visit(operand, lo + sign_length(node))

    def _count(self, precedence: int) -> None:
        if precedence > self.highest:
            self.highest, self.count = precedence, 1
        elif precedence == self.highest:
            self.count += 1
