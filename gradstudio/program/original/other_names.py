"""Programs that are the same but for the names of what is inlined, for which a text has no statement of its own."""

import ast
from collections.abc import Mapping, Sequence

from gradstudio.program.original.statement_lines import StatementLines


def names_from_elsewhere(typed: StatementLines, printed: StatementLines, places: Mapping[int, int]) -> frozenset[str]:
    """The names that printed statements bind which were typed in another definition than where they are printed."""
    found: set[str] = set()
    for number, place in places.items():
        one = printed.statements[number]
        if typed.statements[place].within == one.within:
            continue
        parts = (part for node in one.nodes for part in ast.walk(node))
        found.update(part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
    return frozenset(found)


def is_same_but_for(names: frozenset[str], one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether lines say the same where some names of the first ones may be others, each the same everywhere.

    Names of values alone: what is called, an attribute, an argument or a text is what it is.
    """
    there: dict[str, str] = {}
    back: dict[str, str] = {}
    try:
        said, meant = (ast.parse("\n".join(lines)) for lines in (one, other))
    except SyntaxError:
        return False
    # As long as all have been alike so far, both walks meet the same places in the same order.
    for part, wanted in zip(ast.walk(said), ast.walk(meant), strict=False):
        if type(part) is not type(wanted) or _words(part) != _words(wanted):
            return False
        if isinstance(part, ast.Name) and isinstance(wanted, ast.Name):
            if part.id != wanted.id and part.id not in names:
                return False
            if there.setdefault(part.id, wanted.id) != wanted.id or back.setdefault(wanted.id, part.id) != part.id:
                return False
    return True


def _words(part: ast.AST) -> list[tuple[str, object]]:
    """What a part of a program says itself, its name excepted, and how many parts stand below it."""
    found: list[tuple[str, object]] = []
    for field, value in ast.iter_fields(part):
        if isinstance(value, list):
            found.append((field, [None if isinstance(one, ast.AST) else one for one in value]))
        elif not isinstance(value, ast.AST) and not (isinstance(part, ast.Name) and field == "id"):
            found.append((field, repr(value)))
    return found
