"""What each gesture may ask: calls of ours, objects made, and how much of both for each card that is added."""

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.ui.desk import Desk
from tests.ui.gestures import NUMBERS, PICTURES, Calls, Gesture, Gestures, count, gestures, picture_gestures

BUDGETS = tomllib.loads((Path(__file__).parents[1] / "budgets.toml").read_text(encoding="utf-8"))
FEW, MANY = 20, 40
"""Cards of a program, and of one twice as long."""


def counted(
    desk: Desk, qtbot: QtBot, leaf: str, wanted: Callable[[Gestures], dict[str, Gesture]]
) -> dict[str, tuple[Calls, Calls]]:
    """Each gesture in both programs."""
    few, many = (
        {name: count(at, gesture) for name, gesture in wanted(at).items()}
        for at in (Gestures(desk, qtbot, nodes, leaf) for nodes in (FEW, MANY))
    )
    return {name: (few[name], many[name]) for name in few}


def taken(few: Calls, many: Calls) -> dict[str, float]:
    """What stands in the table of a gesture."""
    added = MANY - FEW
    return {
        "calls": few.total,
        "objects": few.objects,
        "numpy_calls": few.of_numpy,
        "calls_a_card": round((many.total - few.total) / added, 1),
        "objects_a_card": round((many.objects - few.objects) / added, 1),
        "numpy_calls_a_card": round((many.of_numpy - few.of_numpy) / added, 1),
    }


@pytest.mark.timeout(900)
def test_no_gesture_takes_more_than_its_budget(desk: Desk, qtbot: QtBot) -> None:
    """One test for all: what takes the time is to come to rest after each."""
    over = list[str]()
    found = counted(desk, qtbot, NUMBERS, gestures) | counted(desk, qtbot, PICTURES, picture_gestures)
    for name, (few, many) in found.items():
        took, budget = taken(few, many), BUDGETS[name]
        print(f'["{name}"]', *(f"{key} = {value}" for key, value in took.items()), sep="\n")
        high = [f"{name}, {key}: {took[key]}, {most} allowed" for key, most in budget.items() if took[key] > most]
        over += [*high, "few cards:", few.told(), "many:", many.told()] if high else []
    assert not over, "\n".join(over)
    assert sorted(found) == sorted(BUDGETS)
