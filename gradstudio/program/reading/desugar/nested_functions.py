"""Functions within functions, and lambdas under a name, become definitions of the text.

Syntax in, syntax out. Only what is called by its name and reads nothing of the function around it, so that it does the
same wherever it stands.
"""

import ast
import copy
from collections import Counter
from collections.abc import Iterator, Sequence

from gradstudio.program.reading.desugar.closures import local_names, names_in, stored_names
from gradstudio.program.reading.desugar.synthetic_nodes import at_position
from gradstudio.program.reading.syntax_queries import Renamed, walk

Defined = ast.FunctionDef | ast.ClassDef
_STAYS = (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.FunctionDef, ast.ClassDef, ast.Lambda)
"""What keeps a function where it is."""


class LiftedFunction(ast.FunctionDef):
    """A function that stood within another, whose lines are among those of what follows it."""


def lift_functions(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements, each behind the functions that stood in it."""
    if not any(isinstance(part, ast.Lambda) or _nested(part) for one in statements for part in walk(one)):
        return list(statements)
    taken = {one.name for one in statements if isinstance(one, Defined)}
    for one in statements:
        inner = [part for outer in _functions(one) for part in outer.body]
        taken |= names_in([one]) - {name for part in inner for name in _function_names(part)}
        taken |= {
            part.attr for part in walk(one) if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)
        }
    found: list[ast.stmt] = []
    for one in statements:
        if isinstance(one, ast.Assign) and (function := _named_lambda(one, statements)) is not None:
            found.append(function)
            continue
        for outer in _functions(one):
            found += _lifted(outer, taken)
        found.append(one)
    return found


def _function_names(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef(name=name):
            return [name]
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda()):
            return [name]
        case _:
            return []


def _functions(statement: ast.stmt) -> Iterator[ast.FunctionDef]:
    if isinstance(statement, ast.FunctionDef):
        yield statement
    elif isinstance(statement, ast.ClassDef):
        yield from (one for one in statement.body if isinstance(one, ast.FunctionDef))


def _nested(part: ast.AST) -> bool:
    return isinstance(part, ast.FunctionDef) and any(isinstance(one, ast.FunctionDef) for one in part.body)


def _lifted(outer: ast.FunctionDef, taken: set[str]) -> list[ast.stmt]:
    """The functions taken out of another, under names that the text has nowhere else."""
    found: list[ast.stmt] = []
    for one in list(outer.body):
        inner = _named_lambda(one, outer.body) if isinstance(one, ast.Assign) else one
        if not isinstance(inner, ast.FunctionDef) or not _may_leave(inner, outer):
            continue
        outer.body.remove(one)
        name = inner.name
        while name in taken:
            name += "_"
        taken.add(name)
        Renamed({inner.name: name}).visit(outer)
        made = LiftedFunction(**{field: getattr(inner, field) for field in inner._fields})
        made.name = name
        found.append(ast.copy_location(made, one))
    if found and not outer.body:
        outer.body.append(at_position(ast.Pass(), outer))
    return found


def _may_leave(inner: ast.FunctionDef, outer: ast.FunctionDef) -> bool:
    """Whether it reads nothing of what is around it, and is only called."""
    parts = [part for one in inner.body for part in walk(one)]
    if inner.decorator_list or any(isinstance(part, _STAYS) for part in parts):
        return False
    around = {argument.arg for argument in _arguments(outer)} | set(stored_names(_others(outer, inner)))
    around |= {one.name for one in outer.body if isinstance(one, Defined)}
    own = local_names(inner)
    read = {part.id for part in parts if isinstance(part, ast.Name)} - own
    read |= {part.id for one in inner.args.defaults for part in walk(one) if isinstance(part, ast.Name)}
    ahead = [one for one in outer.body if one.lineno < inner.lineno]
    is_ready = inner.name not in names_in(ahead)
    return is_ready and read.isdisjoint(around) and _is_only_called(inner.name, _others(outer, inner))


def _others(outer: ast.FunctionDef, inner: ast.FunctionDef) -> list[ast.stmt]:
    return [one for one in outer.body if one is not inner and one.lineno != inner.lineno]


def _arguments(function: ast.FunctionDef) -> list[ast.arg]:
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return [one for one in every if one is not None]


def _is_only_called(name: str, statements: Sequence[ast.stmt]) -> bool:
    """Whether a name is nowhere bound, and read only to be called."""
    parts = [part for one in statements for part in walk(one)]
    called = {id(part.func) for part in parts if isinstance(part, ast.Call)}
    named = [part for part in parts if isinstance(part, ast.Name) and part.id == name]
    bound = {part.arg for part in parts if isinstance(part, ast.arg)}
    bound |= {part.name for part in parts if isinstance(part, Defined)}
    return name not in bound and all(id(part) in called for part in named)


def _named_lambda(statement: ast.Assign, around: Sequence[ast.stmt]) -> ast.FunctionDef | None:
    """``f = lambda x: …`` as the function that it is; None where the name is more than called."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda(args=arguments, body=body)):
            counts = Counter(stored_names(around))
            others = [one for one in around if one is not statement]
            if counts[name] > 1 or any(isinstance(part, _STAYS) for part in walk(body)):
                return None
            if not _is_only_called(name, others) or _reads_what_changes(arguments, body, around):
                return None
            result = ast.copy_location(ast.Return(copy.copy(body)), body)
            made = LiftedFunction(name, arguments, [result], [], None, None)
            return at_position(made, statement)
        case _:
            return None


def _reads_what_changes(arguments: ast.arguments, body: ast.expr, around: Sequence[ast.stmt]) -> bool:
    """Whether a lambda reads more than its arguments, imports and functions: names are looked up when it is called."""
    own = {argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    read = {part.id for part in walk(body) if isinstance(part, ast.Name)} - own
    return not read.isdisjoint(stored_names(around))
