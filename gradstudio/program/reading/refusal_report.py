"""All that a text is refused for: what follows from an earlier refusal is not told again."""

import ast
from collections.abc import Sequence

from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.desugar.closures import stored_names
from gradstudio.program.reading.syntax_queries import walk

MOST = 20
"""Reasons that are told of one text."""


class ConsequentRefusal(NotReadable):
    """It cannot be read because something else cannot."""


class RefusalReport:
    """The refusals of one text, and the names that have no meaning because of them.

    Attributes:
        count: how often something was refused, told or not.
        lines: the first and the last of each statement that was.
    """

    def __init__(self, outer: "RefusalReport | None" = None, is_lenient: bool = False) -> None:
        """None yet; those of a definition join those of the text around it.

        Args:
            outer: those of the text around it.
            is_lenient: what is refused goes on as something unknown, so that nothing beside it only follows from it.
        """
        self._is_lenient: bool = is_lenient if outer is None else outer._is_lenient
        self._found: dict[tuple[int, int, str], NotReadable] = {} if outer is None else outer._found
        self.lines: list[tuple[int, int]] = [] if outer is None else outer.lines
        self.count = 0
        self._lost: set[str] = set() if outer is None else set(outer._lost)
        self._lost_around = frozenset[str]() if outer is None else frozenset(outer._lost)

    def __len__(self) -> int:
        return len(self._found)

    def take(self, error: NotReadable, where: ast.AST) -> None:
        """A statement, or a part of one, is refused.

        Raises:
            NotReadable: so much is told already that it is enough.
        """
        self.count += 1
        first = getattr(where, "lineno", error.line)
        self.lines.append((first, getattr(where, "end_lineno", None) or first))
        read = {part.id for part in walk(where) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
        follows = isinstance(error, ConsequentRefusal) or not self._lost.isdisjoint(read)
        if self._is_lenient:
            follows = not self._lost_around.isdisjoint(read)  # a definition may be read when that is code
        if not follows:
            self._found[error.line, error.column, error.reason] = error
        self.lose(where)
        if len(self._found) >= MOST and not self._is_lenient:
            self.tell()

    def lose(self, where: ast.AST) -> None:
        """What a statement would have bound means nothing."""
        if isinstance(where, ast.FunctionDef | ast.ClassDef):
            self._lost.add(where.name)  # what it binds inside is its own
        else:
            self._lost.update(stored_names([where]))
        if isinstance(where, ast.Import | ast.ImportFrom):
            self._lost.update(alias.asname or alias.name.partition(".")[0] for alias in where.names)

    def tell(self) -> None:
        """Refuse the text when there is a reason.

        Raises:
            NotReadable: the first in the text, with the others.
        """
        if self._found:
            first, *others = self.all()
            raise NotReadable(first.reason, first.line, first.column, tuple(others))

    def all(self) -> list[NotReadable]:
        """What is told, in the order of the text."""
        return sorted(self._found.values(), key=lambda one: (one.line, one.column))


def all_in_characters(errors: Sequence[NotReadable], text: str) -> NotReadable:
    """The first refusal with the others, as their text counts characters."""
    first, *others = (_in_characters(one, text) for one in errors)
    return NotReadable(first.reason, first.line, first.column, tuple(others))


def _in_characters(error: NotReadable, text: str) -> NotReadable:
    """A refusal whose column counts characters; those of a syntax tree count bytes."""
    line = text.split("\n")[error.line - 1].encode()
    return NotReadable(error.reason, error.line, len(line[: error.column].decode(errors="ignore")))
