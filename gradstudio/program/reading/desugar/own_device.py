"""`device` as a name of a definition's own: it gets another, for a canvas has that word for the document's device.

Syntax in, syntax out. An argument of that name is given by the other one where the text calls the definition.
"""

import ast
from collections.abc import Iterator, Sequence

from gradstudio.program.reading.desugar.closures import local_names
from gradstudio.program.reading.syntax_queries import Renamed

DEVICE = "device"


def rename_own_devices(statements: Sequence[ast.stmt]) -> None:
    """Rename it in every definition that binds it; the tree is changed."""
    taken: dict[str, str] = {}
    for one in statements:
        for function in _functions(one):
            is_argument = any(argument.arg == DEVICE for argument in function.args.args)
            if DEVICE not in local_names(function) or (is_argument and _is_method(one, function)):
                continue
            name = _free_name(function)
            Renamed({DEVICE: name}).visit(function)
            for argument in function.args.args if is_argument else ():
                argument.arg = name if argument.arg == DEVICE else argument.arg
            if is_argument:
                assert isinstance(one, ast.FunctionDef | ast.ClassDef)
                taken[one.name] = name
    for part in (part for one in statements for part in ast.walk(one)) if taken else ():
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in taken:
            for keyword in part.keywords:
                keyword.arg = taken[part.func.id] if keyword.arg == DEVICE else keyword.arg


def takes_device(definition: ast.stmt) -> bool:
    """Whether a function, or the constructor of a class, has an argument of that name."""
    makers = [one for one in _functions(definition) if not _is_method(definition, one)]
    return any(argument.arg == DEVICE for one in makers for argument in one.args.args)


def _functions(statement: ast.stmt) -> Iterator[ast.FunctionDef]:
    if isinstance(statement, ast.FunctionDef):
        yield statement
    elif isinstance(statement, ast.ClassDef):
        yield from (one for one in statement.body if isinstance(one, ast.FunctionDef))


def _is_method(statement: ast.stmt, function: ast.FunctionDef) -> bool:
    """Whether it is called by more than the definition's name."""
    return statement is not function and function.name != "__init__"


def _free_name(function: ast.FunctionDef) -> str:
    taken = {part.id for part in ast.walk(function) if isinstance(part, ast.Name)} | local_names(function)
    name = f"{DEVICE}_"
    while name in taken:
        name += "_"
    return name
