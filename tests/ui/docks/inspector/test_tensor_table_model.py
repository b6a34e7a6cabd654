"""A tensor as a table: whole, or page by page."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from pytestqt.modeltest import ModelTester

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import Fetched
from gradstudio.protocol.messages.records import Summary
from gradstudio.ui.docks.inspector.values.tensor_table_model import PAGE_ROWS, TensorTableModel
from gradstudio.ui.theme import Theme

Page = tuple[tuple[int, ...], tuple[int, int], tuple[int, int]]


class Engine:
    """Notes what is asked for."""

    def __init__(self) -> None:
        self.asked: list[Page] = []

    def fetch(self, leading: tuple[int, ...], rows: tuple[int, int], columns: tuple[int, int]) -> int:
        self.asked.append((leading, rows, columns))
        return len(self.asked)


def text(model: TensorTableModel, row: int, column: int) -> str:
    return str(model.index(row, column).data())


def test_a_small_matrix_is_whole_and_nothing_is_asked_for(dark: Theme, qtmodeltester: ModelTester) -> None:
    model, engine = TensorTableModel(dark), Engine()
    model.show_tensor(Summary(dtype="float32", shape=(2, 2), value=[[1.0, 2.5], [3.0, "nan"]]), engine.fetch)
    assert (model.rowCount(), model.columnCount()) == (2, 2)
    assert [text(model, 0, 1), text(model, 1, 1)] == ["2.5", "NaN"]
    assert engine.asked == []
    brush = model.index(1, 1).data(Qt.ItemDataRole.ForegroundRole)
    assert brush.color() == QColor(dark.danger)
    qtmodeltester.check(model)


def test_a_vector_is_one_column_and_a_number_one_cell(dark: Theme) -> None:
    model = TensorTableModel(dark)
    model.show_tensor(Summary(dtype="int64", shape=(3,), value=[1, 2, 3]), None)
    assert (model.rowCount(), model.columnCount(), text(model, 2, 0)) == (3, 1, "3")
    model.show_tensor(Summary(dtype="float32", shape=(), value=8.0), None)
    assert (model.rowCount(), model.columnCount(), text(model, 0, 0)) == (1, 1, "8")


def test_a_large_matrix_is_fetched_by_the_page_that_is_looked_at(dark: Theme) -> None:
    model, engine = TensorTableModel(dark), Engine()
    model.show_tensor(Summary(dtype="float32", shape=(1000, 120)), engine.fetch)
    assert text(model, 250, 60) == "…"
    assert engine.asked == [((), (200, 300), (50, 100))]
    assert text(model, 251, 61) == "…" and len(engine.asked) == 1
    values = tuple(tuple(float(row * 1000 + column) for column in range(50, 100)) for row in range(200, 300))
    assert model.take(Fetched(request=1, node=ItemId("n"), shape=(1000, 120), values=values))
    assert text(model, 250, 60) == "2.50e5"
    assert not model.take(Fetched(request=1, node=ItemId("n")))


def test_a_long_vector_comes_as_one_row_and_is_shown_as_a_column(dark: Theme) -> None:
    model, engine = TensorTableModel(dark), Engine()
    model.show_tensor(Summary(dtype="float32", shape=(500,)), engine.fetch)
    text(model, PAGE_ROWS + 1, 0)
    assert engine.asked == [((), (0, 1), (100, 200))]
    model.take(Fetched(request=1, node=ItemId("n"), shape=(500,), values=(tuple(float(k) for k in range(100, 200)),)))
    assert text(model, PAGE_ROWS + 1, 0) == "101"


def test_leading_dimensions_pick_a_matrix(dark: Theme) -> None:
    model, engine = TensorTableModel(dark), Engine()
    model.show_tensor(Summary(dtype="int64", shape=(2, 1, 2), value=[[[1, 2]], [[3, 4]]]), None, (1,))
    assert [text(model, 0, 0), text(model, 0, 1)] == ["3", "4"]
    model.show_tensor(Summary(dtype="float32", shape=(9, 50, 50)), engine.fetch, (7,))
    text(model, 0, 0)
    assert engine.asked == [((7,), (0, 50), (0, 50))]


def test_values_that_are_no_longer_kept_leave_the_table_empty(dark: Theme) -> None:
    model = TensorTableModel(dark)
    model.show_tensor(Summary(dtype="float32", shape=(1000, 1000)), None)
    assert model.rowCount() == 0


def test_a_huge_tensor_does_not_make_a_huge_table(dark: Theme) -> None:
    model = TensorTableModel(dark)
    model.show_tensor(Summary(dtype="float32", shape=(10**12,)), Engine().fetch)
    assert model.rowCount() == 1_000_000 and model.is_cut
