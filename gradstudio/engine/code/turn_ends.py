"""Undrawn Python that ends a turn of the loop it stands in: `break` and `continue` of a loop run by statements.

The code goes to its own end and leaves word in the program's names; the cursor then goes where Python would go.
"""

import ast
from typing import Any, Final

from gradstudio.graph.text.loop_exits import TURN_ENDS, ways_out

ENDED: Final = "__gradstudio_ended__"
"""The name under which it is said how a turn has ended; no program can spell it."""
BREAK, CONTINUE = "break", "continue"


def within_turn(text: str) -> ast.Module:
    """A text whose `break` and `continue` belong to a loop around it, so that it can be run alone; others as they are.

    Raises:
        SyntaxError: it is no Python.
    """
    tree = ast.parse(text)
    ends: set[ast.AST] = {one for statement in tree.body for one in ways_out(statement) if isinstance(one, TURN_ENDS)}
    if not ends:
        return tree
    body = [inner for one in tree.body for inner in _Telling(ends).told(one)]
    once = ast.copy_location(ast.While(ast.Constant(True), [*body, ast.Break()], []), tree.body[0])
    return ast.fix_missing_locations(ast.Module([once], []))


class _Telling(ast.NodeTransformer):
    """Puts word of it before each statement that ends a turn."""

    def __init__(self, ends: set[ast.AST]) -> None:
        self._ends = ends

    def told(self, node: ast.stmt) -> list[ast.stmt]:
        """The statement, and what is said before it."""
        found: Any = self.visit(node)
        return found if isinstance(found, list) else [found]

    def visit_Break(self, node: ast.Break) -> Any:
        """It ends the loop."""
        return self._end(node, BREAK)

    def visit_Continue(self, node: ast.Continue) -> Any:
        """It ends the turn."""
        return self._end(node, CONTINUE)

    def _end(self, node: ast.stmt, word: str) -> Any:
        if node not in self._ends:
            return node
        says = ast.Assign([ast.Name(ENDED, ast.Store())], ast.Constant(word))
        return [ast.copy_location(says, node), ast.copy_location(ast.Break(), node)]
