"""Where cards stand and how they are worn: guides, snap, collapsed, tucked, pinned, muted, bypassed; reconnecting."""

import itertools

import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QColor, QMouseEvent
from PySide6.QtWidgets import QApplication

from gradstudio.document.file import dumps, loads
from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId, Place
from gradstudio.program.write import write_script
from gradstudio.scene.card.card_layout import HEADER
from gradstudio.ui.canvas.paint.card.header_colours import header_colour
from gradstudio.ui.canvas.paint.wire_painter import blend_with_ground
from gradstudio.ui.theme import ThemeName, theme
from tests.ui.canvas.conftest import CONTROL, NO_KEY, SHIFT, Hand
from tests.ui.canvas.test_painting import contrast

Key = Qt.Key


def place(hand: Hand, item: ItemId) -> tuple[float, float]:
    found = hand.graph.places[item]
    return found.x, found.y


def undo(hand: Hand) -> None:
    hand.session.graph_store.undo_stack.undo()


@pytest.fixture
def three(hand: Hand) -> list[ItemId]:
    """Three cards, none in line with another."""
    return [hand.add("torch.randn", 40, 40), hand.add("torch.randn", 300, 240), hand.add("torch.randn", 616, 136)]


# ------------------------------------------------------------------ rows and columns


@pytest.mark.feature(35)
def test_a_dragged_card_is_pulled_into_line_with_its_neighbour_and_a_line_is_drawn(hand: Hand) -> None:
    still, item = hand.add("torch.randn", 43, 40), hand.add("torch.randn", 400, 300)
    hand.canvas.drag_options.snap_to_grid = False
    start = hand.header(item)
    hand.press(start)
    hand.move((start[0] - 300, start[1] + 20))
    before = hand.shot()
    end = (start[0] - 353, start[1] + 20)
    hand.move(end)
    box, other = hand.canvas.scene.placement.box(item), hand.canvas.scene.placement.box(still)
    assert box is not None
    assert other is not None
    assert box.x == other.x
    x, y = hand.canvas.camera.to_view(box.x, (other.bottom + box.y) / 2)
    accent = hand.canvas.canvas_style.color("accent").rgb()
    assert hand.shot().pixelColor(int(x), int(y)).rgb() == accent
    assert before.pixelColor(int(x), int(y)).rgb() != accent
    hand.release(end)
    assert place(hand, item) == (43, 320)
    assert hand.undo_texts[-1] == "Move x2"


@pytest.mark.feature(35)
def test_shift_while_dragging_suspends_the_guides(hand: Hand) -> None:
    hand.add("torch.randn", 43, 40)
    item = hand.add("torch.randn", 400, 300)
    hand.canvas.drag_options.snap_to_grid = False
    start = hand.header(item)
    hand.press(start)
    hand.move((start[0] - 300, start[1] + 20))
    hand.move((start[0] - 353, start[1] + 20), keys=SHIFT)
    hand.release((start[0] - 353, start[1] + 20), keys=SHIFT)
    assert place(hand, item) == (47, 320)


@pytest.mark.feature(35)
def test_a_card_stops_where_the_gaps_to_both_neighbours_are_equal(hand: Hand) -> None:
    left, right = hand.add("torch.randn", 0, 100), hand.add("torch.randn", 613, 100)
    item = hand.add("torch.randn", 280, 400)
    hand.canvas.drag_options.snap_to_grid = False
    start = hand.header(item)
    hand.drag(start, (start[0] + 24, start[1] - 270))
    boxes = [hand.canvas.scene.placement.box(one) for one in (left, item, right)]
    a, b, c = (box for box in boxes if box is not None)
    assert b.x - a.right == pytest.approx(c.x - b.right)


