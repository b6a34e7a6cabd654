"""A card that needs more room once a shape is known covers nothing: what is below makes way, undone with its cause."""

from itertools import combinations
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes, slices
from gradstudio.graph.model import ItemId
from gradstudio.ui.canvas.session_sync import MAKING_WAY
from tests.ui.desk import Desk
from tests.ui.gestures import come_to_rest

CORPUS = Path(__file__).parents[1] / "corpus" / "accepted"
UNKNOWN = """
import torch
x = torch.rand(16, requires_grad=True)
kept = x[x > -1.0].reshape(-1, 4)
below = torch.tensor(1.0)
beside = torch.tensor(2.0)
kept.sum().backward()
"""
"""What is kept of x has a shape that only a run tells."""
GROWS = ("batchnorm_1", "losses_1", "class_1", "autograd_1", "main_1", "mlp_1")
"""Programs of the corpus in which cards grew over others, before a run or by it."""


def _covered(desk: Desk) -> list[tuple[ItemId, ItemId]]:
    """Cards that lie over one another with the room that is kept for their results."""
    scene = desk.window.canvas.scene
    rooms = {item: box.grown(-0.5) for item in scene.stack.ids if (box := scene.placement.room(item)) is not None}
    return [(one, other) for one, other in combinations(rooms, 2) if rooms[one].meets(rooms[other])]


def _run(desk: Desk) -> None:
    desk.window.actions["run.run"].trigger()
    desk.until(lambda: desk.session.run.state.at_end or desk.session.results.failures)
    come_to_rest(desk)


def _stand_below(desk: Desk, upper: str, lower: str) -> None:
    """Put a card right below another, as a person does, and one far beside it."""
    room = desk.window.canvas.scene.placement.room(desk.node(upper))
    assert room is not None
    places = {desk.node(lower): (room.x, room.bottom + 4.0), desk.node("beside"): (room.x, room.y - 900.0)}
    assert desk.session.graph_store.attempt(recipes.move, "Move", places)
    come_to_rest(desk)


def test_what_is_below_a_card_whose_shape_a_run_tells_makes_way_in_one_entry(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.open(UNKNOWN)
    come_to_rest(desk)
    before = dict(desk.graph.places)
    _stand_below(desk, "kept", "below")
    stack = desk.session.graph_store.undo_stack
    stood, entries = dict(desk.graph.places), stack.count()
    assert not _covered(desk)
    _run(desk)
    assert not _covered(desk)
    moved = {key for key, place in desk.graph.places.items() if place != stood[key]}
    assert moved == {desk.node("below")}
    assert stack.count() == entries
    stack.undo()
    assert desk.graph.places == before
    stack.redo()
    come_to_rest(desk)
    assert not _covered(desk)


def test_a_program_that_nobody_changed_stays_unchanged_when_its_cards_make_way(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.open((CORPUS / "batchnorm_1.py").read_text())
    places, store = dict(desk.graph.places), desk.session.graph_store
    store.set_clean()
    come_to_rest(desk)
    _run(desk)
    assert not _covered(desk) and desk.graph.places != places
    assert store.is_untouched


def test_cards_that_lie_over_one_another_by_hand_stay_so(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.open(UNKNOWN)
    come_to_rest(desk)
    room = desk.window.canvas.scene.placement.room(desk.node("kept"))
    assert room is not None
    places = {desk.node("below"): (room.x + 20.0, room.y + 30.0), desk.node("beside"): (room.x, room.y - 900.0)}
    assert desk.session.graph_store.attempt(recipes.move, "Move", places)
    stood = dict(desk.graph.places)
    _run(desk)
    assert desk.graph.places[desk.node("below")] == stood[desk.node("below")]


@pytest.mark.parametrize("stem", GROWS)
def test_in_programs_nothing_is_covered_before_a_run_nor_after_it(desk: Desk, qtbot: QtBot, stem: str) -> None:
    desk.sit_down(qtbot)
    desk.open((CORPUS / f"{stem}.py").read_text())
    come_to_rest(desk)
    assert not _covered(desk)
    _run(desk)
    assert not _covered(desk)


def test_a_program_that_is_opened_again_when_its_shapes_are_known_covers_nothing(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    for _ in range(2):
        desk.open((CORPUS / "losses_1.py").read_text())
        come_to_rest(desk)
        assert not _covered(desk)


def test_looking_back_nothing_is_waited_for_and_now_takes_it_up(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.open(UNKNOWN)
    come_to_rest(desk)
    _run(desk)
    growing = desk.window.canvas.session_sync._growing
    desk.session.attention.look_at(0)
    growing.request()
    growing.flush()
    assert not growing.pending
    desk.session.attention.look_at_now()
    assert growing.pending, "now it is looked what was put off"


def test_what_was_edited_while_cards_made_way_is_looked_at_anew(
    desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.sit_down(qtbot)
    desk.open(UNKNOWN)
    come_to_rest(desk)
    _stand_below(desk, "kept", "below")
    monkeypatch.setattr(slices, "AT_ONCE", 1)  # as of thousands
    sync, scene = desk.window.canvas.session_sync, desk.window.canvas.scene
    kept = desk.node("kept")
    work = sync._make_way({kept: 30.0})
    next(work)
    desk.session.graph_store.attempt(recipes.rename, "Rename", kept, ("other",))
    before = dict(desk.graph.places)
    assert [*work] == []
    assert desk.graph.places == before
    assert scene.updates.has_growth and sync._growing.pending
    assert scene.updates.take_growth() == {kept: 30.0}


def test_cards_that_grow_while_others_wait_to_make_way_take_nothing_from_them(
    desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.sit_down(qtbot)
    desk.open(UNKNOWN)
    come_to_rest(desk)
    monkeypatch.setattr(slices, "AT_ONCE", 1)  # as of thousands
    sync, updates, idle = desk.window.canvas.session_sync, desk.window.canvas.scene.updates, desk.session.idle
    updates.put_back({desk.node("kept"): 30.0})
    sync._growing.flush()
    assert idle.has(MAKING_WAY) and not updates.has_growth
    updates.put_back({desk.node("below"): 20.0})
    sync._growing.flush()
    idle.finish(MAKING_WAY)
    assert updates.take_growth() == {desk.node("kept"): 30.0, desk.node("below"): 20.0}
