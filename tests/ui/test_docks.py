"""The docks keep what a person put in front."""

from PySide6.QtWidgets import QApplication, QMainWindow
from pytestqt.qtbot import QtBot

from gradstudio.ui.docks.dock_set import Docks
from gradstudio.ui.theme import Theme

TITLES = {
    key: key.title()
    for key in (
        "library", "outline", "lesson", "inspector", "documentation", "memory",
        "code", "log", "problems", "breakpoints", "history",
    )
}  # fmt: skip


def test_what_lay_at_the_left_before_a_lesson_comes_back_as_wide(qtbot: QtBot, dark: Theme) -> None:
    frame = QMainWindow()
    qtbot.addWidget(frame)
    docks = Docks(frame, TITLES, dark)
    frame.resize(1280, 800)
    docks.arrange(1280)
    frame.show()
    qtbot.waitExposed(frame)
    docks.bring_forward("outline")

    def in_front(key: str) -> bool:
        return not docks[key].visibleRegion().isEmpty()

    qtbot.waitUntil(lambda: in_front("outline"))
    docks.offer_lesson(True)
    docks.share(1280, 800)
    qtbot.waitUntil(lambda: in_front("lesson"))
    wide = docks["lesson"].width()
    docks.offer_lesson(False)
    docks.share(1280, 800)
    qtbot.waitUntil(lambda: in_front("outline"))
    assert docks["outline"].width() >= wide - 2
    docks.offer_lesson(True)
    qtbot.waitUntil(lambda: in_front("lesson"))
    docks.bring_forward("library")
    qtbot.waitUntil(lambda: in_front("library"))
    docks.offer_lesson(False)
    QApplication.processEvents()
    assert in_front("library")