@pytest.mark.feature(34)
def test_control_while_dragging_places_freely_and_the_switch_turns_that_round(hand: Hand) -> None:
    item = hand.add("torch.randn", 40, 40)

    def drag(by: float, keys: Qt.KeyboardModifier) -> tuple[float, float]:
        at = hand.header(item)
        hand.press(at)
        hand.move((at[0] + by / 2, at[1]), keys=keys)
        hand.move((at[0] + by, at[1]), keys=keys)
        hand.release((at[0] + by, at[1]), keys=keys)
        return place(hand, item)

    assert drag(61, NO_KEY) == (104, 40)
    assert drag(61, CONTROL) == (165, 40)
    hand.canvas.drag_options.snap_to_grid = False
    assert drag(10, NO_KEY) == (175, 40)
    assert drag(10, CONTROL) == (184, 40)


@pytest.mark.feature(34)
def test_notes_and_frames_snap_to_the_grid(hand: Hand) -> None:
    x = hand.add("torch.randn", 104, 152)
    hand.session.graph_store.attempt(recipes.set_note, "Note", x, "words")
    note = hand.canvas.scene.placement.notes[x].box
    hand.drag((note.x + 20, note.y + 10), (note.x + 433, note.y + 215))
    moved = hand.graph.places[f"note:{x}"]
    assert moved.x % 8 == moved.y % 8 == 0
    hand.session.graph_store.attempt(recipes.wrap, "Wrap", [x], "no_grad")
    (block,) = hand.graph.blocks
    frame = hand.canvas.scene.placement.frames[block].box
    hand.drag((frame.x + 60, frame.y + 10), (frame.x + 113, frame.y + 215))
    assert place(hand, x)[0] % 8 == place(hand, x)[1] % 8 == 0


# ------------------------------------------------------------------ how cards are worn


@pytest.mark.feature(41)
def test_a_collapsed_card_is_its_header_with_stubs_of_its_wires(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 100), hand.add("torch.matmul", 500, 100)
    hand.wire(x, y, "input")
    hand.canvas.selection.select(frozenset({y}))
    full = hand.canvas.scene.placement.box(y)
    hand.canvas.card_arrangement.toggle_collapsed()
    box, layout = hand.canvas.scene.placement.box(y), hand.canvas.scene.placement.layout(y)
    assert full is not None
    assert box is not None
    assert layout is not None
    assert box.height == HEADER < full.height
    assert [row.path for row in layout.inputs] == ["input"]
    assert hand.input(y, "input") == (500, 100 + HEADER / 2)
    assert hand.canvas.scene.routes.paths[0][-1].tolist() == [500, 100 + HEADER / 2]
    below = hand.view(600, 100 + 60)
    assert hand.shot().pixelColor(below) == hand.shot().pixelColor(hand.view(600, 500))
    hand.canvas.card_arrangement.toggle_collapsed()
    assert hand.canvas.scene.placement.box(y) == full


@pytest.mark.feature(41)
def test_a_wire_is_drawn_from_a_collapsed_card(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 100), hand.add("torch.relu", 500, 200)
    hand.canvas.selection.select(frozenset({x}))
    hand.canvas.card_arrangement.toggle_collapsed()
    hand.drag(hand.output(x), hand.input(y, "input"))
    assert hand.graph.wire_into(y, "input") is not None


@pytest.mark.feature(41)
def test_a_collapsed_module_has_no_leaves_and_comes_back_whole(hand: Hand) -> None:
    item = hand.add("torch.nn.Linear", 40, 100)
    full = hand.canvas.scene.placement.box(item)
    hand.canvas.selection.select(frozenset({item}))
    hand.canvas.card_arrangement.toggle_collapsed()
    box = hand.canvas.scene.placement.box(item)
    assert box is not None
    assert box.height == HEADER
    hand.shot()
    hand.canvas.card_arrangement.toggle_collapsed()
    assert hand.canvas.scene.placement.box(item) == full


