"""Classes that build their layers by methods, `self.layer1 = self._make_layer(block, 64)`, as a canvas has them.

Syntax in, syntax out. What such a method does stands where `__init__` calls it, a class that is handed on as a value is
named where it is used, and what a loop of `__init__` binds anew of the object has a name of its own within.
"""

import ast
import copy
from collections.abc import Callable, Iterator, Sequence, Set
from itertools import chain

from gradstudio.program.reading.code.code_statement import CodeStatement
from gradstudio.program.reading.desugar.branches import splice_branches
from gradstudio.program.reading.desugar.closures import local_names, names_in, stored_names
from gradstudio.program.reading.desugar.constant_arguments import Known, decide_test
from gradstudio.program.reading.desugar.synthetic_nodes import assign, at_position, read
from gradstudio.program.reading.syntax_queries import Renamed, walk

Function = ast.FunctionDef
_STAYS = (
    ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.FunctionDef, ast.ClassDef, ast.Lambda,
    ast.Try, ast.While, ast.Delete, ast.NamedExpr, ast.Import, ast.ImportFrom, CodeStatement,
)  # fmt: skip
"""What keeps the statements of a method where they are."""

Constants = dict[tuple[str, str], ast.Constant]
"""By class and name."""


class LayerBuilders:
    """The classes of a text whose `__init__` calls methods of its own, or binds attributes in blocks."""

    def __init__(self, statements: Sequence[ast.stmt], mentioned: Set[str]) -> None:
        """Look at a text as it was typed; those that code mentions may be used in any way, and stay."""
        owners = (one for one in statements if isinstance(one, ast.ClassDef) and not one.decorator_list)
        self._classes = {one.name: one for one in owners}
        found = ((name, _maker(one)) for name, one in self._classes.items() if name not in mentioned)
        makers = {name: maker for name, maker in found if maker is not None}
        self._makers = {name: one for name, one in makers.items() if _may_build(one, self._classes[name])}
        self._constants = _class_constants(statements) if self._makers else {}

    def write_out(self, statements: Sequence[ast.stmt], fresh: Callable[[str], str]) -> None:
        """Rewrite the classes in place."""
        if not self._makers:
            return
        if not _asks_for_classes(statements):
            uses = _Uses(statements, {*self._classes})
            for name, maker in reversed(self._makers.items()):  # what is below hands on to what is above
                uses.name_classes(name, maker)
        for name, maker in self._makers.items():
            self._write_out(self._classes[name], maker, fresh)

    def _write_out(self, owner: ast.ClassDef, maker: Function, fresh: Callable[[str], str]) -> None:
        for one in list(maker.body):
            place = maker.body.index(one)
            maker.body[place : place + 1] = _written_out(one, owner, maker, fresh)
        own, local = maker.args.args[0].arg, local_names(maker)
        known = {pair: value for pair, value in self._constants.items() if pair[0] not in local}
        kept = ((owner.name, name) for name in _kept_as_code(owner))
        known |= {(own, pair[1]): self._constants[pair] for pair in kept if pair in self._constants}
        _PutConstants(known).visit(maker)
        maker.body = [inner for k, one in enumerate(maker.body) for inner in _carried(one, maker, k, owner, fresh)]


def _maker(owner: ast.ClassDef) -> Function | None:
    maker = next((one for one in owner.body if isinstance(one, Function) and one.name == "__init__"), None)
    return maker if maker is not None and maker.args.args and not maker.decorator_list and owner.bases else None


def _may_build(maker: Function, owner: ast.ClassDef) -> bool:
    methods = {one.name for one in _methods(owner)}
    for one in maker.body:
        match one:
            case ast.For() | ast.If():
                return True
            case ast.Assign(value=ast.Call(func=ast.Attribute(value=ast.Name(), attr=word))) if word in methods:
                return True
    return False


