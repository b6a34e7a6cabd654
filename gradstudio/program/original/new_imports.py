"""Imports that lines which are printed anew need, put below those that a text has."""

import ast
from collections import Counter
from collections.abc import Iterable

from gradstudio.program.original.statement_lines import StatementLines
from gradstudio.program.write import IMPORTED, import_lines


def behind_imports(typed: StatementLines) -> int:
    """The line (from 1) in front of which something goes that stands directly below the imports of a text."""
    first = behind = 0
    for one in typed.statements:
        if one.parent >= 0:
            continue
        if isinstance(one.node, ast.Import | ast.ImportFrom):
            behind = one.last + 1
        elif not (isinstance(one.node, ast.Expr) and isinstance(one.node.value, ast.Constant) and not first):
            return behind or one.first
        first = first or one.last + 1
    return behind or first or 1


def with_imports(typed: StatementLines, text: str) -> str:
    """An edited text with the imports of what it reads since, put below those that it has.

    Args:
        typed: as it was before.
        text: as it is now, but for imports.

    Raises:
        SyntaxError: it is no Python.
    """
    missing = _missing(typed, text)
    if not missing:
        return text
    lines, at = text.split("\n"), behind_imports(StatementLines(text))
    return "\n".join([*lines[: at - 1], *missing, *lines[at - 1 :]])


def _missing(typed: StatementLines, text: str) -> list[str]:
    before = _read(node for one in typed.statements if one.parent < 0 for node in one.nodes)
    added = _read(ast.parse(text).body) - before
    return [line for line in import_lines(added.keys() & IMPORTED.keys() - _bound(typed)) if line]


def _read(statements: Iterable[ast.stmt]) -> Counter[str]:
    """How often each name is read."""
    parts = (part for one in statements for part in ast.walk(one))
    return Counter(part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load))


def _bound(typed: StatementLines) -> set[str]:
    """The writer's words that a text binds to what the writer takes them for."""
    found: set[str] = set()
    for one in typed.statements:
        node = one.node
        if one.parent >= 0 or not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        for alias in node.names:
            path = f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
            word = alias.asname or alias.name
            if IMPORTED.get(word) == path:
                found.add(word)
            elif isinstance(node, ast.Import) and alias.asname is None:
                found.add(path.partition(".")[0])
    return found
