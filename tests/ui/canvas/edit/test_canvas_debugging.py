"""The debugger on the canvas: gradients on wires, the moment, breakpoints, experiments, colours, sliders."""

from collections.abc import Iterator

import msgspec
import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QMenu

from gradstudio.advice.metrics import METRICS
from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId, Wire
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced, EdgeValue, SavedTensor, WireGrad
from gradstudio.protocol.messages.debugging import (
    Breakpoint,
    Change,
    Checked,
    CheckRow,
    Clash,
    Condition,
    Culprit,
    Difference,
    WhatIfAnswered,
)
from gradstudio.protocol.messages.events import Failed, GradPart, GradRow, Row
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.scene.camera import Camera
from gradstudio.scene.card.debug_sections import debug_sections
from gradstudio.scene.hit_test import Hit, cause_at, hit
from gradstudio.scene.wire.wire_labels import WireLabels, brief, summed
from gradstudio.scene.words.tooltips import tooltip, wire_text
from gradstudio.ui.canvas.gestures.number_steps import drag_number
from gradstudio.ui.canvas.menus.debug_menu import node_rows, wire_rows, words
from gradstudio.ui.canvas.paint.card.header_colours import color_of
from gradstudio.ui.state.results.failure import Failure
from tests.ui.canvas.conftest import Hand
from tests.ui.canvas.test_painting import has


def number(value: float) -> Summary:
    return Summary(dtype="float32", shape=(), minimum=value, maximum=value, mean=value, rms=abs(value), value=value)


def scalar(value: float, version: int = 0, storage: int = 0, *, leaf: bool = False) -> TensorRecord:
    return TensorRecord(
        device="cpu", summary=number(value), requires_grad=True, is_leaf=leaf, grad_fn=None if leaf else "MulBackward0",
        version=version, storage=storage,
    )  # fmt: skip


class Squared:
    """``x = tensor(3.); y = relu(x); z = x * y`` and its backward: x is used twice."""

    def __init__(self, hand: Hand) -> None:
        self.hand = hand
        self.x = hand.add("torch.tensor", 40, 200, data="3.0")
        self.y = hand.add("torch.relu", 420, 60)
        self.z = hand.add("torch.mul", 800, 200)
        hand.wire(self.x, self.y, "input")
        hand.wire(self.x, self.z, "input")
        hand.wire(self.y, self.z, "other")
        hand.session.attention.select(())
        wires = hand.graph.wires
        self.to_y, self.direct, self.over = (
            wires[self.y, "input"], wires[self.z, "input"], wires[self.z, "other"]
        )  # fmt: skip

    def run(self) -> None:
        results = self.hand.session.results
        values = ((self.x, scalar(3.0, leaf=True)), (self.y, scalar(3.0)), (self.z, scalar(9.0)))
        results.tables.add_rows([Row(step=k, node=node, outputs=(record,)) for k, (node, record) in enumerate(values)])
        results.tables.add_backward(self.backward())
        results.tables.set_gradients([GradRow(node=self.x, state="value", grad=number(6.0))], whole=True)
        results.tables.pace.flush()

    def backward(self) -> BackwardTraced:
        one, three = number(1.0), number(3.0)
        rows = (
            AutogradRow(backward=1, autograd="MulBackward0", node=self.z, id=0, incoming=(one,),
                        outgoing=(three, three), next=((2, 0), (1, 0)), values=(EdgeValue(node=self.z),)),
            AutogradRow(backward=1, autograd="ReluBackward0", node=self.y, id=1, incoming=(three,), outgoing=(three,),
                        next=((2, 0),), values=(EdgeValue(node=self.y),)),
            AutogradRow(backward=1, autograd="AccumulateGrad", node=self.x, id=2, incoming=(number(6.0),),
                        values=(EdgeValue(node=self.x),)),
        )  # fmt: skip
        wires = (
            WireGrad(source=self.x, target=self.z, port="input", place=0, grad=three),
            WireGrad(source=self.y, target=self.z, port="other", place=0, grad=three),
            WireGrad(source=self.x, target=self.y, port="input", place=1, grad=three),
        )
        return BackwardTraced(revision=0, rows=rows, wires=wires, backward=1)


