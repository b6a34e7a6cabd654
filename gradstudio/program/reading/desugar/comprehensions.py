"""Comprehensions become what does the same: the elements one by one, or a loop that appends them to a list.

Syntax in, syntax out. What a comprehension computes goes in front of its statement, so that it is left where it stands
when something before it in the statement is called: Python would call that first.
"""

import ast
import copy
import operator
from collections.abc import Callable

from gradstudio.program.reading.desugar.synthetic_nodes import assign, at_position, read
from gradstudio.program.reading.syntax_queries import Renamed, walk

MOST_WRITTEN_OUT = 32
"""Elements that are written out one by one."""
Fresh = Callable[[str], str]
"""Gives a name that the text uses nowhere."""
IsTaken = Callable[[str], bool]
"""Whether a name is used elsewhere than in comprehensions."""
Listed = ast.ListComp | ast.GeneratorExp
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
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.ListComp() as value) if not _reads(value, name):
                elements = self._elements(value)
                if elements is None:
                    return self._loop(name, value, statement), None
        found: list[ast.stmt] = []
        while (one := _first(statement)) is not None:
            elements = self._elements(one) if isinstance(one, Listed) else None
            if isinstance(one, ast.NamedExpr):
                found.append(assign(_name_of(one), one.value, one))
                made: ast.expr = read(_name_of(one), one)
            elif elements is not None:
                made = at_position(ast.List(elements, ast.Load()), one)
            else:
                name = self._fresh("values")
                found += self._loop(name, one, statement)
                made = read(name, one)
            _Replaced(one, made).visit(statement)
        return found, statement

    def _loop(self, name: str, node: Listed, where: ast.stmt) -> list[ast.stmt]:
        """`name = []` and the loop that fills it."""
        owner = at_position(ast.Attribute(read(name, node), "append", ast.Load()), node)
        body: ast.stmt = at_position(ast.Expr(at_position(ast.Call(owner, [node.elt], []), node)), node)
        renamed = {one: self._fresh(one) for one in _targets(node) if self._is_taken(one)}
        for part in reversed(node.generators):
            for test in reversed(part.ifs):
                body = at_position(ast.If(test, [body], []), node)
            body = at_position(ast.For(part.target, part.iter, [body], []), node)
        if renamed:
            Renamed(renamed).visit(body)
        return [assign(name, at_position(ast.List([], ast.Load()), node), where), at_position(body, where)]

    def _elements(self, node: Listed) -> list[ast.expr] | None:
        """The elements when they can be counted: over a range of numbers, or over values that stand there."""
        if len(node.generators) != 1 or node.generators[0].ifs or node.generators[0].is_async:
            return None
        target = node.generators[0].target
        values = counted_values(node.generators[0].iter)
        if values is None or not isinstance(target, ast.Name):
            return None
        return [_Put(target.id, value).visit(copy.deepcopy(node.elt)) for value in values]


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


def _first(statement: ast.stmt) -> Listed | ast.NamedExpr | None:
    """The comprehension, or name bound by the way, that a statement computes before it calls anything."""
    head: ast.AST = statement
    if isinstance(statement, ast.For):
        head = statement.iter
    elif isinstance(statement, ast.If):
        head = statement.test
    if not any(isinstance(part, Listed | ast.NamedExpr) for part in walk(head)):
        return None
    return _Looking().first(statement)


class _Looking:
    """Goes through a statement's head as Python computes it."""

    def __init__(self) -> None:
        self._has_called = False

    def first(self, statement: ast.stmt) -> Listed | ast.NamedExpr | None:
        match statement:
            case ast.Assign(value=value) | ast.Expr(value=value) | ast.Return(value=ast.expr() as value):
                return self._in(value)
            case ast.AnnAssign(value=ast.expr() as value) | ast.AugAssign(value=value):
                return self._in(value)
            case ast.If(test=value) | ast.For(iter=value) | ast.Assert(test=value):
                return self._in(value)
            case _:
                return None

    def _in(self, node: ast.AST) -> Listed | ast.NamedExpr | None:
        match node:
            case ast.ListComp():
                return None if self._has_called else node
            case ast.NamedExpr(target=ast.Name()):
                is_late = self._has_called
                return self._in(node.value) or (None if is_late else node)
            case ast.Call(func=ast.Name(id=name), args=[ast.GeneratorExp() as made]) if name in _EAGER:
                is_late, self._has_called = self._has_called, True
                return None if is_late else made
            case ast.Lambda() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self._has_called = True
                return None
            case ast.IfExp(test=test):
                found = self._in(test)
                self._has_called = True  # what is chosen may not run
                return found
            case ast.BoolOp(values=values):
                found = self._in(values[0])
                self._has_called = True
                return found
        for child in ast.iter_child_nodes(node):
            if (one := self._in(child)) is not None:
                return one
        self._has_called = self._has_called or isinstance(node, ast.Call)
        return None


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
