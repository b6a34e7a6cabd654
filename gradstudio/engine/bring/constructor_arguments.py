"""What a class of the user's is constructed with: literals, and calls of what their file binds, read by its syntax."""

import ast
from collections.abc import Mapping
from typing import Any, NamedTuple

from gradstudio.document.python.module_import import names_bound
from gradstudio.engine.bring.errors import NotThere
from gradstudio.engine.bring.user_file import UsersFile
from gradstudio.errors import GradStudioError

Arguments = tuple[tuple[object, ...], dict[str, object]]
LARGEST_NESTING = 40
EXAMPLE = "such as 64, num_layers=2 or config=Config(width=64)"


class ArgumentExpressions(NamedTuple):
    """Arguments as they are written; what they are is known when the file has been imported."""

    positional: tuple[ast.expr, ...]
    keywords: tuple[tuple[str, ast.expr], ...]


class _Refused(GradStudioError):
    """A part that is neither a literal nor a call of what the file binds; its message is the reason."""


def read_arguments(text: str, file: UsersFile) -> ArgumentExpressions:
    """The parts of ``64, config=Config(width=8)``; nothing is evaluated, and the file is only looked through.

    Raises:
        NotThere: something is neither a literal nor a call of a name that the file binds.
    """
    try:
        call = ast.parse(f"f({text})", mode="eval").body
        if not isinstance(call, ast.Call) or any(word.arg is None for word in call.keywords):
            raise _Refused("Write them one after another, with commas between.")
        parts = [*call.args, *(word.value for word in call.keywords)]
        bound = names_bound(file.path) if any(_names(part) for part in parts) else frozenset()
        for part in parts:
            _check(part, bound, file.path.name, 0)
    except SyntaxError as error:
        raise NotThere(f"The arguments '{text}' are not Python: {error.msg}.") from None
    except (_Refused, GradStudioError) as error:
        raise NotThere(f"The arguments '{text}' are not plain values, {EXAMPLE}. {error}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise NotThere(f"The arguments are not Python: {error}.") from None
    return ArgumentExpressions(tuple(call.args), tuple((word.arg, word.value) for word in call.keywords if word.arg))


def evaluate_arguments(arguments: ArgumentExpressions, bound: Mapping[str, Any], file: UsersFile) -> Arguments:
    """The values, made by what the imported file binds.

    Raises:
        CodeFailed: a call in them raised.
        NotThere: a name in them is not bound, or is nothing that can be called.
    """
    with file.blamed():
        positional = tuple(_value(part, bound) for part in arguments.positional)
        return positional, {word: _value(part, bound) for word, part in arguments.keywords}


def _names(part: ast.expr) -> bool:
    return any(isinstance(inner, ast.Name) for inner in ast.walk(part))


def _check(part: ast.expr, bound: frozenset[str], file: str, depth: int) -> None:
    if depth > LARGEST_NESTING:
        raise _Refused(f"They are nested more than {LARGEST_NESTING} deep.")
    match part:
        case ast.Name(id=name) | ast.Call(func=ast.Name(id=name)) if name not in bound:
            raise _Refused(f"{file} binds no '{name[:60]}' at its top level.")
        case ast.Name():
            inner: list[ast.expr] = []
        case ast.Call(func=ast.Name(), args=given, keywords=words) if all(word.arg for word in words):
            inner = [*given, *(word.value for word in words)]
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            inner = items
        case ast.Dict(keys=keys, values=values) if None not in keys:
            inner = [*(key for key in keys if key is not None), *values]
        case _ if _is_literal(part):
            inner = []
        case _:
            raise _Refused(f"'{ast.unparse(part)[:60]}' is neither a value nor a call of a name that {file} binds.")
    for one in inner:
        _check(one, bound, file, depth + 1)


def _is_literal(part: ast.expr) -> bool:
    try:
        ast.literal_eval(part)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _value(part: ast.expr, bound: Mapping[str, Any]) -> Any:
    match part:
        case ast.Name(id=name):
            return _bound(name, bound)
        case ast.Call(func=ast.Name(id=name), args=given, keywords=words):
            called = _bound(name, bound)
            if not callable(called):
                raise NotThere(f"'{name}' is of class {type(called).__name__}, which cannot be called.")
            keywords = {word.arg: _value(word.value, bound) for word in words if word.arg}
            return called(*(_value(one, bound) for one in given), **keywords)
        case ast.List(elts=items):
            return [_value(item, bound) for item in items]
        case ast.Tuple(elts=items):
            return tuple(_value(item, bound) for item in items)
        case ast.Set(elts=items):
            return {_value(item, bound) for item in items}
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return {_value(key, bound): _value(value, bound) for key, value in pairs if key is not None}
        case _:
            return ast.literal_eval(part)


def _bound(name: str, bound: Mapping[str, Any]) -> Any:
    if name not in bound:
        raise NotThere(f"The file binds no '{name}' when it is imported.")
    return bound[name]