@pytest.fixture
def squared(hand: Hand) -> Squared:
    return Squared(hand)


def labels(hand: Hand, zoom: float = 1.0) -> dict[Wire, str]:
    canvas = hand.canvas
    seen = canvas.camera.seen(canvas.viewport().width(), canvas.viewport().height())
    return {wire: label.text for wire, label in WireLabels(canvas.scene).near(seen, zoom)}


def marked(hand: Hand, role: str, least: int = 20) -> bool:
    return has(hand.shot(), hand.canvas.canvas_style.color(role), least)


# ------------------------------------------------------------------ gradients on wires


def test_after_a_backward_each_wire_says_what_came_back(squared: Squared) -> None:
    assert labels(squared.hand) == {}
    squared.run()
    assert labels(squared.hand) == {squared.to_y: "3", squared.direct: "3", squared.over: "3"}


def test_labels_cover_no_card_and_not_one_another(squared: Squared) -> None:
    squared.run()
    scene, seen = squared.hand.canvas.scene, squared.hand.canvas.camera.seen(1000, 700)
    found = [label.box for _, label in WireLabels(scene).near(seen, 1.0)]
    cards = [box for item in scene.stack.ids if (box := scene.placement.box(item)) is not None]
    assert len(found) == 3
    assert not any(label.meets(card) for label in found for card in cards)
    assert not any(one.meets(other) for k, one in enumerate(found) for other in found[:k])


def test_labels_stay_where_they_are_while_the_scene_is_pushed(squared: Squared) -> None:
    squared.run()
    placed = WireLabels(squared.hand.canvas.scene)
    first = dict(placed.near(Camera(1.0, 0, 0).seen(500, 700), 1.0))
    pushed = dict(placed.near(Camera(1.0, 200, 0).seen(1000, 700), 1.0))
    assert first.items() <= pushed.items()


def test_from_afar_letters_keep_their_size_until_there_are_none(squared: Squared) -> None:
    squared.run()
    scene, camera = squared.hand.canvas.scene, Camera(0.5, 0, 0)
    near = WireLabels(scene).near(camera.seen(1000, 700), 0.5)
    assert all(label.box.height * 0.5 > 13 for _, label in near)
    assert WireLabels(scene).near(Camera(0.2, 0, 0).seen(1000, 700), 0.2) == []


def test_the_overlay_switches_them_off(squared: Squared) -> None:
    squared.run()
    on = squared.hand.shot()
    squared.hand.canvas.overlays.switch("wire_gradients", False)
    assert squared.hand.shot() != on


def test_a_gradient_in_few_letters() -> None:
    big = Summary(dtype="float32", shape=(4,), minimum=0.0, maximum=1.0, rms=0.5)
    broken = Summary(dtype="float32", shape=(4,), rms=0.5, nan=2)
    assert [brief(each) for each in (number(0.5), big, broken, None)] == ["0.5", "‖∇‖ 1", "2 NaN", "none"]


def test_a_sum_as_far_as_it_is_formed() -> None:
    assert summed([number(16.0)], 2) == "1 of 2: 16 + …"
    assert summed([number(16.0), number(48.0)], 2) == "2 of 2: 16 + 48 = 64"


@pytest.mark.feature(64)
def test_hovering_a_wire_tells_both_ways(squared: Squared) -> None:
    squared.run()
    text = wire_text(squared.hand.canvas.scene, squared.direct)
    assert "float32[]" in text
    assert "<b>3</b>" in text
    assert "backward: 3" in text


