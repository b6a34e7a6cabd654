"""Methods of a module beside `forward`: what a call of one does is read where the call stands."""

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import msgspec

from gradstudio.graph.operator_rows import GROUP
from gradstudio.graph.text.statements import SELF
from gradstudio.operators.calls.argument_binding import Written
from gradstudio.operators.catalogue.method_names import methods
from gradstudio.operators.model import Family
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.comments import Comments
from gradstudio.program.reading.desugar.closures import local_names, stored_names
from gradstudio.program.reading.graph_builder import GraphBuilder, Port, WiredResult
from gradstudio.program.reading.name_scope import Scope
from gradstudio.program.reading.syntax_queries import Renamed

CALL = "()"
"""How the name ends under which a method of the object itself is called: ``self.encode()``."""
_OBJECT = "self of the call"
"""What the object is called in the scope where its method is read; no text can name it."""
Rename = Callable[[ast.AST], ast.AST]
"""What the object holds under the names that it has inside its class."""
ReadBody = Callable[[Sequence[ast.stmt], int, Comments], None]
"""Reads statements up to a line, with the comments that stand there."""


class Method(msgspec.Struct, frozen=True):
    """One method.

    Attributes:
        own: what it calls the object; "" for a static one.
        taken: its arguments with their defaults.
        body: its statements; `result` what it returns, None for nothing.
        inside: what the object holds becomes names of the class.
    """

    function: ast.FunctionDef
    own: str
    taken: tuple[tuple[ast.arg, ast.expr | None], ...]
    body: tuple[ast.stmt, ...]
    result: ast.expr | None
    inside: Rename
    comments: list[Comments]


Methods = dict[str, dict[str, Method]]
"""By class and name."""


class Values(Protocol):
    """What reads the arguments of a call."""

    def port(self, node: ast.expr) -> Port:
        """An expression as one port takes it."""

    def literal(self, node: ast.expr) -> Written | None:
        """The literal that an expression is."""


class Inlined:
    """Reads calls of methods in one body of a text.

    Attributes:
        own: the methods of the class whose inside is read.
        taken: the names of the body, which those of a method must not hide.
    """

    def __init__(self, draft: GraphBuilder, scope: Scope, values: Values, body: ReadBody, known: Methods) -> None:
        """Statements are read by `body`, arguments by `values`; `known` are the methods of all classes."""
        self._draft = draft
        self._scope = scope
        self._values = values
        self._body = body
        self._known = known
        self.own: dict[str, Method] = {}
        self.taken: set[str] = set()
        self._active: list[str] = []

    def find(self, node: ast.expr) -> Method | None:
        """The method that an expression calls, if it calls one."""
        match node:
            case ast.Call(func=ast.Name(id=name)) if name.startswith(SELF) and name.endswith(CALL):
                return self.own.get(name.removeprefix(SELF).removesuffix(CALL))
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=word)):
                found = self._scope.find(name)
                return self._of(found, word) if isinstance(found, WiredResult) else None
            case _:
                return None

    def _of(self, value: WiredResult, word: str) -> Method | None:
        """The method of an object; of one whose class the text does not tell there, that of the only class with it."""
        maker = self._draft.maker(value)
        if maker is not None:
            key = maker.operator
            return self._known.get(key.removeprefix(GROUP), {}).get(word) if key.startswith(GROUP) else None
        if self._draft.family(value) is not Family.UNKNOWN or word in methods():
            return None
        found = [one[word] for one in self._known.values() if word in one]
        return found[0] if len(found) == 1 else None

    def is_method(self, word: str) -> bool:
        """Whether a class of the text has a method of this name, which no object of the canvas has."""
        return any(word in one for one in self._known.values())

    @contextmanager
    def entered(self, node: ast.expr, method: Method) -> Iterator[ast.expr | None]:
        """The statements of a method are read; gives what it returns, to be read under the names of its inside."""
        assert isinstance(node, ast.Call)
        name = method.function.name
        if name in self._active:
            reason = f"'{name[:60]}' calls itself, which a canvas does not draw."
            raise NotReadable(reason, node.lineno, node.col_offset)
        is_inside = isinstance(node.func, ast.Name)
        ports = self._arguments(node, method)
        names = self._names(method)
        body, result = self._renamed(method, names, is_inside)
        if not is_inside and method.own:
            assert isinstance(node.func, ast.Attribute)
            ports[_OBJECT] = self._values.port(node.func.value)
        self._bind(ports, names, set(stored_names(method.body)))
        self._active.append(name)
        try:
            if body:
                end = method.function.end_lineno or method.function.lineno
                self._body(body, end + 1, method.comments[0].again())
            yield result
        finally:
            self._active.pop()
            for one in (*names.values(), *([_OBJECT] if _OBJECT in ports else ())):
                self._scope.forget(one, f"'{one[:60]}' is a name inside of '{name[:60]}'.")

    def _arguments(self, node: ast.Call, method: Method) -> dict[str, Port]:
        """What each argument is given, read in the order of the call."""
        known = [argument.arg for argument, _ in method.taken]
        stars = any(isinstance(one, ast.Starred) for one in node.args) or any(k.arg is None for k in node.keywords)
        if stars or len(node.args) > len(known):
            raise NotReadable(f"'{method.function.name[:60]}' takes {len(known)} arguments, written out.", node.lineno)
        ports = {name: self._values.port(one) for name, one in zip(known, node.args, strict=False)}
        for keyword in node.keywords:
            if keyword.arg not in known or keyword.arg in ports:
                reason = f"'{method.function.name[:60]}' has no argument '{keyword.arg}' here."
                raise NotReadable(reason, keyword.lineno, keyword.col_offset)
            ports[str(keyword.arg)] = self._values.port(keyword.value)
        for argument, default in method.taken:
            if argument.arg in ports:
                continue
            literal = self._values.literal(default) if default is not None else None
            if literal is None:
                raise NotReadable(f"'{argument.arg}' is given by no argument.", node.lineno, node.col_offset)
            ports[argument.arg] = literal
        return ports

    def _names(self, method: Method) -> dict[str, str]:
        """The names of the inside, under which nothing else is known around the call."""
        found = {}
        for name in sorted(local_names(method.function) - {method.own}):
            found[name] = name if name not in self.taken or name == "_" else self._scope.fresh(name)
            self.taken.add(found[name])
        return found

    def _renamed(
        self, method: Method, names: dict[str, str], is_inside: bool
    ) -> tuple[list[ast.stmt], ast.expr | None]:
        parts = [copy.deepcopy(one) for one in (*method.body, *([method.result] if method.result else ()))]
        if is_inside and method.own:
            parts = [method.inside(one) for one in parts]
        renames = names if is_inside else {**names, method.own: _OBJECT}
        for one in parts:
            Renamed(renames).visit(one)
        result = parts.pop() if method.result is not None else None
        return parts, result

    def _bind(self, ports: dict[str, Port], names: dict[str, str], changed: set[str]) -> None:
        for name, port in ports.items():
            inner = names.get(name, name)
            if name in changed:
                port = self._named(port, inner)
            self._scope.bind(inner, port)

    def _named(self, port: Port, name: str) -> WiredResult:
        """An argument that the method binds anew: it begins under that name."""
        node = self._draft.graph.nodes.get(port.source) if isinstance(port, WiredResult) else None
        if node is not None and node.nested and isinstance(port, WiredResult):
            self._draft.graph.nodes[node.id] = msgspec.structs.replace(node, names=(name,), nested=False)
            return port
        key = "python.literal" if isinstance(port, Written) else "python.alias"
        return self._draft.node(key, {"value": port}, names=(name,))