def _class_constants(statements: Sequence[ast.stmt]) -> Constants:
    """The attributes of classes that are a constant, bound once in the class and nowhere else."""
    found: Constants = {}
    written = {part.attr for part in _all_parts(statements) if isinstance(part, ast.Attribute) and _is_written(part)}
    for owner in (one for one in statements if isinstance(one, ast.ClassDef)):
        members = list(_members(owner))
        bound = [name for one in members for name in (*stored_names([one]), getattr(one, "name", ""))]
        for one in members:
            match one:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant() as value):
                    if bound.count(name) == 1 and name not in written:
                        found[owner.name, name] = value
    return found


# -------------------------------------------------------------------- classes as values


def _asks_for_classes(statements: Sequence[ast.stmt]) -> bool:
    """Whether something asks for the class of an object, which it may call, for more than the name of that."""
    parts = list(_all_parts(statements))
    named = {id(part.value) for part in parts if isinstance(part, ast.Attribute) and part.attr == "__name__"}
    named |= {id(part.func) for part in parts if isinstance(part, ast.Call) and id(part) in named}
    for part in parts:
        if id(part) not in named and (_is_name(part, "type") or getattr(part, "attr", "") == "__class__"):
            return True
    return False


class _Uses:
    """The calls of the classes of a text."""

    def __init__(self, statements: Sequence[ast.stmt], classes: Set[str]) -> None:
        """Look at all of them."""
        self._classes = classes
        self._calls: dict[str, list[ast.Call]] = {}
        self._rebound: set[str] = set()
        heads: set[int] = set()
        parts = [part for one in statements for part in walk(one)]
        for part in parts:
            match part:
                case ast.Call(func=ast.Name(id=name) as head):
                    self._calls.setdefault(name, []).append(part)
                    heads.add(id(head))
                    if name == "super" and part.args:
                        heads.add(id(part.args[0]))
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                    self._rebound.add(name)
        loose = (part.id for part in parts if isinstance(part, ast.Name) and id(part) not in heads)
        self._handed_on = {name for name in loose if name in classes}

    def name_classes(self, owner: str, maker: Function) -> None:
        """Take the arguments of `__init__` away that are one class in every call, and name it where they are read."""
        taken = maker.args
        calls = self._calls.get(owner, [])
        is_plain = not (taken.vararg or taken.kwarg or taken.kwonlyargs or taken.posonlyargs)
        if not self._handed_on or not calls or owner in self._handed_on or not is_plain:
            return
        if any(isinstance(one, ast.Starred) for call in calls for one in call.args):
            return
        if any(word.arg is None for call in calls for word in call.keywords):
            return
        for argument in list(taken.args[1:]):
            place = taken.args.index(argument) - 1
            given = [_given(call, place, argument.arg) for call in calls]
            names = {one.id if isinstance(one, ast.Name) else "" for one in given}
            name = next(iter(names))
            is_one_class = len(names) == 1 and name in self._classes - self._rebound - {owner}
            if not is_one_class or not _may_be_named(argument.arg, maker):
                continue
            _drop(taken, place + 1)
            Renamed({argument.arg: name}).visit(maker)
            for call in calls:
                call.args[place : place + 1] = []
                call.keywords = [one for one in call.keywords if one.arg != argument.arg]


def _may_be_named(argument: str, maker: Function) -> bool:
    """Whether an argument of `__init__` is bound nowhere else in it, and no code reads it there."""
    inside = [part for one in maker.body for part in walk(one)]
    if any(isinstance(part, ast.arg) and part.arg == argument for part in inside):
        return False
    codes = [part for part in inside if isinstance(part, CodeStatement)]
    return argument not in stored_names(maker.body) and argument not in names_in(codes)


def _given(call: ast.Call, place: int, name: str) -> ast.expr | None:
    if place < len(call.args):
        return call.args[place]
    return next((one.value for one in call.keywords if one.arg == name), None)


def _drop(taken: ast.arguments, place: int) -> None:
    default = place - (len(taken.args) - len(taken.defaults))
    if default >= 0:
        del taken.defaults[default]
    del taken.args[place]


