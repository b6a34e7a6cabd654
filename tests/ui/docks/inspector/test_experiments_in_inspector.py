"""*What if* and gradcheck in the inspector: a number typed into the table, what is shown, what is written back."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit
from pytestqt.qtbot import QtBot

from gradstudio.graph.model import ItemId
from gradstudio.graph.text.item_titles import title
from gradstudio.protocol.messages.debugging import Change, Checked, CheckRow, Difference, LeftOut, WhatIfAnswered
from gradstudio.protocol.messages.events import GradRow, Row
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.ui.docks.inspector.panel import InspectorPanel
from gradstudio.ui.docks.inspector.values.tensor_page import TensorPage
from gradstudio.ui.docks.inspector.values.tensor_table_model import TensorTableModel, parse_like
from gradstudio.ui.docks.inspector.what_if_section import set_in
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from tests.ui.conftest import Add

BEFORE = Summary(dtype="float32", shape=(2,), minimum=1.0, maximum=2.0, mean=1.5, rms=1.58, value=[1.0, 2.0])
AFTER = Summary(dtype="float32", shape=(2,), minimum=1.0, maximum=3.0, mean=2.0, rms=2.2, value=[1.0, 3.0])


@pytest.fixture
def x(session: Session, add: Add) -> ItemId:
    item = add("torch.tensor", data="[1.0, 2.0]")
    session.results.tables.add_rows([Row(step=1, node=item, outputs=(TensorRecord(device="cpu", summary=BEFORE),))])
    session.results.tables.set_gradients([GradRow(node=item, state="value", grad=BEFORE)], whole=True)
    session.attention.select([item])
    return item


def test_a_number_typed_into_a_cell_is_tried(dark: Theme, qtbot: QtBot) -> None:
    page = TensorPage(dark)
    qtbot.addWidget(page)
    page.resize(320, 300)
    page.show()
    qtbot.waitExposed(page)
    page.show_page("", (), BEFORE, None)
    page.model.may_try = True
    page.table.edit(page.model.index(1, 0))
    editor = page.table.findChild(QLineEdit)
    assert isinstance(editor, QLineEdit) and editor.text() == "2.0"
    editor.selectAll()
    QTest.keyClicks(editor, "3")
    with qtbot.waitSignal(page.model.tried) as tried:
        QTest.keyClick(editor, Qt.Key.Key_Return)
    assert tried.args == [(1,), 3.0]
    assert page.model.index(1, 0).data() == "2"


def test_cells_are_not_open_while_nothing_can_be_tried(dark: Theme) -> None:
    model = TensorTableModel(dark)
    model.show_tensor(BEFORE, None)
    assert not model.flags(model.index(0, 0)) & Qt.ItemFlag.ItemIsEditable
    model.may_try = True
    assert model.flags(model.index(0, 0)) & Qt.ItemFlag.ItemIsEditable


def test_places_and_kinds_of_what_is_typed(dark: Theme) -> None:
    model = TensorTableModel(dark)
    model.show_tensor(Summary(dtype="float32", shape=(2, 1, 2), value=[[[1.0, 2.0]], [[3.0, 4.0]]]), None, (1,))
    assert model.coordinates(model.index(0, 1)) == (1, 0, 1)
    assert parse_like("2.5", 1) is None and parse_like("2", 1) == 2
    assert parse_like("−2", 1.0) == -2.0 and parse_like("word", 1.0) is None
    assert parse_like("true", False) is True


def test_the_answer_lists_what_came_out_otherwise(inspector: InspectorPanel, x: ItemId, session: Session) -> None:
    change = Change(node=x, index=(1,), value=3.0)
    own = Difference(node=x, before=BEFORE, after=AFTER, largest=1.0)
    session.experiments.set_what_if(WhatIfAnswered(request=1, change=change, differences=(own,)))
    section = inspector.details.what_if
    assert section.isVisible() and section.title.text() == "What if x[1] = 3 (was 2)".replace(
        "x", session.graph_store.graph.nodes[x].names[0]
    )
    assert "unchanged" in section.words.text()
    assert section.ledger.words()[1].endswith("[1, 2] → [1, 3]  largest |difference| 1")
    section.keep.click()
    assert session.graph_store.graph.nodes[x].literals["data"] == "[1.0, 3.0]"
    assert session.graph_store.undo_stack.undoText() == "Set what was tried"
    assert not section.isVisible()


def test_drop_forgets_it_and_an_error_is_said(inspector: InspectorPanel, x: ItemId, session: Session) -> None:
    change = Change(node=x, grad=True, index=(0,), value=3.0)
    session.experiments.set_what_if(WhatIfAnswered(request=1, change=change, error="no backward ran"))
    section = inspector.details.what_if
    assert section.title.text().startswith("What if the gradient of ")
    assert section.ledger.words() == ["no backward ran"] and not section.keep.isVisible()
    section.drop.click()
    assert session.experiments.what_if is None and not section.isVisible()


@pytest.mark.parametrize(
    ("literal", "index", "wanted"),
    [
        ("[1.0, 2.0]", (1,), "[1.0, 9.0]"),
        ("[[1.0], [2.0]]", (0, 0), "[[9.0], [2.0]]"),
        ("2.0", None, "9.0"),
        ("[1.0]", (4,), ""),
        ("[1.0]", (0, 0), ""),
        ("math.pi", None, ""),
    ],
)
def test_numbers_are_put_into_literals(literal: str, index: tuple[int, ...] | None, wanted: str) -> None:
    assert set_in(literal, Change(node=ItemId("x"), index=index, value=9.0)) == wanted


def test_a_check_shows_both_numbers_of_the_worst_element(
    inspector: InspectorPanel, x: ItemId, session: Session
) -> None:
    row = CheckRow(
        name="x",
        node=x,
        ok=False,
        analytical=2.0,
        numerical=2.5,
        tolerance=1e-4,
        in_index=(1,),
        out_index=(0,),
        elements=4,
    )
    session.experiments.set_checked(Checked(request=1, nodes=(x,), rows=(row,)))
    words = inspector.details.check.ledger.words()
    assert "✗ differs" in words[0]
    assert words[1:3] == ["  autograd  2", "  differences  2.5"]
    assert "worst of 4" in words[3] and "[0] by x[1]" in words[3]
    session.experiments.set_checked(Checked(request=2, nodes=(x,), error="it draws random numbers"))
    assert inspector.details.check.ledger.words() == ["it draws random numbers"]


def test_a_check_of_several_nodes_is_told_where_they_are_selected(
    session: Session, inspector: InspectorPanel, add: Add, x: ItemId, qtbot: QtBot
) -> None:
    y = add("torch.exp")
    z = add("torch.sin")
    session.attention.select([x, y, z])
    row = CheckRow(name="x", node=y, ok=False, analytical=0.0, numerical=2.5)
    left = (LeftOut(node=z, reason="`z` gives int64, which has no gradient."),)
    with qtbot.waitSignal(session.experiments.changed):
        session.run.questions.answered.emit(Checked(request=1, nodes=(x, y, z), rows=(row,), left_out=left))
    qtbot.waitUntil(lambda: inspector.checks.isVisible())
    told = " ".join(each.text() for each in inspector.checks.findChildren(QLabel) if each.isVisible())
    assert "Gradcheck: 1 differs, 1 left out." in told
    assert "2.5" in told
    assert "which has no gradient" in told
    session.attention.select([x])
    qtbot.waitUntil(lambda: not inspector.checks.isVisible())


def test_another_nodes_inspector_shows_of_a_what_if_only_what_changed_there(
    inspector: InspectorPanel, session: Session, x: ItemId, add: Add
) -> None:
    other, third = add("torch.exp"), add("torch.exp")
    change = Change(node=x, index=(1,), value=3.0)
    differences = (Difference(node=x, before=BEFORE, after=AFTER), Difference(node=other, before=BEFORE, after=AFTER))
    session.experiments.set_what_if(WhatIfAnswered(request=1, change=change, differences=differences))
    session.attention.select([x])
    assert len(inspector.details.what_if.ledger.lines) == 3, "a heading and both"
    session.attention.select([other])
    ledger = inspector.details.what_if.ledger
    assert ledger.words()[1:] == [f"{inspector_name(session, other)}  [1, 2] → [1, 3]", "1 more elsewhere"]
    session.attention.select([third])
    assert inspector.details.what_if.ledger.words() == ["Nothing comes out otherwise here. 2 more elsewhere"]


def inspector_name(session: Session, item: ItemId) -> str:
    return title(session.graph_store.graph, item)


def test_long_numbers_stand_below_their_name_and_nothing_is_wider_than_the_inspector(
    qtbot: QtBot, inspector: InspectorPanel, session: Session, x: ItemId
) -> None:
    before = Summary(dtype="float32", shape=(3,), value=[0.2268, 0.0023, 1.15e-5])
    after = Summary(dtype="float32", shape=(3,), value=[0.000182, 0.000512, 1.55e-6])
    answer = WhatIfAnswered(
        request=1, change=Change(node=x, index=(1,), value=3.0),
        differences=(Difference(node=x, before=before, after=after, largest=0.22),),
    )  # fmt: skip
    session.experiments.set_what_if(answer)
    session.attention.select([x])
    section = inspector.details.what_if
    qtbot.waitUntil(section.drop.isVisible)
    row = section.ledger._rows[1]
    assert row.below.isVisible() and not row.number.isVisible() and "0.2268" in row.below.text()
    inner = inspector.widget()
    assert inner is not None and inner.width() <= inspector.viewport().width()
    assert section.drop.mapTo(inspector, section.drop.rect().bottomRight()).x() < inspector.width()
