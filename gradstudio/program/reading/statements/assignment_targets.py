"""Assignments of Python taken apart into those a canvas has: one name, a flat tuple of names, or one place.

Syntax in, syntax out; nothing is looked up and nothing is executed. What a statement binds by the way gets a name
of its own, so that the parts do what the statement did, in Python's order: the value first, then from left to right.
"""

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TypeGuard, TypeVar

from gradstudio.program.errors import NotReadable

Fresh = Callable[[str], str]
"""Gives a name that the text uses nowhere."""
Assignment = tuple[ast.expr, ast.expr]
"""A target (a name, a flat tuple of names, an item, an attribute) and what it is given."""
Sequence = ast.Tuple | ast.List
One = TypeVar("One", bound=ast.expr)


def simple_assignments(targets: list[ast.expr], value: ast.expr, fresh: Fresh) -> Iterator[Assignment]:
    """The assignments that `targets[0] = targets[1] = … = value` is made of.

    Raises:
        NotReadable: something that cannot be assigned to; an empty tuple; two `*`.
    """
    if len(targets) == 1:
        yield from _single(targets[0], value, fresh)
        return
    if isinstance(value, ast.Constant) and not any(isinstance(target, ast.Name) for target in targets):
        for target in targets:
            yield from _single(target, value, fresh)
        return
    mentioned = Counter(part.id for one in targets for part in ast.walk(one) if isinstance(part, ast.Name))
    holder = next((one for one in targets if isinstance(one, ast.Name) and mentioned[one.id] == 1), None)
    name = holder.id if holder is not None else fresh("value")
    yield holder or _at(ast.Name(name, ast.Store()), targets[0]), value
    for target in targets:
        if target is not holder:
            yield from _single(target, _read(name, target), fresh)


def _single(target: ast.expr, value: ast.expr, fresh: Fresh) -> Iterator[Assignment]:
    if isinstance(target, ast.Name | ast.Attribute | ast.Subscript):
        yield target, value
    elif not isinstance(target, Sequence) or not target.elts:
        raise NotReadable("This cannot be assigned to.", target.lineno, target.col_offset)
    elif any(isinstance(one, ast.Starred) for one in target.elts):
        yield from _starred(target, value, fresh)
    elif len(target.elts) == 1:
        one = value.elts[0] if _has_parts(value) and len(value.elts) == 1 else _item(value, 0)
        yield from _single(target.elts[0], one, fresh)
    else:
        yield from _several(target, value, fresh)


def _several(target: Sequence, value: ast.expr, fresh: Fresh) -> Iterator[Assignment]:
    """Names are bound at once; what is no name, or must wait for one, is written after that: `x[0], x[1] = a, b`."""
    names: list[ast.expr] = []
    later: list[tuple[ast.expr, str]] = []
    for one in target.elts:
        waits = isinstance(one, ast.Name) and any(_mentions(other, one.id) for other, _ in later)
        if isinstance(one, ast.Name) and not waits:
            names.append(one)
        else:
            later.append((one, fresh("state" if isinstance(one, Sequence) else "value")))
            names.append(_at(ast.Name(later[-1][1], ast.Store()), one))
    yield _at(ast.Tuple(names, ast.Store()), target), value
    for one, name in later:
        yield from _single(one, _read(name, one), fresh)


def _starred(target: Sequence, value: ast.expr, fresh: Fresh) -> Iterator[Assignment]:
    """`first, *rest = x.shape`: a list is made of the value, and its parts are taken."""
    place, *more = (k for k, one in enumerate(target.elts) if isinstance(one, ast.Starred))
    if more:
        raise NotReadable("Two `*` in one assignment are no Python.", target.lineno, target.col_offset)
    after = len(target.elts) - place - 1
    if _has_parts(value) and len(value.elts) >= place + after:
        yield from _gathered(target, value, place, after, fresh)
        return
    name = fresh("items")
    yield (
        _at(ast.Name(name, ast.Store()), target),
        _at(ast.Call(_at(ast.Name("list", ast.Load()), value), [value], []), value),
    )
    for k, one in enumerate(target.elts):
        if isinstance(one, ast.Starred):
            bounds = ast.Slice(_number(k, one) if k else None, _number(-after, one) if after else None)
            part = ast.Subscript(_read(name, one), _at(bounds, one), ast.Load())
            yield from _unless_unused(one.value, _at(part, one), fresh)
        else:
            yield from _unless_unused(one, _item(_read(name, one), k if k < place else k - len(target.elts)), fresh)


def _gathered(target: Sequence, value: Sequence, place: int, after: int, fresh: Fresh) -> Iterator[Assignment]:
    """The elements stand in the text, so that what the starred name gets is a list of some of them."""
    end = len(value.elts) - after
    middle = _at(ast.List(value.elts[place:end], ast.Load()), value)
    starred = target.elts[place]
    assert isinstance(starred, ast.Starred)
    targets = [*target.elts[:place], starred.value, *target.elts[place + 1 :]]
    values = [*value.elts[:place], middle, *value.elts[end:]]
    yield from _single(_at(ast.Tuple(targets, ast.Store()), target), _at(ast.Tuple(values, ast.Load()), value), fresh)


def _unless_unused(target: ast.expr, value: ast.expr, fresh: Fresh) -> Iterator[Assignment]:
    is_unused = isinstance(target, ast.Name) and target.id == "_"
    return iter(()) if is_unused else _single(target, value, fresh)


def _has_parts(value: ast.expr) -> TypeGuard[Sequence]:
    """Whether the elements of a sequence all stand in the text."""
    return isinstance(value, Sequence) and not any(isinstance(one, ast.Starred) for one in value.elts)


def _mentions(node: ast.expr, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node))


def _read(name: str, where: ast.expr) -> ast.Name:
    return _at(ast.Name(name, ast.Load()), where)


def _item(value: ast.expr, k: int) -> ast.Subscript:
    return _at(ast.Subscript(value, _number(k, value), ast.Load()), value)


def _number(k: int, where: ast.expr) -> ast.expr:
    if k >= 0:
        return _at(ast.Constant(k), where)
    return _at(ast.UnaryOp(ast.USub(), _at(ast.Constant(-k), where)), where)


def _at(node: One, where: ast.expr) -> One:
    """The node where another begins; without an end, for it has no text of its own."""
    node.lineno, node.col_offset = where.lineno, where.col_offset
    node.end_lineno = node.end_col_offset = None
    return node
