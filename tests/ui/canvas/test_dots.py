"""Dots on wires by hand: put, moved, selected, dissolved, branched from; kept, copied and dropped with their wire."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from gradstudio.document import file
from gradstudio.document.python.merge_edits import merge
from gradstudio.graph import recipes
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import ItemId
from gradstudio.graph.ports.wire_dots import dot_key, end_of, points_of
from gradstudio.program.write import write_code
from gradstudio.ui.actions.tidy_layout import tidy
from tests.ui.canvas.conftest import CONTROL, SHIFT, Hand
from tests.ui.canvas.test_painting import has
from tests.ui.canvas.test_wires import choose, middle

Key = Qt.Key
ALT = Qt.KeyboardModifier.AltModifier


def wired(hand: Hand) -> tuple[ItemId, ItemId]:
    x, y = hand.add("torch.randn", 40, 96), hand.add("torch.relu", 704, 96)
    hand.wire(x, y, "input")
    hand.session.attention.select(())
    return x, y


def dots(hand: Hand, item: ItemId) -> list[tuple[float, float]]:
    return points_of(hand.graph, (item, "input"))


@pytest.mark.feature(14)
@pytest.mark.parametrize("how", ["alt", "both", "double"])
def test_a_dot_is_put_on_a_wire_and_a_drag_moves_it_on_the_grid(hand: Hand, how: str) -> None:
    _, y = wired(hand)
    at = middle(hand, y)
    count = len(hand.undo_texts)
    if how == "alt":
        hand.click(at, ALT)
    elif how == "both":
        hand.click(at, CONTROL | SHIFT)
    else:
        hand.double_click(at)
    ((here_x, here_y),) = dots(hand, y)
    assert (here_x, here_y) == pytest.approx(at, abs=4)
    assert (here_x % 8, here_y % 8) == (0, 0)
    assert hand.undo_texts[count:] == ["Add dot"]
    hand.drag((here_x, here_y), (here_x + 3, here_y + 203))
    assert dots(hand, y) == [(here_x, here_y + 200)]
    assert len(hand.undo_texts) == count + 2
    path = hand.canvas.scene.routes.paths[0]
    assert abs(path - [here_x, here_y + 200]).sum(1).min() < 1
    hand.session.graph_store.undo_stack.undo()
    assert dots(hand, y) == [(here_x, here_y)]
    hand.session.graph_store.undo_stack.undo()
    assert dots(hand, y) == []


@pytest.mark.feature(14)
def test_one_drag_puts_a_dot_and_carries_it(hand: Hand) -> None:
    _, y = wired(hand)
    at = middle(hand, y)
    count = len(hand.undo_texts)
    hand.press(at, keys=ALT)
    hand.move((at[0], at[1] + 150), keys=ALT)
    assert not dots(hand, y)
    assert has(hand.shot(), hand.canvas.canvas_style.color("accent"), 100)
    hand.release((at[0], at[1] + 150), keys=ALT)
    ((_, here_y),) = dots(hand, y)
    assert here_y == pytest.approx(at[1] + 150, abs=4)
    assert len(hand.undo_texts) == count + 1


def test_escape_leaves_no_dot(hand: Hand) -> None:
    _, y = wired(hand)
    hand.press(middle(hand, y), keys=ALT)
    hand.key(Key.Key_Escape)
    hand.release(middle(hand, y), keys=ALT)
    assert not dots(hand, y)


@pytest.mark.feature(14)
def test_dots_follow_one_another_along_the_wire(hand: Hand) -> None:
    _, y = wired(hand)
    start, end = hand.output(next(iter(hand.graph.nodes))), hand.input(y, "input")
    for share in (0.5, 0.2, 0.8):
        hand.click((start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])), ALT)
    found = [x for x, _ in dots(hand, y)]
    assert len(found) == 3
    assert found == sorted(found)


def test_a_wire_takes_no_more_dots_than_can_be_drawn(hand: Hand) -> None:
    _, y = wired(hand)
    for _ in range(9):
        hand.double_click(hand.canvas.scene.routes.paths[0][3].tolist() if not dots(hand, y) else free(hand, y))
    assert len(dots(hand, y)) == 8
    assert "at most 8" in hand.canvas.bubble.text()


def free(hand: Hand, item: ItemId) -> tuple[float, float]:
    """A point of the wire away from its dots."""
    taken = dots(hand, item)
    points = hand.canvas.scene.routes.paths[0][1:-1].tolist()
    x, y = max(points, key=lambda at: min(abs(at[0] - dot[0]) for dot in taken))
    return x, y


@pytest.mark.feature(14)
def test_the_rubber_band_selects_dots_and_del_dissolves_them(hand: Hand) -> None:
    _, y = wired(hand)
    hand.click(middle(hand, y), ALT)
    hand.drag(dots(hand, y)[0], (400, 400))
    hand.click((400, 600))
    assert not hand.canvas.lit.selected_dots
    hand.drag((370, 360), (430, 440))
    assert hand.canvas.lit.selected_dots == {dot_key((y, "input"), 0)}
    hand.drag((370, 360), (430, 440), keys=CONTROL)
    assert not hand.canvas.lit.selected_dots
    hand.drag((370, 360), (430, 440), keys=SHIFT)
    hand.key(Key.Key_Delete)
    assert not dots(hand, y)
    assert hand.graph.wire_into(y, "input") is not None
    assert hand.undo_texts[-1] == "Remove dot"


@pytest.mark.feature(14)
def test_a_drag_with_control_from_a_dot_draws_another_wire_through_it(hand: Hand) -> None:
    x, y = wired(hand)
    z = hand.add("torch.exp", 704, 400)
    hand.click(middle(hand, y), ALT)
    hand.drag(dots(hand, y)[0], (400, 304))
    count = len(hand.undo_texts)
    hand.drag((400, 304), hand.input(z, "input"), keys=CONTROL)
    wire = hand.graph.wire_into(z, "input")
    assert wire is not None
    assert wire.source == x
    assert dots(hand, z) == dots(hand, y) == [(400, 304)]
    assert len(hand.undo_texts) == count + 1
    hand.drag((400, 304), (400, 504))
    assert dots(hand, z) == dots(hand, y) == [(400, 504)]
    hand.key(Key.Key_Delete)
    assert not dots(hand, z)
    assert not dots(hand, y)


def test_dots_move_with_the_cards_at_both_ends_and_by_arrow_keys(hand: Hand) -> None:
    x, y = wired(hand)
    hand.click(middle(hand, y), ALT)
    ((before, height),) = dots(hand, y)
    hand.key(Key.Key_Down)
    assert dots(hand, y) == [(before, height + 8)]
    hand.session.attention.select((x, y))
    at = hand.header(x)
    hand.drag(at, (at[0] + 80, at[1] + 160))
    assert dots(hand, y) == [(before + 80, height + 168)]
    hand.session.attention.select((y,))
    at = hand.header(y)
    hand.drag(at, (at[0] + 80, at[1]))
    assert dots(hand, y) == [(before + 80, height + 168)]


def test_dots_are_drawn_in_the_colour_of_their_wire_and_ringed_when_selected(hand: Hand) -> None:
    _, y = wired(hand)
    hand.click(middle(hand, y), ALT)
    hand.drag(dots(hand, y)[0], (400, 400))
    accent = hand.canvas.canvas_style.color("accent")
    at = hand.view(400, 400)
    hand.move((600, 650), Qt.MouseButton.NoButton)
    assert has(hand.shot().copy(at.x() - 14, at.y() - 14, 28, 28), accent, 10)
    hand.click((600, 650))
    shot = hand.shot()
    assert not has(shot.copy(at.x() - 14, at.y() - 14, 28, 28), accent, 10)
    assert shot.pixelColor(at) == hand.canvas.canvas_style.color("unknown_value")


# ------------------------------------------------------------------ with the wire


@pytest.mark.feature(14)
def test_dots_go_with_their_wire_and_come_back_with_it(hand: Hand) -> None:
    x, y = wired(hand)
    hand.click(middle(hand, y), ALT)
    for gesture in (
        lambda: hand.drag(hand.input(y, "input"), (600, 600)),
        lambda: (hand.canvas.selection.select(frozenset({x})), hand.key(Key.Key_Delete)),
        lambda: (hand.canvas.selection.select(frozenset({y})), hand.key(Key.Key_Delete)),
    ):
        before = dict(hand.graph.places)
        gesture()
        assert not any(end_of(key) for key in hand.graph.places)
        hand.session.graph_store.undo_stack.undo()
        assert hand.graph.places == before


def test_dots_go_along_with_a_wire_that_ends_elsewhere(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 96), hand.add("torch.matmul", 704, 96)
    hand.wire(x, y, "input")
    hand.click(middle(hand, y), ALT)
    points = dots(hand, y)
    hand.drag(hand.input(y, "input"), hand.input(y, "other"))
    assert points_of(hand.graph, (y, "other")) == points
    assert not dots(hand, y)
    other = hand.add("torch.randn", 40, 400)
    hand.drag(hand.output(x), hand.output(other), keys=SHIFT)
    assert points_of(hand.graph, (y, "other")) == points


def test_a_copy_of_both_ends_has_dots_of_its_own(hand: Hand) -> None:
    _, y = wired(hand)
    hand.click(middle(hand, y), ALT)
    ((x_px, y_px),) = dots(hand, y)
    hand.key(Key.Key_A, CONTROL)
    hand.key(Key.Key_D, CONTROL)
    (copy,) = (item for item, node in hand.graph.nodes.items() if node.operator == "torch.relu" and item != y)
    one, other = hand.graph.places[y], hand.graph.places[copy]
    assert other.y > one.y and dots(hand, copy) == [(x_px + other.x - one.x, y_px + other.y - one.y)]
    hand.canvas.selection.select(frozenset(item for item in hand.graph.nodes if hand.graph.nodes[item].operator))
    hand.key(Key.Key_C, CONTROL)
    assert "dot:" in QGuiApplication.clipboard().text()
    hand.key(Key.Key_V, CONTROL)
    assert sum(end_of(key) is not None for key in hand.graph.places) == 4


def test_a_node_put_into_the_wire_leaves_the_dots_on_both_sides(hand: Hand) -> None:
    x, y = wired(hand)
    hand.session.graph_store.attempt(recipes.add_dot, "d", next(iter(hand.graph.wires.values())), 0, (240, 304))
    hand.session.graph_store.attempt(recipes.add_dot, "d", next(iter(hand.graph.wires.values())), 1, (640, 304))
    hand.drop("torch.exp", hand.canvas.scene.routes.paths[0][11].tolist())
    (exp,) = set(hand.graph.nodes) - {x, y}
    assert dots(hand, exp) == [(240, 304)]
    assert len(dots(hand, y)) == 1


def test_a_muted_wire_keeps_its_dots(hand: Hand) -> None:
    _, y = wired(hand)
    hand.click(middle(hand, y), ALT)
    points = dots(hand, y)
    hand.canvas.wire_commands.toggle_wires_muted(tuple(hand.graph.wires.values()))
    assert dots(hand, y) == points
    hand.canvas.wire_commands.toggle_wires_muted(tuple(hand.canvas.scene.wiring.muted))
    assert dots(hand, y) == points


@pytest.mark.parametrize("name", ["n1", "a/b", "dot:n/x:3", "a:b"])
def test_the_file_keeps_dots_whatever_the_id(hand: Hand, name: str) -> None:
    _, y = wired(hand)
    hand.click(middle(hand, y), ALT)
    points = dots(hand, y)
    text = file.dumps(hand.graph).replace(y, name)
    read = file.loads(text)
    assert points_of(read, (ItemId(name), "input")) == points
    assert file.dumps(read) == text
    gapped = file.loads(text.replace(':0": {"x"', ':7": {"x"'))
    assert points_of(gapped, (ItemId(name), "input")) == points


def test_a_place_of_a_wire_that_is_not_there_is_dropped(hand: Hand) -> None:
    _, y = wired(hand)
    hand.click(middle(hand, y), ALT)
    text = file.dumps(hand.graph).replace(f"dot:{y}/input:0", f"dot:{y}/other:0")
    assert not any(end_of(key) for key in file.loads(text).places)


def test_typing_in_the_code_leaves_dots_where_they_are(hand: Hand) -> None:
    _, y = wired(hand)
    hand.click(middle(hand, y), ALT)
    points = dots(hand, y)
    code = write_code(hand.graph)[0]
    target = hand.graph.copy()
    apply_all(target, merge(hand.graph, code + "z = 3\n"))
    assert points_of(target, (y, "input")) == points
    gone = hand.graph.copy()
    apply_all(gone, merge(hand.graph, "\n".join(line for line in code.splitlines() if "relu" not in line) + "\n"))
    assert not any(end_of(key) for key in gone.places)


def test_tidying_leads_the_wires_anew_in_the_same_entry(hand: Hand) -> None:
    _, y = wired(hand)
    hand.click(middle(hand, y), ALT)
    hand.session.graph_store.submit(recipes.move(hand.graph, {y: (300, 620)}), "Move")
    hand.canvas.selection.clear()
    count = len(hand.undo_texts)
    tidy(hand.canvas)
    assert not any(end_of(key) for key in hand.graph.places)
    assert len(hand.undo_texts) == count + 1
    hand.session.graph_store.undo_stack.undo()
    assert len(dots(hand, y)) == 1


def test_the_menu_of_a_wire_puts_a_dot_and_that_of_a_dot_removes_it(hand: Hand) -> None:
    _, y = wired(hand)
    choose(hand, middle(hand, y), "Put a dot here")
    assert len(dots(hand, y)) == 1
    choose(hand, dots(hand, y)[0], "Remove dot")
    assert not dots(hand, y)


def test_a_key_names_one_wire() -> None:
    end = (ItemId("a/b:c"), "size.0")
    assert end_of(dot_key(end, 3)) == (end, 3)
    for key in ("note:a", "a", "dot:a", "dot:a:1", "dot:a/p:x", "dot:/:1"):
        assert end_of(key) is None