@pytest.mark.feature(41)
def test_unused_ports_are_hidden_and_a_click_on_the_last_row_shows_them(hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 100), hand.add("torch.sum", 500, 100, dim="0")
    hand.wire(x, y, "input")
    layout = hand.canvas.scene.placement.layout(y)
    assert layout is not None
    assert len(layout.inputs) > 1
    hand.canvas.selection.select(frozenset({y}))
    hand.canvas.card_arrangement.toggle_tucked()
    tucked = hand.canvas.scene.placement.layout(y)
    assert tucked is not None
    assert [row.path for row in tucked.inputs] == ["input"]
    assert tucked.more is not None
    box = hand.canvas.scene.placement.box(y)
    assert box is not None
    hand.click((box.x + tucked.more.x + 8, box.y + tucked.more.y + 8))
    shown = hand.canvas.scene.placement.layout(y)
    assert shown is not None
    assert {row.path for row in layout.inputs} <= {row.path for row in shown.inputs}


@pytest.mark.feature(43)
def test_a_pinned_card_is_neither_dragged_nor_nudged_and_shows_a_pin(hand: Hand) -> None:
    item, other = hand.add("torch.randn", 40, 104), hand.add("torch.randn", 400, 304)
    before = hand.shot()
    hand.canvas.selection.select(frozenset({item}))
    hand.canvas.card_arrangement.toggle_pinned()
    box = hand.canvas.scene.placement.box(item)
    assert box is not None
    strip = [hand.view(box.right - k, box.y + 11) for k in range(8, 50)]
    after = hand.shot()
    assert any(after.pixelColor(at) != before.pixelColor(at) for at in strip)
    start = hand.header(item)
    hand.press(start)
    hand.move((start[0] + 80, start[1] + 80))
    assert "pinned" in hand.canvas.bubble.text()
    hand.release((start[0] + 80, start[1] + 80))
    hand.key(Key.Key_Right)
    assert place(hand, item) == (40, 104)
    hand.canvas.selection.select_all()
    hand.drag(hand.header(other), (hand.header(other)[0] + 80, hand.header(other)[1]), keys=SHIFT)
    assert place(hand, item) == (40, 104)
    assert place(hand, other) == (480, 304)


@pytest.mark.feature(41, 43)
def test_how_cards_are_worn_is_kept_in_the_file(hand: Hand) -> None:
    item = hand.add("torch.randn", 40, 104)
    hand.canvas.selection.select(frozenset({item}))
    hand.canvas.card_arrangement.toggle_pinned()
    hand.canvas.card_arrangement.toggle_collapsed()
    hand.canvas.card_arrangement.toggle_tucked()
    assert hand.graph.places[item] == Place(40, 104, collapsed=True, tucked=True, pinned=True)
    assert loads(dumps(hand.graph)).places == hand.graph.places
    for _ in range(3):
        undo(hand)
    assert hand.graph.places[item] == Place(40, 104)


# ------------------------------------------------------------------ out of the wires


def chain(hand: Hand, *keys: str) -> list[ItemId]:
    items = [hand.add(key, 20 + 240 * k, 200) for k, key in enumerate(keys)]
    for source, target in itertools.pairwise(items):
        hand.wire(source, target, "input")
    return items


@pytest.mark.feature(12)
def test_control_delete_lets_what_fed_a_node_feed_its_users(hand: Hand) -> None:
    x, a, b, y = chain(hand, "torch.randn", "torch.relu", "torch.exp", "torch.sum")
    hand.canvas.selection.select(frozenset({a, b}))
    said: list[object] = []
    hand.canvas.said.connect(said.append)
    hand.key(Key.Key_Delete, CONTROL)
    assert set(hand.graph.nodes) == {x, y}
    wire = hand.graph.wire_into(y, "input")
    assert wire is not None
    assert wire.source == x
    assert "1 wire leads past it" in str(said[-1])
    undo(hand)
    assert set(hand.graph.nodes) == {x, a, b, y}
    assert hand.undo_texts[-1] == "Wire"


@pytest.mark.feature(12)
def test_what_cannot_be_fed_again_is_said_with_the_reason(hand: Hand) -> None:
    x, y = chain(hand, "torch.randn", "torch.relu")
    hand.canvas.selection.select(frozenset({x}))
    said: list[object] = []
    hand.canvas.said.connect(said.append)
    hand.key(Key.Key_Delete, CONTROL)
    assert hand.graph.wire_into(y, "input") is None
    assert "open now: 'input'" in str(said[-1])
    assert "nothing was wired in front of it" in str(said[-1])


