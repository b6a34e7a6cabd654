"""What each gesture may ask: calls of ours, objects made, and how much of both for each card that is added."""

import tomllib
from pathlib import Path

import pytest

from tests.ui.conftest import PatientBot
from tests.ui.desk import Desk
from tests.ui.gestures import Calls, Gestures, count, gestures

BUDGETS = tomllib.loads((Path(__file__).parents[1] / "budgets.toml").read_text(encoding="utf-8"))
FEW, MANY = 20, 40
"""Cards of a program, and of one twice as long."""


@pytest.fixture(scope="module")
def counted(desk: Desk, qapp: object, request: pytest.FixtureRequest) -> dict[str, tuple[Calls, Calls]]:
    """Each gesture in both programs."""
    qtbot = PatientBot(request)
    few, many = (
        {name: count(at, gesture) for name, gesture in gestures(at).items()}
        for at in (Gestures(desk, qtbot, nodes) for nodes in (FEW, MANY))
    )
    return {name: (few[name], many[name]) for name in few}


def taken(few: Calls, many: Calls) -> dict[str, float]:
    """What stands in the table of a gesture."""
    added = MANY - FEW
    return {
        "calls": few.total,
        "objects": few.objects,
        "calls_a_card": round((many.total - few.total) / added, 1),
        "objects_a_card": round((many.objects - few.objects) / added, 1),
    }


def test_every_gesture_has_a_budget(counted: dict[str, tuple[Calls, Calls]]) -> None:
    assert sorted(counted) == sorted(BUDGETS)


@pytest.mark.parametrize("name", BUDGETS)
def test_a_gesture_keeps_to_its_budget(counted: dict[str, tuple[Calls, Calls]], name: str) -> None:
    took, budget = taken(*counted[name]), BUDGETS[name]
    print(f'["{name}"]', *(f"{key} = {value}" for key, value in took.items()), sep="\n")
    over = [f"{key}: {value}, {budget[key]} allowed" for key, value in took.items() if value > budget[key]]
    assert not over, "\n".join([*over, "few cards:", counted[name][0].told(), "many:", counted[name][1].told()])
