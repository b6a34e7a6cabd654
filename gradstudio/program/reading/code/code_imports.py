"""What imports in undrawn Python bind."""

import ast
from collections.abc import Iterable, Iterator

from gradstudio.graph.text.code_functions import bound_by_alias


def imported(statements: Iterable[ast.stmt]) -> dict[str, str]:
    """What imports bind, and the Python path of it."""
    found: dict[str, str] = {}
    for one in sure_imports(statements):
        if isinstance(one, ast.Import):
            for alias in one.names:
                found[bound_by_alias(alias)] = alias.name if alias.asname else alias.name.partition(".")[0]
        elif not one.level:
            for alias in one.names:
                found[bound_by_alias(alias)] = f"{one.module}.{alias.name}"
    return found


def sure_imports(statements: Iterable[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that are made where the statements come to their end: of a `try`, if nothing goes on without them."""
    for one in statements:
        if isinstance(one, ast.Import | ast.ImportFrom):
            yield one
        elif isinstance(one, ast.Try) and all(isinstance(handler.body[-1], ast.Raise) for handler in one.handlers):
            yield from sure_imports(one.body)
