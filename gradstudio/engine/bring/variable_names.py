"""Names for what was recorded: those that the user's source binds, else after the submodule or the operator."""

import ast
import builtins
import linecache
import re
from collections.abc import Sequence
from functools import lru_cache

from gradstudio.engine.bring.forward_recorder import Call, Line, Span
from gradstudio.graph.errors import Refused
from gradstudio.graph.names import check, suggest

OUT = "out"


class Names:
    """Gives each name once."""

    def __init__(self) -> None:
        """None is taken."""
        self._taken: set[str] = set()

    def fresh(self, wish: str) -> str:
        """A legal name like the wish that nothing has yet."""
        base = _legal(wish)
        name, number = base, 1
        while name in self._taken or hasattr(builtins, name):
            number += 1
            name = f"{base}{'_' if base[-1].isdigit() else ''}{number}"
        self._taken.add(name)
        return name


def _legal(wish: str) -> str:
    name = suggest(re.sub(r"\W", "_", wish)).lstrip("_")[:60] or "x"
    try:
        return check(name)
    except Refused:
        return check(f"{suggest(name)}_")


def wishes(calls: Sequence[Call], number: int) -> tuple[str, ...]:
    """What the source calls the results of a call; nothing when it gives no name to these very values."""
    call = calls[number]
    found = _statement(call.line)
    if found is None or not _is_last(calls, number, found):
        return ()
    return _wishes(found, call)


def _wishes(found: ast.stmt, call: Call) -> tuple[str, ...]:
    value, span = getattr(found, "value", None), call.line.span
    if isinstance(found, ast.Return):
        parts = value.elts if isinstance(value, ast.Tuple) else [value]
        if span is not None and not any(_gives(part, span) for part in parts):
            return ()
        return (f"{_short(call.inside[-1].path)}_{OUT}",) if call.inside else (OUT,)
    if (
        span is None
        or _gives(value, span)
        or (isinstance(found, ast.AugAssign) and span == (*_begin(found), *_end(found)))
    ):
        return _targets(found)
    target = found.targets[0] if isinstance(found, ast.Assign) else None
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return next((_names(t) for t, part in zip(target.elts, value.elts, strict=True) if _gives(part, span)), ())
    return ()


def _gives(value: ast.expr | None, span: Span) -> bool:
    """Whether what stands at the span is what an expression gives."""
    match value:
        case None:
            return False
        case ast.IfExp(body=one, orelse=other):
            return _gives(one, span) or _gives(other, span)
        case ast.BoolOp(values=values):
            return any(_gives(one, span) for one in values)
        case ast.NamedExpr(value=inner):
            return _gives(inner, span)
        case _:
            return (value.lineno, value.col_offset, value.end_lineno, value.end_col_offset) == span


def _short(path: str) -> str:
    """The last word of a submodule's path; with what is before it when that is only a number."""
    last = path.rpartition(".")[2]
    return path.replace(".", "_") if last.isdigit() else last


def _is_last(calls: Sequence[Call], number: int, statement: ast.stmt) -> bool:
    """Whether no other call of the same statement follows, those of submodules that it calls aside."""
    call = calls[number]
    for other in calls[number + 1 :]:
        if len(other.inside) <= len(call.inside):
            same = other.line.frame == call.line.frame and other.line.file == call.line.file
            if call.line.span is not None:
                return not same or other.line.span != call.line.span
            return not same or _statement(other.line) is not statement
    return True


def _targets(statement: ast.stmt) -> tuple[str, ...]:
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    return _names(target)


def _names(target: ast.expr | None) -> tuple[str, ...]:
    if isinstance(target, ast.Name):
        return (target.id,)
    if isinstance(target, ast.Tuple) and all(isinstance(one, ast.Name) for one in target.elts):
        return tuple(one.id for one in target.elts if isinstance(one, ast.Name))
    return (target.attr,) if isinstance(target, ast.Attribute) else ()


def _statement(line: Line) -> ast.stmt | None:
    """The innermost assignment or return at work; on a line with several, the one that holds the span."""
    found = _statements(line.file).get(line.number, ()) if line.file else ()
    if line.span is None:
        return found[0] if len(found) == 1 else None
    begin, end = line.span[:2], line.span[2:]
    return next((one for one in reversed(found) if _begin(one) <= begin and end <= _end(one)), None)


def _begin(statement: ast.stmt) -> tuple[int, int]:
    return statement.lineno, statement.col_offset


def _end(statement: ast.stmt) -> tuple[int, int]:
    return statement.end_lineno or statement.lineno, statement.end_col_offset or 0


@lru_cache(maxsize=256)
def _statements(file: str) -> dict[int, list[ast.stmt]]:
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return {}
    found: dict[int, list[ast.stmt]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return):
            for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                found.setdefault(number, []).append(node)
    return found
