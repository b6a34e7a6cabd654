"""An enumeration that is made the short way is the one that Python makes."""

import re
import sys
from enum import Enum, Flag, FlagBoundary, IntEnum, IntFlag
from typing import Any

import pytest
from PySide6 import QtCore, QtGui, QtWidgets

from gradstudio.ui.app import enum_members

Pairs = list[tuple[str, int]]
MEMBERS: tuple[Pairs, ...] = (
    [],
    [("one", 1)],
    [("none", 0), ("first", 1), ("again", 1), ("second", 2), ("both", 3)],
    [("fourth", 8), ("first", 1), ("all", 0xFF)],
    [("name", 1), ("value", 2), ("_hidden", 4), ("plain", 8)],
    [("low", -2), ("high", 1 << 40)],
)


def content(made: Any) -> dict[str, Any]:
    """All that it has, its members as their own content."""
    own = vars(made).items()
    told = {key: shown(value, made) for key, value in own if key not in ("__dict__", "__weakref__")}
    return told | {"listed": [member.name for member in made], "by value": [made(member.value) for member in made]}


def shown(value: Any, made: Any) -> Any:
    if isinstance(value, made):
        return sorted(vars(value).items(), key=lambda pair: pair[0]) if value.__objclass__ is made else "another's"
    if isinstance(value, dict):
        return [(key, shown(inner, made)) for key, inner in value.items()]
    return getattr(value, "__func__", value)


def said(made: Any) -> str:
    return re.sub("0x[0-9a-f]+", "", repr(sorted(content(made).items())))


@pytest.mark.skipif(sys.version_info[:2] != enum_members.PYTHON, reason="Python makes them itself")
@pytest.mark.parametrize("kind", enum_members.KINDS)
@pytest.mark.parametrize("members", MEMBERS)
def test_it_has_what_python_gives_it(kind: type[Enum], members: Pairs) -> None:
    options = {"module": "here", "qualname": "Kind.Made", "type": None, "start": 1, "boundary": FlagBoundary.KEEP}
    boundary = options if issubclass(kind, Flag) else options | {"boundary": None}
    ours = enum_members.create(kind, "Made", members, **boundary)
    assert said(ours) == said(kind("Made", members, **boundary))  # type: ignore[call-overload]


def enumerations() -> list[type[Enum]]:
    """Those of the classes that a window is made of."""
    named = (getattr(module, name) for module in (QtCore, QtGui, QtWidgets) for name in dir(module))
    inner = (value for kind in named if isinstance(kind, type) for value in vars(kind).values())
    return [value for value in inner if isinstance(value, type) and issubclass(value, Enum)]


@pytest.mark.skipif(sys.version_info[:2] != enum_members.PYTHON, reason="Python makes them itself")
def test_it_makes_all_of_qts_as_python_makes_them() -> None:
    all_of_them = enumerations()
    assert len(all_of_them) > 500
    for qts in all_of_them:
        kind = next(base for base in qts.__mro__ if base in (IntEnum, IntFlag, Flag, Enum))
        members = [(name, member.value) for name, member in qts.__members__.items()]
        assert said(enum_members.create(kind, "Made", members)) == said(kind("Made", members))  # type: ignore[call-overload]


def test_what_is_no_number_is_left_to_python() -> None:
    made: Any = enum_members.create(Enum, "Made", [("one", "a"), ("two", "b")])
    assert made.two.value == "b"
