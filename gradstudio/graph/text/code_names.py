"""The names of undrawn Python: which it reads, binds and takes away, by its syntax alone; nothing is ever executed.

A piece of code stands in the namespace of the program. What a function in it reads is looked up when it is called, so
such names are told apart from those that are read while the piece itself runs.
"""

import ast
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from gradstudio.graph.text.code_functions import Comprehension, Free, bound_by_alias

_REACHING = frozenset({"exec", "eval", "globals", "locals", "__import__", "__builtins__"})
"""Built-ins by which code reads or binds names that no syntax shows."""
_EXECUTING = frozenset({"exec", "eval"})
"""Those of them that do so elsewhere when they are given a namespace."""
_REACHING_ATTRIBUTES = frozenset(
    "_getframe currentframe f_globals f_locals f_back __globals__ __builtins__ run_path run_module".split()
)
MAIN = "__main__"
"""The module that a program is."""
_BARE = frozenset({"vars", "dir"})
"""Built-ins that look at the names around them when they are given nothing."""


class CodeNames(msgspec.Struct, frozen=True, gc=False):
    """What a piece of code does with the names around it.

    Attributes:
        reads: what it may read, before it surely binds it, while it runs.
        ahead: what of that it may read before it has bound it even perhaps.
        keeps: what it binds perhaps: otherwise that goes on meaning what it meant before.
        later: what its functions read when they are called.
        binds: what it binds, in order.
        surely: those of them that have a value behind it whenever it ends without an error.
        removes: what it unbinds.
        rebound: what its functions bind around them when they are called (`global`).
        taken: every name in it, those inside of functions too.
        stars: the modules of which it imports all, without saying which names that binds.
        is_open: it may do with names what its syntax does not show.
        is_loose: a `return` or `yield` in it belongs to what is around it.
        leaves_turn: so does a `break` or `continue`.
    """

    reads: tuple[str, ...] = ()
    ahead: frozenset[str] = frozenset()
    keeps: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    binds: tuple[str, ...] = ()
    surely: frozenset[str] = frozenset()
    removes: frozenset[str] = frozenset()
    rebound: frozenset[str] = frozenset()
    taken: frozenset[str] = frozenset()
    stars: tuple[str, ...] = ()
    is_open: bool = False
    is_loose: bool = False
    leaves_turn: bool = False


@lru_cache(maxsize=512)
def names_of_code(code: str) -> CodeNames:
    """The names of a text.

    Raises:
        SyntaxError: it is no Python.
        RecursionError: it is nested too deeply.
    """
    return names_of_statements(ast.parse(code).body)


def names_of_statements(statements: Sequence[ast.stmt]) -> CodeNames:
    """The names of statements that stand behind one another outside of functions."""
    from gradstudio.graph.text.loop_exits import TURN_ENDS, ways_out  # a start needs none

    walk = _Flow()
    walk.body(statements)
    parts = [part for one in statements for part in ast.walk(one)]
    out = [one for statement in statements for one in ways_out(statement)]
    harmless = {id(inner) for part in parts for inner in _harmless_in(part)}
    return CodeNames(
        reads=tuple(walk.reads),
        ahead=frozenset(walk.ahead),
        keeps=tuple(name for name in walk.binds if name not in {*walk.surely, *walk.reads, *walk.removes}),
        later=tuple(walk.later),
        binds=tuple(name for name in walk.binds if name not in walk.removes),
        surely=frozenset(walk.surely),
        removes=frozenset(walk.removes),
        rebound=frozenset(walk.rebound),
        taken=frozenset(_every_name(parts)),
        stars=tuple(module for part in parts for module in _star(part)),
        is_open=any(_is_open(part) for part in parts if id(part) not in harmless),
        is_loose=any(not isinstance(one, TURN_ENDS) for one in out),
        leaves_turn=any(isinstance(one, TURN_ENDS) for one in out),
    )


def _every_name(parts: Iterable[ast.AST]) -> Iterable[str]:
    for part in parts:
        match part:
            case ast.Name(id=name) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias():
                yield bound_by_alias(part)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from names
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name


def _star(part: ast.AST) -> Iterable[str]:
    """The module of which a statement imports all."""
    match part:
        case ast.ImportFrom(module=module, names=[ast.alias(name="*")], level=level):
            yield "." * level + (module or "")


