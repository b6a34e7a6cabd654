"""Classes of a text in the form that a canvas has: all that an object holds is bound in `__init__`.

Syntax in, syntax out. Class attributes become the object's, `register_buffer` an assignment, and what is read of
`self.training` comes from a layer of the object, which `train` and `eval` switch with it.
"""

import ast
from collections.abc import Iterator

from gradstudio.program.reading.desugar.layer_in_step import PathOf, Switched, layer_in_step
from gradstudio.program.reading.desugar.synthetic_nodes import at_position, read
from gradstudio.program.reading.syntax_queries import walk

Function = ast.FunctionDef
_WITHOUT = frozenset({"torch.no_grad", "torch.inference_mode", "torch.enable_grad"})
"""Blocks that are also decorators."""


def hold_in_init(definition: ast.ClassDef, paths: dict[str, str], path_of: PathOf, switched: Switched) -> None:
    """Rewrite a class of nn.Module in place; `paths` are what imports bind, `switched` what the text says of modes."""
    bound = [one for one in definition.body if _is_binding(one)]
    first = [one for one in map(_own, bound) if one is not None]
    definition.body = [one for one in definition.body if one not in bound]
    nn = _named("torch.nn", paths)
    methods = [one for one in definition.body if isinstance(one, Function)]
    if nn is not None and any(_reads_training(one) for one in methods if one.name != "__init__"):
        made = next((one for one in methods if one.name == "__init__"), None)
        if layer := layer_in_step(made, switched, path_of):
            _read_of_layer(methods, layer)  # without one it stands as it is, and is refused when it is read
    if first:
        maker = next((one for one in methods if one.name == "__init__"), None) or _add_maker(definition)
        place = behind_base(maker)
        maker.body[place:place] = first
    if nn is not None:
        for one in methods:
            one.body = [_as_buffer(inner, nn) for inner in one.body]


def behind_base(maker: Function) -> int:
    """Where the statements of `__init__` begin that come after the call of the base class."""
    calls = (k for k, one in enumerate(maker.body) if isinstance(one, ast.Expr) and "'__init__'" in ast.dump(one))
    return next(calls, -1) + 1


def _add_maker(definition: ast.ClassDef) -> Function:
    maker = new_maker(definition)
    definition.body.insert(0, maker)
    return maker


def new_maker(definition: ast.ClassDef) -> Function:
    """An `__init__` that only calls the base class."""
    made = ast.parse("def __init__(self):\n    super().__init__()\n").body[0]
    assert isinstance(made, Function)
    for part in walk(made):
        at_position(part, definition)
    return made


def without_grad(function: Function, path_of: PathOf) -> None:
    """`@torch.no_grad()` on a function is the block around its statements."""
    kept: list[ast.expr] = []
    for one in reversed(function.decorator_list):
        path = path_of(one.func if isinstance(one, ast.Call) else one)
        if path not in _WITHOUT:
            kept.insert(0, one)
            continue
        context = one if isinstance(one, ast.Call) else at_position(ast.Call(one, [], []), one)
        function.body = [at_position(ast.With([ast.withitem(context)], function.body), function.body[0])]
    function.decorator_list = kept


def _is_binding(statement: ast.stmt) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return not name.startswith("__")
        case ast.AnnAssign(target=ast.Name()):
            return True
        case _:
            return False


def _own(statement: ast.stmt) -> ast.stmt | None:
    """`self.name = value` for a class attribute."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name) as target], value=value):
            pass
        case ast.AnnAssign(target=ast.Name(id=name) as target, value=ast.expr() as value):
            pass
        case _:
            return None  # an annotation alone
    attribute = at_position(ast.Attribute(read("self", target), name, ast.Store()), target)
    return ast.copy_location(ast.Assign([attribute], value), statement)


def _named(path: str, paths: dict[str, str]) -> ast.expr | None:
    """The expression by which a text reads a module: ``nn``, or ``torch.nn``."""
    for name, meant in paths.items():
        if meant == path:
            return ast.Name(name, ast.Load())
    for name, meant in paths.items():
        if path.startswith(f"{meant}."):
            return ast.parse(name + path.removeprefix(meant), mode="eval").body
    return None


def _layer(nn: ast.expr, name: str, arguments: list[ast.expr], where: ast.AST) -> ast.Call:
    made = ast.Call(ast.Attribute(nn, name, ast.Load()), arguments, [])
    for part in walk(made.func):
        at_position(part, where)
    return at_position(made, where)


def _as_buffer(statement: ast.stmt, nn: ast.expr) -> ast.stmt:
    """`self.register_buffer("name", value)` binds the attribute."""
    match statement:
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Name() as own, attr="register_buffer"),
                args=[ast.Constant(value=str() as name), value],
                keywords=keywords,
            )
        ) if name.isidentifier():
            is_none = isinstance(value, ast.Constant) and value.value is None
            made = value if is_none else _layer(nn, "Buffer", [value], statement)
            if isinstance(made, ast.Call) and not is_none:
                made.keywords = keywords
            target = at_position(ast.Attribute(read(own.id, own), name, ast.Store()), own)
            return ast.copy_location(ast.Assign([target], made), statement)
        case _:
            return statement


def _trainings(function: Function) -> Iterator[ast.Attribute]:
    own = function.args.args[0].arg if function.args.args else ""
    for part in walk(function):
        match part:
            case ast.Attribute(value=ast.Name(id=name), attr="training", ctx=ast.Load()) if name == own:
                yield part


def _reads_training(function: Function) -> bool:
    return next(_trainings(function), None) is not None


def _read_of_layer(methods: list[Function], name: str) -> None:
    """Read `self.training` of a layer of the object."""
    for one in methods:
        for part in _trainings(one):
            part.value = at_position(ast.Attribute(part.value, name, ast.Load()), part)
            part.end_lineno = part.end_col_offset = None
