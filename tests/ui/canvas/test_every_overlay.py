"""Every row of the overlays: it is painted, it has a command, and it stays as a person wants it."""

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from gradstudio import paths
from gradstudio.scene.overlay_registry import OVERLAYS, OverlayRow, Shown
from gradstudio.ui.canvas.paint.overlay_painters import PAINTERS
from gradstudio.ui.canvas.paint.picture_export import render_picture
from gradstudio.ui.state.document.overlays import Overlays
from tests.ui.desk import Desk

PROGRAM = """
import torch
x = torch.ones(2, 2, requires_grad=True)
y = x.view(4)
z = (y * y).sum()
z.backward()
"""
ALL = replace(Shown(), **{row.id: True for row in OVERLAYS})


@pytest.fixture(scope="module")
def after_a_run(desk: Desk) -> Desk:
    desk.open(PROGRAM)
    return desk


@pytest.mark.parametrize("row", OVERLAYS, ids=lambda row: row.id)
def test_it_is_painted(after_a_run: Desk, qtbot: QtBot, row: OverlayRow) -> None:
    desk = after_a_run
    desk.sit_down(qtbot)
    if not desk.session.results.failures and desk.value("z") is None:
        desk.window.actions["run.run"].trigger()
        desk.until(lambda: desk.value("z") is not None)
        desk.rest()
    graph, results, theme = desk.graph, desk.session.results, desk.window.theme
    with_it = render_picture(graph, results, theme, 1.0, ALL)
    without = render_picture(graph, results, theme, 1.0, replace(ALL, **{row.id: False}))
    assert with_it != without


@pytest.mark.parametrize("row", OVERLAYS, ids=lambda row: row.id)
def test_it_has_a_command_with_words_and_a_picture(after_a_run: Desk, row: OverlayRow) -> None:
    action = after_a_run.window.actions[f"view.{row.id}"]
    assert action.text() == row.title and action.iconText() == row.button
    assert action.isCheckable() and row.tip in action.toolTip()
    assert (paths.resources() / "icons" / f"{row.icon}.svg").is_file()


def test_what_a_person_switched_is_kept_and_taken_up_again() -> None:
    for row in OVERLAYS:
        overlays, again = Overlays(), Overlays()
        overlays.switch(row.id, not row.is_on_at_first)
        again.restore(overlays.changes(on=False), overlays.changes(on=True))
        assert again.shown == overlays.shown != Shown(), row.id


def test_what_is_painted_between_cards_is_an_overlay() -> None:
    assert PAINTERS.keys() <= {row.id for row in OVERLAYS}