def test_a_wire_that_carries_what_was_written_to_says_so(hand: Hand) -> None:
    item, reader = hand.add("torch.Tensor.add_", 40, 40), hand.add("torch.relu", 400, 40)
    hand.wire(item, reader, "input")
    hand.session.results.tables.add_rows([Row(step=0, node=item, outputs=(scalar(2.0, version=1),))])
    hand.session.results.tables.pace.flush()
    text = wire_text(hand.canvas.scene, hand.graph.wires[reader, "input"])
    assert "version 1" in text
    assert "after the write" in text
    assert hand.canvas.scene.updates.well(item).hints[0] == "[] v1"


# ------------------------------------------------------------------ the moment


def test_looking_back_changes_the_ground_and_pales_what_has_not_run(squared: Squared) -> None:
    squared.run()
    hand = squared.hand
    assert not marked(hand, "past", 1000)
    hand.session.attention.look_at(0)
    assert hand.session.results.row(squared.z) is None
    assert marked(hand, "past", 1000)
    assert marked(hand, "forward", 100)
    hand.session.attention.look_at(None)
    assert not marked(hand, "past", 1000)


def test_a_backward_moment_lights_its_node_and_wires(squared: Squared) -> None:
    squared.run()
    hand = squared.hand
    assert not marked(hand, "backward", 50)
    hand.session.attention.look_at(4)
    assert hand.session.results.active is not None
    assert hand.session.results.active.node == squared.y
    assert (hand.canvas.debugging._place, hand.canvas.debugging.tab_words()) == ((2, 3), "2/3")
    assert marked(hand, "backward", 300)


def test_unfolded_the_tab_counts_autograd_nodes(squared: Squared) -> None:
    results, one, x = squared.hand.session.results, number(1.0), squared.x
    names = ("MulBackward0", "AddBackward0", "AccumulateGrad")
    nodes = (squared.z, squared.z, x)
    rows = tuple(
        AutogradRow(backward=1, autograd=autograd, node=node, id=k, incoming=(one,))
        for k, (autograd, node) in enumerate(zip(names, nodes, strict=True))
    )
    results.tables.add_rows([Row(step=1, node=x, outputs=()), Row(step=2, node=squared.z, outputs=())])
    results.tables.add_backward(BackwardTraced(revision=0, rows=rows, backward=1))
    canvas, attention = squared.hand.canvas, squared.hand.session.attention
    attention.look_at(3)
    assert canvas.debugging.tab_words() == "1/2"
    attention.unfold(True)
    assert canvas.debugging.tab_words() == "2/3 AddBackward0"
    assert marked(squared.hand, "backward", 300)


def test_cards_keep_their_size_at_every_moment(squared: Squared) -> None:
    squared.run()
    scene = squared.hand.canvas.scene
    before = scene.placement.bounds.copy()
    squared.hand.session.attention.look_at(0)
    assert (scene.placement.bounds == before).all()


def test_the_view_follows_only_when_it_must(squared: Squared) -> None:
    squared.run()
    canvas = squared.hand.canvas
    still = canvas.camera
    squared.hand.session.attention.look_at(3)
    assert canvas.camera == still
    canvas.navigation.set_camera(Camera(1.0, 5000, 5000))
    squared.hand.session.attention.look_at(2)
    assert canvas.navigation.is_seen(squared.z)


def test_the_card_of_the_moment_is_shown_whole(squared: Squared) -> None:
    squared.run()
    canvas, box = squared.hand.canvas, squared.hand.canvas.scene.placement.box(squared.z)
    assert box is not None
    canvas.navigation.set_camera(Camera(1.0, box.x + 0.2 * box.width, 0))  # its name is cut off at the left
    squared.hand.session.attention.look_at(2)
    assert canvas.navigation.is_whole(squared.z)


