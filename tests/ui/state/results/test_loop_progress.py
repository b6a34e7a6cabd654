"""How far loops are: in words, with the rate of the newest turns, and what is left of them."""

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.progress import Turned
from gradstudio.ui.state.results.loop_progress import LoopProgress, duration

LOOP, INNER = ItemId("loop"), ItemId("inner")


def test_turns_rate_and_time_left() -> None:
    progress = LoopProgress()
    progress.note(Turned(loop=LOOP, turn=99, total=1000, seconds=1.0))
    assert [one.words for one in progress.shown] == ["turn 100 of 1,000"]
    progress.note(Turned(loop=LOOP, turn=199, total=1000, seconds=1.5))
    (shown,) = progress.shown
    assert (shown.words, shown.share) == ("turn 200 of 1,000 · 200 a second · 4.0 s left", 0.2)


def test_a_loop_of_unknown_length_says_what_is_known() -> None:
    progress = LoopProgress()
    progress.note(Turned(loop=LOOP, turn=0, seconds=0.0))
    progress.note(Turned(loop=LOOP, turn=10, seconds=5.0))
    assert [(one.words, one.share) for one in progress.shown] == [("turn 11 · 2 a second", 0.0)]


def test_another_turn_of_the_outer_loop_gives_no_rate() -> None:
    progress = LoopProgress()
    progress.note(Turned(loop=INNER, turn=3, around=(0,), seconds=1.0))
    progress.note(Turned(loop=INNER, turn=5, around=(1,), seconds=1.5))
    assert [one.words for one in progress.shown] == ["turn 6"]


def test_paused_in_a_loop_no_rate_stands_and_behind_it_nothing() -> None:
    progress = LoopProgress()
    progress.note(Turned(loop=LOOP, turn=1, total=9, seconds=1.0))
    progress.note(Turned(loop=LOOP, turn=2, total=9, seconds=2.0))
    progress.rest(is_inside=True)
    assert [one.words for one in progress.shown] == ["turn 3 of 9"]
    progress.note(Turned(loop=LOOP, is_over=True))
    assert progress.shown == ()


def test_durations_have_two_units_at_most() -> None:
    assert [duration(each) for each in (0.44, 59.6, 61, 3661)] == ["0.4 s", "1 min 0 s", "1 min 1 s", "1 h 1 min"]
