"""`if` statements become what a canvas has: the branch that the text decides, a choice of values, a loop of one turn.

Syntax in, syntax out. `if c: y = a` is `y = a if c else y`; what is more than that stands in a loop that has one turn
or none, `for _ in range(bool(c))`, which binds and carries names as the branch does.
"""

import ast
import copy
from collections.abc import Callable, Sequence

from gradstudio.program.reading.desugar.closures import stored_names
from gradstudio.program.reading.desugar.synthetic_nodes import assign, at_position, call, once_if, read
from gradstudio.program.reading.syntax_queries import is_print

Fresh = Callable[[str], str]
Decide = Callable[[ast.expr], bool | None]
"""Whether a test holds in every run; None when only a run tells."""
IsChoice = Callable[[ast.expr], bool]
"""Whether an expression is one that a canvas has as one node."""
RESULT, TEST, TURN = "result", "chosen", "turn"
"""What is returned, whether a branch runs, and in which turn, in texts that do not say how they are called."""


def returned_once(body: Sequence[ast.stmt], fresh: Fresh, decide: Decide) -> list[ast.stmt]:
    """The body of a function with one `return`, at its end: those within its `if`s bind what is returned there."""
    body = _behind_block(splice_branches(body, decide), fresh)
    if not any(isinstance(one, ast.If) and _returns(one) for one in body):
        return list(body)
    name = fresh(RESULT)
    made = _bound(body, name, body[-1])
    return [*made, at_position(ast.Return(read(name, made[-1])), body[-1])]


def _behind_block(body: list[ast.stmt], fresh: Fresh) -> list[ast.stmt]:
    """What is returned at the end of a `with` is bound there and returned behind it."""
    match body:
        case [*before, ast.With(body=[*inner, ast.Return() as last]) as block]:
            name = fresh(RESULT)
            value = last.value or at_position(ast.Constant(None), last)
            block.body = [*inner, assign(name, value, last)]
            return [*before, block, at_position(ast.Return(read(name, last)), last)]
        case _:
            return body


def splice_branches(body: Sequence[ast.stmt], decide: Decide) -> list[ast.stmt]:
    """The statements with those in place of an `if` that run for certain; what stands behind a `return` is left out."""
    found: list[ast.stmt] = []
    for one in body:
        known = decide(one.test) if isinstance(one, ast.If) else None
        if known is not None:
            assert isinstance(one, ast.If)
            found += splice_branches(one.body if known else one.orelse, decide)
        else:
            found.append(one)
        if found and isinstance(found[-1], ast.Return):
            break
    return found


def _returns(statement: ast.stmt) -> bool:
    inner = [*getattr(statement, "body", ()), *getattr(statement, "orelse", ())]
    return isinstance(statement, ast.Return) or (isinstance(statement, ast.If) and any(map(_returns, inner)))


def _bound(body: Sequence[ast.stmt], name: str, where: ast.stmt) -> list[ast.stmt]:
    """The statements, which bind a name where they return; what stands behind an `if` that returns is its `else`."""
    found: list[ast.stmt] = []
    for k, one in enumerate(body):
        if isinstance(one, ast.Return):
            return [*found, assign(name, one.value or at_position(ast.Constant(None), one), one)]
        if isinstance(one, ast.If) and _returns(one):
            rest = body[k + 1 :]
            then = one.body if _always_returns(one.body) else [*one.body, *copy.deepcopy(rest)]
            other = [*one.orelse, *rest]
            return [*found, at_position(ast.If(one.test, _bound(then, name, one), _bound(other, name, one)), one)]
        found.append(one)
    return [*found, assign(name, at_position(ast.Constant(None), where), where)]


def _always_returns(body: Sequence[ast.stmt]) -> bool:
    match body:
        case [*_, ast.Return()]:
            return True
        case [*_, ast.If(body=inner, orelse=orelse)] if orelse:
            return _always_returns(inner) and _always_returns(orelse)
        case _:
            return False


class Branches:
    """Rewrites the `if` statements of one body of a text."""

    def __init__(
        self, fresh: Fresh, is_choice: IsChoice, is_bound: Callable[[str], bool], reads_unused: bool = False
    ) -> None:
        """New names come from `fresh`; `is_bound` says whether a name has a value before the statement.

        Where the text reads `_`, which `reads_unused` says, the variable of a loop of one turn has a name of its own.
        """
        self._fresh, self._is_choice, self._is_bound = fresh, is_choice, is_bound
        self._reads_unused = reads_unused

    def plain(self, statement: ast.If) -> list[ast.stmt]:
        """The statements that do the same; the `if` itself where it holds prints alone."""
        if not statement.orelse and all(is_print(one) for one in statement.body):
            return [statement]
        parts = self._parts(statement)
        if parts is not None:
            return parts
        first: list[ast.stmt] = []
        test = statement.test
        if statement.orelse:
            name = self._fresh(TEST)
            first = [assign(name, call("bool", [test], test), statement)]
            test = read(name, test)
        found = [*first, self._branch(test, statement.body, statement)]
        if statement.orelse:
            other = at_position(ast.UnaryOp(ast.Not(), copy.deepcopy(test)), statement.orelse[0])
            found.append(self._branch(other, statement.orelse, statement.orelse[0]))
        return found

    def _branch(self, test: ast.expr, body: list[ast.stmt], where: ast.stmt) -> ast.stmt:
        if all(is_print(one) for one in body):
            return at_position(ast.If(test, body, []), where)
        return once_if(test, body, where, self._fresh(TURN) if self._reads_unused else "_")

    def _parts(self, statement: ast.If) -> list[ast.stmt] | None:
        """The same as prints under the test and names chosen by it, one after the other; None when it is more."""
        if statement.orelse:
            return self._either(statement)
        found: list[ast.stmt] = []
        for k, one in enumerate(statement.body):
            test = statement.test if k == 0 else copy.deepcopy(statement.test)
            made = at_position(ast.If(test, [one], []), one) if is_print(one) else self._kept(test, one)
            if made is None or (k + 1 < len(statement.body) and _changes(one, test)):
                return None
            if isinstance(made, ast.If) and found and isinstance(found[-1], ast.If):
                found[-1].body.append(one)
            else:
                found.append(made)
        if found:
            at_position(found[0], statement)
        return found if len(found) < 2 or self._is_choice(statement.test) else None

    def _either(self, statement: ast.If) -> list[ast.stmt] | None:
        """`name = a if test else b`, where both branches bind one name and nothing else."""
        match statement.body, statement.orelse:
            case (
                [ast.Assign(targets=[ast.Name(id=name) as target], value=value)],
                [ast.Assign(targets=[ast.Name(id=second)], value=other)],
            ) if second == name:
                made = self._choice(target, statement.test, value, other, statement)
                return [made] if made is not None else None
            case _:
                return None

    def _kept(self, test: ast.expr, statement: ast.stmt) -> ast.stmt | None:
        """`name = a if test else name`."""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name) as target], value=value) if self._is_bound(name):
                return self._choice(target, test, value, read(name, statement), statement)
            case _:
                return None

    def _choice(
        self, target: ast.Name, test: ast.expr, value: ast.expr, other: ast.expr, where: ast.stmt
    ) -> ast.stmt | None:
        made = at_position(ast.IfExp(test, value, other), value)
        return at_position(ast.Assign([target], made), where) if self._is_choice(made) else None


def _changes(statement: ast.stmt, test: ast.expr) -> bool:
    """Whether a statement may change what a test reads."""
    names = {part.id for part in ast.walk(test) if isinstance(part, ast.Name)}
    return not is_print(statement) and not names.isdisjoint(stored_names([statement]))
