"""At 1280 by 800 what has words shows them whole: docks, the inspector of every kind of node, dialogs."""

import pytest
from PySide6.QtCore import QSize, QTimer
from PySide6.QtWidgets import QApplication, QDialog, QPushButton, QStyleOptionButton
from pytestqt.qtbot import QtBot

from tests.helpers.cut_words import cut_words
from tests.ui.desk import Desk
from tests.ui.gestures import come_to_rest

PROGRAM = """import torch
from torch import nn
import torch.nn.functional as F

x = torch.randn(16, 4)
target = torch.randint(0, 3, (16,))
fc = nn.Linear(4, 4)
drop = nn.Dropout(0.1)
head = nn.Linear(4, 3)
h = fc(x)
h2 = fc(h)
prediction = head(drop(torch.relu(h2)))
loss = F.cross_entropy(prediction, target)
mse = F.mse_loss(prediction, torch.zeros(16, 3))
total = loss + mse.sum()
optimizer = torch.optim.Adam([*fc.parameters(), *head.parameters()], lr=0.01)
for step in range(3):
    w = torch.ones(3, requires_grad=True)
    y = (w * 2).sum()
    y.backward()
total.backward()
optimizer.step()
"""


LOSS = """import torch
from torch import nn
import torch.nn.functional as F

X = torch.randn(200, 2)
y = (X[:, 0] > 0).long()
net = nn.Linear(2, 2)
loss = F.cross_entropy(net(X), y)
"""
DIALOGS = (
    *("file.export_python", "file.export_picture", "graph.ask_training", "graph.seed", "graph.analyse"),
    *("run.sweep", "run.add_host", "edit.preferences", "help.about", "help.shortcuts"),
)


@pytest.fixture
def seated(desk: Desk, qtbot: QtBot) -> Desk:
    desk.sit_down(qtbot)
    assert desk.window.frame.size() == QSize(1280, 800)
    return desk


def test_docks_and_the_inspector_of_every_kind_of_node_cut_no_words(seated: Desk) -> None:
    found = dict[str, object]()
    seated.open(PROGRAM)
    come_to_rest(seated)
    for has_run in (False, True):
        if has_run:
            seated.window.actions["run.run"].trigger()
            seated.until(lambda: seated.session.run.state.at_end or seated.session.results.failures)
            assert not seated.session.results.failures
        for dock in seated.window.frame.docks:
            dock.show()
            dock.raise_()
            items = list(seated.graph.nodes) if dock.objectName() == "inspector" else list(seated.graph.nodes)[:1]
            for item in items:
                seated.session.attention.select([item])
                come_to_rest(seated)
                found |= {
                    words: (has_run, dock.objectName(), seated.graph.nodes[item].operator)
                    for words in cut_words(seated.window.frame)
                }
    assert not found


@pytest.mark.parametrize("action", DIALOGS)
def test_a_dialog_cuts_no_words(seated: Desk, action: str) -> None:
    seen = list[set[str]]()
    seated.open(LOSS)

    def look() -> None:
        for dialog in QApplication.topLevelWidgets():
            if isinstance(dialog, QDialog) and dialog.isVisible():
                come_to_rest(seated)
                seen.append(cut_words(dialog))
                dialog.reject()

    QTimer.singleShot(0, look)
    seated.window.actions[action].trigger()
    seated.until(lambda: seen)
    assert seen == [set()]


LIST = """import torch
prediction = torch.ones(3)
what_was_known_before_it_began = prediction * 2
every = torch.cat([prediction, prediction, what_was_known_before_it_began])
"""


def test_of_a_long_name_that_is_wired_both_ends_are_read(seated: Desk) -> None:
    seated.open(LIST)
    inspector = next(dock for dock in seated.window.frame.docks if dock.objectName() == "inspector")
    inspector.show()
    inspector.raise_()
    seated.session.attention.select([seated.node("every")])
    come_to_rest(seated)
    assert cut_words(inspector) == set()
    shown = []
    for button in inspector.findChildren(QPushButton, "link"):
        if button.isVisible():
            option = QStyleOptionButton()
            button.initStyleOption(option)
            shown.append(option.text)
    *whole, short = shown
    assert whole == ["← prediction"] * 2
    begin, _, end = short.partition("…")
    assert begin.startswith("← wh") and "what_was_known_before_it_began".endswith(end)
