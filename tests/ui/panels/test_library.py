"""The library, by typing, keys and clicks."""

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gradstudio.operators.catalogue import load
from gradstudio.ui.panels.library import LibraryPanel
from gradstudio.ui.panels.library_model import COMMON_KEYS, MIME_TYPE, OPERATOR_ROLE
from gradstudio.ui.panels.signature import signature
from gradstudio.ui.theme import Theme


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
    with qtbot.waitSignal(library.chosen) as chosen:
        QTest.mouseDClick(library.tree.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    assert chosen.args == [COMMON_KEYS[1]]


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
    assert library.help.isVisible()
    assert "torch.randn" in str(child(library, 1).data(Qt.ItemDataRole.ToolTipRole))


def test_every_operator_stands_in_its_category(qtbot: QtBot, dark: Theme) -> None:
    library = panel(qtbot, dark)
    model = library.model
    keys: set[str] = set()
    for row in range(model.rowCount()):
        category = model.index(row, 0)
        for k in range(model.rowCount(category)):
            index = model.index(k, 0, category)
            assert model.parent(index) == category
            keys.add(index.data(OPERATOR_ROLE).key)
    assert keys == {operator.key for operator in load()}


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