def test_a_backward_that_is_appended_moves_nothing_and_is_shown_with_what_it_starts_from_where_asked_for(
    hand: Hand,
) -> None:
    x = hand.add("torch.tensor", 40, 60, data="3.0", requires_grad="True")
    hand.canvas.resize(640, 480)
    store, navigation = hand.session.graph_store, hand.canvas.navigation
    z = hand.add("torch.square", 300, 60)
    hand.wire(x, z, "input")
    navigation.set_camera(Camera())
    assert store.attempt(recipes.append_backward, "Append")
    (backward,) = hand.graph.nodes.keys() - {x, z}
    assert hand.canvas.camera == Camera()
    navigation.show_with_neighbours(backward)
    assert navigation.is_whole(z) and navigation.is_whole(backward) and navigation.zoom == 1
    navigation.set_camera(Camera(0.6, 0.0, 0.0))
    navigation.show_with_neighbours(backward)
    assert hand.canvas.camera == Camera(0.6, 0.0, 0.0), "it is in view already"


def test_the_pointer_over_a_card_is_told_and_another_panels_card_lit(squared: Squared) -> None:
    hand, attention = squared.hand, squared.hand.session.attention
    hand.move(hand.header(squared.y))
    assert attention.hovered == squared.y
    hand.move((20, 650))
    assert attention.hovered is None
    before = hand.shot()
    attention.hover(squared.z)
    assert hand.shot() != before


# ------------------------------------------------------------------ states


def test_an_accumulated_gradient_shows_its_parts(squared: Squared) -> None:
    squared.run()
    parts = (GradPart(1, 1, number(4.0)), GradPart(2, 2, number(4.0)))
    row = GradRow(node=squared.x, state="accumulated", grad=number(8.0), parts=parts)
    squared.hand.session.results.tables.set_gradients([row], whole=False)
    squared.hand.session.results.tables.pace.flush()
    scene = squared.hand.canvas.scene
    gradient = scene.updates.well(squared.x).sections[0].gradient
    assert gradient is not None
    assert gradient.parts == "= 4 + 4"
    told = tooltip(scene, Hit("card", squared.x))
    assert "pass 1: 4" in told
    assert "pass 2: 4" in told


def test_a_double_click_on_a_states_words_goes_to_its_cause(squared: Squared) -> None:
    squared.run()
    hand = squared.hand
    row = GradRow(node=squared.z, state="cut", reason="y cut it.", cause=squared.y)
    hand.session.results.tables.set_gradients([row], whole=False)
    hand.session.results.tables.pace.flush()
    box = hand.canvas.scene.placement.box(squared.z)
    assert box is not None
    scene = hand.canvas.scene
    words_y = box.y + scene.stack.cards[squared.z].layout.height + scene.updates.well(squared.z).sections[0].height - 10
    assert cause_at(scene, squared.z, words_y) == squared.y
    assert "Responsible: <b>" in tooltip(hand.canvas.scene, Hit("card", squared.z))
    hand.double_click((box.x + 60, words_y))
    assert hand.session.attention.selection == {squared.y}


# ------------------------------------------------------------------ where a run pauses


def rows(found: Iterator[object]) -> dict[str, object]:
    return {row[0]: row[1] for row in found if isinstance(row, tuple)}


def choose(found: Iterator[object], text: str) -> None:
    does = rows(found)[text]
    assert callable(does)
    does()


def test_a_nodes_menu_sets_what_it_says(squared: Squared) -> None:
    canvas, store = squared.hand.canvas, squared.hand.session.debug
    for text in ("Break before\trun.breakpoint", "Break after", "Break in backward", "Watch"):
        choose(node_rows(canvas, squared.y), text)
    assert [words(each) for each in store.at(squared.y)] == [
        "Break before", "Break after", "Break before in backward", "Watch after",
    ]  # fmt: skip
    choose(node_rows(canvas, squared.y), "Break on NaN or inf")
    assert {each.phase for each in store.at(squared.y) if each.condition.kind == "not_finite"} == {
        "forward",
        "backward",
    }
    choose(node_rows(canvas, squared.y), "Disable: Break before")
    assert not store.enabled(store.at(squared.y)[0].id)
    choose(node_rows(canvas, squared.y), "Remove: Break before")
    assert "Break before" not in [words(each) for each in store.at(squared.y)]


