"""Programs that are the same but for the names of what is inlined, for which a text has no statement of its own."""

import ast
import re
from collections.abc import Mapping, Sequence

from gradstudio.program.original.statement_lines import StatementLines

_PIECES = re.compile(r"([^\W\d]\w*)")


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
    """Whether lines say the same where some names of the first ones may be others, each the same everywhere."""
    there: dict[str, str] = {}
    back: dict[str, str] = {}
    if len(one) != len(other):
        return False
    for line, meant in zip(one, other, strict=True):
        pieces, wanted = _PIECES.split(line), _PIECES.split(meant)
        if len(pieces) != len(wanted) or pieces[::2] != wanted[::2]:
            return False
        for word, own in zip(pieces[1::2], wanted[1::2], strict=True):
            if word != own and word not in names:
                return False
            if there.setdefault(word, own) != own or back.setdefault(own, word) != word:
                return False
    return True
