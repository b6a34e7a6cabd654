"""A text that is more than a canvas draws is read a few times: each tells all that is to be kept as code.

What neighbours put in doubt is looked for by syntax alone between two passes, which costs little.
"""

import ast
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from gradstudio.graph.model import Graph
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.code.interference import (
    drawn_in_doubt,
    is_all_in_doubt,
    needs_whole,
    read_in_doubt,
)
from gradstudio.program.reading.code.undrawn import Undrawn

MAX_PASSES = 12
"""How often a text is read; what is not settled by then is kept as a whole."""


class ReadText(Protocol):
    """What was read of a text."""

    @property
    def graph(self) -> Graph:
        """The program."""


AnyRead = TypeVar("AnyRead", bound=ReadText)


def keep_code(
    undrawn: Undrawn, refused: Sequence[NotReadable], read: Callable[[ast.Module], AnyRead]
) -> AnyRead | None:
    """What is read of a text when all that is refused, or in doubt, is kept as code; None: all of it is.

    Args:
        undrawn: the text that was refused, and what of it is code in any case.
        refused: why; nothing where something is code in any case.
        read: reads a syntax tree, in which some statements may stand in for others.
    """
    try:
        return _keep_code(undrawn, refused, read)
    except RecursionError:
        return None  # what is refused is nested too deep to be told apart


def _keep_code(
    undrawn: Undrawn, refused: Sequence[NotReadable], read: Callable[[ast.Module], AnyRead]
) -> AnyRead | None:
    if refused:
        undrawn.take(refused)
    for _ in range(MAX_PASSES):
        tree = _taken_in_doubt(undrawn)
        if tree is None:
            return None
        try:
            found = read(tree)
        except NotReadable as another:
            undrawn.take(another.all)
            continue
        statements = undrawn.tree().body
        if needs_whole(statements, found.graph):
            return None
        if not undrawn.take_all(read_in_doubt(statements, found.graph)):
            return found
    return None


def _taken_in_doubt(undrawn: Undrawn) -> ast.Module | None:
    """The tree with what its neighbours put in doubt as code, by syntax alone; None: all of the text is in doubt."""
    while not undrawn.is_whole:
        tree = undrawn.tree()
        if is_all_in_doubt(tree.body):
            return None
        if not undrawn.take_all(drawn_in_doubt(tree.body)):
            return tree
    return None
