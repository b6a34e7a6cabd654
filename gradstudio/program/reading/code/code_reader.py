"""Undrawn statements of a text become nodes that hold them."""

import ast
import builtins
import contextlib
from collections.abc import Callable, Iterable, Sequence, Set

from gradstudio.graph.model import DEFINITION_INPUTS, Graph, Header, ItemId
from gradstudio.graph.names import RESERVED
from gradstudio.graph.text.code_functions import bound_by_alias
from gradstudio.graph.text.code_names import names_of_code
from gradstudio.graph.text.code_records import CODE, MAX_NAMES, MEMBERS, PLACE, READ, STANDARD
from gradstudio.graph.text.literal_text import quote
from gradstudio.operators.calls.argument_binding import Written
from gradstudio.operators.catalogue.loader import load
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.code.code_imports import imported, sure_imports
from gradstudio.program.reading.code.code_statement import CodeStatement
from gradstudio.program.reading.code.star_imports import is_star, may_bind
from gradstudio.program.reading.graph_builder import GraphBuilder, Port, WiredResult
from gradstudio.program.reading.imports import Modules
from gradstudio.program.reading.name_scope import Scope

_UNUSED = "_"
"""What people call a value that nobody wants."""
_TOLD = frozenset({"__len__", "__getitem__", "__iter__", "__contains__", "__str__"})
"""Methods of Python's own that nn.Module has not, or that only say something."""


class CodeReader:
    """Reads undrawn statements of one text into a draft."""

    def __init__(self, draft: GraphBuilder, scope: Scope, modules: Modules, *, is_inside: bool = False) -> None:
        """Read into this draft, names by this scope; `is_inside` a definition names belong to that."""
        self._draft, self._scope, self._modules = draft, scope, modules
        self._is_inside = is_inside
        self._removed = frozenset[str]()

    def read(self, statement: CodeStatement, *, is_pretended: bool = False) -> ItemId:
        """Add the node.

        Where it `is_pretended`, the text is read again with all that is code with it.

        Raises:
            NotReadable: it belongs to what is around it, or is too large.
        """
        names = statement.names
        if names.is_loose or (names.leaves_turn and not self._draft.is_in_loop):
            reason = "A statement leaves a loop or a function that is drawn."
            raise NotReadable(reason, statement.lineno, statement.col_offset)
        if self._is_inside and (reason := self._reason_inside(statement) or self._removal_reason(statement)):
            raise NotReadable(reason, statement.lineno, statement.col_offset)
        ports: dict[str, Port] = {"code": Written(quote(statement.text))}
        renamed = statement.new_names if self._is_inside else {}
        binds = tuple(renamed.get(name, name) for name in names.binds)
        for name in (*names.reads, *names.keeps):
            found = self._scope.find(renamed.get(name, name))
            if name not in STANDARD and isinstance(found, WiredResult):
                ports[READ + name] = found
        if max(len(ports), len(names.binds)) > MAX_NAMES:
            raise NotReadable(f"The code binds or reads more than {MAX_NAMES} names.", statement.lineno)
        foreign: set[str] = set()
        for one in statement.statements:
            foreign.update(_foreign(one))
            foreign.update(_made_by(one, lambda name: name in foreign or self._is_foreign(name)))
        of_torch = {name for name, path in imported(statement.statements).items() if path.startswith("torch.")}
        made = self._draft.node(CODE, ports, names=binds)
        self._bind(names.removes, binds, made)
        for k, name in enumerate(names.binds):
            if name in foreign:
                self._draft.set_foreign(made.source, k)
            if name in of_torch:
                self._draft.set_of_torch(made.source, k)
        for one in sure_imports(statement.statements):
            if is_star(one):
                if not is_pretended:
                    self._forget_what_may_be_bound(one)
                continue
            with contextlib.suppress(NotReadable):  # drawn statements may use what is known of it
                self._modules.read(one)
            self._modules.forget_unknown(map(bound_by_alias, one.names))
        return made.source

    def _reason_inside(self, statement: CodeStatement) -> str:
        return reason_inside(statement, in_place=self._draft.of_code)

    def _removal_reason(self, statement: CodeStatement) -> str:
        """Why a definition cannot hold code that unbinds names, or that reads them where they are unbound."""
        names = statement.names
        found = (self._scope.find(name) for name in names.removes)
        if any(isinstance(one, WiredResult) and one.source == DEFINITION_INPUTS for one in found):
            return "The code unbinds what the definition is given."
        if not self._removed.isdisjoint((*names.reads, *names.keeps, *names.later)):
            return "The code reads what may be unbound."
        self._removed |= names.removes
        return ""

    def _forget_what_may_be_bound(self, star: ast.stmt) -> None:
        """What was imported before all of a module was may be something else now."""
        assert isinstance(star, ast.ImportFrom)
        for name, path in self._modules.paths().items():
            if STANDARD.get(name) != path and may_bind(star.module or "", name):
                self._modules.forget(name)

    def read_members(self, members: Iterable[CodeStatement]) -> None:
        """Add a node for each piece of a class that is no method which a canvas draws.

        Raises:
            NotReadable: the class would be another one.
        """
        bound: set[str] = set()
        for one in members:
            if reason := members_reason(one, bound):
                raise NotReadable(reason, one.lineno, one.col_offset)
            bound.update(one.names.binds)
            self._draft.line = one.lineno
            self._draft.node(CODE, {"code": Written(quote(one.text)), PLACE: Written(MEMBERS)})

    def _is_foreign(self, name: str) -> bool:
        found = self._scope.find(name)
        return isinstance(found, WiredResult) and self._draft.is_foreign(found)

    def _bind(self, removes: Iterable[str], binds: Sequence[str], made: WiredResult) -> None:
        for name in removes:
            self._scope.forget(name, f"'{name[:60]}' may have no value here.")
            self._modules.forget(name)
        for k, name in enumerate(binds):
            self._modules.forget(name)
            if self._is_inside and name == _UNUSED:
                continue  # nothing in the definition reads it
            self._scope.bind(name, self._draft.result(made.source, k))