@pytest.mark.feature(62)
def test_a_wires_menu_sets_breakpoints_on_the_wire(squared: Squared) -> None:
    canvas, store = squared.hand.canvas, squared.hand.session.debug
    choose(wire_rows(canvas, squared.to_y), "Break in backward")
    (made,) = store.breakpoints
    assert (made.node, made.target, made.port, made.phase) == (squared.x, squared.y, "input", "backward")


@pytest.mark.parametrize(
    "made",
    [
        Breakpoint(id="b", node=ItemId("")),
        Breakpoint(id="b", node=ItemId(""), stops=False),
        Breakpoint(id="b", node=ItemId(""), phase="backward"),
        Breakpoint(id="b", node=ItemId(""), place="after", condition=Condition("not_finite")),
    ],
)
def test_each_kind_of_breakpoint_is_seen_near_and_far(squared: Squared, made: Breakpoint) -> None:
    hand = squared.hand
    at_y = Breakpoint(
        id="b", node=squared.y, place=made.place, phase=made.phase, stops=made.stops, condition=made.condition
    )
    for zoom in (1.0, 0.3):
        hand.canvas.navigation.set_camera(Camera(zoom, 0, 0))
        hand.canvas.navigation.zooming = False
        hand.session.debug.remove("b")
        bare = hand.shot()
        hand.session.debug.add(at_y)
        on = hand.shot()
        hand.session.debug.set_enabled("b", False)
        assert bare != on
        assert on != hand.shot()


def test_what_if_is_asked_of_whoever_listens(squared: Squared) -> None:
    asked: list[object] = []
    squared.hand.canvas.what_if_requested.connect(asked.append)
    choose(node_rows(squared.hand.canvas, squared.y), "What if…")
    assert asked == [squared.y]


# ------------------------------------------------------------------ storage


def test_a_clash_marks_culprit_and_victim(squared: Squared) -> None:
    clash = Clash(victim=squared.y, autograd="ExpBackward0", saved_version=0, version=1,
                  culprits=(Culprit(node=squared.z, version=1),))  # fmt: skip
    failed = Failed(revision=0, node=squared.z, address="z", line=1, type_name="RuntimeError", message="m", clash=clash)
    plain = Failed(revision=0, node=squared.z, address="z", line=1, type_name="RuntimeError", message="m")
    results = squared.hand.session.results
    results.tables.add_failure(Failure(plain))
    results.tables.pace.flush()
    before = squared.hand.shot()
    results.tables.add_failure(Failure(failed))
    results.tables.pace.flush()
    assert squared.hand.shot() != before


def test_strides_are_told_and_shown_with_the_overlay(hand: Hand) -> None:
    item = hand.add("torch.relu", 40, 40)
    summary = Summary(dtype="float32", shape=(3, 2), minimum=0.0, maximum=1.0)
    record = TensorRecord(device="cpu", summary=summary, stride=(1, 3), contiguous=False)
    hand.session.results.tables.add_rows([Row(step=0, node=item, outputs=(record,))])
    hand.session.results.tables.pace.flush()
    assert "strides [1, 3]" in tooltip(hand.canvas.scene, Hit("card", item))
    assert hand.canvas.scene.updates.well(item).hints[0] == "[3, 2]"
    hand.canvas.overlays.switch("storage", True)
    assert hand.canvas.scene.updates.well(item).hints[0] == "[3, 2] strided"


# ------------------------------------------------------------------ colour by


def test_every_figure_can_be_chosen_and_has_a_legend(squared: Squared) -> None:
    squared.run()
    canvas = squared.hand.canvas
    plain = squared.hand.shot()
    for name in METRICS:
        canvas.debugging.colour_by(name)
        assert canvas.debugging.colored_by == name
        assert squared.hand.shot() != plain
    canvas.debugging.colour_by("")
    assert squared.hand.shot() == plain


