"""The library, by typing, keys and clicks."""

from collections.abc import Iterator

import msgspec
import pytest
from PySide6.QtCore import QEvent, QModelIndex, QPoint, QPointF, Qt
from PySide6.QtGui import QDrag, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from gradstudio.operators.catalogue import block_rows
from gradstudio.operators.catalogue.loader import load
from gradstudio.ui.docks.library.library_model import (
    COMMON_KEYS,
    COUNT_ROLE,
    FAVOURITES,
    MIME_TYPE,
    PHRASE_ROLE,
    RARER,
    RECENT,
    SPANS_ROLE,
    LibraryModel,
)
from gradstudio.ui.docks.library.panel import INVITATION_EDGES_PX, LibraryPanel
from gradstudio.ui.theme import Theme
from gradstudio.ui.widgets.operator_signature import signature


def panel(qtbot: QtBot, theme: Theme) -> LibraryPanel:
    made = LibraryPanel(load(), theme)
    qtbot.addWidget(made)
    made.resize(240, 700)
    made.show()
    qtbot.waitExposed(made)
    return made


def child(made: LibraryPanel, row: int, category: int = 0) -> QModelIndex:
    return made.model.index(row, 0, made.model.index(category, 0))


def test_typing_and_enter_add_the_best_find(qtbot: QtBot, dark: Theme) -> None:
    library = panel(qtbot, dark)
    QTest.keyClicks(library.field, "cross entropy")
    with qtbot.waitSignal(library.chosen) as chosen:
        QTest.keyClick(library.field, Qt.Key.Key_Return)
    assert "cross_entropy" in chosen.args[0]


def test_the_arrow_keys_choose_among_the_finds_while_typing(qtbot: QtBot, dark: Theme) -> None:
    library = panel(qtbot, dark)
    QTest.keyClicks(library.field, "relu")
    second = library.model.operator(library.model.index(1, 0))
    QTest.keyClick(library.field, Qt.Key.Key_Down)
    with qtbot.waitSignal(library.chosen) as chosen:
        QTest.keyClick(library.field, Qt.Key.Key_Return)
    assert second is not None and chosen.args == [second.key]


