"""Functions and classes of a text, before their statements are read: what they take, do and return (semantics §15)."""

import ast
from typing import Any

import msgspec

from gradstudio.graph.text.statements import SELF
from gradstudio.operators.catalogue.loader import load
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.code.code_statement import CodeStatement
from gradstudio.program.reading.comments import Comments
from gradstudio.program.reading.definitions.method_inlining import CALL, Method
from gradstudio.program.reading.imports import Modules

Function = ast.FunctionDef
_ONLY = "a module has `__init__` and `forward` alone"


class Outline(msgspec.Struct, frozen=True):
    """A function or a class.

    Attributes:
        settings: what the constructor of a class takes, and its defaults; `taken` what a call takes.
        setup: the statements of `__init__`; `body` those of `forward`, or of the function.
        result: what it returns; None for nothing.
        note: its docstring.
        methods: the others of a class, by name.
        members: what else stands in a class, as code.
    """

    statement: ast.FunctionDef | ast.ClassDef
    is_module: bool
    settings: tuple[tuple[ast.arg, ast.expr | None], ...]
    taken: tuple[tuple[ast.arg, ast.expr | None], ...]
    setup: tuple[ast.stmt, ...]
    body: tuple[ast.stmt, ...]
    result: ast.expr | None
    note: str = ""
    methods: dict[str, Method] = {}
    members: tuple[CodeStatement, ...] = ()

    @property
    def arguments(self) -> tuple[ast.arg, ...]:
        """All that it takes."""
        return tuple(argument for argument, _ in (*self.settings, *self.taken))


def outline(statement: ast.FunctionDef | ast.ClassDef, modules: Modules, comments: Comments) -> Outline:
    """What a definition is made of.

    Raises:
        NotReadable: it is more than a function of straight statements, or a module with `__init__` and `forward`.
    """
    if statement.decorator_list:
        raise _refused(statement, "a decorator runs Python of its own: take it out.")
    if isinstance(statement, ast.ClassDef):
        return _class(statement, modules, comments)
    body, result = _body(statement, list(statement.body))
    return Outline(statement, False, (), tuple(_parameters(statement, own=False)), (), tuple(body), result)


def _class(statement: ast.ClassDef, modules: Modules, comments: Comments) -> Outline:
    bases = [modules.path(base) for base in statement.bases]
    if bases != ["torch.nn.Module"] or statement.keywords:
        raise _refused(statement, f"the class '{statement.name[:60]}' is drawn when it is one of nn.Module alone.")
    found: dict[str, ast.FunctionDef] = {}
    others: dict[str, ast.FunctionDef] = {}
    notes: list[str] = []
    members: list[CodeStatement] = []
    refused: list[NotReadable] = []
    for one in statement.body:
        match one:
            case CodeStatement():
                members.append(one)
                comments.take_out(one.lineno, one.end_lineno or one.lineno)  # they are in its text
            case ast.Expr(value=ast.Constant(value=str() as words)):
                notes.append("\n".join(line.strip() for line in words.strip().splitlines()))
            case ast.Pass():
                pass
            case ast.FunctionDef(name="__init__" | "forward") if one.name not in found and not one.decorator_list:
                found[one.name] = one
            case ast.FunctionDef() if one.name not in {*found, *others} and not _is_of_module(one.name):
                others[one.name] = one
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                words = f"'{one.name[:60]}' is no method that a canvas knows: write a function of its own."
                refused.append(_refused(one, words))
            case _:
                refused.append(_refused(one, f"{_ONLY}: bind this in `__init__`."))
    if "forward" not in found:
        raise _refused(statement, f"the class '{statement.name[:60]}' has no `forward`, so nothing could call it.")
    maker, forward = found.get("__init__"), found["forward"]
    settings = tuple(_parameters(maker, own=True)) if maker is not None else ()
    setup = _initial(maker) if maker is not None else []
    taken = tuple(_parameters(forward, own=True))
    kept = {name for one in setup for name in _set_on(one, _self(maker))} if maker is not None else set()
    callable_ = frozenset(others)
    if maker is not None:
        setup = [_Renamed(_self(maker), kept, callable_, refused, binds=True).visit(one) for one in setup]
    body, result = _body(forward, list(forward.body))
    of_forward = _Renamed(_self(forward), kept, callable_, refused, binds=False)
    body = [of_forward.visit(one) for one in body]
    result = of_forward.result(result) if result is not None else None
    methods: dict[str, Method] = {}
    for name, function in others.items():
        try:
            methods[name] = _method(function, kept, callable_, comments)
        except NotReadable as error:
            refused.append(error)
    if refused:
        raise NotReadable(refused[0].reason, refused[0].line, refused[0].column, tuple(refused[1:]))
    note = "\n".join(notes)
    own = tuple(members)
    return Outline(statement, True, settings, taken, tuple(setup), tuple(body), result, note, methods, own)


def _is_of_module(name: str) -> bool:
    """Whether nn.Module has a method of that name, which torch calls, too."""
    return name.startswith("__") or bool(load().overloads(f"torch.nn.Module.{name}"))


def _method(function: Function, kept: set[str], others: frozenset[str], comments: Comments) -> Method:
    """One of the methods beside `forward`; what it cannot do is told where it is called."""
    is_static = any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in function.decorator_list)
    if len(function.decorator_list) > is_static:
        raise _refused(function.decorator_list[0], "a decorator runs Python of its own: take it out.")
    taken = tuple(_parameters(function, own=not is_static))
    own = "" if is_static else _self(function)
    body, result = _body(function, list(function.body))
    words = body[0] if body else None
    if isinstance(words, ast.Expr) and isinstance(words.value, ast.Constant):
        body = body[1:]
    said = [comments.take_out(function.lineno, function.end_lineno or function.lineno)]
    renamed = _Renamed(own, kept, others, None, binds=False)
    return Method(function, own, taken, tuple(body), result, renamed.visit, said)