def test_colours_follow_the_figures(squared: Squared) -> None:
    squared.run()
    canvas = squared.hand.canvas
    canvas.debugging.colour_by("value_range")
    colouring = canvas.scene.colours.scale
    assert colouring is not None
    assert [colouring.share(item) for item in (squared.x, squared.y, squared.z)] == [0.0, 0.0, 1.0]
    assert colouring.text(squared.z) == "9"
    assert has(squared.hand.shot(), QColor(canvas.canvas_style.theme.scale[-1]), 300)


def test_a_dead_gradient_has_a_colour_and_an_entry_of_its_own(squared: Squared) -> None:
    squared.run()
    grads = (
        GradRow(node=item, state="value", grad=number(value))
        for item, value in ((squared.x, 0.0), (squared.y, 1.0), (squared.z, 4.0))
    )
    squared.hand.session.results.tables.set_gradients(list(grads), whole=True)
    squared.hand.session.results.tables.pace.flush()
    canvas = squared.hand.canvas
    canvas.debugging.colour_by("gradient_rms")
    colouring, style = canvas.scene.colours.scale, canvas.canvas_style
    assert colouring is not None
    assert (colouring.low, colouring.zero_text) == (1.0, "0")
    colors = {color_of(colouring, style, item).name() for item in (squared.x, squared.y, squared.z)}
    assert len(colors) == 3
    assert QColor(style.theme.scale_zero).name() not in {QColor(stop).name() for stop in style.theme.scale}
    assert has(squared.hand.shot(), QColor(style.theme.scale_zero), 300)


def test_bytes_that_a_backward_freed_are_told_as_such(squared: Squared) -> None:
    squared.run()
    canvas, results = squared.hand.canvas, squared.hand.session.results
    canvas.debugging.colour_by("saved_bytes")
    assert canvas.scene.colours.scale is not None
    assert canvas.scene.colours.scale.zero_text == ""
    saved = SavedTensor(name="result", shape=(), dtype="float32", size_bytes=4)
    traced = squared.backward()
    rows = tuple(msgspec.structs.replace(row, saved=(saved,)) if row.node == squared.y else row for row in traced.rows)
    results.tables.clear()
    results.tables.add_rows([Row(step=0, node=squared.y, outputs=(scalar(3.0),))])
    results.tables.add_backward(msgspec.structs.replace(traced, rows=rows))
    results.tables.pace.flush()
    canvas.debugging.colour_by("saved_bytes")
    assert canvas.scene.colours.scale.figures == {squared.y: 0.0}
    assert canvas.scene.colours.scale.zero_text == "0 B: freed by the backward"


def test_the_menu_lists_every_figure_and_checks_the_one_in_use(squared: Squared) -> None:
    canvas, menu = squared.hand.canvas, QMenu()
    canvas.debugging.colour_by("dtype")
    canvas.debugging.fill_colour_menu(menu)
    assert len(menu.actions()) == len(METRICS) + 1
    assert [action.text() for action in menu.actions() if action.isChecked()] == [METRICS["dtype"].title]
    menu.actions()[0].trigger()
    assert canvas.debugging.colored_by == ""


@pytest.mark.feature(69)
def test_costs_stand_at_the_foot_of_each_card(squared: Squared) -> None:
    squared.run()
    scene = squared.hand.canvas.scene
    before = scene.stack.cards[squared.y].height
    squared.hand.session.results.tables.add_rows([Row(step=9, node=squared.y, outputs=(scalar(3.0),), seconds=0.002)])
    squared.hand.canvas.overlays.switch("cost", True)
    assert scene.stack.cards[squared.y].height > before
    found = debug_sections(scene.results, scene.state.experiments, squared.y, with_cost=True)
    assert found.cost[0] == "2 ms"


# ------------------------------------------------------------------ experiments


