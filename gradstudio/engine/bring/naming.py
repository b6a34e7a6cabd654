"""Names for what was recorded: those that the user's source binds, else after the submodule or the operator."""

import ast
import builtins
import linecache
import re
from collections.abc import Sequence
from functools import lru_cache

from gradstudio.engine.bring.record import Call, Line
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
    """What the source calls the results of a call; nothing when it gives no name to them."""
    call = calls[number]
    found = _statement(call.line)
    if found is None or not _is_last(calls, number, found):
        return ()
    if isinstance(found, ast.Return):
        return (f"{_short(call.inside[-1].path)}_{OUT}",) if call.inside else (OUT,)
    return _targets(found)


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
            return not same or _statement(other.line) is not statement
    return True


def _targets(statement: ast.stmt) -> tuple[str, ...]:
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    if isinstance(target, ast.Name):
        return (target.id,)
    if isinstance(target, ast.Tuple) and all(isinstance(one, ast.Name) for one in target.elts):
        return tuple(one.id for one in target.elts if isinstance(one, ast.Name))
    return (target.attr,) if isinstance(target, ast.Attribute) else ()


def _statement(line: Line) -> ast.stmt | None:
    """The innermost assignment or return that holds the line."""
    return _statements(line.file).get(line.number) if line.file else None


@lru_cache(maxsize=256)
def _statements(file: str) -> dict[int, ast.stmt]:
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return {}
    found: dict[int, ast.stmt] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return):
            for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                found[number] = node
    return found
