"""An operator that is dragged out of the library to the border of the view, by hand."""

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio.ui.canvas.edit.operator_commands import GRIP
from gradstudio.ui.canvas.gestures.operator_drop import MIME
from tests.ui.canvas.conftest import NO_KEY, Hand


@pytest.mark.feature(53)
def test_the_scene_moves_on_under_an_operator_out_of_the_library(qtbot: QtBot, hand: Hand) -> None:
    data, view = QMimeData(), hand.canvas.viewport()
    data.setData(MIME, b"torch.relu")
    copy, button = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    QApplication.sendEvent(view, QDragEnterEvent(QPoint(400, 300), copy, data, button, NO_KEY))
    QApplication.sendEvent(view, QDragMoveEvent(QPoint(400, 300), copy, data, button, NO_KEY))
    assert not hand.canvas.border.is_moving
    QApplication.sendEvent(view, QDragMoveEvent(QPoint(400, 696), copy, data, button, NO_KEY))
    qtbot.waitUntil(lambda: hand.canvas.camera.y > 100)
    QApplication.sendEvent(view, QDropEvent(QPointF(400, 696), copy, data, button, NO_KEY))
    assert not hand.canvas.border.is_moving
    (item,) = hand.graph.nodes
    x, y = hand.canvas.camera.to_scene(400, 696)
    place = hand.graph.places[item]
    assert (place.x, place.y) == pytest.approx((x - GRIP[0], y - GRIP[1]), abs=8)
