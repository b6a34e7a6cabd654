"""The parts of undrawn Python whose statements may be drawn in their places: bodies of functions, and stretches.

A stretch is what stands between definitions and imports of a text that is code as a whole. Each of its statements
looks names up when it runs, whatever `exec` may have bound them to.
"""

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gradstudio.graph.names import RESERVED
from gradstudio.graph.text.code_functions import Free
from gradstudio.graph.text.code_names import names_of_statements
from gradstudio.program.reading.code.code_statement import first_line, last_line
from gradstudio.program.reading.code.undrawn import branches_of
from gradstudio.program.reading.main_part import main_part
from gradstudio.program.reading.syntax_queries import walk

_APART = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
_LOOSE = (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)
_LOOPS = (ast.For, ast.While)
_LOOP, _PART = "loop", "part"
_BODIES = ("body", "orelse", "finalbody")


class DrawablePart(NamedTuple):
    """Statements that may be drawn in their place.

    Attributes:
        path: what it is called: ``Trainer.step``.
        parameters: the names that the head of its function binds.
        reads: the names that it looks up around it.
        binds: the names that it binds around it, in order.
        statements: neighbours of one body.
        is_stretch: it is no function's.
    """

    path: str
    parameters: tuple[str, ...]
    reads: tuple[str, ...]
    binds: tuple[str, ...]
    statements: list[ast.stmt]
    is_stretch: bool = False

    @property
    def names(self) -> set[str]:
        """The names that stand in it."""
        return {part.id for one in self.statements for part in walk(one) if isinstance(part, ast.Name)}

    @property
    def reaches_out(self) -> bool:
        """Whether it yields, or binds names of what is around it in a way that a drawing has not."""
        return any(isinstance(part, _LOOSE) for one in self.statements for part in walk(one))


def function_bodies(statements: Sequence[ast.stmt], path: str = "") -> Iterator[DrawablePart]:
    """The bodies of the functions of a code that no function holds; their paths have the classes around them."""
    for one in statements:
        if isinstance(one, ast.FunctionDef):
            body = one.body[ast.get_docstring(one) is not None :]
            if not body or first_line(body[0]) <= _head_end(one, body):
                body = []  # it shares a line with its head
            free = Free(frozenset())
            free.function(one.args, body)
            parameters = tuple(argument.arg for argument in _arguments(one.args))
            yield DrawablePart(path + one.name, parameters, tuple(free.free), (), body)
        elif isinstance(one, ast.ClassDef):
            yield from function_bodies(one.body, f"{path}{one.name}.")


def stretches(statements: Sequence[ast.stmt]) -> Iterator[DrawablePart]:
    """What stands between definitions, imports and what reaches for names; two may have one path."""
    yield from map(_stretch, _runs(statements))


def halves(part: DrawablePart) -> Iterator[DrawablePart]:
    """The two halves of a stretch; of one block, the stretches in it."""
    statements = part.statements
    middle = len(statements) // 2
    if middle:
        yield from map(_stretch, (statements[:middle], statements[middle:]))
        return
    for body in _bodies_of(statements[0]):
        yield from map(_stretch, _runs(body, statements[0].lineno))


def _bodies_of(statement: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    """What stands in a block at a depth of its own."""
    if isinstance(statement, ast.If):
        yield from branches_of(statement)
        return
    for name in _BODIES:
        yield getattr(statement, name, ())


def _stretch(statements: list[ast.stmt]) -> DrawablePart:
    names = names_of_statements(statements)
    reads = tuple(dict.fromkeys((*names.reads, *names.later)))
    path = _LOOP if any(isinstance(one, _LOOPS) for one in statements) else _PART
    return DrawablePart(path, (), reads, names.binds, statements, is_stretch=True)


def _runs(statements: Sequence[ast.stmt], end: int = 0) -> Iterator[list[ast.stmt]]:
    """The stretches among statements, none of which shares a line with others; `end` is the last above them."""
    found: list[ast.stmt] = []
    for one in statements:
        is_beside = first_line(one) == end
        is_part = not is_beside and _may_stand_in(one)
        if is_beside and found:
            found.pop()
        if found and not is_part:
            yield found
            found = []
        if is_part:
            found.append(one)
        elif not is_beside and not isinstance(one, _APART):
            for body in _bodies_of(one):
                yield from _runs(body, one.lineno)
        end = last_line(one)
    if found:
        yield found


def _may_stand_in(statement: ast.stmt) -> bool:
    if isinstance(statement, _APART) or main_part(statement) != [statement]:
        return False
    names = names_of_statements([statement])
    if names.is_open or names.is_loose or names.leaves_turn or names.removes or names.rebound:
        return False
    return RESERVED.isdisjoint(names.binds)


def _head_end(function: ast.FunctionDef, body: Sequence[ast.stmt]) -> int:
    """The last line of its head, or of its docstring."""
    ahead = [function.lineno, *(last_line(one) for one in function.body if one not in body)]
    parts = [part.end_lineno or 0 for part in ast.walk(function.args) if isinstance(part, ast.expr | ast.arg)]
    return max([*ahead, *parts, getattr(function.returns, "end_lineno", None) or 0])


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    every = [*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
    return [one for one in every if one is not None]