def members_reason(statement: CodeStatement, bound: Set[str]) -> str:
    """Why code cannot stand in a class that is drawn, behind what binds the names `bound` in it; "" when it can."""
    names = statement.names
    if names.removes or names.rebound or names.is_loose or names.leaves_turn:
        return "A member of the class binds or unbinds names of what is around it."
    if word := next((one for one in names.binds if not _is_plain_method(one)), ""):
        return f"'{word[:60]}' changes what nn.Module does."
    known = {*bound, *STANDARD, *dir(builtins)}
    if word := next((one for one in (*names.reads, *names.keeps) if one not in known), ""):
        return f"'{word[:60]}' is read when the class is made, which is drawn above all else."
    return ""


def _is_plain_method(name: str) -> bool:
    """Whether a member's name is nothing to nn.Module."""
    is_free = not name.startswith("__") or name in _TOLD
    return is_free and not load().overloads(f"torch.nn.Module.{name}") and name not in ("forward", "training")


def reason_inside(statement: CodeStatement, *, in_place: bool = False) -> str:
    """Why code cannot stand between what is drawn in a definition, which is code then; "" when it can.

    What is drawn `in_place` is printed back into the class that it stands in.
    """
    names = statement.names
    renamed = statement.new_names
    if not renamed.keys().isdisjoint(names.later):
        return "A name that a function of the code reads is another one in what is drawn."
    if names.is_open:
        return "The code reaches for names that it does not say."
    if names.rebound:
        return "The code binds some of what is around the definition."
    if word := next((one for one in names.binds if renamed.get(one, one) in RESERVED), ""):
        return f"'{word}' is a word the exported script needs."
    if _UNUSED in (*names.reads, *names.later):
        return "The code reads '_', which what is drawn may bind."
    for part in (part for one in statement.statements for part in ast.walk(one)):
        match part:
            case ast.Global() | ast.Nonlocal():
                return "The code binds names of what is around it."
            case _ if in_place:
                continue
            case ast.Call(func=ast.Name(id="super"), args=[]) | ast.Name(id="__class__"):
                return "The code asks for the class that it stands in."
            case ast.Name(id=word) | ast.Attribute(attr=word) if word.startswith("__") and not word.endswith("__"):
                return "A name in the code belongs to the class that it stands in."
    return ""


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
    if names.is_loose or names.leaves_turn or len(names.binds) > MAX_NAMES:
        raise NotReadable("A statement leaves a loop or a function that is not there.", 1)
    draft = GraphBuilder()
    draft.graph.header = Header(seed=None)
    draft.node(CODE, {"code": Written(quote(code))}, names=names.binds)
    return draft.finish()
