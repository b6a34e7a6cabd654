"""What calling a module takes: its row grows by the parameters of `forward` where the maker is known.

What stands by position is in the list ``inputs``, whoever is called; what stands by keyword has a port of its name.
"""

import unicodedata
from keyword import iskeyword

import msgspec

from gradstudio.operators.families import is_list_like
from gradstudio.operators.model import Kind, Operator, Parameter

MODULE, INPUTS = "module", "inputs"


def forward_parameters(maker: Operator | None) -> tuple[Parameter, ...]:
    """What calling the maker's module takes; none when that is not known, so that it may be anything."""
    return maker.takes if maker is not None else ()


def required_inputs(maker: Operator | None) -> int:
    """How many inputs a call must have by position; one where that is not known."""
    return (
        sum(_by_position(p) and p.default is None for p in forward_parameters(maker))
        if forward_parameters(maker)
        else 1
    )


_rows: dict[tuple[int, int, int, tuple[str, ...]], tuple[Operator, Operator | None, Operator]] = {}
"""A memo of `called_row`, with what it was made of: most calls of a module are given the same arguments."""
MAX_ROWS = 4096


def called_row(call: Operator, maker: Operator | None, count: int, named: tuple[str, ...]) -> Operator:
    """The row of a call that has `count` inputs by position, and `named` arguments by keyword.

    Everything else that the module takes can be given by keyword; names that it does not take are kept,
    so that they can be seen and taken away.
    """
    key = (id(call), id(maker), count, named)
    memo = _rows.get(key)
    if memo is not None and memo[0] is call and memo[1] is maker:
        return memo[2]
    if len(_rows) > MAX_ROWS:
        _rows.clear()
    row = _grown(call, maker, count, named)
    _rows[key] = (call, maker, row)
    return row


def _grown(call: Operator, maker: Operator | None, count: int, named: tuple[str, ...]) -> Operator:
    offered = tuple(msgspec.structs.replace(p, keyword_only=True) for p in _rest(maker, count))
    known = {parameter.name for parameter in (*call.parameters, *offered)}
    unknown = (Parameter(name, Kind.ANY, default="None", keyword_only=True) for name in named if name not in known)
    return msgspec.structs.replace(call, parameters=(*call.parameters, *offered, *unknown))


def as_function(call: Operator, maker: Operator) -> Operator:
    """Calling the maker's module as a row of its own, with its true signature."""
    return msgspec.structs.replace(call, title=maker.title, parameters=(call.parameters[0], *maker.takes))


def input_parameter(maker: Operator | None, number: int) -> Parameter | None:
    """What the input of that number takes; None when that is not known."""
    places = [parameter for parameter in forward_parameters(maker) if _by_position(parameter)]
    if number >= len(places):
        return None
    found = places[number]
    if is_list_like(found):  # an element of the inputs has no elements of its own
        found = msgspec.structs.replace(found, kind=Kind.OBJECT if found.kind is Kind.TENSORS else Kind.ANY)
    return found


def is_argument_name(name: str) -> bool:
    """Whether something can be given to a call by this name; it is printed as it stands."""
    return name.isidentifier() and not iskeyword(name) and unicodedata.normalize("NFKC", name) == name


def stray_reason(maker: Operator | None, count: int, named: tuple[str, ...]) -> str:
    """Why the module cannot be called with these names; "" when it can, or when that is not known."""
    takes = forward_parameters(maker)
    if maker is None or not takes:
        return ""
    places = sum(map(_by_position, takes))
    if count > places:
        return f"{maker.title} takes {places} input{'' if places == 1 else 's'}, not {count}"
    offered = {p.name for p in _rest(maker, count)}
    names = {p.name for p in takes}
    for name in named:
        if name not in offered:
            return f"'{name}' is given twice" if name in names else f"{maker.title} takes no argument '{name}'"
    return ""


def _by_position(parameter: Parameter) -> bool:
    return not parameter.keyword_only


def _rest(maker: Operator | None, count: int) -> tuple[Parameter, ...]:
    """What the first `count` inputs leave to be given by name."""
    takes = forward_parameters(maker)
    return tuple(p for k, p in enumerate(takes) if k >= count or p.keyword_only)
