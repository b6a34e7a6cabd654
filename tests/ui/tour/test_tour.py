"""The tour, by mouse and keys, on a live canvas."""

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.canvas.paint.interaction_painter import hint_box
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from gradstudio.ui.tour.tour_card import TourCard, hidden_px, place
from gradstudio.ui.tour.tour_steps import STEPS
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


def test_the_wire_to_a_backward_is_not_that_which_the_tour_asks_for(session: Session, add: Add) -> None:
    store, wired = session.graph_store, STEPS[2].done
    assert wired is not None
    tensor = add("torch.tensor", data="3.0", requires_grad="True")
    assert store.attempt(recipes.append_backward, "Append", tensor)
    assert store.graph.wires and not wired(session)
    square = add("torch.square")
    assert store.attempt(recipes.connect, "Wire", tensor, 0, square, "input")
    assert wired(session)


def test_a_card_that_speaks_of_a_dock_hides_no_dock_where_the_canvas_has_room() -> None:
    room, card = QRect(0, 70, 1280, 700), QRect(0, 0, 344, 190)
    inspector, memory = QRect(1015, 76, 265, 522), QRect(1015, 602, 265, 165)
    library, code = QRect(0, 76, 206, 690), QRect(210, 615, 800, 152)
    docks = [inspector, memory, library, code]
    stands = QRect(place(inspector, card, room, False, docks), card.size())
    assert not hidden_px(stands, docks) and stands.right() <= inspector.left()
    leaf = QRect(700, 80, 300, 220)
    moved = QRect(place(inspector, card, room, False, [*docks, leaf]), card.size())
    assert not hidden_px(moved, [*docks, leaf]) and moved.right() <= inspector.left()


def test_the_tip_of_a_card_beside_a_high_dock_points_at_the_dock(qtbot: QtBot, dark: Theme) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(1280, 800)
    card = TourCard(window, dark)
    card.say("5 of 8", "Read a value", "Click a card.", "Next")
    card.point_at(QRect(1015, 76, 265, 600), False, QRect(0, 70, 1280, 700), [QRect(1015, 676, 265, 100)])
    body = card.rect().adjusted(12, 12, -12, -12)
    assert card.geometry().right() <= 1015 and card._tip(body).boundingRect().right() > body.right() + 5


def test_every_step_can_be_skipped_and_the_last_ends_it_for_good(window: MainWindow) -> None:
    window.actions["help.tour"].trigger()
    for step in STEPS:
        card = shown(window)
        assert card.title.text() == step.title
        assert window.frame.rect().contains(card.geometry())
        QTest.mouseClick(card.next, Left)
    assert window.learning.touring.card is None
    assert window.settings.preferences.tour_done


def test_its_first_card_does_not_hide_the_hint_of_the_empty_canvas(qtbot: QtBot, window: MainWindow) -> None:
    window.frame.resize(1100, 620)
    view = window.canvas.viewport()
    qtbot.waitUntil(lambda: view.height() < 400)
    window.actions["help.tour"].trigger()
    hint = hint_box(view.width(), view.height())
    seen = QRect(view.mapTo(window.frame, QPoint(round(hint.x), round(hint.y))), QSize(500, 124))

    def hides_none() -> None:
        assert not hidden_px(shown(window).geometry(), [seen])

    qtbot.waitUntil(hides_none)


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


def test_it_comes_only_to_who_asks_for_it(window: MainWindow) -> None:
    assert window.learning.touring.card is None
    window.learning.greet()
    page = window.learning.greeting.page
    assert page is not None
    QTest.mouseClick(page.verbs["new"], Left)
    assert window.learning.touring.card is None and not window.settings.preferences.tour_done
    window.learning.greet()
    QTest.mouseClick(page.verbs["tour"], Left)
    QTest.mouseClick(shown(window).end, Left)
    assert window.learning.touring.card is None and window.settings.preferences.tour_done


def test_the_card_stands_beside_its_target_within_the_window_and_hides_little() -> None:
    room, card = QRect(0, 0, 1000, 700), QRect(0, 0, 300, 200)
    run = QRect(400, 40, 60, 30)
    assert place(run, card, room, False).y() == 69
    assert place(QRect(200, 500, 600, 200), card, room, False).y() == 300
    assert place(QRect(700, 50, 300, 600), card, room, False).x() == 400
    inside = place(QRect(200, 100, 500, 400), card, room, True)
    assert QRect(200, 100, 500, 400).contains(QRect(inside, card.size()))
    leaf = QRect(460, 100, 200, 300)
    assert not hidden_px(QRect(place(run, card, room, False, [leaf]), card.size()), [leaf])
    right = QRect(500, 60, 200, 300)
    beside = place(run, card, room, False, [right])
    assert beside.y() == 69 and beside.x() < run.center().x() - 150, "to the left, and still below the button"
    search = QRect(200, 250, 500, 250)
    assert not hidden_px(QRect(place(QRect(200, 100, 500, 400), card, room, True, [search]), card.size()), [search])


def test_it_points_at_the_run_button_which_is_enabled_also_for_who_skips(qtbot: QtBot, window: MainWindow) -> None:
    window.settings.change(reduced_motion=True)
    window.actions["help.tour"].trigger()
    card, tour = shown(window), window.learning.touring
    window.canvas.searching.open(60, 60)
    popup = window.canvas.searching.popup
    assert popup is not None
    qtbot.waitUntil(lambda: not hidden_px(card.geometry(), [popup.geometry(), popup.preview.geometry()]))
    window.canvas.searching.close()
    for number in (1, 2, 3):
        QTest.mouseClick(card.next, Left)
        assert tour.number == number
    button = window.toolbar.run_button
    qtbot.waitUntil(button.isEnabled)
    assert card.ring.isVisible()
    assert card.ring.geometry().contains(QRect(button.mapTo(window.frame, button.rect().topLeft()), button.size()))
    boxes = [window.canvas.scene.placement.box(item) for item in window.session.graph_store.graph.nodes]
    shown_boxes = [window.canvas.camera.box_to_view(box) for box in boxes if box is not None]
    assert all(box.x > 20 and box.y > 20 for box in shown_boxes)
    corner = window.canvas.viewport().mapTo(window.frame, window.canvas.viewport().rect().topLeft())
    for box in shown_boxes:
        assert not hidden_px(
            card.geometry(), [QRect(round(box.x), round(box.y), round(box.width), round(box.height)).translated(corner)]
        )