class _PutConstants(ast.NodeTransformer):
    """What classes hold, in place of their attributes: ``Block.expansion``."""

    def __init__(self, constants: Constants) -> None:
        self._constants = constants

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """One of them."""
        match node.value:
            case ast.Name(id=name) if (name, node.attr) in self._constants:
                return at_position(ast.Constant(self._constants[name, node.attr].value), node)
        self.generic_visit(node)
        return node


# -------------------------------------------------------------------- methods


def _written_out(
    statement: ast.stmt, owner: ast.ClassDef, maker: Function, fresh: Callable[[str], str]
) -> list[ast.stmt]:
    """The statements of the method that a statement of `__init__` calls; itself where it calls none."""
    match statement:
        case ast.Assign(value=ast.Call(func=ast.Attribute(value=ast.Name(id=own), attr=word)) as call):
            if own != maker.args.args[0].arg:
                return [statement]
        case _:
            return [statement]
    method = next((one for one in _methods(owner) if one.name == word), None)
    known = _arguments(call, method) if method is not None else None
    if method is None or known is None or not _may_be_written_out(method, maker, owner):
        return [statement]
    stored = {*stored_names(method.body)}
    said: Known = {
        name: one.value for name, one in known.items() if name not in stored and isinstance(one, ast.Constant)
    }
    body = splice_branches(copy.deepcopy(method.body), lambda test: decide_test(test, said))
    stored = {*stored_names(body)}
    put = {name: one for name, one in known.items() if name not in stored and _stays_itself(one, maker)}
    around = names_in([maker])
    changed = [name for name in dict.fromkeys((*known, *sorted(stored))) if name not in put]
    names = {name: fresh(name) if name in around else name for name in changed}
    names[method.args.args[0].arg] = own
    parts = [_Put(put, names).visit(one) for one in body]
    first = [assign(names[name], one, statement) for name, one in known.items() if name not in put]
    last = parts.pop()
    assert isinstance(last, ast.Return)
    assert last.value is not None
    made: list[ast.stmt] = [*first, *parts, ast.Assign(statement.targets, last.value)]
    for part in (part for one in made for part in walk(one)):
        if isinstance(part, ast.stmt | ast.expr):
            at_position(part, statement)
    return made


def _arguments(call: ast.Call, method: Function) -> dict[str, ast.expr] | None:
    """What each argument is, in the order in which Python computes them; None where that is not plain."""
    taken = method.args
    if taken.vararg or taken.kwarg or taken.kwonlyargs or taken.posonlyargs or not taken.args:
        return None
    names = [one.arg for one in taken.args[1:]]
    if len(call.args) > len(names) or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    found = dict(zip(names, call.args, strict=False))
    for word in call.keywords:
        if word.arg not in names or word.arg in found:
            return None
        found[word.arg] = word.value
    for name, default in zip(reversed(names), reversed(taken.defaults), strict=False):
        if name not in found and isinstance(default, ast.Constant):
            found[name] = default
    return found if len(found) == len(names) else None


def _may_be_written_out(method: Function, maker: Function, owner: ast.ClassDef) -> bool:
    """Whether the statements of a method do the same in `__init__`."""
    parts = [part for one in method.body for part in walk(one)]
    returns = [part for part in parts if isinstance(part, ast.Return)]
    last = method.body[-1]
    if method.decorator_list or any(isinstance(part, _STAYS) for part in parts):
        return False
    if returns != [last] or not isinstance(last, ast.Return) or last.value is None:
        return False
    methods = {one.name for one in _methods(owner)}
    if any(isinstance(part, ast.Attribute) and part.attr in methods for part in parts):
        return False
    own = local_names(method)
    around = {part.id for part in parts if isinstance(part, ast.Name)} - own
    return around.isdisjoint(local_names(maker))


