"""The tour, by mouse and keys, on a live canvas."""

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtTest import QTest

from gradstudio.graph import recipes
from gradstudio.ui.main_window import MainWindow
from gradstudio.ui.tour.card import TourCard, corner
from gradstudio.ui.tour.steps import STEPS
from tests.ui.conftest import Add

Left, Key = Qt.MouseButton.LeftButton, Qt.Key


def shown(window: MainWindow) -> TourCard:
    card = window.learning.touring.card
    assert card is not None and card.isVisible()
    return card


@pytest.mark.feature(74)
def test_a_step_goes_on_by_itself_when_it_is_done(window: MainWindow, add: Add) -> None:
    window.actions["help.tour"].trigger()
    card, tour = shown(window), window.learning.touring
    assert card.title.text() == STEPS[0].title
    tensor = add("torch.tensor")
    assert tour.number == 1
    add("torch.randn")
    assert tour.number == 1
    store = window.session.graph_store
    assert store.attempt(recipes.set_literal, "Set", tensor, "data", "3.0")
    assert store.attempt(recipes.set_literal, "Set", tensor, "requires_grad", "True")
    assert tour.number == 2
    assert window.canvas.hasFocus() or not window.frame.isActiveWindow()


def test_every_step_can_be_skipped_and_the_last_ends_it_for_good(window: MainWindow) -> None:
    window.actions["help.tour"].trigger()
    for step in STEPS:
        card = shown(window)
        assert card.title.text() == step.title
        assert window.frame.rect().contains(card.geometry())
        QTest.mouseClick(card.next, Left)
    assert window.learning.touring.card is None
    assert window.settings.preferences.tour_done


def test_esc_on_the_canvas_leaves_it(window: MainWindow) -> None:
    window.actions["help.tour"].trigger()
    shown(window)
    QTest.keyClick(window.canvas, Key.Key_Escape)
    assert window.learning.touring.card is None and window.settings.preferences.tour_done


def test_it_begins_on_an_empty_canvas_and_ends_with_another_tab(window: MainWindow, add: Add) -> None:
    add("torch.randn")
    window.actions["help.tour"].trigger()
    assert len(window.documents.tabs) == 2 and not window.session.graph_store.graph.nodes
    window.documents.step(-1)
    assert window.learning.touring.card is None
    assert not window.settings.preferences.tour_done


def test_it_comes_by_itself_only_to_who_has_not_seen_it(window: MainWindow) -> None:
    assert window.learning.touring.card is None
    window.learning.greet()
    page = window.learning.greeting.page
    assert page is not None
    QTest.mouseClick(page.verbs["new"], Left)
    QTest.mouseClick(shown(window).end, Left)
    window.learning.greet()
    QTest.mouseClick(page.verbs["new"], Left)
    assert window.learning.touring.card is None


def test_the_card_stands_beside_its_target_and_within_the_window() -> None:
    room, card = QRect(0, 0, 1000, 700), QRect(0, 0, 300, 200)
    assert corner(QRect(400, 40, 60, 30), card, room, False).y() == 69
    assert corner(QRect(200, 500, 600, 200), card, room, False).y() == 300
    assert corner(QRect(700, 50, 300, 600), card, room, False).x() == 400
    inside = corner(QRect(200, 100, 500, 400), card, room, True)
    assert QRect(200, 100, 500, 400).contains(QRect(inside, card.size()))
