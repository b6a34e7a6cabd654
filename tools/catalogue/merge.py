"""Several ways of calling one target made into as few rows as are true to torch.

Two ways become one row where the same results come out, the arguments stand in the same order under
the same names, and what only one of them has may be left out: `clamp(min: Tensor)` and `clamp(min:
Number)` become `clamp(min: tensor_or_number)`. Else each is a row of its own, told apart by the first
argument that the others do not have: `torch.max`, `torch.max:dim`, `torch.max:other`.
"""

from collections.abc import Iterable

import msgspec

from gradstudio.operators.model import Kind, Operator, Parameter

_NUMBERS = frozenset({Kind.NUMBER, Kind.INT, Kind.FLOAT, Kind.COMPLEX})
_SEVERAL = frozenset({Kind.NUMBERS, Kind.INTS, Kind.SHAPE})


def merge(rows: Iterable[Operator]) -> list[Operator]:
    """The rows with what can be one made one, those with fewest required arguments first."""
    merged: list[Operator] = []
    for row in rows:
        for k, other in enumerate(merged):
            if (both := _both(other, row)) is not None:
                merged[k] = both
                break
        else:
            merged.append(row)
    return sorted(merged, key=lambda row: sum(p.default is None for p in row.parameters))


def told_apart(rows: list[Operator], path: str, taken: Iterable[str] = ()) -> list[Operator]:
    """The rows with a key each: the path alone, then `path:word`."""
    keys = set(taken)
    found = []
    for row in rows:
        key = path if path not in keys else f"{path}:{_word(row, rows, path, keys)}"
        keys.add(key)
        title = row.title if key == path else f"{row.word} ({key.partition(':')[2].replace('_', ' ')})"
        found.append(msgspec.structs.replace(row, key=key, title=title, target="" if key == path else path))
    return found


def covers(row: Operator, other: Operator) -> bool:
    """Whether every call of `other` is a call of `row`, as far as names, order and kinds tell."""
    if row.varying != other.varying or len(row.results) != len(other.results):
        return False
    mine = {_name(p): p for p in row.parameters}
    names = [_name(p) for p in other.parameters]
    if any(name not in mine or not _widens(mine[name], p) for name, p in zip(names, other.parameters, strict=True)):
        return False
    given = [_name(p) for p in other.parameters if not p.keyword_only]
    order = [_name(p) for p in row.parameters if not p.keyword_only]
    required = {_name(p) for p in row.parameters if p.default is None} - {
        _name(p) for p in other.parameters if p.default is None
    }
    return order[: len(given)] == given and not required


def _word(row: Operator, rows: list[Operator], path: str, keys: set[str]) -> str:
    others = [r for r in rows if r is not row]
    common = {p.name for r in others for p in r.parameters if p.default is None}
    names = [p.name for p in row.parameters[1:] if p.default is None and p.name not in common]
    names += [p.name for p in row.parameters[1:]] + [str(row.parameters[0].kind)] if row.parameters else []
    word = next((name for name in names if f"{path}:{name}" not in keys), "")
    return word or next(str(k) for k in range(2, 99) if f"{path}:{k}" not in keys)


def _name(parameter: Parameter) -> str:
    return "self" if parameter.name == "input" else parameter.name


def _both(a: Operator, b: Operator) -> Operator | None:
    """One row that takes what either takes, or None."""
    if a.varying != b.varying or a.results != b.results or a.face is not b.face:
        return None
    positional = _positional(_by_position(a), _by_position(b))
    named = _named(_by_keyword(a), _by_keyword(b))
    if positional is None or named is None:
        return None
    names = {p.name for p in positional}
    if any(p.name in names for p in named) or _stuck(positional):
        return None
    effects = tuple(dict.fromkeys((*a.effects, *b.effects)))
    writes = tuple(dict.fromkeys((*a.writes, *b.writes)))
    return msgspec.structs.replace(
        a, parameters=(*positional, *named), effects=effects, writes=writes, view=a.view or b.view, cuts=a.cuts
    )


def _stuck(positional: list[Parameter]) -> bool:
    """Whether something required stands behind something optional, or after what takes all the rest."""
    optional = variadic = False
    for parameter in positional:
        if variadic or (optional and parameter.default is None and not parameter.variadic):
            return True
        optional = optional or parameter.default is not None
        variadic = variadic or parameter.variadic
    return False


def _by_position(row: Operator) -> list[Parameter]:
    return [p for p in row.parameters if not p.keyword_only]


def _by_keyword(row: Operator) -> list[Parameter]:
    return [p for p in row.parameters if p.keyword_only]


def _positional(a: list[Parameter], b: list[Parameter]) -> list[Parameter] | None:
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    found = []
    for left, right in zip(longer, shorter, strict=False):
        parameter = _parameter(left, right) if _name(left) == _name(right) else None
        if parameter is None:
            return None
        found.append(parameter)
    for parameter in longer[len(shorter) :]:
        optional = _optional(parameter)
        if optional is None:
            return None
        found.append(optional)
    return found


def _named(a: list[Parameter], b: list[Parameter]) -> list[Parameter] | None:
    right = {p.name: p for p in b}
    found: list[Parameter | None] = [_parameter(p, right.pop(p.name)) if p.name in right else _optional(p) for p in a]
    found += [_optional(p) for p in right.values()]
    kept = [p for p in found if p is not None]
    return kept if len(kept) == len(found) else None


def _optional(parameter: Parameter) -> Parameter | None:
    """The parameter as one that may be left out, where None says the same."""
    if parameter.default is not None or parameter.variadic:
        return parameter if parameter.default is not None else None
    return msgspec.structs.replace(parameter, default="None") if parameter.nullable else None


def _parameter(a: Parameter, b: Parameter) -> Parameter | None:
    kind = _kind(a.kind, b.kind)
    if kind is None:
        return None
    return msgspec.structs.replace(
        a if a.name != "self" or b.name == "self" else b,
        kind=kind,
        default=a.default if a.default is not None else b.default,
        nullable=a.nullable or b.nullable,
        variadic=a.variadic or b.variadic,
        choices=a.choices or b.choices,
    )


def _kind(a: Kind, b: Kind) -> Kind | None:
    """What takes whatever either takes; None when nothing says so exactly."""
    pair = {a, b}
    if len(pair) == 1:
        return a
    if pair <= _NUMBERS:
        return Kind.NUMBER
    if pair <= _NUMBERS | {Kind.TENSOR, Kind.TENSOR_OR_NUMBER}:
        return Kind.TENSOR_OR_NUMBER
    if pair <= {Kind.INT, Kind.INTS, Kind.SHAPE}:
        return Kind.SHAPE if Kind.SHAPE in pair else Kind.INTS
    if pair <= _NUMBERS | _SEVERAL:
        return Kind.NUMBERS
    if pair <= _NUMBERS | _SEVERAL | {Kind.TENSOR, Kind.TENSORS, Kind.TENSOR_OR_NUMBER, Kind.ANY}:
        return Kind.ANY
    return None


def _widens(mine: Parameter, other: Parameter) -> bool:
    if Kind.ANY in (mine.kind, other.kind) or (mine.kind in _NUMBERS and other.kind in _NUMBERS):
        return True
    if mine.kind in _SEVERAL and other.kind in _SEVERAL | {Kind.INT}:
        return True
    return _kind(mine.kind, other.kind) is mine.kind