def shake(
    hand: Hand, item: ItemId, strokes: int = 6, pause_ms: int = 80, times_ms: tuple[int, ...] = (), *,
    upright: bool = False,
) -> tuple[float, float]:  # fmt: skip
    """Drag a card to and fro, and hold it."""
    start = hand.header(item)
    hand.press(start)
    view = hand.canvas.viewport()
    times = times_ms or tuple(pause_ms * k for k in range(strokes))
    for k, time_ms in enumerate(times):
        aside = 60 if k % 2 == 0 else -20
        point = QPointF(hand.view(start[0] + (0 if upright else aside), start[1] + 200 + (aside if upright else 0)))
        event = QMouseEvent(
            QEvent.Type.MouseMove, point, view.mapToGlobal(point), Qt.MouseButton.NoButton, Qt.MouseButton.LeftButton,
            NO_KEY,
        )  # fmt: skip
        event.setTimestamp(1000 + time_ms)
        QApplication.sendEvent(view, event)
    return start[0], start[1] + 200


@pytest.mark.feature(12)
def test_a_card_that_is_shaken_falls_out_of_its_wires_in_one_undo_entry(hand: Hand) -> None:
    x, a, y = chain(hand, "torch.randn", "torch.relu", "torch.sum")
    end = shake(hand, a)
    assert "out of its wires" in hand.canvas.bubble.text()
    hand.release(end)
    assert [(wire.source, wire.target) for wire in hand.graph.wires.values()] == [(x, y)]
    assert place(hand, a) == (256, 400)
    assert hand.undo_texts[-1] == "Shake off"
    undo(hand)
    assert len(hand.graph.wires) == 2
    assert place(hand, a) == (260, 200)


@pytest.mark.feature(12)
@pytest.mark.parametrize("times", [(0, 40, 2400, 2500, 2600, 2700), (0, 8, 400, 700, 1000, 1300)])
def test_a_shake_counts_by_its_turns_whatever_the_hand_did_before(hand: Hand, times: tuple[int, ...]) -> None:
    """Three turns are enough, after any pause, and where only the ends of the strokes arrive."""
    _, a, _ = chain(hand, "torch.randn", "torch.relu", "torch.sum")
    hand.release(shake(hand, a, times_ms=times))
    assert hand.undo_texts[-1] == "Shake off"


@pytest.mark.feature(12)
def test_a_long_shake_is_one_and_up_and_down_is_one_too(hand: Hand) -> None:
    _, a, _ = chain(hand, "torch.randn", "torch.relu", "torch.sum")
    hand.release(shake(hand, a, strokes=14))
    assert hand.undo_texts[-1] == "Shake off"
    undo(hand)
    hand.release(shake(hand, a, strokes=5, upright=True))
    assert hand.undo_texts[-1] == "Shake off"


@pytest.mark.feature(12)
def test_slow_turns_escape_and_the_switch_keep_the_wires(hand: Hand) -> None:
    _, a, _ = chain(hand, "torch.randn", "torch.relu", "torch.sum")
    hand.release(shake(hand, a, pause_ms=900))
    assert len(hand.graph.wires) == 2
    shake(hand, a)
    hand.key(Key.Key_Escape)
    assert len(hand.graph.wires) == 2
    hand.canvas.drag_options.shake_off = False
    hand.release(shake(hand, a))
    assert len(hand.graph.wires) == 2


# ------------------------------------------------------------------ in the program or not