def _harmless_in(part: ast.AST) -> Iterable[ast.AST]:
    """What in an expression or a statement reaches for names elsewhere than around it."""
    match part:
        case ast.Call(func=ast.Name(id=name) as function, args=[_, ast.expr() as where, *_]) if name in _EXECUTING:
            if not isinstance(where, ast.Starred):
                yield function  # `globals()` as its namespace is another part
        case ast.Subscript(value=modules, ctx=ast.Store() | ast.Del()):
            yield modules
        case ast.Subscript(value=modules, slice=ast.Constant(value=str() as name)) if name != MAIN:
            yield modules
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[modules]) | ast.For(iter=modules):
            yield modules  # which gives its keys
        case ast.Call(func=ast.Name(id="list" | "set" | "tuple" | "sorted"), args=[modules], keywords=[]):
            yield modules
        case ast.Call(func=ast.Name(id="__import__") as function, args=[ast.Constant(value=str() as name), *_]):
            if name.partition(".")[0] in sys.stdlib_module_names:
                yield function  # which gives the module, and binds nothing
        case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body):
            yield from (inner for one in body for part in ast.walk(one) for inner in _own_names(part))


def _own_names(part: ast.AST) -> Iterable[ast.AST]:
    """What asks in a function for the names around it, which are its own."""
    match part:
        case ast.Call(func=ast.Name(id="locals") as function, args=[], keywords=[]):
            yield function
        case ast.Call(func=ast.Name(id=name), args=[], keywords=[]) if name in _BARE:
            yield part


def open_line(code: str) -> str:
    """The line of a code in which it reaches for names that its syntax does not show; "" where none does."""
    parts = list(ast.walk(ast.parse(code)))
    harmless = {id(inner) for part in parts for inner in _harmless_in(part)}
    found = (part for part in parts if id(part) not in harmless and _is_open(part))
    number = min((part.lineno for part in found if isinstance(part, ast.expr | ast.alias)), default=0)
    return code.split("\n")[number - 1].strip() if number else ""


def _is_open(part: ast.AST) -> bool:
    match part:
        case ast.Name(id=name):
            return name in _REACHING
        case ast.Attribute(attr=name):
            return name in _REACHING_ATTRIBUTES or (name == "modules" and _is_named(part.value, "sys"))
        case ast.Call(func=ast.Name(id=name), args=[], keywords=[]):
            return name in _BARE
        case ast.alias(name=name):
            return name == MAIN
        case _:
            return False


def _is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