def test_a_double_click_adds_the_operator(qtbot: QtBot, dark: Theme) -> None:
    library = panel(qtbot, dark)
    place = library.tree.visualRect(child(library, 1)).center()
    QTest.mouseClick(library.tree.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    with qtbot.waitSignal(library.carried) as chosen:
        QTest.mouseDClick(library.tree.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    assert chosen.args == [COMMON_KEYS[1]]


@pytest.mark.feature(7)
def test_what_is_dragged_out_is_the_key(qtbot: QtBot, dark: Theme) -> None:
    library = panel(qtbot, dark)
    index = child(library, 0)
    assert library.model.flags(index) & Qt.ItemFlag.ItemIsDragEnabled
    assert bytes(library.model.mimeData([index]).data(MIME_TYPE).data()).decode() == COMMON_KEYS[0]
    category = library.model.index(0, 0)
    assert not library.model.flags(category) & Qt.ItemFlag.ItemIsDragEnabled


def test_a_word_that_nothing_fits_says_so(qtbot: QtBot, dark: Theme) -> None:
    library = panel(qtbot, dark)
    QTest.keyClicks(library.field, "xqzzzv")
    assert library.empty.isVisible() and "xqzzzv" in library.empty.text()
    QTest.keyClick(library.field, Qt.Key.Key_Escape)
    assert not library.empty.isVisible() and library.field.text() == ""
    assert library.model.rowCount() > 10


def test_the_operator_that_is_current_is_explained(qtbot: QtBot, dark: Theme) -> None:
    library = panel(qtbot, dark)
    library.tree.setCurrentIndex(child(library, 1))
    assert library.help.words().startswith("torch.randn(")
    assert "torch.randn" in str(child(library, 1).data(Qt.ItemDataRole.ToolTipRole))


def keys_under(model: LibraryModel, parent: QModelIndex) -> Iterator[str]:
    for k in range(model.rowCount(parent)):
        index = model.index(k, 0, parent)
        assert model.parent(index) == parent
        operator = model.operator(index)
        if operator is not None:
            yield operator.key
        else:
            yield from keys_under(model, index)


def group(library: LibraryPanel, *titles: str) -> QModelIndex:
    index = library.model.find(titles)
    assert index.isValid()
    return index


def test_every_operator_stands_in_its_category(qtbot: QtBot, dark: Theme) -> None:
    library = panel(qtbot, dark)
    assert set(keys_under(library.model, QModelIndex())) == {row.key for row in (*load(), *block_rows.ROWS)}
    for name in ("Reductions", "Shape", "Losses"):
        keys = list(keys_under(library.model, group(library, name)))
        assert sorted(keys) == sorted(operator.key for operator in load() if operator.category == name)
        assert group(library, name).data(COUNT_ROLE) == len(keys)


def test_the_everyday_ones_of_a_category_come_first_and_the_rarer_are_folded(qtbot: QtBot, dark: Theme) -> None:
    library = panel(qtbot, dark)
    category = group(library, "Reductions")
    library.tree.expand(category)
    rarer = group(library, "Reductions", RARER)
    assert rarer.row() == library.model.rowCount(category) - 1
    assert not library.tree.isExpanded(rarer)
    assert all(load()[key].rare for key in keys_under(library.model, rarer))
    assert library.model.rowCount() < 30


def test_all_common_operators_are_in_the_catalogue() -> None:
    assert [key for key in COMMON_KEYS if key not in load()] == []


def test_signatures_are_written_as_python_is() -> None:
    catalogue = load()
    assert signature(catalogue["operator.add"]) == "a + b"
    assert signature(catalogue["operator.neg"]) == "-a"
    assert signature(catalogue["torch.Tensor.backward"]).startswith("self.backward(")
    assert signature(catalogue["torch.matmul"]) == "torch.matmul(input, other)"


def test_the_chosen_row_is_one_block_without_a_second_one_at_its_left(qtbot: QtBot, dark: Theme) -> None:
    library = panel(qtbot, dark)
    index = child(library, 3)
    library.tree.setCurrentIndex(index)
    image = library.tree.viewport().grab().toImage()
    row = library.tree.visualRect(index)
    middle = row.center().y()
    assert image.pixelColor(row.left() + 3, middle).name() == dark.selection
    assert {image.pixelColor(x, middle).name() for x in range(row.left() - 1)} == {dark.surface}


def click(library: LibraryPanel, at: QPoint) -> None:
    QTest.mouseClick(library.tree.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)


@pytest.mark.feature(6)
def test_a_click_on_the_star_makes_a_favourite_and_another_takes_it_back(qtbot: QtBot, dark: Theme) -> None:
    library = panel(qtbot, dark)
    key = COMMON_KEYS[2]
    index = child(library, 2)
    click(library, library.tree.star_rect(index).center())
    assert library.shelf.favourites == (key,)
    assert not library.tree.currentIndex().isValid()
    assert list(keys_under(library.model, group(library, FAVOURITES))) == [key]
    assert library.tree.isExpanded(group(library, FAVOURITES))
    click(library, library.tree.star_rect(library.model.find((FAVOURITES, key))).center())
    assert library.shelf.favourites == () and not library.model.find((FAVOURITES,)).isValid()


def test_a_favourite_that_is_made_elsewhere_leaves_the_row_current(qtbot: QtBot, dark: Theme) -> None:
    library = panel(qtbot, dark)
    library.tree.setCurrentIndex(child(library, 3))
    library.tree.setFocus()
    library.shelf.toggle(library.documented_operator())
    assert library.shelf.favourites == (COMMON_KEYS[3],)
    current = library.model.operator(library.tree.currentIndex())
    assert current is not None and current.key == COMMON_KEYS[3]


def test_finds_can_be_starred_and_keep_their_places(qtbot: QtBot, dark: Theme) -> None:
    library = panel(qtbot, dark)
    QTest.keyClicks(library.field, "relu")
    before = list(keys_under(library.model, QModelIndex()))
    click(library, library.tree.star_rect(library.model.index(4, 0)).center())
    assert library.shelf.favourites == (before[4],)
    assert list(keys_under(library.model, QModelIndex())) == before
    library.shelf.toggle(library.documented_operator())
    assert library.shelf.favourites == (before[4], before[0])


def test_what_was_used_last_stands_first_among_the_recent_when_the_library_is_next_shown(
    qtbot: QtBot, dark: Theme
) -> None:
    library = panel(qtbot, dark)
    row, before = child(library, 3), library.tree.visualRect(child(library, 3))
    for key in ("torch.exp", "torch.sin", "torch.exp"):
        library.shelf.use(key)
    assert not library.model.find((RECENT,)).isValid()
    assert library.tree.visualRect(row) == before, "rows must not move under the hand"
    library.hide()
    library.show()
    assert list(keys_under(library.model, group(library, RECENT))) == ["torch.exp", "torch.sin"]


def test_no_row_moves_when_another_operator_is_selected(qtbot: QtBot, dark: Theme) -> None:
    library = panel(qtbot, dark)
    shown, said = library.tree.size(), {library.help.words()}
    for row in range(6):
        click(library, library.tree.visualRect(child(library, row)).center())
        said.add(library.help.words())
        assert library.tree.size() == shown
    assert len(said) == 7


def test_what_is_let_go_where_no_canvas_is_says_so(qtbot: QtBot, dark: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    library = panel(qtbot, dark)
    monkeypatch.setattr(QDrag, "exec", lambda *_actions: Qt.DropAction.IgnoreAction)
    said: list[object] = []
    library.said.connect(said.append)
    at = library.tree.visualRect(child(library, 1)).center()
    viewport = library.tree.viewport()
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)
    for step in (20, 40):
        QTest.mouseMove(viewport, at + QPoint(step, step))
        move = QMouseEvent(
            QEvent.Type.MouseMove,
            QPointF(at + QPoint(step, step)),
            QPointF(viewport.mapToGlobal(at + QPoint(step, step))),
            Qt.MouseButton.NoButton,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        QApplication.sendEvent(viewport, move)
    QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)
    assert said[0] == "torch.randn was not placed: let it go over the canvas."


def test_rows_stay_where_they_are_while_one_scrolls_through_them(qtbot: QtBot, dark: Theme) -> None:
    library = panel(qtbot, dark)
    library.tree.expandAll()
    bar = library.tree.verticalScrollBar()
    bar.setValue(900)
    there = library.model.path(library.tree.indexAt(QPoint(60, 40)))
    library.shelf.toggle("torch.sin")
    library.shelf.use("torch.cos")
    assert library.model.path(library.tree.indexAt(QPoint(60, 40))) == there


def test_groups_that_were_opened_are_open_after_a_search(qtbot: QtBot, dark: Theme) -> None:
    library = panel(qtbot, dark)
    library.tree.expand(group(library, "Losses"))
    library.tree.collapse(group(library, "Common"))
    QTest.keyClicks(library.field, "sum")
    QTest.keyClick(library.field, Qt.Key.Key_Escape)
    assert library.tree.isExpanded(group(library, "Losses"))
    assert not library.tree.isExpanded(group(library, "Common"))


def test_the_letters_that_were_typed_are_marked_and_other_words_are_told(qtbot: QtBot, dark: Theme) -> None:
    library = panel(qtbot, dark)
    QTest.keyClicks(library.field, "soft")
    assert library.model.index(0, 0).data(SPANS_ROLE) == ((0, 4),)
    library.field.setText("repmat")
    assert library.model.index(0, 0).data(PHRASE_ROLE) == "repmat"
    assert library.model.index(0, 0).data(SPANS_ROLE) == ()


def test_what_is_nearest_is_offered_and_a_click_searches_it(qtbot: QtBot, dark: Theme) -> None:
    library = panel(qtbot, dark)
    QTest.keyClicks(library.field, "zoftmqxx")
    assert "Did you mean" in library.empty.text() and "softmax" in library.empty.text()
    library.empty.linkActivated.emit("softmax")
    assert library.field.text() == "softmax" and library.model.rowCount() > 0


def test_the_number_of_operators_is_the_real_one(qtbot: QtBot, dark: Theme) -> None:
    library = panel(qtbot, dark)
    library.resize(400, 700)
    assert library.field.placeholderText() == f"Search {len(load()):,} operators"


@pytest.mark.parametrize("width_px", [240, 180, 150])
def test_the_words_in_the_search_field_are_never_cut(qtbot: QtBot, dark: Theme, width_px: int) -> None:
    library = panel(qtbot, dark)
    library.resize(width_px, 700)
    words = library.field.placeholderText()
    assert words.startswith("Search")
    assert library.field.fontMetrics().horizontalAdvance(words) + INVITATION_EDGES_PX <= library.field.width()


@pytest.mark.qt_log_ignore("does not support raise", extend=True)
@pytest.mark.feature(8)
def test_a_resting_pointer_is_told_the_signature_and_what_torch_says(qtbot: QtBot, dark: Theme) -> None:
    library = panel(qtbot, dark)
    asked: list[str] = []
    library.tree.first_words = lambda key: asked.append(key) or f"torch says of {key}."  # type: ignore[func-returns-value]  # append returns None
    QTest.mouseMove(library.tree.viewport(), library.tree.visualRect(child(library, 2)).center())
    qtbot.waitUntil(QToolTip.isVisible)
    assert "torch.zeros(" in QToolTip.text() and "torch says of torch.zeros." in QToolTip.text()
    assert set(asked) == {"torch.zeros"}
    QTest.keyClick(library.tree, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: not QToolTip.isVisible())


@pytest.mark.qt_log_ignore("does not support", extend=True)
def test_the_menu_of_a_row_adds_it_or_makes_it_a_favourite(qtbot: QtBot, dark: Theme) -> None:
    library = panel(qtbot, dark)
    at = library.tree.visualRect(child(library, 2)).center()
    library.tree.customContextMenuRequested.emit(at)
    assert library.menu.isVisible()
    add, favour = library.menu.actions()
    with qtbot.waitSignal(library.chosen) as chosen:
        add.trigger()
    favour.trigger()
    library.menu.close()
    assert chosen.args == ["torch.zeros"] and library.shelf.favourites == ("torch.zeros",)


def test_a_key_that_the_field_has_no_use_for_does_not_come_back(qtbot: QtBot, dark: Theme) -> None:
    library = panel(qtbot, dark)
    library.field.setReadOnly(True)  # ignores letters
    library.tree.setFocus()
    for key in (Qt.Key.Key_A, Qt.Key.Key_Shift, Qt.Key.Key_Control):
        QTest.keyClick(library.tree, key)
    assert library.field.text() == ""


def test_the_groups_of_another_document_leave_the_finds_as_well(qtbot: QtBot, dark: Theme) -> None:
    library = panel(qtbot, dark)
    group = msgspec.structs.replace(load()["torch.exp"], key="group:sumsq", title="sumsq")
    library.show_own((("Groups of this document", (group,)),))
    library.field.setText("sumsq")
    assert library.documented_operator() == "group:sumsq"
    library.show_own((("Groups of this document", ()),))
    rows = [library.model.operator(library.model.index(k, 0)) for k in range(library.model.rowCount())]
    assert not any(row is not None and row.key == "group:sumsq" for row in rows)
