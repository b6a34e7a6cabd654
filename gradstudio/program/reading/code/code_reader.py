"""Undrawn statements of a text become nodes that hold them."""

import ast
import contextlib
from collections.abc import Callable

from gradstudio.graph.model import Graph, Header, ItemId
from gradstudio.graph.text.code_functions import bound_by_alias
from gradstudio.graph.text.code_names import CodeNames, names_of_code
from gradstudio.graph.text.code_records import CODE, MAX_NAMES, READ, STANDARD
from gradstudio.graph.text.literal_text import quote
from gradstudio.operators.calls.argument_binding import Written
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.code.code_statement import CodeStatement
from gradstudio.program.reading.graph_builder import GraphBuilder, Port, WiredResult
from gradstudio.program.reading.imports import Modules
from gradstudio.program.reading.name_scope import Scope


class CodeReader:
    """Reads undrawn statements of one text into a draft."""

    def __init__(self, draft: GraphBuilder, scope: Scope, modules: Modules) -> None:
        """Read into this draft, names by this scope."""
        self._draft, self._scope, self._modules = draft, scope, modules

    def read(self, statement: CodeStatement) -> ItemId:
        """Add the node.

        Raises:
            NotReadable: it belongs to what is around it, or is too large.
        """
        names = statement.names
        if names.is_loose:
            reason = "A statement leaves a loop or a function that is drawn."
            raise NotReadable(reason, statement.lineno, statement.col_offset)
        ports: dict[str, Port] = {"code": Written(quote(statement.text))}
        for name in (*names.reads, *names.keeps):
            found = self._scope.find(name)
            if name not in STANDARD and isinstance(found, WiredResult):
                ports[READ + name] = found
        if max(len(ports), len(names.binds)) > MAX_NAMES:
            raise NotReadable(f"The code binds or reads more than {MAX_NAMES} names.", statement.lineno)
        foreign: set[str] = set()
        for one in statement.statements:
            foreign.update(_foreign(one))
            foreign.update(_made_by(one, lambda name: name in foreign or self._is_foreign(name)))
        made = self._draft.node(CODE, ports, names=names.binds)
        self._bind(names, made)
        for k, name in enumerate(names.binds):
            if name in foreign:
                self._draft.set_foreign(made.source, k)
        for one in statement.statements:
            if isinstance(one, ast.Import | ast.ImportFrom):
                with contextlib.suppress(NotReadable):  # drawn statements may use what is known of it
                    self._modules.read(one)
        return made.source

    def _is_foreign(self, name: str) -> bool:
        found = self._scope.find(name)
        return isinstance(found, WiredResult) and self._draft.is_foreign(found)

    def _bind(self, names: CodeNames, made: WiredResult) -> None:
        for name in names.removes:
            self._scope.forget(name, f"'{name[:60]}' may have no value here.")
            self._modules.forget(name)
        for k, name in enumerate(names.binds):
            self._modules.forget(name)
            self._scope.bind(name, self._draft.result(made.source, k))


def _foreign(statement: ast.stmt) -> list[str]:
    """The names of classes and of what is imported, wherever they are bound."""
    found: list[str] = []
    for part in ast.walk(statement):
        if isinstance(part, ast.ClassDef):
            found.append(part.name)
        elif isinstance(part, ast.alias):
            found.append(bound_by_alias(part))
    return found


def _made_by(statement: ast.stmt, is_foreign: Callable[[str], bool]) -> list[str]:
    """The names that a statement binds to what something foreign gives: ``net = Net().to(device)``."""
    if not isinstance(statement, ast.Assign):
        return []
    root: ast.expr = statement.value
    while isinstance(root, ast.Call | ast.Attribute | ast.Subscript):
        root = root.func if isinstance(root, ast.Call) else root.value
    if not isinstance(root, ast.Name) or not is_foreign(root.id):
        return []
    return [part.id for target in statement.targets for part in ast.walk(target) if isinstance(part, ast.Name)]


def whole_as_code(text: str) -> Graph:
    """A program of one node that holds all of a text.

    Raises:
        NotReadable: Python would not run it.
    """
    code = text.removesuffix("\n")
    try:
        names = names_of_code(code)
    except RecursionError:
        raise NotReadable("A statement is nested too deep to be looked through.", 1) from None
    if names.is_loose or len(names.binds) > MAX_NAMES:
        raise NotReadable("A statement leaves a loop or a function that is not there.", 1)
    draft = GraphBuilder()
    draft.graph.header = Header(seed=None)
    draft.node(CODE, {"code": Written(quote(code))}, names=names.binds)
    return draft.finish()
