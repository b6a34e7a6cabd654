"""What is looked at: each change is told once, and only changes are."""

from pytestqt.qtbot import QtBot

from gradstudio.graph.model import ItemId
from gradstudio.ui.state.document.attention import Attention

LOOP, NODE = ItemId("loop"), ItemId("node")


def test_a_moment_is_told_once(qtbot: QtBot) -> None:
    attention, heard = Attention(), list[int | None]()
    attention.moment_changed.connect(lambda: heard.append(attention.moment))
    for moment in (3, 3, None, None):
        attention.look_at(moment)
    assert heard == [3, None]


def test_the_backward_the_folding_and_the_turn_are_part_of_the_moment(qtbot: QtBot) -> None:
    attention, heard = Attention(), list[object]()
    attention.moment_changed.connect(
        lambda: heard.append((attention.backward, attention.unfolded, dict(attention.chosen_turns)))
    )
    attention.show_backward(2)
    attention.unfold(True)
    attention.choose_turn(LOOP, 4)
    attention.choose_turn(LOOP, 4)
    attention.choose_turn(LOOP, None)
    assert heard == [(2, False, {}), (2, True, {}), (2, True, {LOOP: 4}), (2, True, {})]


def test_now_is_every_backward_and_the_last_turns(qtbot: QtBot) -> None:
    attention, heard = Attention(), list[object]()
    attention.look_at(3)
    attention.show_backward(1)
    attention.choose_turn(LOOP, 0)
    attention.moment_changed.connect(lambda: heard.append(attention.moment))
    attention.look_at_now()
    attention.look_at_now()
    assert heard == [None]
    assert (attention.backward, attention.chosen_turns) == (None, {})


def test_what_the_pointer_is_over_is_told_when_it_changes(qtbot: QtBot) -> None:
    attention, heard = Attention(), list[object]()
    attention.hover_changed.connect(lambda: heard.append(attention.hovered))
    for item in (NODE, NODE, None):
        attention.hover(item)
    assert heard == [NODE, None]


def test_items_that_are_gone_leave_the_selection(qtbot: QtBot) -> None:
    attention = Attention()
    attention.select((LOOP, NODE))
    attention.forget((NODE,))
    assert (attention.selection, attention.current) == (frozenset((LOOP,)), LOOP)
