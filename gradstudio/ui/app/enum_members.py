"""Qt's enumerations become Python's without the long way that Python goes for each member of them."""

import sys
from enum import Enum, EnumType, Flag, IntEnum, IntFlag
from functools import reduce
from operator import or_
from typing import Any

PYTHON = (3, 11)
"""The version whose enumerations are made here as it makes them; any other makes them itself."""
KINDS = (Enum, IntEnum, Flag, IntFlag)
_TAKEN = frozenset(name for kind in (IntFlag, EnumType) for name in dir(kind))
_made_by_python: Any = EnumType._create_  # type: ignore[attr-defined]  # behind `Enum(name, members)`


def load() -> None:
    """WORKAROUND(PySide6 makes an enumeration of Python's of each of Qt's: 4,800 members, 100 ms).

    Python takes each member away from its class as an attribute, sets it again, and looks through all bases for it.
    """
    if sys.version_info[:2] == PYTHON:
        EnumType._create_ = create  # type: ignore[attr-defined]  # as above


def create(kind: type[Enum], class_name: str, names: Any, **options: Any) -> type[Enum]:
    """An enumeration, by the names and numbers of its members: what `EnumType._create_` makes of them."""
    if kind not in KINDS or not isinstance(names, list) or not all(map(_is_usual, names)):
        return _made_by_python(kind, class_name, names, **options)  # type: ignore[no-any-return]  # Python's own says nothing
    made: type[Enum] = _made_by_python(kind, class_name, names[:1], **options)
    _add_members(made, names[1:])
    if issubclass(made, Flag):
        _complete_flags(made)
    return made


def _is_usual(pair: Any) -> bool:
    """Whether it is a number under a name that means nothing else in an enumeration."""
    name, value = pair
    return type(value) is int and name not in _TAKEN and name[0] != "_"


def _add_members(made: Any, pairs: list[tuple[str, int]]) -> None:
    """Add members to an enumeration that has its first one."""
    by_name, by_value, listed = made._member_map_, made._value2member_map_, made._member_names_
    new_member, set_attribute = made._member_type_.__new__, type.__setattr__
    with_value = made._use_args_
    only_bits = issubclass(made, Flag)
    for name, value in pairs:
        member = by_value.get(value)
        if member is None:
            member = by_value[value] = new_member(made, value) if with_value else new_member(made)
            member._value_ = value
            member._name_ = name
            member.__objclass__ = made
            member._sort_order_ = len(listed)
            if not only_bits or (value and not value & (value - 1)):
                listed.append(name)
        by_name[name] = member
        set_attribute(made, name, member)


def _complete_flags(made: Any) -> None:
    """Say of an enumeration of bits which bits it has, and whether it lists them in their order."""
    values = list(made._value2member_map_)
    bits = [value for value in values if value and not value & (value - 1)]
    made._flag_mask_ = reduce(or_, values, 0)
    made._singles_mask_ = reduce(or_, bits, 0)
    made._all_bits_ = 2 ** made._flag_mask_.bit_length() - 1
    if bits != sorted(bits):
        made._iter_member_ = made._iter_member_by_def_
