"""A label that remembers its heights says the same as one that lays its text out each time."""

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gradstudio.ui.widgets.wrapped_label import WrappedLabel

WIDTHS_PX = (60, 90, 200, 90)


def heights(label: QLabel) -> list[int]:
    return [label.heightForWidth(width) for width in WIDTHS_PX]


def pair(qtbot: QtBot, words: str) -> tuple[WrappedLabel, QLabel]:
    ours, qts = WrappedLabel(words), QLabel(words)
    qts.setWordWrap(True)
    for label in (ours, qts):
        qtbot.addWidget(label)
    return ours, qts


def test_its_heights_are_those_of_a_label_of_qt(qtbot: QtBot) -> None:
    ours, qts = pair(qtbot, "Each path of the gradient has a wire of its own")
    assert heights(ours) == heights(qts)


def test_other_words_have_another_height(qtbot: QtBot) -> None:
    ours, qts = pair(qtbot, "Each path of the gradient has a wire of its own")
    heights(ours)
    for label in (ours, qts):
        label.setText("Short")
    assert heights(ours) == heights(qts)


def test_another_font_style_or_margin_has_another_height(qtbot: QtBot) -> None:
    ours, qts = pair(qtbot, "Each path of the gradient has a wire of its own")
    before = heights(ours)
    for label in (ours, qts):
        label.setStyleSheet("font-size: 30px;")
        label.ensurePolished()
    larger = heights(ours)
    assert larger == heights(qts) != before
    for label in (ours, qts):
        label.setContentsMargins(0, 40, 0, 0)
    assert heights(ours) == heights(qts) != larger


def test_the_text_is_laid_out_once_a_width(qtbot: QtBot) -> None:
    ours, qts = pair(qtbot, "Each path of the gradient has a wire of its own")
    first = heights(ours)
    QLabel.setText(ours, "")  # behind its back: what it says now is what it remembers
    assert heights(ours) == first == heights(qts)