def _self(function: Function) -> str:
    return function.args.args[0].arg


def _parameters(function: Function, *, own: bool) -> list[tuple[ast.arg, ast.expr | None]]:
    arguments = function.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
        raise _refused(function, "`*`, `**` and `/` among the arguments are nothing that a canvas draws: name them.")
    if own and not arguments.args:
        raise _refused(function, f"'{function.name}' of a class takes `self` first.")
    defaults = [None] * (len(arguments.args) - len(arguments.defaults)) + list(arguments.defaults)
    return list(zip(arguments.args, defaults, strict=True))[1 if own else 0 :]


def _body(function: Function, statements: list[ast.stmt]) -> tuple[list[ast.stmt], ast.expr | None]:
    """The statements but for the `return` at the end, and what that returns."""
    if isinstance(statements[-1], ast.Return):
        value = statements[-1].value
        is_none = isinstance(value, ast.Constant) and value.value is None
        return statements[:-1], None if is_none else value
    return statements, None


def _initial(function: Function) -> list[ast.stmt]:
    """The statements of `__init__` without that of nn.Module, which every module has."""
    calls = [k for k, one in enumerate(function.body) if _is_base_call(one, _self(function))]
    if not calls or any(isinstance(one, CodeStatement) for one in function.body[: calls[0]]):
        raise _refused(function, "`__init__` of a module begins with `super().__init__()`.")
    statements = [one for k, one in enumerate(function.body) if k not in calls]
    last = statements[-1] if statements else None
    if isinstance(last, ast.Return) and last.value is None:
        statements.pop()
    return statements


def _is_base_call(statement: ast.stmt, own: str) -> bool:
    """``super().__init__()``, ``super(Net, self).__init__()``, ``nn.Module.__init__(self)``."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    call = statement.value
    match call.func:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__"):
            return not call.args and not call.keywords
        case ast.Attribute(value=ast.Attribute(value=ast.Name(), attr="Module"), attr="__init__"):
            return len(call.args) == 1 and isinstance(call.args[0], ast.Name) and call.args[0].id == own
        case _:
            return False


def _set_on(statement: ast.stmt, own: str) -> set[str]:
    """The attributes of an object that a statement binds."""
    return {
        node.attr
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == own
    }


class _Renamed(ast.NodeTransformer):
    """Attributes of `self` become names of their own, which begin with ``self.``."""

    def __init__(
        self, own: str, kept: set[str], methods: frozenset[str], refused: list[NotReadable] | None, *, binds: bool
    ) -> None:
        """What statements are refused for is added to `refused`; without that the first is raised."""
        self._own, self._kept, self._methods, self._binds = own, kept, methods, binds
        self._refused = refused

    def visit(self, node: ast.AST) -> Any:
        """A statement, or a part of one."""
        if self._refused is None or not isinstance(node, ast.stmt):
            return super().visit(node)
        return self._gathered(node)

    def result(self, node: ast.expr) -> Any:
        """What is returned."""
        return self._gathered(node)

    def _gathered(self, node: ast.AST) -> Any:
        try:
            return super().visit(node)
        except NotReadable as error:
            assert self._refused is not None
            self._refused.append(error)
            return node

    def visit_CodeStatement(self, node: CodeStatement) -> ast.AST:
        """Code says `self` as it stands there."""
        if self._own != SELF.removesuffix("."):
            raise _refused(node, f"'{self._own}' is called 'self' where code is between what is drawn.")
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """A call, perhaps of one of the object's own methods."""
        match node.func:
            case ast.Attribute(value=ast.Name(id=name), attr=word) if name == self._own and word in self._methods:
                node.args = [self.visit(one) for one in node.args]
                node.keywords = [self.visit(one) for one in node.keywords]
                node.func = ast.copy_location(ast.Name(SELF + word + CALL, ast.Load()), node.func)
                return node
            case _:
                return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """An attribute, or one of an attribute."""
        if not (isinstance(node.value, ast.Name) and node.value.id == self._own):
            return self.generic_visit(node)
        if node.attr not in self._kept:
            raise _refused(node, _unbound(self._own, node.attr))
        if isinstance(node.ctx, ast.Store) and not self._binds:
            raise _refused(node, "`forward` binds no attributes: bind them in `__init__`, or return the value.")
        return ast.copy_location(ast.Name(SELF + node.attr, node.ctx), node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """The object itself."""
        if node.id == self._own:
            raise _refused(node, f"'{self._own}' as a whole is nothing that a canvas draws: read what it holds.")
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """``self.n += 1`` would change the object from call to call."""
        target = node.target
        if not self._binds and isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            self.visit_Attribute(target)
        return self.generic_visit(node)


def _refused(node: ast.AST, reason: str) -> NotReadable:
    text = reason[:1].upper() + reason[1:] if not reason.startswith(("'", "`")) else reason
    return NotReadable(text, getattr(node, "lineno", 1), getattr(node, "col_offset", 0))


def _unbound(own: str, name: str) -> str:
    """Why an attribute of the object cannot be read that `__init__` does not bind."""
    if name != "training":
        return f"'{own}.{name[:60]}' is bound by no statement of `__init__`."
    return (
        f"'{own}.training' is the mode of the object itself, which a canvas knows by a layer that `__init__` makes and"
        " that is switched with the object alone; here is none."
    )
