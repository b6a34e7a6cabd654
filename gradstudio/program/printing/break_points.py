"""Layouts: the break points of an expression, where `ruff format` has them."""

import ast

import msgspec

from gradstudio.program.printing.pretty_printer import Break, Choice, Document, FitsBroken, Group, Indent, Text

Documents = list[Document]

TOP, PARENTHESIZED = -1, -2
"""Levels of an expression; a number from 0 is the key of the optional parentheses around it."""
PRECEDENCE: dict[type[ast.AST], int] = {
    ast.Pow: 2,
    **dict.fromkeys((ast.Mult, ast.MatMult, ast.Div, ast.Mod, ast.FloorDiv), 4),
    **dict.fromkeys((ast.Add, ast.Sub), 5),
    **dict.fromkeys((ast.LShift, ast.RShift), 6),
    ast.BitAnd: 7,
    ast.BitXor: 8,
    ast.BitOr: 9,
}
ATTRIBUTE = 1
INVERSION = 3
COMPARISON = 10
BOOLEAN = 11
CONDITIONAL = 12
_CHAINS = (ast.BinOp, ast.Compare, ast.BoolOp)
_SYMBOLS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in", ast.And: "and", ast.Or: "or",
}  # fmt: skip


class Layouts:
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
        """Where the expression begins, without parentheses around it."""
        return self._character(node.col_offset)

    def end(self, node: ast.expr) -> int:
        """Where the expression ends, without parentheses around it."""
        return self._character(node.end_col_offset or 0)

    def after(self, node: ast.expr, lo: int) -> int:
        """Where the expression ends, its own parentheses counted in."""
        return self.end(node) + self.start(node) - lo

    def expression(self, node: ast.expr, lo: int, level: int, chain: bool | None = None) -> Documents:
        """The document of an expression; `chain` is the layout of the call chain it belongs to."""
        if self.start(node) > lo:
            inner = self._bare(node, PARENTHESIZED, None)
            end = self.after(node, lo)
            return self._brackets(lo, inner, end - 1, level)
        return self._bare(node, level, chain)

    def _bare(self, node: ast.expr, level: int, chain: bool | None) -> Documents:
        match node:
            case ast.BinOp() | ast.Compare() | ast.BoolOp():
                return self._binary(node, level)
            case ast.IfExp():
                return self._grouped(self._conditional(node, level), level)
            case ast.UnaryOp(operand=operand):
                start = self.start(node)
                inner = start + sign_length(node)
                return [self.slice(start, inner), *self.expression(operand, inner, level)]
            case ast.Attribute() | ast.Call() | ast.Subscript():
                return self._chained(node, level, chain)
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return self._sequence(node, elements, level)
            case ast.Dict() if node.values:
                return self._entries(node, level)
            case ast.Slice():
                return self._index_slice(node)
            case _:
                return [self.slice(self.start(node), self.end(node))]

    def slice(self, start: int, end: int) -> Text:
        """A piece of the logical line."""
        return Text(self.text[start:end], start)

    def _brackets(self, opening: int, inner: Documents, closing: int, level: int) -> Documents:
        group = Group(
            (
                self.slice(opening, opening + 1),
                Indent((Break(), *inner)),
                Break(),
                self.slice(closing, closing + 1),
            )
        )
        return [FitsBroken((group,), level)] if level >= 0 else [group]

    def parenthesized_if_broken(self, inner: Documents) -> Group:
        """Parentheses that are there only when the contents break."""
        return Group((Choice((Text("("),)), Indent((Break(), *inner)), Break(), Choice((Text(")"),))))

    # ---------------------------------------------------------------- sequences and arguments

    def _comma_separated(self, items: list[Documents], ends: list[int]) -> Documents:
        result: Documents = []
        for k, item in enumerate(items):
            result += item
            if k + 1 < len(items):
                result += [self.slice(ends[k], ends[k] + 1), Break(" ")]
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
        start = self.start(node)
        end = self.end(node)
        if not elements:
            return [self.slice(start, end)]
        is_bare = isinstance(node, ast.Tuple) and (self.text[start] != "(" or self.start(elements[0]) == start)
        items, ends = self._elements(elements, start if is_bare else start + 1)
        if is_bare:
            return [self.parenthesized_if_broken(self._comma_separated(items, ends))]
        if isinstance(node, ast.Tuple) and len(items) == 1:
            return self._brackets(start, [*items[0], self.slice(ends[0], ends[0] + 1)], end - 1, level)
        return self._brackets(start, self._comma_separated(items, ends), end - 1, level)

    def _entries(self, node: ast.Dict, level: int) -> Documents:
        start = self.start(node)
        end = self.end(node)
        items, ends, lo = [], [], start + 1
        for key, value in zip(node.keys, node.values, strict=True):
            assert key is not None  # none is ever written
            colon = self.after(key, lo)
            items.append(
                [
                    *self.expression(key, lo, PARENTHESIZED),
                    self.slice(colon, colon + 2),
                    *self.expression(value, colon + 2, PARENTHESIZED),
                ]
            )
            ends.append(self.after(value, colon + 2))
            lo = ends[-1] + 2
        inner = self._comma_separated(items, ends)
        if len(items) == 1:
            inner.append(Choice((Text(","),)))
        return self._brackets(start, inner, end - 1, level)

    def _arguments(self, node: ast.Call, opening: int, level: int) -> Documents:
        end = self.end(node)
        items, ends = self._elements(node.args, opening + 1)
        lo = ends[-1] + 2 if ends else opening + 1
        for keyword in node.keywords:
            value = lo + len(keyword.arg or "") + 1
            items.append([self.slice(lo, value), *self.expression(keyword.value, value, PARENTHESIZED)])
            ends.append(self.after(keyword.value, value))
            lo = ends[-1] + 2
        if not items:
            return [self.slice(opening, end)]
        return self._brackets(opening, [Group(tuple(self._comma_separated(items, ends)))], end - 1, level)

    def _index(self, node: ast.Subscript, opening: int, level: int) -> Documents:
        index, lo = node.slice, opening + 1
        if isinstance(index, ast.Tuple) and index.elts and self.start(index.elts[0]) == self.start(index):
            items, ends = self._elements(index.elts, lo)
            if len(items) == 1:
                inner = [*items[0], self.slice(ends[0], ends[0] + 1)]
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
                result.append(self.slice(place, lo))
            result += self.expression(bound, lo, PARENTHESIZED)
            place = self.after(bound, lo)
        if place < self.end(node):
            result.append(self.slice(place, self.end(node)))
        return result

    # ---------------------------------------------------------------- call chains

    def _chained(self, node: ast.Attribute | ast.Call | ast.Subscript, level: int, chain: bool | None) -> Documents:
        is_root = chain is None
        if chain is None:
            chain = level != TOP and self.is_fluent(node)
        inner_node = node.func if isinstance(node, ast.Call) else node.value
        lo = self.start(node)
        result = self.expression(inner_node, lo, level, chain)
        place = self.after(inner_node, lo)
        match node:
            case ast.Attribute(value=value):
                may_break = chain and (self.start(value) > lo or isinstance(value, ast.Call | ast.Subscript))
                result += [*([Break()] if may_break else []), self.slice(place, self.end(node))]
            case ast.Call():
                result += self._arguments(node, place, level)
            case ast.Subscript():
                result += self._index(node, place, level)
        return [Group(tuple(result))] if is_root and chain else result

    def is_fluent(self, node: ast.expr) -> bool:
        """Whether a call chain has a line for each call: at least two dots follow brackets."""
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

    def _binary(self, node: ast.BinOp | ast.Compare | ast.BoolOp, level: int) -> Documents:
        flat: list[Operand | Operator] = []
        self._flatten(node, self.start(node), flat)
        return self._grouped(self._split(flat, level), level)

    def _flatten(self, node: ast.expr, lo: int, flat: "list[Operand | Operator]") -> None:
        if self.start(node) > lo or not isinstance(node, _CHAINS):
            flat.append(Operand(node, lo))
            return
        for part in self.chain(node):
            if isinstance(part, Operand):
                self._flatten(part.node, part.lo, flat)
            else:
                flat.append(part)

    def chain(self, node: ast.BinOp | ast.Compare | ast.BoolOp) -> "list[Operand | Operator]":
        """The operands of one operator, or of several that bind alike, with the operators between them."""
        operands, symbols, precedence = _parts(node)
        lo = self.start(node)
        found: list[Operand | Operator] = [Operand(operands[0], lo)]
        for before, symbol, operand in zip(operands, symbols, operands[1:], strict=False):
            place = self.after(before, lo)
            offset = self.text.index(symbol, place)
            lo = offset + len(symbol)
            while self.text[lo] == " ":
                lo += 1
            found += [Operator(symbol, offset, precedence, self.text[place] != " "), Operand(operand, lo)]
        return found

    def conditional(self, node: ast.IfExp) -> "tuple[Operand, Operand, Operand]":
        """What `a if b else c` is made of, as it stands: a, b and c."""
        parts = [Operand(node.body, self.start(node))]
        for word, part in ((" if ", node.test), (" else ", node.orelse)):
            place = self.after(parts[-1].node, parts[-1].lo)
            parts.append(Operand(part, self.text.index(word, place) + len(word)))
        body, test, orelse = parts
        return body, test, orelse

    def _conditional(self, node: ast.IfExp, level: int) -> Documents:
        body, *others = self.conditional(node)
        found = self.expression(body.node, body.lo, level)
        for word, part in zip(("if ", "else "), others, strict=True):
            found = [*found, *_gap(" ", level), Text(word, part.lo - len(word))]
            if isinstance(part.node, ast.IfExp) and self.start(part.node) == part.lo:
                found += self._conditional(part.node, level)  # as one column, not as a group of its own
            else:
                found += self.expression(part.node, part.lo, level)
        return found

    def _split(self, flat: "list[Operand | Operator]", level: int) -> Documents:
        if len(flat) == 1:
            return self._operand(flat[0], level)
        lowest = max(part.precedence for part in flat if isinstance(part, Operator))
        result: Documents = []
        start = 0
        for k, part in enumerate(flat):
            if isinstance(part, Operator) and part.precedence == lowest:
                result += self._side(flat[start:k], level)
                result += _gap("" if part.hugs else " ", level)
                result.append(Text(part.symbol, part.offset))
                result += _gap_behind(level) if part.hugs else [Text(" ")]
                start = k + 1
        return [*result, *self._side(flat[start:], level)]

    def _side(self, flat: "list[Operand | Operator]", level: int) -> Documents:
        if len(flat) == 1:
            return self._operand(flat[0], level)
        return self._grouped(self._split(flat, level), level)

    def _operand(self, part: "Operand | Operator", level: int) -> Documents:
        assert isinstance(part, Operand)  # operands stand at even places
        return self.expression(part.node, part.lo, level)

    def _grouped(self, inner: Documents, level: int) -> Documents:
        if level == PARENTHESIZED:
            return [Group(tuple(inner))]
        return [Group(tuple(inner), when=level)] if level >= 0 else inner

    # ---------------------------------------------------------------- brackets

    def has_brackets(self, node: ast.expr, lo: int) -> str:
        """Whether it has brackets of its own or around it: "full", "empty" or ""."""
        match node:
            case ast.Subscript():
                own = "full"
            case ast.List(elts=elements):
                own = "full" if elements else "empty"
            case ast.Tuple(elts=elements) | ast.Dict(values=elements):
                own = "full" if elements else "empty"
            case ast.Call(args=arguments, keywords=keywords):
                own = "full" if arguments or keywords else "empty"
            case _:
                own = ""
        return "full" if self.start(node) > lo else own


