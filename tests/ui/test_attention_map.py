"""The attention map: shown by a command, drawn by a run, at an earlier moment as it was then, kept in the file."""

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from pytestqt.qtbot import QtBot

from gradstudio.document import file
from gradstudio.protocol.messages.charts import ImagesDrawn, NoChart
from gradstudio.ui.canvas.paint.chart.image_painter import paint_images, tile_images
from tests.ui.desk import Desk

LEARNING = """import torch
import torch.nn.functional as F
torch.manual_seed(0)
q = torch.randn(2, 3, 5, 4, requires_grad=True)
v = torch.randn(2, 3, 5, 4)
optimizer = torch.optim.SGD([q], lr=5.0)
for turn in range(20):
    weights = F.softmax(q @ q.transpose(2, 3), dim=3)
    loss = ((weights @ v - v) ** 2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def shown(desk: Desk) -> ImagesDrawn:
    found = desk.session.results.chart(desk.node("weights"))
    assert isinstance(found, ImagesDrawn), found
    return found


def test_a_map_is_chosen_drawn_looked_back_at_painted_and_kept(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.open(LEARNING)
    desk.window.canvas.setFocus()
    desk.click("weights")
    desk.window.actions["edit.chart_attention"].trigger()
    assert isinstance(desk.session.results.chart(desk.node("weights")), NoChart)
    desk.key(Qt.Key.Key_F5)
    desk.until(lambda: desk.session.run.state.at_end)
    desk.rest()
    now = shown(desk)
    assert (now.kind, now.total, now.sizes) == ("attention", 3, (5, 5))
    tick = desk.session.results.timeline.made_at(desk.node("weights"), None, (2,))
    assert tick is not None
    image = tile_images(now, desk.window.canvas.canvas_style.theme)[0]
    levels = np.frombuffer(now.pixels, np.uint8).reshape(3, 5, 5)
    assert image.pixelColor(3, 1).red() == levels[0, 1, 3] and image.pixelColor(1, 3).red() == levels[0, 3, 1]
    picture, style = QImage(240, 180, QImage.Format.Format_RGB32), desk.window.canvas.canvas_style
    picture.fill(style.color("surface"))
    painter = QPainter(picture)
    paint_images(painter, style, now, QRectF(0, 0, 240, 180))
    painter.end()
    edges = sum(picture.pixelColor(k % 240, k // 240) == style.color("line") for k in range(240 * 180))
    assert edges > 3 * 4 * 60, "each map has a frame"
    kept = file.loads(file.dumps(desk.graph)).places[desk.node("weights")]
    assert kept.chart == "attention"
    desk.session.attention.look_at(tick)
    then = shown(desk)
    assert then.step < now.step and then.pixels != now.pixels
