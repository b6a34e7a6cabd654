"""What each gesture may ask: calls of ours, objects made, and how much of both for each card that is added."""

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.ui.desk import Desk
from tests.ui.gestures import NUMBERS, PICTURES, Calls, Gesture, Gestures, count, gestures, picture_gestures

BUDGETS_FILE = Path(__file__).parents[1] / "budgets.toml"
BUDGETS = tomllib.loads(BUDGETS_FILE.read_text(encoding="utf-8"))
del BUDGETS["each tab"]  # tests/ui/test_tab_budget.py
FEW, MANY = 20, 40
"""Cards of a program, and of one twice as long."""
ROUNDS = 4
"""So often a gesture is counted that is over its budget."""


def counted(
    desk: Desk, qtbot: QtBot, leaf: str, wanted: Callable[[Gestures], dict[str, Gesture]]
) -> dict[str, tuple[Calls, Calls]]:
    """Each gesture in both programs; what is over its budget once more, for on a busy machine one wait may be two.

    What comes before it is done once more too: behind other gestures less is left to be found out.
    """
    found = dict[str, tuple[Calls, Calls]]()
    rounds = dict[str, list[tuple[Calls, Calls]]]()
    for _ in range(ROUNDS):
        names = [name for name in found if over(name, found[name])] if found else None
        if names == []:
            break
        few, many = (_each(Gestures(desk, qtbot, nodes, leaf), wanted, names) for nodes in (FEW, MANY))
        for name in few:
            rounds.setdefault(name, []).append((few[name], many[name]))
            found[name] = _best(name, rounds[name])
    return found


def _each(at: Gestures, wanted: Callable[[Gestures], dict[str, Gesture]], names: list[str] | None) -> dict[str, Calls]:
    """Those that are asked for; None: all."""
    rest, counts = set(names or ()), dict[str, Calls]()
    for name, gesture in wanted(at).items():
        counts[name] = count(at, gesture)
        rest.discard(name)
        if names and not rest:
            break
    return {name: calls for name, calls in counts.items() if not names or name in names}


def _best(name: str, rounds: list[tuple[Calls, Calls]]) -> tuple[Calls, Calls]:
    """A round that is within the budget, else the least of all."""
    least = [min(calls, key=lambda one: one.total) for calls in zip(*rounds, strict=True)]
    return next((both for both in rounds if not over(name, both)), (least[0], least[1]))


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


def over(name: str, both: tuple[Calls, Calls]) -> list[str]:
    """What a gesture takes more than it may."""
    took = taken(*both)
    return [f"{name}, {key}: {took[key]}, {most} allowed" for key, most in BUDGETS[name].items() if took[key] > most]


@pytest.mark.timeout(900)
def test_no_gesture_takes_more_than_its_budget(desk: Desk, qtbot: QtBot) -> None:
    """One test for all: what takes the time is to come to rest after each."""
    told = list[str]()
    found = counted(desk, qtbot, NUMBERS, gestures) | counted(desk, qtbot, PICTURES, picture_gestures)
    for name, both in found.items():
        print(f'["{name}"]', *(f"{key} = {value}" for key, value in taken(*both).items()), sep="\n")
        high = over(name, both)
        told += [*high, "few cards:", both[0].told(), "many:", both[1].told()] if high else []
    assert not told, "\n".join(told)
    assert sorted(found) == sorted(BUDGETS)
