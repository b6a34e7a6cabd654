"""When a slider that a run follows moves, and when it rests."""

from pytestqt.qtbot import QtBot

from gradstudio.ui.state.run.slide import Slide


def test_a_slider_that_no_run_follows_keeps_nothing_waiting(qtbot: QtBot) -> None:
    slide = Slide(lambda: False)
    assert not slide.move(follows=False)
    assert not slide.moves


def test_a_slider_rests_when_what_it_began_is_over(qtbot: QtBot) -> None:
    asked = list[bool]()

    def is_busy() -> bool:
        asked.append(len(asked) < 2)
        return asked[-1]

    slide = Slide(is_busy)
    lasted = list[bool]()
    slide.lasted.connect(lambda: lasted.append(slide.is_brief))
    assert slide.move(follows=True) and slide.moves and slide.is_brief
    with qtbot.waitSignal(slide.rested):
        pass
    assert asked == [True, True, False] and not slide.is_brief
    assert not slide.moves
    assert lasted == [False, False], "what goes on for so long is no more brief"
