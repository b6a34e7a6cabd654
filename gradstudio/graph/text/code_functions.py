"""What functions and comprehensions in undrawn Python read from around them, and bind there."""

import ast
from collections.abc import Iterable, Sequence

Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def bound_by_alias(alias: ast.alias) -> str:
    """The name that a part of an import binds."""
    return alias.asname or alias.name.partition(".")[0]


class Free:
    """What a function reads from around it, and binds there.

    Attributes:
        free: names that are not its own; `rebound` those that it declares `global` and binds.
        outside: names that a comprehension binds around itself by `:=`.
    """

    def __init__(self, own: frozenset[str]) -> None:
        """Nothing is read; the names `own` belong to a function around it."""
        self.own = own
        self.free: dict[str, None] = {}
        self.rebound: set[str] = set()
        self.outside: dict[str, None] = {}

    def function(self, arguments: ast.arguments, body: Sequence[ast.AST]) -> None:
        """What a function reads when it is called."""
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
        found = _own_parts(body)
        declared = {name for part in found if isinstance(part, ast.Global) for name in part.names}
        beyond = {name for part in found if isinstance(part, ast.Nonlocal) for name in part.names}
        bound = set(_bound_by(found))
        self.rebound |= declared & bound
        own = (self.own | {one.arg for one in every} | bound | beyond) - declared
        inner = Free(frozenset(own))
        for one in body:
            inner.look(one)
        self._take(inner)

    def look(self, node: ast.AST) -> None:
        """Whatever stands in a function."""
        match node:
            case ast.Name(id=name):
                self._name(name)
            case ast.NamedExpr(value=value):
                self.look(value)  # of a function the name is its own, of a comprehension one around it
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for one in (*node.decorator_list, *_made_with(node.args), *([node.returns] if node.returns else ())):
                    self.look(one)
                self.function(node.args, node.body)
            case ast.Lambda(args=arguments, body=body):
                for one in _made_with(arguments):
                    self.look(one)
                self.function(arguments, [body])
            case ast.ClassDef():
                for one in (*node.decorator_list, *node.bases, *(k.value for k in node.keywords), *node.body):
                    self.look(one)  # its own names may be read as if they were outside: rather too many
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self.comprehension(node)
            case _:
                for one in ast.iter_child_nodes(node):
                    self.look(one)

    def comprehension(self, node: Comprehension, skip_first: bool = False) -> None:
        """What a comprehension reads; its first iterable may have been looked at."""
        targets = {part.id for one in node.generators for part in ast.walk(one.target) if isinstance(part, ast.Name)}
        inner = Free(self.own | targets)
        for k, one in enumerate(node.generators):
            for part in (*([] if skip_first and k == 0 else [one.iter]), *one.ifs):
                inner.look(part)
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        for result in results:
            inner.look(result)
        for one_part in ast.walk(node):
            if isinstance(one_part, ast.NamedExpr):
                self.outside.setdefault(one_part.target.id)
        self._take(inner)

    def _take(self, inner: "Free") -> None:
        for name in inner.free:
            self._name(name)
        self.rebound |= inner.rebound

    def _name(self, name: str) -> None:
        if name not in self.own:
            self.free.setdefault(name)


def _made_with(arguments: ast.arguments) -> list[ast.expr]:
    """What is read when a function is made."""
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    notes = [one.annotation for one in every if one is not None and one.annotation is not None]
    return [*arguments.defaults, *(one for one in arguments.kw_defaults if one is not None), *notes]


def _own_parts(body: Iterable[ast.AST]) -> list[ast.AST]:
    """The parts of a function that are not inside of another, but for the heads of those."""
    found: list[ast.AST] = []
    waiting = list(body)
    while waiting:
        part = waiting.pop()
        found.append(part)
        if not isinstance(part, Function | ast.ClassDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(part))
    return found


def _bound_by(parts: Iterable[ast.AST]) -> Iterable[str]:
    for part in parts:
        match part:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias():
                yield bound_by_alias(part)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name