class Operand(msgspec.Struct, frozen=True):
    """An expression between operators; `lo` is where it begins, its own parentheses counted in."""

    node: ast.expr
    lo: int


class Operator(msgspec.Struct, frozen=True):
    """A binary operator of a chain; `hugs`: there are no spaces around it."""

    symbol: str
    offset: int
    precedence: int
    hugs: bool


def sign_length(node: ast.UnaryOp) -> int:
    """How many characters stand before the operand."""
    return 4 if isinstance(node.op, ast.Not) else 1


def _parts(node: ast.BinOp | ast.Compare | ast.BoolOp) -> tuple[list[ast.expr], list[str], int]:
    """Operands, operators between them, and how loosely these bind."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right], [_SYMBOLS[type(node.op)]], PRECEDENCE[type(node.op)]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators], [_SYMBOLS[type(op)] for op in node.ops], COMPARISON
    return node.values, [_SYMBOLS[type(node.op)]] * (len(node.values) - 1), BOOLEAN


def _gap_behind(level: int) -> Documents:
    """The space behind a ``**`` that begins a line."""
    if level == PARENTHESIZED:
        return [Choice((Text(" "),))]
    return [Choice((Text(" "),), key=level)] if level >= 0 else []


def _gap(flat: str, level: int) -> Documents:
    """A break before an operator, but only within parentheses."""
    if level == PARENTHESIZED:
        return [Break(flat)]
    text = [Text(flat)] if flat else []
    return [Choice((Break(flat),), tuple(text), key=level)] if level >= 0 else list(text)
