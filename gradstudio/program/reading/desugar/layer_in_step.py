"""Which layer of a class is always in the mode of the object that holds it, for all a text tells.

Syntax only. `train` and `eval` switch an object with all it holds; a text that switches a layer for itself says so.
"""

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from gradstudio.program.reading.syntax_queries import walk

PathOf = Callable[[ast.expr], str | None]
"""The Python path that an expression stands for."""
_SWITCHES = frozenset({"train", "eval"})
_SAME_OBJECT = _SWITCHES | {"to", "cuda", "cpu", "float", "double", "half", "requires_grad_", "apply"}
"""Methods that give the object itself."""
_LAYERS = "torch.nn."
_NO_LAYERS = frozenset({"Parameter", "Buffer"})


class Switched(NamedTuple):
    """What a text says of modes.

    Attributes:
        is_plain: every object that is switched is one that a call made, or is named by an attribute.
        attributes: the names by which parts of objects are switched for themselves.
        bound: how often each attribute is written.
    """

    is_plain: bool
    attributes: frozenset[str]
    bound: Counter[str]


def switched_in(parts: Sequence[ast.AST]) -> Switched:
    """Look through all parts of a text."""
    written = [part for part in parts if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)]
    bound = Counter(part.attr for part in written)
    receivers = [
        part.func.value
        for part in parts
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in _SWITCHES
    ]
    names = _values(parts) if receivers else {}
    attributes = {attribute for one in receivers for attribute in _attributes(one)}
    is_plain = "training" not in bound and all(_is_plain(one, names) for one in receivers)
    return Switched(is_plain, frozenset(attributes), bound)


def layer_in_step(maker: ast.FunctionDef | None, switched: Switched, path_of: PathOf) -> str:
    """The attribute of a layer that `__init__` makes and that nothing else makes or switches; "" when there is none."""
    for one in maker.body if maker is not None and switched.is_plain else ():
        match one:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(), attr=name)], value=ast.Call(func=made)):
                path = path_of(made) or ""
                is_layer = path.startswith(_LAYERS) and path.removeprefix(_LAYERS)[:1].isupper()
                is_layer = is_layer and path.rpartition(".")[2] not in _NO_LAYERS
                if is_layer and switched.bound[name] == 1 and name not in switched.attributes:
                    return name
    return ""


def _values(parts: Iterable[ast.AST]) -> dict[str, list[ast.expr | None]]:
    """What names are bound to; None for what a loop, a `with` or a call brings, but what a method calls its object."""
    found: dict[str, list[ast.expr | None]] = {}
    methods = {id(one) for part in parts if isinstance(part, ast.ClassDef) for one in part.body}
    for part in parts:
        if isinstance(part, ast.Assign) and len(part.targets) == 1 and isinstance(part.targets[0], ast.Name):
            found.setdefault(part.targets[0].id, []).append(part.value)
        elif isinstance(part, ast.FunctionDef):
            taken = [*part.args.posonlyargs, *part.args.args, *part.args.kwonlyargs]
            for argument in taken[1:] if id(part) in methods else taken:
                found.setdefault(argument.arg, []).append(None)
        else:
            for name in _bound_by_the_way(part):
                found.setdefault(name, []).append(None)
    return found


def _bound_by_the_way(part: ast.AST) -> Iterator[str]:
    targets: list[ast.expr] = []
    match part:
        case ast.Assign(targets=several):
            targets = several
        case ast.For(target=target) | ast.comprehension(target=target) | ast.NamedExpr(target=target):
            targets = [target]
        case ast.AnnAssign(target=target) | ast.withitem(optional_vars=ast.expr() as target):
            targets = [target]
    for one in targets:
        yield from (name.id for name in walk(one) if isinstance(name, ast.Name))


def _attributes(receiver: ast.expr) -> Iterator[str]:
    while isinstance(receiver, ast.Attribute):
        yield receiver.attr
        receiver = receiver.value


def _is_plain(receiver: ast.expr, names: dict[str, list[ast.expr | None]]) -> bool:
    """Whether it is plain which object is switched: one that a call made, or an attribute."""
    if isinstance(receiver, ast.Attribute):
        return True
    if isinstance(receiver, ast.Name):
        return all(value is not None and _is_made(value, receiver.id) for value in names.get(receiver.id, ()))
    return _is_made(receiver, "")


def _is_made(value: ast.expr, own: str) -> bool:
    """Whether a call makes it, or it is what had the name before: `net = net.eval()`."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _SAME_OBJECT:
        value = value.func.value
    if isinstance(value, ast.Name):
        return value.id == own  # a second name is not followed
    return isinstance(value, ast.Call) and (
        isinstance(value.func, ast.Name) or (isinstance(value.func, ast.Attribute) and value.func.attr[:1].isupper())
    )
