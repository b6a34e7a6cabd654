"""Calls inside of code: nothing is cut, however narrow the dock is."""

import pytest
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QTreeWidgetItem
from pytestqt.qtbot import QtBot

from gradstudio.ui.docks.inspector.call_tree import CallTree, texts_at_ends
from gradstudio.ui.theme import Theme

CALLS = (("matmul", "[8, 4]", "-3.47 … 3.39", "-1.01 … 0.983"), ("layer_norm", "[4]", "0, 0, 0, 0", ""))
NARROW, WIDE = 236, 600
"""Pixels: what the Inspector has in a window of 1280, and pulled wide."""


@pytest.fixture
def tree(qtbot: QtBot, dark: Theme) -> CallTree:
    made = CallTree()
    qtbot.addWidget(made)
    line = QTreeWidgetItem(["22  h = x @ w"])
    line.addChildren([QTreeWidgetItem(list(call)) for call in CALLS])
    made.show_lines([line])
    made.resize(NARROW, made.height())
    made.show()
    return made


def test_in_a_narrow_dock_a_call_has_two_lines_in_which_nothing_is_cut(tree: CallTree) -> None:
    assert tree.is_stacked
    line = tree.topLevelItem(0)
    heights = [tree.visualItemRect(line.child(place)).height() for place in range(2)]
    assert heights == [tree.call_px] * 2 and tree.call_px >= 2 * QFontMetrics(tree.font()).height()
    width = tree.visualItemRect(line.child(0)).width()
    metrics = QFontMetrics(tree.font())
    for name, shape, value, gradient in CALLS:
        assert texts_at_ends(metrics, width, name, shape) == (name, shape)
        assert texts_at_ends(metrics, width, value, gradient) == (value, gradient)


def test_where_there_is_room_a_call_is_a_row_of_columns_that_hold_their_texts(tree: CallTree) -> None:
    tree.resize(WIDE, tree.height())
    assert not tree.is_stacked
    metrics = QFontMetrics(tree.font())
    for call in CALLS:
        for column, text in enumerate(call):
            assert metrics.horizontalAdvance(text) < tree.columnWidth(column)
    tree.resize(NARROW, tree.height())
    assert tree.is_stacked


def test_texts_that_have_no_room_keep_half_of_it_each(tree: CallTree) -> None:
    metrics = QFontMetrics(tree.font())
    left, right = texts_at_ends(metrics, 200, "binary_cross_entropy_with_logits", "[64, 64, 64, 64, 64]")
    assert left.endswith("…") and right.endswith("…")
    assert metrics.horizontalAdvance(left + right) <= 200
    assert texts_at_ends(metrics, 200, "binary_cross_entropy_with_logits", "[4]")[1] == "[4]"
