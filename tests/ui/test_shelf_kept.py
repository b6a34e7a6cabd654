"""Favourites and recent operators, from a hand in the window to the settings and back."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.state.library.favourites import MAX_RECENT, Favourites
from gradstudio.ui.state.settings import Settings


@pytest.mark.feature(6)
def test_what_is_at_hand_is_kept_between_starts(window: MainWindow) -> None:
    library = window.library
    QTest.keyClicks(library.field, "kron")
    window.actions["graph.favourite"].trigger()
    QTest.keyClick(library.field, Qt.Key.Key_Return)
    assert len(window.session.graph_store.graph.nodes) == 1
    again = Settings(window.settings.folder).preferences
    assert again.favourites == again.recent_operators == ("torch.kron",)


def test_the_library_and_the_quick_search_share_one_shelf(window: MainWindow) -> None:
    assert window.library.shelf is window.canvas.shelf


def test_the_last_used_stands_first_and_the_oldest_are_forgotten() -> None:
    shelf = Favourites()
    for k in range(MAX_RECENT + 3):
        shelf.use(f"torch.{k}")
    shelf.use("torch.5")
    assert shelf.recent[0] == "torch.5" and len(shelf.recent) == len(set(shelf.recent)) == MAX_RECENT
    assert "torch.0" not in shelf.recent


def test_a_favourite_taken_back_is_none() -> None:
    shelf = Favourites()
    assert shelf.toggle("torch.sin") and shelf.toggle("torch.cos")
    assert not shelf.toggle("torch.sin")
    assert shelf.favourites == ("torch.cos",) and shelf.preferred == {"torch.cos"}
