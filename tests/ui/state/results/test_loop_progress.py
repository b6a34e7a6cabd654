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


def test_what_is_left_of_going_to_a_turn_is_counted_to_there() -> None:
    progress = LoopProgress()
    progress.note(Turned(loop=LOOP, turn=0, total=900, seconds=0.0))
    progress.note(Turned(loop=LOOP, turn=500, total=900, seconds=5.0))
    progress.set_goal(LOOP, (249,))
    progress.note(Turned(loop=LOOP, turn=50, total=900, seconds=0.1))
    assert [(one.left, one.share) for one in progress.shown] == [("2.0 s to turn 250", 51 / 900)]
    progress.set_goal(LOOP, ())
    progress.note(Turned(loop=LOOP, turn=249, total=900, seconds=2.1))
    assert [one.left for one in progress.shown] == ["6.5 s left"]


def test_to_a_turn_within_an_epoch_the_time_is_that_of_the_turns_before_it() -> None:
    progress = LoopProgress()

    def tell(epoch: int, turn: int, seconds: float) -> list[str]:
        progress.note(Turned(loop=LOOP, turn=epoch, total=90, seconds=seconds))
        progress.note(Turned(loop=INNER, turn=turn, around=(epoch,), total=45, seconds=seconds - epoch * 9.0))
        return [one.left for one in progress.shown]

    progress.set_goal(INNER, (1, 29))
    tell(0, 0, 0.0)
    assert tell(0, 20, 4.0) == ["14 s to turn 2", "4.8 s left"], "the second epoch is counted whole"
    assert tell(1, 9, 10.8) == ["4.0 s to turn 2", "4.0 s to turn 30"]


def test_of_another_loop_on_the_way_to_a_turn_the_time_to_its_own_end_is_told() -> None:
    progress = LoopProgress()
    progress.set_goal(INNER, (2,))
    progress.note(Turned(loop=LOOP, turn=0, total=90, seconds=0.0))
    progress.note(Turned(loop=LOOP, turn=1, total=90, seconds=1.0))
    assert [one.left for one in progress.shown] == ["1 min 28 s left"]


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


def test_what_is_left_of_an_outer_loop_is_that_of_all_its_turns() -> None:
    progress = LoopProgress()

    def tell(epoch: int, turn: int, seconds: float) -> None:
        progress.note(Turned(loop=LOOP, turn=epoch, total=20, seconds=seconds))
        progress.note(Turned(loop=INNER, turn=turn, around=(epoch,), total=45, seconds=seconds - epoch * 9.0))

    tell(0, 0, 0.0)
    tell(0, 10, 2.0)
    assert [one.left for one in progress.shown] == ["2 min 58 s left", "6.8 s left"], "20 epochs of 9 s"
    for tenth in range(11, 55):
        tell(tenth // 45, tenth % 45, tenth * 0.2)
    epoch, turn = progress.shown
    assert (epoch.place, turn.place, turn.rate) == ("turn 2 of 20", "turn 10 of 45", "5 a second")
    assert epoch.left == "2 min 49 s left" and turn.left == "7.0 s left"
    assert epoch.rate == "0.111 a second", "though it was told often between its turns"


def test_what_goes_by_while_a_run_rests_is_no_turn() -> None:
    progress = LoopProgress()
    progress.note(Turned(loop=LOOP, turn=0, total=9, seconds=0.0))
    progress.note(Turned(loop=LOOP, turn=1, total=9, seconds=1.0))
    progress.rest(is_inside=True)
    progress.note(Turned(loop=LOOP, turn=1, total=9, seconds=60.0))
    progress.note(Turned(loop=LOOP, turn=2, total=9, seconds=61.0))
    assert [one.words for one in progress.shown] == ["turn 3 of 9 · 1 a second · 6.0 s left"]


def test_turns_that_are_looked_at_are_of_as_many_also_when_the_loop_is_over() -> None:
    progress = LoopProgress()
    progress.note(Turned(loop=LOOP, turn=7, total=20, seconds=2.0))
    progress.note(Turned(loop=LOOP, is_over=True))
    assert [(one.words, one.share) for one in progress.at({LOOP: 4, INNER: 2})] == [
        ("turn 5 of 20", 0.25),
        ("turn 3", 0),
    ]
