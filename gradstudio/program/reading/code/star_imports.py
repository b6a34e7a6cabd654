"""`from … import *` in code: where it may stand, what is kept as code with it, and which names it may bind.

It binds names that no syntax shows. What is not bound elsewhere and may come from there stays code, as does all above
it: there are imports alone, so that nothing that is drawn has another meaning behind it. A module of the file's own is
taken to leave Python's built-ins, and `torch`, `nn`, `F`, `optim`, `np` and `math`, as they are.
"""

import ast
import builtins
import itertools
import math
import random
import typing
from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType

from gradstudio.graph.names import RESERVED
from gradstudio.graph.text.code_names import names_of_statements
from gradstudio.graph.text.code_records import STANDARD
from gradstudio.program.reading.code.code_imports import imported
from gradstudio.program.reading.code.code_statement import CodeStatement, codes_in

_MODULES: tuple[ModuleType, ...] = (itertools, math, random, typing)
"""Modules of Python's own of which people import all."""
_REBINDING = frozenset("torch numpy pylab matplotlib scipy sympy os io builtins tkinter turtle".split())
"""Packages of which to import all changes what built-ins and the words of the writer mean."""


def _public(module: ModuleType) -> frozenset[str]:
    names: Sequence[str] = getattr(module, "__all__", dir(module))
    return frozenset(name for name in names if not name.startswith("_") or "__all__" in vars(module))


_NAMES = {module.__name__: _public(module) for module in _MODULES}
_WORDS = RESERVED | set(dir(builtins))


class Stars:
    """All such imports of a text."""

    def __init__(self, statements: Sequence[ast.stmt]) -> None:
        """See them in the syntax tree of a text, in which some statements are code."""
        self._statements = statements
        self._modules = [module for one in codes_in(statements) for module in one.names.stars]
        codes = [one for one in statements if isinstance(one, CodeStatement)]
        self._first = min((one.lineno for one in codes), default=0)
        self._last = last_star([part for one in codes for part in one.statements])
        self._is_apart = sum(is_star(part) for one in codes for part in one.statements) == len(self._modules)

    def are_in_doubt(self) -> bool:
        """Whether what they bind may change what is drawn."""
        if not self._modules:
            return False
        is_clear = self._is_apart and all(map(self._is_sure, self._above(with_code=True)))
        return not is_clear or any(map(_rebinds, self._modules))

    def take_along(self) -> Iterator[ast.stmt]:
        """The drawn statements that are to be kept as code because of them."""
        if not self._modules:
            return
        for one in self._above(with_code=False):
            if _is_import(one) and (one.lineno > self._first or not _is_usual(one)):
                yield one
        for one in self._statements:  # definitions and the device are printed above them
            if isinstance(one, CodeStatement):
                continue
            if isinstance(one, ast.FunctionDef | ast.ClassDef):
                names: Iterable[str] = (one.name,)
            else:
                names = (name for name in names_of_statements([one]).binds if name == "device")
            if any(map(self._may_bind, names)):
                yield one

    def _is_sure(self, statement: ast.stmt) -> bool:
        """Whether a statement above them has the same meaning, and what it binds the same value, behind them."""
        if _is_import(statement) or _is_text(statement):
            return True
        names = names_of_statements([statement])
        if any(map(self._may_bind, (*names.binds, *names.rebound, *names.removes))):
            return False
        return statement.lineno < self._first or all(module in _NAMES for module in self._modules)

    def _may_bind(self, name: str) -> bool:
        return any(may_bind(module, name) for module in self._modules)

    def _above(self, *, with_code: bool) -> list[ast.stmt]:
        """What stands above the last of them."""
        found: list[ast.stmt] = []
        for one in self._statements:
            inner = one.statements if isinstance(one, CodeStatement) else [one]
            if with_code or not isinstance(one, CodeStatement):
                found += [part for part in inner if part.lineno <= self._last]
        return found


def may_bind(module: str, name: str) -> bool:
    """Whether to import all of a module may bind a name."""
    return not name.startswith("_") and (module not in _NAMES or name in _NAMES[module])


def last_star(statements: Sequence[ast.stmt]) -> int:
    """The line of the last of them; 0 where there is none."""
    return max((one.lineno for one in statements if is_star(one)), default=0)


def is_star(statement: ast.stmt) -> bool:
    """Whether a statement imports all of a module."""
    return isinstance(statement, ast.ImportFrom) and any(alias.name == "*" for alias in statement.names)


def _rebinds(module: str) -> bool:
    """Whether a module is known to give other meanings to what is drawn under Python's own names."""
    if module in _NAMES:
        return not _NAMES[module].isdisjoint(_WORDS)
    return module.partition(".")[0] in _REBINDING


def _is_import(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Import | ast.ImportFrom)


def _is_usual(statement: ast.stmt) -> bool:
    """Whether it imports what everybody has under the same names, as the head of a script does."""
    meant = imported([statement])
    return bool(meant) and all(STANDARD.get(name) == path for name, path in meant.items())


def _is_text(statement: ast.stmt) -> bool:
    """Whether it is a docstring."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