class _Flow:
    """Statements in the order in which they run.

    Attributes:
        surely: names that have a value here whatever happened.
    """

    def __init__(self) -> None:
        self.reads: dict[str, None] = {}
        self.ahead: set[str] = set()
        self.later: dict[str, None] = {}
        self.binds: dict[str, None] = {}
        self.removes: set[str] = set()
        self.rebound: set[str] = set()
        self.surely: set[str] = set()

    # -------------------------------------------------------------- statements

    def body(self, statements: Iterable[ast.stmt]) -> None:
        for one in statements:
            self._statement(one)

    def _statement(self, one: ast.stmt) -> None:
        match one:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._expressions(one.decorator_list)
                self._function(one.args, one.body, one.returns)
                self._bind(one.name)
            case ast.ClassDef():
                self._expressions([*one.decorator_list, *one.bases, *(k.value for k in one.keywords)])
                self._class(one)
                self._bind(one.name)
            case ast.Assign(targets=targets, value=value):
                self._expressions([value, *targets])
            case ast.AugAssign(target=target, value=value):
                if isinstance(target, ast.Name):
                    self._read(target.id)
                self._expressions([value, target])
            case ast.AnnAssign(target=target, annotation=annotation, value=value):
                self._expressions([*([value] if value is not None else ()), annotation])
                if value is not None or not isinstance(target, ast.Name):
                    self._expressions([target])
            case ast.For() | ast.AsyncFor():
                self._expressions([one.iter])
                self._perhaps([one.target], one.body)
                self._perhaps([], one.orelse)
            case ast.While(test=test, body=body, orelse=orelse):
                self._expressions([test])
                self._perhaps([], body)
                self._perhaps([], orelse)
            case ast.If(test=test, body=body, orelse=orelse):
                self._expressions([test])
                self._either([body, orelse])
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                for item in items:
                    self._expressions([item.context_expr, *([item.optional_vars] if item.optional_vars else ())])
                self._perhaps([], body)  # the block may swallow an error
            case ast.Try() | ast.TryStar():
                self._try(one)
            case ast.Match(subject=subject, cases=cases):
                self._expressions([subject])
                self._cases(cases)
            case ast.Delete(targets=targets):
                self._expressions(targets)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                for alias in names:
                    if alias.name != "*":
                        self._bind(bound_by_alias(alias))
            case ast.Global() | ast.Nonlocal() | ast.Pass() | ast.Break() | ast.Continue():
                pass
            case _:
                self._expressions(ast.iter_child_nodes(one))

    def _perhaps(self, targets: Sequence[ast.expr], body: Sequence[ast.stmt]) -> None:
        """What may run not at all, or break off."""
        before = set(self.surely)
        self._expressions(targets)
        self.body(body)
        self.surely = before - self.removes

    def _either(self, branches: Sequence[Sequence[ast.stmt]]) -> None:
        """One of the branches runs; what each of them binds is sure, but for one that does not come to its end."""
        before = set(self.surely)
        ends: list[set[str]] = []
        for branch in branches:
            self.surely = set(before)
            self.body(branch)
            if not (branch and isinstance(branch[-1], ast.Raise)):
                ends.append(self.surely)
        self.surely = (set.intersection(*ends) if ends else before) - self.removes

    def _try(self, one: ast.Try | ast.TryStar) -> None:
        before = set(self.surely)
        self.body([*one.body, *one.orelse])
        ends = all(isinstance(handler.body[-1], ast.Raise) for handler in one.handlers)
        through = set(self.surely) if ends else before
        self.surely = before - self.removes
        for handler in one.handlers:
            self._expressions([handler.type] if handler.type is not None else ())
            if handler.name is not None:
                self._bind(handler.name)
            self.body(handler.body)
            if handler.name is not None:
                self._remove(handler.name)
            self.surely = before - self.removes
        self.surely = through - self.removes
        self.body(one.finalbody)

    def _cases(self, cases: Sequence[ast.match_case]) -> None:
        before = set(self.surely)
        for case in cases:
            self.surely = set(before)
            for part in ast.walk(case.pattern):
                match part:
                    case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                        self._bind(name)
                    case ast.MatchValue(value=value) | ast.MatchClass(cls=value):
                        self._expressions([value])
            self._expressions([case.guard] if case.guard is not None else ())
            self.body(case.body)
        self.surely = before - self.removes

    # -------------------------------------------------------------- expressions

    def _expressions(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self._expression(node)

    def _expression(self, node: ast.AST) -> None:
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                self._read(name)
            case ast.Name(id=name, ctx=ast.Store()):
                self._bind(name)
            case ast.Name(id=name):
                self._read(name)
                self._remove(name)
            case ast.Lambda(args=arguments, body=body):
                self._function(arguments, [body], None)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self._comprehension(node)
            case ast.NamedExpr(target=target, value=value):
                self._expressions([value, target])
            case ast.BoolOp(values=[first, *others]):
                self._expression(first)
                self._unsure(others)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self._expression(test)
                self._unsure([body])
                self._unsure([orelse])
            case ast.Compare(left=left, comparators=[first, *others]):
                self._expressions([left, first])
                self._unsure(others)
            case _:
                self._expressions(ast.iter_child_nodes(node))

    def _unsure(self, nodes: Iterable[ast.AST]) -> None:
        before = set(self.surely)
        self._expressions(nodes)
        self.surely = before

    def _comprehension(self, node: Comprehension) -> None:
        """Its first iterable is taken at once; the rest, of a generator, when somebody asks for it."""
        self._expression(node.generators[0].iter)
        found = Free(frozenset())
        found.comprehension(node, skip_first=True)
        for name in found.free:
            if isinstance(node, ast.GeneratorExp):
                self._read_later(name)  # most are used up at once: that it is read now is true, too
            self._read(name)
        for name in found.outside:
            self._bind(name, surely=False)

    def _function(self, arguments: ast.arguments, body: Sequence[ast.AST], returns: ast.expr | None) -> None:
        """A function is made: its defaults and annotations are read, its body is not."""
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
        self._expressions([*arguments.defaults, *(one for one in arguments.kw_defaults if one is not None)])
        self._expressions([one.annotation for one in every if one.annotation is not None])
        self._expressions([returns] if returns is not None else ())
        found = Free(frozenset())
        found.function(arguments, body)
        for name in found.free:
            self._read_later(name)
        self.rebound |= found.rebound

    def _class(self, definition: ast.ClassDef) -> None:
        """The body of a class runs at once, in names of its own."""
        inner = _Flow()
        inner.body(definition.body)
        for name in inner.reads:
            self._read(name)
        for name in inner.later:  # functions do not see the names of the class around them
            self._read_later(name)
        declared = {name for part in definition.body if isinstance(part, ast.Global) for name in part.names}
        for name in inner.binds:
            if name in declared:
                self._bind(name)
        self.rebound |= inner.rebound

    # -------------------------------------------------------------- names

    def _read(self, name: str) -> None:
        if name not in self.surely:
            self.reads.setdefault(name)
        if name not in self.binds:
            self.ahead.add(name)

    def _read_later(self, name: str) -> None:
        self.later.setdefault(name)

    def _bind(self, name: str, surely: bool = True) -> None:
        self.binds.setdefault(name)
        self.removes.discard(name)
        if surely:
            self.surely.add(name)

    def _remove(self, name: str) -> None:
        self.removes.add(name)
        self.surely.discard(name)