def _stays_itself(node: ast.expr, maker: Function) -> bool:
    """Whether an argument can be written wherever it is read."""
    if isinstance(node, ast.Name):
        return node.id not in stored_names(maker.body) and node.id not in local_names(maker)
    return isinstance(node, ast.Constant)


class _Put(ast.NodeTransformer):
    """Arguments in place of their names, and other names."""

    def __init__(self, put: dict[str, ast.expr], names: dict[str, str]) -> None:
        self._put, self._names = put, names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """One of them."""
        if node.id in self._put:
            return copy.deepcopy(self._put[node.id])
        node.id = self._names.get(node.id, node.id)
        return node


# -------------------------------------------------------------------- what a block binds anew


def _carried(
    statement: ast.stmt, maker: Function, place: int, owner: ast.ClassDef, fresh: Callable[[str], str]
) -> list[ast.stmt]:
    """A block of `__init__` that binds anew what the object holds, under a name of its own within."""
    if not isinstance(statement, ast.For | ast.If):
        return [statement]
    own = maker.args.args[0].arg
    parts = list(walk(statement))
    held = [part for part in parts if isinstance(part, ast.Attribute) and _is_name(part.value, own)]
    bound = {name for one in maker.body[:place] for name in _bound_attributes(one, own)}
    written = sorted({part.attr for part in held if _is_written(part)} & bound)
    methods = {one.name for one in _methods(owner)}
    is_whole = sum(_is_name(part, own) for part in parts) != len(held)
    if not written or is_whole or any(isinstance(part, CodeStatement) for part in parts):
        return [statement]
    if any(part.attr in methods for part in held):
        return [statement]
    names = {name: fresh(name) for name in written}
    _Local(own, names).visit(statement)
    before = [assign(names[one], _attribute(own, one, statement, ast.Load()), statement) for one in written]
    behind: list[ast.stmt] = []
    for one in written:
        target = _attribute(own, one, statement, ast.Store())
        behind.append(at_position(ast.Assign([target], read(names[one], statement)), statement))
    return [*before, statement, *behind]


def _bound_attributes(statement: ast.stmt, own: str) -> Iterator[str]:
    """The attributes of the object that a statement surely binds."""
    match statement:
        case ast.Assign(targets=targets):
            for target in targets:
                if isinstance(target, ast.Attribute) and _is_name(target.value, own):
                    yield target.attr


def _attribute(own: str, name: str, where: ast.AST, context: ast.expr_context) -> ast.Attribute:
    return at_position(ast.Attribute(read(own, where), name, context), where)


class _Local(ast.NodeTransformer):
    """Names in place of attributes of the object."""

    def __init__(self, own: str, names: dict[str, str]) -> None:
        self._own, self._names = own, names

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """``self.in_planes``."""
        if _is_name(node.value, self._own) and node.attr in self._names:
            return ast.copy_location(ast.Name(self._names[node.attr], node.ctx), node)
        self.generic_visit(node)
        return node


# -------------------------------------------------------------------- what a text holds


def _members(owner: ast.ClassDef) -> Iterator[ast.stmt]:
    """The statements of a class, those that are kept as code among them."""
    for one in owner.body:
        yield from one.statements if isinstance(one, CodeStatement) else (one,)


def _methods(owner: ast.ClassDef) -> list[Function]:
    return [one for one in _members(owner) if isinstance(one, Function)]


def _kept_as_code(owner: ast.ClassDef) -> Iterator[str]:
    """The names that code in a class binds, which no object has as its own."""
    yield from (name for one in owner.body if isinstance(one, CodeStatement) for name in one.names.binds)


def _all_parts(statements: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """All that is in statements, what is code as well."""
    for part in chain.from_iterable(map(walk, statements)):
        yield part
        if isinstance(part, CodeStatement):
            yield from chain.from_iterable(map(walk, part.statements))


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_written(node: ast.Attribute) -> bool:
    return not isinstance(node.ctx, ast.Load)
