"""Comprehensions become what does the same: the elements one by one, or a loop that fills a list or dict with them.

Syntax in, syntax out. What a comprehension computes goes in front of its statement; what is called before it in the
statement goes in front of that, under a name of its own, for Python calls it first.
"""

import ast
import copy
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gradstudio.program.reading.desugar.synthetic_nodes import assign, at_position, read
from gradstudio.program.reading.syntax_queries import Renamed, walk

MOST_WRITTEN_OUT = 32
"""Elements that are written out one by one."""
Fresh = Callable[[str], str]
"""Gives a name that the text uses nowhere."""
IsTaken = Callable[[str], bool]
"""Whether a name is used elsewhere than in comprehensions."""
Listed = ast.ListComp | ast.GeneratorExp | ast.DictComp
WRITTEN = (ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.NamedExpr)
"""What is taken out of statements."""
_COMPUTED: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_EAGER = frozenset({"sum", "list", "tuple", "max", "min", "sorted", "any", "all"})
"""Functions that take a generator's elements at once."""


class ComprehensionRewriter:
    """Takes the comprehensions out of one statement after the other."""

    def __init__(self, fresh: Fresh, is_taken: IsTaken) -> None:
        """New names come from `fresh`."""
        self._fresh, self._is_taken = fresh, is_taken

    def before(self, statement: ast.stmt) -> tuple[list[ast.stmt], ast.stmt | None]:
        """The statements that stand before a statement, and what is left of it; None when it is done by them."""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.ListComp() | ast.DictComp() as value):
                if self._written_out(value) is None and not _reads(value, name) and _is_in_order(value):
                    return self._loop(name, value, statement), None
        found: list[ast.stmt] = []
        while (place := _first(statement)) is not None:
            one = place.node
            elements = self._written_out(one) if isinstance(one, Listed) else None
            if isinstance(one, ast.NamedExpr):
                found.append(assign(_name_of(one), one.value, one))
                made: ast.expr = read(_name_of(one), one)
            elif elements is not None:
                made = elements
            else:
                for word, part in place.ahead:
                    name = self._fresh(word)
                    found.append(assign(name, part, statement))
                    _Replaced(part, read(name, part)).visit(statement)
                name = self._fresh("values")
                found += self._loop(name, one, statement)
                made = read(name, one)
            _Replaced(one, made).visit(statement)
        return found, statement

    def _loop(self, name: str, node: Listed, where: ast.stmt) -> list[ast.stmt]:
        """`name = []`, or `{}`, and the loop that fills it."""
        empty: ast.expr
        body: ast.stmt
        if isinstance(node, ast.DictComp):
            empty, place = ast.Dict([], []), ast.Subscript(read(name, node), node.key, ast.Store())
            body = at_position(ast.Assign([at_position(place, node)], node.value), node)
        else:
            owner = at_position(ast.Attribute(read(name, node), "append", ast.Load()), node)
            empty = ast.List([], ast.Load())
            body = at_position(ast.Expr(at_position(ast.Call(owner, [node.elt], []), node)), node)
        renamed = {one: self._fresh(one) for one in _targets(node) if self._is_taken(one)}
        for part in reversed(node.generators):
            for test in reversed(part.ifs):
                body = at_position(ast.If(test, [body], []), node)
            body = at_position(ast.For(part.target, part.iter, [body], []), node)
        if renamed:
            Renamed(renamed).visit(body)
        return [assign(name, at_position(empty, node), where), at_position(body, where)]

    def _written_out(self, node: Listed) -> ast.expr | None:
        """The list or dict when its elements can be counted: over a range of numbers, or values that stand there."""
        if len(node.generators) != 1 or node.generators[0].ifs or node.generators[0].is_async:
            return None
        target = node.generators[0].target
        values = counted_values(node.generators[0].iter)
        if values is None or not isinstance(target, ast.Name):
            return None
        name = target.id

        def each(part: ast.expr) -> list[ast.expr]:
            return [_Put(name, value).visit(copy.deepcopy(part)) for value in values]

        if isinstance(node, ast.DictComp):
            return at_position(ast.Dict([*each(node.key)], each(node.value)), node)
        return at_position(ast.List(each(node.elt), ast.Load()), node)


def _is_in_order(node: Listed) -> bool:
    """Whether a loop computes the same in the same order: of `d[key] = value` the value is computed first."""
    if not isinstance(node, ast.DictComp) or isinstance(node.key, ast.Name | ast.Constant):
        return True
    return not (_calls(node.key) and _calls(node.value))


