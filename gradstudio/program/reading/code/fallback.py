"""A text that is more than a canvas draws is read again and again, each time with more of it kept as code."""

import ast
from collections.abc import Callable
from typing import Protocol, TypeVar

from gradstudio.graph.model import Graph
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.code.interference import drawn_in_doubt, needs_whole
from gradstudio.program.reading.code.undrawn import Undrawn

MAX_ROUNDS = 60
"""How often a text is read; what is not settled by then is kept as a whole."""


class ReadText(Protocol):
    """What was read of a text."""

    @property
    def graph(self) -> Graph:
        """The program."""


AnyRead = TypeVar("AnyRead", bound=ReadText)


def keep_code(text: str, refused: NotReadable, read: Callable[[ast.Module], AnyRead]) -> AnyRead | None:
    """What is read of a text when all that is refused, or in doubt, is kept as code; None: all of it is.

    Args:
        text: what was refused.
        refused: why.
        read: reads a syntax tree, in which some statements may stand in for others.
    """
    undrawn = Undrawn(text)
    undrawn.take(refused.all)
    for _ in range(MAX_ROUNDS):
        if undrawn.is_whole:
            return None
        try:
            found = read(undrawn.tree())
        except NotReadable as another:
            undrawn.take(another.all)
            continue
        statements = undrawn.tree().body
        if needs_whole(statements, found.graph):
            return None
        if not undrawn.take_all(drawn_in_doubt(statements, found.graph)):
            return found
    return None
