"""From card to card: Alt and the right button wires what fits best; where several fit, a list asks."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from gradstudio.graph.model import ItemId
from gradstudio.graph.ports.port_matching import Link, best_links, rank_links
from gradstudio.ui.canvas.popups.wire_choice_list import WireChoiceList
from gradstudio.ui.widgets.row_list import RowList
from tests.ui.canvas.conftest import SHIFT, Hand
from tests.ui.canvas.test_painting import has
from tests.ui.canvas.test_wires import choose

Key = Qt.Key
ALT = Qt.KeyboardModifier.AltModifier
RIGHT = Qt.MouseButton.RightButton


def body(hand: Hand, item: ItemId) -> tuple[float, float]:
    box = hand.canvas.scene.placement.box(item)
    assert box is not None
    return box.x + box.width / 2, box.bottom - 6


def lazy(hand: Hand, source: ItemId, target: ItemId, keys: Qt.KeyboardModifier = ALT) -> None:
    hand.drag(body(hand, source), body(hand, target), RIGHT, keys)


def list_of(hand: Hand) -> WireChoiceList:
    found = hand.canvas.wire_commands.link_list
    assert found is not None
    return found


def is_checked(shown: RowList[Link], row: int) -> bool:
    return shown.index_of(row).data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Checked


@pytest.mark.feature(16)
def test_a_drag_from_body_to_body_wires_the_best_output_to_the_best_free_input(hand: Hand) -> None:
    x, layer = hand.add("torch.randn", 40, 100), hand.add("torch.nn.Linear", 500, 100)
    count = len(hand.undo_texts)
    lazy(hand, x, layer)
    (wire,) = hand.graph.wires_from(x)
    assert wire.target == layer
    assert hand.undo_texts[count:] == ["Wire"]
    y, matmul = hand.add("torch.randn", 40, 400), hand.add("torch.matmul", 500, 400)
    hand.wire(x, matmul, "input")
    lazy(hand, y, matmul, SHIFT)  # desktops that keep Alt for themselves
    wired = hand.graph.wire_into(matmul, "other")
    assert wired is not None
    assert wired.source == y


@pytest.mark.feature(16)
def test_what_would_be_wired_is_shown_while_dragging_and_escape_leaves_it(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 100), hand.add("torch.relu", 600, 300)
    hand.session.attention.select(())
    hand.press(body(hand, x), RIGHT, ALT)
    hand.move((400, 250), RIGHT, ALT)
    hand.move(body(hand, y), RIGHT, ALT)
    assert "x → input" in hand.canvas.bubble.text()
    at = hand.view(*hand.input(y, "input"))
    assert has(hand.shot().copy(at.x() - 14, at.y() - 14, 28, 28), hand.canvas.canvas_style.color("accent"), 10)
    hand.key(Key.Key_Escape)
    hand.release(body(hand, y), RIGHT, ALT)
    assert not hand.graph.wires
    assert not hand.canvas.bubble.isVisible()


@pytest.mark.feature(16, 19)
def test_where_nothing_fits_it_says_why(hand: Hand) -> None:
    x, y = hand.add("torch.relu", 40, 100), hand.add("torch.exp", 600, 300)
    hand.wire(x, y, "input")
    lazy(hand, y, x)
    assert "loop" in hand.canvas.bubble.text()
    assert hand.graph.wire_into(x, "input") is None


@pytest.mark.feature(16)
def test_a_wire_that_is_there_is_not_drawn_again_and_it_is_said(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 100), hand.add("torch.exp", 600, 300)
    hand.wire(x, y, "input")
    before = hand.undo_texts
    hand.press(body(hand, x), RIGHT, SHIFT)
    hand.move(body(hand, y), RIGHT, SHIFT)
    assert hand.canvas.bubble.text() == "Already wired."
    hand.release(body(hand, y), RIGHT, SHIFT)
    hand.press(hand.output(x))
    hand.move(hand.input(y, "input"))
    assert hand.canvas.bubble.text() == "Already wired."
    hand.release(hand.input(y, "input"))
    assert hand.undo_texts == before


def test_let_go_over_the_ground_nothing_is_wired(hand: Hand) -> None:
    x = hand.add("torch.randn", 40, 100)
    hand.drag(body(hand, x), (700, 600), RIGHT, ALT)
    hand.drag((700, 600), body(hand, x), RIGHT, ALT)
    assert not hand.graph.wires
    assert hand.canvas.searching.popup is None


@pytest.mark.feature(26)
def test_several_ports_that_fit_equally_well_are_chosen_from_a_list_by_keys(hand: Hand) -> None:
    x, matmul = hand.add("torch.randn", 40, 100), hand.add("torch.matmul", 500, 200)
    lazy(hand, x, matmul)
    assert not hand.graph.wires
    shown = list_of(hand).list
    assert [link.words for link in shown.rows] == ["x → input", "x → other"]
    hand.key(Key.Key_Down, to=shown)
    hand.key(Key.Key_Return, to=shown)
    assert [port for _, port in hand.graph.wires] == ["other"]
    assert hand.canvas.wire_commands.link_list is None


@pytest.mark.feature(26)
def test_where_nothing_is_free_the_list_says_what_would_make_way(hand: Hand) -> None:
    x, y, matmul = (
        hand.add("torch.randn", 40, 100),
        hand.add("torch.randn", 40, 400),
        hand.add("torch.matmul", 500, 200),
    )
    hand.wire(x, matmul, "input")
    hand.wire(x, matmul, "other")
    lazy(hand, y, matmul)
    shown = list_of(hand).list
    assert shown.rows[0].words == "x2 → input (instead of x)"
    hand.key(Key.Key_Return, to=shown)
    wire = hand.graph.wire_into(matmul, "input")
    assert wire is not None
    assert wire.source == y


@pytest.mark.feature(26)
def test_several_rows_are_checked_and_drawn_as_one_entry(hand: Hand) -> None:
    x, matmul = hand.add("torch.randn", 40, 100), hand.add("torch.matmul", 500, 200)
    lazy(hand, x, matmul)
    count, shown = len(hand.undo_texts), list_of(hand).list
    hand.key(Key.Key_Space, to=shown)
    hand.key(Key.Key_Down, to=shown)
    hand.key(Key.Key_Space, to=shown)
    hand.key(Key.Key_Return, to=shown)
    assert {port for _, port in hand.graph.wires} == {"input", "other"}
    assert len(hand.undo_texts) == count + 1


@pytest.mark.feature(26)
def test_connect_in_the_menu_of_two_cards_shows_their_wires_and_changes_them(hand: Hand) -> None:
    x, matmul = hand.add("torch.randn", 40, 100), hand.add("torch.matmul", 500, 200)
    hand.wire(x, matmul, "input")
    hand.canvas.selection.select(frozenset({x, matmul}))
    choose(hand, hand.header(matmul), "Connect…")
    shown = list_of(hand).list
    rows = {link.words: k for k, link in enumerate(shown.rows)}
    assert is_checked(shown, rows["x → input"])
    assert not is_checked(shown, rows["x → other"])
    for words in ("x → input", "x → other"):
        shown.go(rows[words])
        hand.key(Key.Key_Space, to=shown)
    hand.key(Key.Key_Return, to=shown)
    assert [port for _, port in hand.graph.wires] == ["other"]


def test_a_check_mark_is_clicked_and_a_double_click_draws_its_row(hand: Hand) -> None:
    x, matmul = hand.add("torch.randn", 40, 100), hand.add("torch.matmul", 500, 200)
    lazy(hand, x, matmul)
    shown = list_of(hand).list
    mark = shown.visualRect(shown.index_of(1)).topLeft() + QPoint(10, 12)
    QTest.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=mark)
    assert [is_checked(shown, row) for row in range(2)] == [False, True]
    words = shown.visualRect(shown.index_of(0)).center()
    QTest.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=words)
    QTest.mouseDClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=words)
    assert {port for _, port in hand.graph.wires} == {"input", "other"}


def test_escape_closes_the_list_and_the_canvas_has_the_keys_again(hand: Hand) -> None:
    x, matmul = hand.add("torch.randn", 40, 100), hand.add("torch.matmul", 500, 200)
    lazy(hand, x, matmul)
    hand.key(Key.Key_Escape, to=list_of(hand).list)
    assert hand.canvas.wire_commands.link_list is None
    assert not hand.graph.wires


def test_an_input_takes_one_of_the_checked_rows(hand: Hand) -> None:
    values, y = hand.add("torch.sort", 40, 100), hand.add("torch.relu", 500, 200)
    found = rank_links(hand.graph, [values], [y])
    assert len(found) == 2
    hand.canvas.wire_commands.choose_links(values, y, found, (400, 300))
    shown = list_of(hand).list
    for row in range(2):
        shown.go(row)
        hand.key(Key.Key_Space, to=shown)
    assert [is_checked(shown, row) for row in range(2)] == [False, True]
    hand.key(Key.Key_Escape, to=shown)


def test_the_best_fit_is_by_type_then_by_what_is_free_then_by_name(hand: Hand) -> None:
    weight = hand.add("torch.randn", 40, 100)
    linear = hand.add("torch.nn.functional.linear", 500, 100)
    assert hand.canvas.scene.graph.nodes[weight].names
    first = best_links(rank_links(hand.graph, [weight], [linear]))
    assert {link.port for link in first} == {"input", "weight"}
    from gradstudio.graph import recipes

    hand.session.graph_store.submit(recipes.rename(hand.graph, weight, ("weight",)), "Rename")
    assert [link.port for link in best_links(rank_links(hand.graph, [weight], [linear]))] == ["weight"]
    cat = hand.add("torch.cat", 500, 400)
    assert [link.port for link in best_links(rank_links(hand.graph, [weight], [cat]))] == ["tensors.0"]