def what_if(squared: Squared) -> None:
    change = Change(node=squared.x, value=4.0)
    differences = (
        Difference(node=squared.z, before=number(9.0), after=number(16.0), largest=7.0),
        Difference(node=squared.y, grad=True, before=number(3.0), after=number(4.0), largest=1.0),
    )
    squared.hand.session.experiments.set_what_if(WhatIfAnswered(1, change, differences))


def test_a_what_if_shows_before_and_after_until_it_is_dropped(squared: Squared) -> None:
    squared.run()
    scene = squared.hand.canvas.scene
    plain = scene.stack.cards[squared.z].height
    what_if(squared)
    (changed,) = scene.stack.cards[squared.z].extras.changes
    assert (changed.words, changed.by) == ("9 → 16", "+7")
    assert scene.stack.cards[squared.y].extras.changes[0].sign == "∇"
    assert scene.stack.cards[squared.z].height > plain
    box, card = scene.placement.box(squared.z), scene.stack.cards[squared.z]
    assert box is not None
    cross = (box.right - 12, box.y + card.layout.height + card.drawn + 10)
    assert hit(scene, *cross, 1.0).kind == "drop_what_if"
    squared.hand.click(cross)
    assert scene.stack.cards[squared.z].extras.changes == ()
    assert scene.stack.cards[squared.z].height == plain


def test_gradcheck_gives_a_badge_and_its_worst_element(squared: Squared) -> None:
    squared.run()
    squared.hand.shot()
    row = CheckRow(name="x", node=squared.y, ok=False, analytical=1.5, numerical=2.5, in_index=(0, 1))
    squared.hand.session.experiments.set_checked(Checked(1, (squared.y,), (row,)))
    assert squared.hand.canvas.scene.stack.cards[squared.y].extras.check is False
    told = tooltip(squared.hand.canvas.scene, Hit("card", squared.y))
    assert "autograd 1.5, differences 2.5 at [0, 1]" in told
    assert marked(squared.hand, "danger", 60)


# ------------------------------------------------------------------ sliders


def test_dragging_a_number_slides_it_as_one_undo_step(squared: Squared) -> None:
    hand = squared.hand
    item = hand.add("torch.add", 40, 480, other="2.0")
    hand.session.attention.select(())
    count, at = len(hand.undo_texts), hand.field(item, "other")
    hand.drag(at, (at[0] + 50, at[1]))
    assert hand.graph.nodes[item].literals["other"] == "2.5"
    assert len(hand.undo_texts) == count + 1
    hand.session.graph_store.undo_stack.undo()
    assert hand.graph.nodes[item].literals["other"] == "2.0"


def test_a_click_on_a_number_still_edits_it(squared: Squared) -> None:
    hand = squared.hand
    item = hand.add("torch.add", 40, 480, other="2.0")
    hand.click(hand.field(item, "other"))
    assert hand.canvas.in_place.editor is not None


def test_escape_takes_a_dragged_number_back(squared: Squared) -> None:
    hand = squared.hand
    item = hand.add("torch.add", 40, 480, other="2.0")
    at = hand.field(item, "other")
    hand.press(at)
    hand.move((at[0] + 50, at[1]))
    hand.canvas.input_dispatcher.cancel_gesture()
    assert hand.graph.nodes[item].literals["other"] == "2.0"


@pytest.mark.parametrize(
    ("value", "pixels", "fine", "then"),
    [(2, 16, False, 4), (2, -32, False, -2), (2.0, 10, False, 2.1), (0.5, -10, False, 0.49), (250.0, 10, False, 260.0),
     (2.0, 10, True, 2.01), (0.0, 10, False, 0.01), (-2.0, 10, False, -1.9)],
)  # fmt: skip
def test_how_far_a_drag_goes(value: float, pixels: float, fine: bool, then: float) -> None:
    assert drag_number(value, pixels, fine=fine) == pytest.approx(then)
    assert type(drag_number(value, pixels, fine=fine)) is type(value)