def counted_values(over: ast.expr) -> list[ast.expr] | None:
    """The values that a loop goes over, when all of them stand in the text and are few; None else."""
    match over:
        case ast.Call(func=ast.Name(id="range"), args=arguments, keywords=[]) if 0 < len(arguments) <= 3:
            numbers = [_number(one) for one in arguments]
            if any(one is None for one in numbers) or (len(numbers) == 3 and numbers[2] == 0):
                return None
            turns = range(*(one for one in numbers if one is not None))
            return [_spelled(k, over) for k in turns] if len(turns) <= MOST_WRITTEN_OUT else None
        case ast.Tuple(elts=elements) | ast.List(elts=elements) if len(elements) <= MOST_WRITTEN_OUT:
            return elements if all(isinstance(one, ast.Constant | ast.Name) for one in elements) else None
        case _:
            return None


def _number(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool) and abs(value) < 10**6:
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)) if abs(value) < 10**6:
            return -value
        case _:
            return None


def _spelled(number: int, where: ast.AST) -> ast.expr:
    made = at_position(ast.Constant(abs(number)), where)
    if number < 0:
        return at_position(ast.UnaryOp(ast.USub(), made), where)
    return made


@dataclass
class _Place:
    """Where the first comprehension of a statement stands, or the first name that it binds by the way.

    Attributes:
        ahead: what is called before it, in order, each with what it may be called.
    """

    node: Listed | ast.NamedExpr
    ahead: list[tuple[str, ast.expr]]


def _first(statement: ast.stmt) -> _Place | None:
    """The comprehension, or name bound by the way, that a statement computes first."""
    match statement:
        case ast.Assign(value=value) | ast.Expr(value=value) | ast.Return(value=ast.expr() as value):
            pass
        case ast.AnnAssign(value=ast.expr() as value) | ast.AugAssign(value=value):
            pass
        case ast.If(test=value) | ast.For(iter=value) | ast.Assert(test=value):
            pass
        case _:
            return None
    if not any(isinstance(part, WRITTEN) for part in walk(value)):
        return None
    place = _place_in(value)
    return None if place is None or (isinstance(place.node, ast.NamedExpr) and place.ahead) else place


def _place_in(node: ast.AST) -> _Place | None:
    """The first in an expression; what is chosen may not run, so that nothing in it can go in front."""
    match node:
        case ast.ListComp() | ast.DictComp() if _is_in_order(node):
            return _Place(node, [])
        case ast.NamedExpr(target=ast.Name()):
            return _place_in(node.value) or _Place(node, [])
        case ast.Call(func=ast.Name(id=name), args=[ast.GeneratorExp() as made]) if name in _EAGER:
            return _Place(made, [])
        case ast.Lambda() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return None
        case ast.IfExp(test=first) | ast.BoolOp(values=[first, *_]):
            return _place_in(first)
    children = list(ast.iter_child_nodes(node))
    for k, child in enumerate(children):
        place = _place_in(child)
        if place is None:
            continue
        ahead = [part for one in children[:k] for part in _called_in(one)]
        if ahead and isinstance(node, ast.JoinedStr | ast.FormattedValue | ast.Dict | ast.Compare):
            return None  # of those, parts are computed in another order, or not at all
        place.ahead = [*ahead, *place.ahead]
        return place
    return None


def _called_in(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """What is to be computed of an argument, or of what is called, before what stands behind it."""
    match node:
        case ast.keyword(arg=name, value=value) if _calls(value):
            yield name or "part", value
        case ast.Starred(value=value) | ast.Attribute(value=value):
            yield from _called_in(value)
        case ast.expr() if _calls(node):
            yield "part", node


def _calls(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Call | ast.NamedExpr) for part in walk(node))


def _name_of(node: ast.NamedExpr) -> str:
    assert isinstance(node.target, ast.Name)
    return node.target.id


def _targets(node: Listed) -> list[str]:
    parts = (part for one in node.generators for part in walk(one.target))
    return [part.id for part in parts if isinstance(part, ast.Name) and part.id != "_"]


def _reads(node: ast.AST, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in walk(node))


class _Put(ast.NodeTransformer):
    """A value in place of a name."""

    def __init__(self, name: str, value: ast.expr) -> None:
        self._name, self._value = name, value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """One reading of it."""
        return copy.deepcopy(self._value) if node.id == self._name else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Arithmetic with whole numbers stays one number."""
        self.generic_visit(node)
        left = _number(node.left)
        right = _number(node.right)
        made = _COMPUTED.get(type(node.op))
        if left is None or right is None or made is None:
            node.end_lineno = node.end_col_offset = None
            return node
        return _spelled(made(left, right), node)


class _Replaced(ast.NodeTransformer):
    """Another expression in place of one; what stands around it has no text of its own any more."""

    def __init__(self, old: ast.AST, new: ast.expr) -> None:
        self._old, self._new, self._is_done = old, new, False

    def visit(self, node: ast.AST) -> ast.AST:
        """One node."""
        if node is self._old:
            self._is_done = True
            return self._new
        if self._is_done:
            return node
        self.generic_visit(node)
        if self._is_done and isinstance(node, ast.expr):
            node.end_lineno = node.end_col_offset = None
        return node
