"""Long work goes on between events, a slice at a time, and can be given up or finished at any moment."""

from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio.graph.slices import Slices
from gradstudio.ui.state import idle_work
from gradstudio.ui.state.idle_work import IdleWork


@pytest.fixture(autouse=True)
def one_step_is_a_slice(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_work, "SLICE_S", 0.0)


def steps(told: list[str], name: str, count: int) -> Slices[None]:
    try:
        for k in range(count):
            if k:
                yield
            told.append(f"{name}{k}")
        told.append(f"{name} ends")
    finally:
        told.append(f"{name} is left")


def test_what_has_one_step_is_done_at_once() -> None:
    told: list[str] = []
    idle = IdleWork()
    idle.begin("a", steps(told, "a", 1))
    assert told == ["a0", "a ends", "a is left"]
    assert not idle.has("a")


def test_each_turn_of_the_event_loop_does_one_slice_of_what_was_begun_first(qtbot: QtBot) -> None:
    told: list[str] = []
    idle = IdleWork()
    idle.begin("a", steps(told, "a", 3))
    idle.begin("b", steps(told, "b", 2))
    assert told == ["a0", "b0"]
    QApplication.processEvents()
    assert told == ["a0", "b0", "a1"]
    qtbot.waitUntil(lambda: not idle.has("b"))
    assert told == ["a0", "b0", "a1", "a2", "a ends", "a is left", "b1", "b ends", "b is left"]


def test_the_same_begun_again_gives_up_the_first(qtbot: QtBot) -> None:
    told: list[str] = []
    idle = IdleWork()
    idle.begin("a", steps(told, "old", 3))
    idle.begin("a", steps(told, "new", 2))
    qtbot.waitUntil(lambda: not idle.has("a"))
    assert told == ["old0", "old is left", "new0", "new1", "new ends", "new is left"]


def test_what_is_wanted_now_is_finished_now(qtbot: QtBot) -> None:
    told: list[str] = []
    idle = IdleWork()
    idle.begin("a", steps(told, "a", 3))
    idle.finish("a")
    idle.finish("never begun")
    assert told == ["a0", "a1", "a2", "a ends", "a is left"]
    QApplication.processEvents()
    assert told[-1] == "a is left"


@pytest.mark.parametrize("again", [False, True])
def test_a_work_may_give_itself_up_or_begin_itself_again(qtbot: QtBot, again: bool) -> None:
    told: list[str] = []
    idle = IdleWork()

    def gives_up() -> Iterator[Any]:
        yield
        idle.cancel("a")
        if again:
            idle.begin("a", steps(told, "a", 2))
        yield
        told.append("went on")

    idle.begin("a", gives_up())  # type: ignore[arg-type]  # an iterator is all that is asked of it here
    qtbot.waitUntil(lambda: not idle.has("a"))
    assert told == (["a0", "a1", "a ends", "a is left"] if again else [])


def test_what_fails_is_not_tried_again(qtbot: QtBot) -> None:
    told: list[str] = []
    idle = IdleWork()

    def fails() -> Slices[None]:
        yield
        raise ValueError("on purpose")

    idle.begin("a", fails())
    with qtbot.captureExceptions() as caught:
        idle.begin("b", steps(told, "b", 2))
        qtbot.waitUntil(lambda: not idle.has("a"))
    assert len(caught) == 1
    idle.begin("c", steps(told, "c", 2))
    qtbot.waitUntil(lambda: not idle.has("b") and not idle.has("c"))
    assert "b ends" in told and "c ends" in told
