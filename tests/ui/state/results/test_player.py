"""Playing what was recorded: the moment moves, and nothing runs."""

import pytest
from pytestqt.qtbot import QtBot

from gradstudio.ui.state.run.engine_client import EngineClient
from gradstudio.ui.state.session import Session
from tests.ui.timeline.runs import row, traced


@pytest.fixture
def played(qtbot: QtBot) -> Session:
    session = Session(EngineClient(spare=False))
    session.results.tables.add_rows([row(1, "x"), row(2, "y")])
    backward = traced(1, ("y", "MulBackward0"), ("y", "AddBackward0"), ("x", "AccumulateGrad"))
    session.results.timeline.add_backward(backward)
    return session


def moments(session: Session) -> list[int | None]:
    """Where it stands from here to the end."""
    found = [session.attention.moment]
    while session.player.playing:
        session.player.advance()
        found.append(session.attention.moment)
    return found


def test_it_plays_from_the_first_step_to_now_and_stands_still(played: Session) -> None:
    played.player.toggle()
    assert moments(played) == [0, 1, 3, 4, None]
    assert not played.player.playing


def test_unfolded_it_stops_at_every_autograd_node(played: Session) -> None:
    played.attention.unfold(True)
    played.player.toggle()
    assert moments(played) == [0, 1, 2, 3, 4, None]


def test_it_goes_on_from_the_moment_that_is_looked_at(played: Session) -> None:
    played.attention.look_at(1)
    played.player.toggle()
    assert moments(played) == [1, 3, 4, None]


def test_it_lets_go_when_someone_else_takes_the_moment(played: Session) -> None:
    played.player.toggle()
    played.attention.look_at(3)
    assert not played.player.playing
    assert played.attention.moment == 3


def test_a_second_press_stands_still_where_it_is(played: Session) -> None:
    played.player.toggle()
    played.player.advance()
    played.player.toggle()
    assert (played.player.playing, played.attention.moment) == (False, 1)


def test_fast_playing_takes_several_steps_at_a_time(played: Session) -> None:
    played.player.set_speed(90.0)
    played.player.toggle()
    assert moments(played) == [0, 4, None]


def test_nothing_recorded_is_not_played(qtbot: QtBot) -> None:
    session = Session(EngineClient(spare=False))
    assert not session.player.can_play()
    session.player.toggle()
    assert not session.player.playing
