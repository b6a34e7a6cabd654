"""Before a wire is dropped the port says what torch would make of it, by an engine that speaks the real codec."""

import sys
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.ui.state.run.engine_client import EngineClient
from gradstudio.ui.state.session import Session
from tests.helpers.fake_engine import REFUSAL
from tests.ui.canvas.conftest import Hand

Point = tuple[float, float]


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    client = EngineClient([sys.executable, "-m", "tests.helpers.fake_engine", "fine"], spare=False)
    client.start()
    qtbot.waitUntil(lambda: client.ready)
    yield Session(client)
    client.close()


def pull(hand: Hand, start: Point, end: Point) -> None:
    """Press and go there, without letting go."""
    hand.press(start)
    hand.move(((start[0] + end[0]) / 2, (start[1] + end[1]) / 2))
    hand.move(end)


def bubble(hand: Hand) -> str:
    shown = hand.canvas.bubble
    return shown.text() if shown.isVisible() else ""


def product(hand: Hand) -> tuple[ItemId, ItemId, ItemId]:
    a, b = hand.add("torch.randn", 40, 100, size="(2, 3)"), hand.add("torch.randn", 40, 400, size="(2, 3)")
    y = hand.add("operator.matmul", 500, 200)
    hand.wire(a, y, "a")
    return a, b, y


@pytest.mark.feature(20)
def test_a_wire_that_fits_says_what_comes_out_before_it_is_dropped(qtbot: QtBot, hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 100), hand.add("torch.relu", 500, 200)
    pull(hand, hand.output(x), hand.input(y, "input"))
    name = hand.graph.nodes[y].names[0]
    qtbot.waitUntil(lambda: f"→ {name}: float32 [2, 5]" in bubble(hand))
    assert "✓" in bubble(hand)
    assert hand.graph.wire_into(y, "input") is None
    hand.release(hand.input(y, "input"))
    assert hand.graph.wire_into(y, "input") is not None
    assert not bubble(hand)


def test_a_wire_that_torch_would_refuse_says_why_and_may_be_dropped(qtbot: QtBot, hand: Hand) -> None:
    a, b, y = product(hand)
    results = hand.session.results
    qtbot.waitUntil(lambda: results.inference(b) is not None)
    results.tables.set_inference(tuple(PortInference(node=item, dtype="float32", shape=(2, 3)) for item in (a, b)))
    pull(hand, hand.output(b), hand.input(y, "b"))
    qtbot.waitUntil(lambda: REFUSAL in bubble(hand))
    assert "columns of the left (3)" in bubble(hand)
    assert f"Here a ({hand.graph.nodes[a].names[0]}) is float32 [2, 3]" in bubble(hand)
    qtbot.waitUntil(lambda: f"Transpose {hand.graph.nodes[b].names[0]}" in bubble(hand))
    assert "one click" in bubble(hand)
    hand.release(hand.input(y, "b"))
    assert hand.graph.wire_into(y, "b") is not None


def test_an_answer_is_remembered_while_the_wire_is_dragged_and_no_longer(qtbot: QtBot, hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 100), hand.add("torch.relu", 500, 200)
    pull(hand, hand.output(x), hand.input(y, "input"))
    qtbot.waitUntil(lambda: "float32" in bubble(hand))
    asked = hand.session.run.questions.asked
    hand.move((300, 600))
    assert not bubble(hand)
    hand.move(hand.input(y, "input"))
    assert "float32" in bubble(hand)
    assert hand.session.run.questions.asked == asked
    hand.key(Qt.Key.Key_Escape)
    assert not bubble(hand)
    assert hand.session.trials.verdict((x, 0, y, "input")) is None
    assert not hand.graph.wires


def test_while_the_pointer_hurries_past_ports_only_the_last_is_asked(qtbot: QtBot, hand: Hand) -> None:
    x = hand.add("torch.randn", 40, 100)
    users = [hand.add("torch.relu", 400, 100 + 150 * k) for k in range(4)]
    before = hand.session.run.questions.asked
    hand.press(hand.output(x))
    for user in users:
        hand.move(hand.input(user, "input"))
    qtbot.waitUntil(lambda: "float32" in bubble(hand))
    assert hand.session.run.questions.asked == before + 1
    assert hand.session.trials.verdict((x, 0, users[0], "input")) is None
    hand.release((300, 20))


def test_a_wire_that_leaves_another_argument_empty_says_so(qtbot: QtBot, hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 100), hand.add("operator.matmul", 500, 200)
    pull(hand, hand.output(x), hand.input(y, "a"))
    qtbot.waitUntil(lambda: "'b' is empty" in bubble(hand))
    hand.release(hand.input(y, "a"))


def test_nothing_is_asked_of_the_place_a_wire_was_taken_from(qtbot: QtBot, hand: Hand) -> None:
    x, y = hand.add("torch.randn", 40, 100), hand.add("torch.relu", 500, 200)
    hand.wire(x, y, "input")
    pull(hand, hand.input(y, "input"), (400, 400))
    hand.move(hand.input(y, "input"))
    with qtbot.assertNotEmitted(hand.session.trials.answered, wait=200):
        pass
    hand.release(hand.input(y, "input"))
    assert hand.graph.wire_into(y, "input") is not None