@pytest.mark.feature(42)
def test_a_muted_node_and_what_reads_it_leave_the_program_and_look_it(hand: Hand) -> None:
    x, a, y = chain(hand, "torch.randn", "torch.relu", "torch.sum")
    before = hand.shot()
    hand.canvas.selection.select(frozenset({a}))
    hand.canvas.card_arrangement.toggle_muted()
    hand.canvas.selection.clear()
    text = write_script(hand.graph)
    assert "randn" in text
    assert "relu" not in text
    assert "sum" not in text
    scene = hand.canvas.scene
    assert scene.numbers.left_out == {a, y}
    assert all(scene.looks.by_code[code].idle for code in scene.looks.codes.tolist())
    after = hand.shot()
    for item, word in ((a, "muted"), (y, "left out")):
        at = hand.view(*hand.header(item))
        assert after.pixelColor(at) != before.pixelColor(at)
        head = header_colour(scene, hand.canvas.canvas_style, item)
        assert head is not None
        assert head.text == word
    hand.canvas.selection.select(frozenset({a}))
    hand.canvas.card_arrangement.toggle_muted()
    assert not scene.numbers.left_out
    assert not any(scene.looks.by_code[code].idle for code in scene.looks.codes.tolist())
    assert x in scene.stack.cards


@pytest.mark.feature(42)
def test_a_bypassed_node_passes_its_input_on_and_a_line_leads_through_it(hand: Hand) -> None:
    _, a, _ = chain(hand, "torch.randn", "torch.relu", "torch.sum")
    hand.canvas.selection.select(frozenset({a}))
    hand.canvas.card_arrangement.toggle_bypassed()
    hand.canvas.selection.clear()
    names = [hand.graph.nodes[item].names[0] for item in hand.graph.nodes]
    assert f"{names[1]} = {names[0]}\n" in write_script(hand.graph)
    box = hand.canvas.scene.placement.box(a)
    assert box is not None
    (_, y) = hand.input(a, "input")
    picture, accent = hand.shot(), hand.canvas.canvas_style.color("accent").rgb()
    middle = [hand.view(box.x + box.width / 2, y + k) for k in range(-8, 9)]
    assert any(picture.pixelColor(at).rgb() == accent for at in middle)


@pytest.mark.feature(42)
def test_what_was_done_to_a_card_is_said_as_the_card_shows_it(hand: Hand) -> None:
    _, a, _ = chain(hand, "torch.randn", "torch.relu", "torch.sum")
    said: list[str] = []
    hand.canvas.said.connect(lambda words: said.append(str(words)))
    hand.canvas.selection.select(frozenset({a}))
    arrangement = hand.canvas.card_arrangement
    arrangement.toggle_muted()
    arrangement.toggle_muted()
    arrangement.toggle_bypassed()
    assert said[-1] == "Bypassed: it passes its input on"
    arrangement.toggle_muted()
    arrangement.toggle_muted()
    assert said[-1] == "Unmuted: it takes part in the program again; bypassed still: it passes its input on"
    arrangement.toggle_bypassed()
    assert said[-1] == "Bypassed no longer: it computes again"


@pytest.mark.feature(42)
def test_what_has_nothing_to_pass_on_cannot_be_bypassed_and_says_so(hand: Hand) -> None:
    x = hand.add("torch.randn", 40, 100)
    hand.canvas.selection.select(frozenset({x}))
    hand.canvas.card_arrangement.toggle_bypassed()
    assert not hand.graph.nodes[x].bypassed
    assert "nothing to pass on" in hand.canvas.bubble.text()


@pytest.mark.feature(42)
@pytest.mark.parametrize("name", ["dark", "light"])
def test_a_muted_card_can_be_read(hand: Hand, name: ThemeName) -> None:
    hand.canvas.set_theme(theme(name))
    style = hand.canvas.canvas_style
    x = hand.add("torch.randn", 100, 100)
    hand.canvas.selection.select(frozenset({x}))
    hand.canvas.card_arrangement.toggle_muted()
    hand.canvas.selection.clear()
    head = header_colour(hand.canvas.scene, style, x)
    assert head is not None
    ground = blend_with_ground(style.color("canvas"), QColor(head.ground.rgb()), head.ground.alphaF())
    assert contrast(head.ink, ground) >= 4.5
    assert contrast(style.color("text_dim"), style.color("canvas")) >= 4.5
    at = hand.view(*hand.header(x))
    shot = hand.shot()
    spots = itertools.product(range(at.x() - 85, at.x() + 40), range(at.y() - 6, at.y() + 10))
    assert any(contrast(shot.pixelColor(*spot), ground) >= 4.5 for spot in spots)
