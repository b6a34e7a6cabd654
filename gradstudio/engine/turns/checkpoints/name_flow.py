"""Which names a turn of a loop needs as the turn before has left them, and which it binds anew."""

import ast
from functools import lru_cache

from gradstudio.engine.access import FILENAME
from gradstudio.engine.script.compiled_steps import Item, Step

_DEFINITIONS = (ast.FunctionDef, ast.ClassDef, ast.Lambda)


class NameFlow:
    """What one more turn does with names.

    Attributes:
        bound: names that it binds before it reads them, if it comes to that; what they mean now is looked at, no more.
        dropped: those of them that it binds in any case.
    """

    def __init__(self, body: tuple[Item, ...], called: frozenset[str]) -> None:
        """Go through a loop's body; `called` are names that definitions read when they are called."""
        self._carried, self._seen = set(called), set[str]()
        always = set[str]()
        self._walk(body, always)
        self.dropped = frozenset(always - self._carried)
        self.bound = frozenset(self._seen - self._carried)

    def _walk(self, items: tuple[Item, ...], bound: set[str]) -> None:
        for item in items:
            if isinstance(item, Step):
                self._carried.update(name for name in item.source.reads if name not in bound)
                bound.update(item.statement.names)
                self._seen.update(item.statement.names)
                continue
            names = item.expression.co_names if item.expression is not None else ()
            self._carried.update(name for name in names if name not in bound)
            self._seen.update(item.targets)
            is_certain = item.block.kind not in ("for", "if")
            self._walk(item.body, bound if is_certain else {*bound, *item.targets})


@lru_cache(2)
def names_in_definitions(text: str) -> frozenset[str]:
    """What definitions of a program read, of themselves or of the program around."""
    definitions = [one for one in ast.walk(ast.parse(text, FILENAME)) if isinstance(one, _DEFINITIONS)]
    return frozenset(name.id for one in definitions for name in ast.walk(one) if isinstance(name, ast.Name))
