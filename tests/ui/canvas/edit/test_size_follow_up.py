"""A layer that is wired before the shape of its input is known takes its size when the shape comes."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId
from gradstudio.operators.search.fitting_literals import Giver
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.scene.items import PortRef
from gradstudio.ui.canvas.edit.size_follow_up import SizeFollowUp
from tests.ui.canvas.conftest import Hand

Key = Qt.Key
FC, LOSS, TARGET = "torch.nn.Linear", "torch.nn.functional.cross_entropy", "torch.randint"


class Fast(Hand):
    """A person who does not wait for shapes; the engine's answers are held back until `answer`."""

    def tab(self, words: str) -> None:
        self.key(Key.Key_Tab)
        popup = self.canvas.searching.popup
        assert popup is not None
        QTest.keyClicks(popup.field, words)
        self.key(Key.Key_Return, to=popup.field)

    def of(self, operator: str, k: int = 0) -> ItemId:
        return [item for item, node in self.graph.nodes.items() if node.operator == operator][k]

    def literal(self, operator: str, path: str, k: int = 0) -> str:
        return self.graph.nodes[self.of(operator, k)].literals[path]

    @property
    def current(self) -> ItemId:
        """The node that was added last."""
        item = self.canvas.attention.current
        assert item is not None
        return item

    def write(self, item: ItemId, path: str, text: str) -> None:
        assert self.session.graph_store.attempt(recipes.set_literal, "Set", item, path, text)

    def answer(self, **shapes: tuple[int, ...]) -> None:
        ports = [PortInference(node=ItemId(item), dtype="float32", shape=shape) for item, shape in shapes.items()]
        self.session.results.tables.set_inference(ports)
        follow_up = self.canvas.findChild(SizeFollowUp)
        assert isinstance(follow_up, SizeFollowUp)
        follow_up.rest.flush()

    def undo(self) -> None:
        self.session.graph_store.undo()


@pytest.fixture
def fast(hand: Hand) -> Fast:
    return Fast(hand.canvas, hand.session)


def test_what_is_written_in_the_source_needs_no_engine(fast: Fast) -> None:
    x = fast.add("torch.randn", 40, 100)
    fast.canvas.selection.select(frozenset({x}))
    fast.tab("linear")
    assert fast.literal(FC, "in_features") == "3" and fast.undo_texts[1:] == ["Add Linear"]


@pytest.fixture
def begun(fast: Fast) -> ItemId:
    """A source whose shape only the engine knows, and a layer wired behind it."""
    x = fast.add("torch.relu", 40, 100)
    fast.canvas.selection.select(frozenset({x}))
    fast.tab("linear")
    assert fast.literal(FC, "in_features") == "4"
    return x


def test_the_size_comes_with_the_shape_in_the_same_undo_entry(fast: Fast, begun: ItemId) -> None:
    fast.answer(**{begun: (2, 3)})
    assert fast.literal(FC, "in_features") == "3" and fast.undo_texts[1:] == ["Add Linear"]
    fast.undo()
    assert set(fast.graph.nodes) == {begun}
    fast.session.graph_store.redo()
    assert fast.literal(FC, "in_features") == "3"


def test_a_chain_settles_up_to_the_target_of_its_loss(fast: Fast, begun: ItemId) -> None:
    fast.tab("relu")
    relu = fast.current
    fast.tab("linear")
    second = fast.current
    fast.tab("cross_entropy")
    loss = fast.of(LOSS)
    fast.canvas.searching.add_giver(Giver(TARGET, "class indices", {}), PortRef(loss, "input", "target"))
    assert fast.graph.nodes[fast.of(TARGET)].names == ("target",)
    before = fast.undo_texts
    first = fast.graph.wires[relu, "input"].source
    fast.answer(**{begun: (16, 20)})
    assert fast.literal(FC, "in_features") == "20"
    fast.answer(**{begun: (16, 20), first: (16, 8), relu: (16, 5)})
    assert fast.literal(FC, "in_features", 1) == "5"
    fast.answer(**{begun: (16, 20), first: (16, 8), relu: (16, 5), second: (16, 8)})
    assert (fast.literal(TARGET, "high"), fast.literal(TARGET, "size")) == ("8", "(16,)")
    assert fast.undo_texts == before


def test_what_a_person_wrote_stays_and_the_size_comes_beside_it(fast: Fast, begun: ItemId) -> None:
    layer, store = fast.of(FC), fast.session.graph_store
    fast.write(layer, "out_features", "6")
    fast.answer(**{begun: (2, 3)})
    assert (fast.literal(FC, "in_features"), fast.literal(FC, "out_features")) == ("3", "6")
    store.undo()
    assert (fast.literal(FC, "in_features"), fast.literal(FC, "out_features")) == ("3", "8")
    store.redo()
    assert (fast.literal(FC, "in_features"), fast.literal(FC, "out_features")) == ("3", "6")


def test_a_size_that_a_person_wrote_is_not_overwritten(fast: Fast, begun: ItemId) -> None:
    fast.write(fast.of(FC), "in_features", "7")
    fast.answer(**{begun: (2, 3)})
    assert fast.literal(FC, "in_features") == "7"


def test_an_undo_meanwhile_gives_it_up(fast: Fast, begun: ItemId) -> None:
    fast.undo()
    fast.session.graph_store.redo()
    fast.answer(**{begun: (2, 3)})
    assert fast.literal(FC, "in_features") == "4"


def test_another_wire_meanwhile_gives_it_up(fast: Fast, begun: ItemId) -> None:
    other = fast.add("torch.sin", 40, 400)
    wire = next(wire for wire in fast.graph.wires.values() if wire.source == begun)
    fast.wire(other, wire.target, wire.port)
    fast.answer(**{begun: (2, 3), other: (2, 9)})
    assert fast.literal(FC, "in_features") == "4"


def test_a_search_that_is_open_stays_open_and_the_size_comes_behind_it(fast: Fast, begun: ItemId) -> None:
    fast.key(Key.Key_Tab)
    popup = fast.canvas.searching.popup
    assert popup is not None
    fast.answer(**{begun: (2, 3)})
    assert fast.canvas.searching.popup is popup and fast.literal(FC, "in_features") == "4"
    QTest.keyClicks(popup.field, "relu")
    fast.key(Key.Key_Return, to=popup.field)
    assert fast.literal(FC, "in_features") == "3"


def test_a_document_that_was_saved_meanwhile_is_not_clean_any_more(fast: Fast, begun: ItemId) -> None:
    fast.session.graph_store.set_clean()
    fast.answer(**{begun: (2, 3)})
    assert not fast.session.graph_store.is_clean


def test_a_shape_of_the_program_before_gives_way_to_the_one_that_comes_with_the_layer(fast: Fast) -> None:
    x = fast.add("torch.relu", 40, 100)
    fast.session.results.tables.set_inference([PortInference(node=x, dtype="float32", shape=(2, 8))])
    fast.canvas.selection.select(frozenset({x}))
    fast.tab("linear")
    assert fast.literal(FC, "in_features") == "8"
    fast.answer(**{x: (2, 3), fast.current: (2, 8)})
    assert fast.literal(FC, "in_features") == "3" and fast.undo_texts[1:] == ["Add Linear"]
    fast.answer(**{x: (2, 5), fast.current: (2, 8)})
    assert fast.literal(FC, "in_features") == "3", "it was fresh once"


def test_a_run_goes_on_with_what_it_began_with(fast: Fast, begun: ItemId) -> None:
    fast.session.run.status.set(busy=True, verb="run")
    fast.answer(**{begun: (2, 3)})
    assert fast.literal(FC, "in_features") == "4"
    fast.session.run.status.set(busy=False, outcome="done")
    fast.answer(**{begun: (2, 5)})
    assert fast.literal(FC, "in_features") == "4", "nor does it become another behind one"


def test_what_is_added_while_a_run_is_under_way_has_its_size_behind_it(fast: Fast) -> None:
    x = fast.add("torch.relu", 40, 100)
    fast.session.run.status.set(busy=True, verb="run")
    fast.canvas.selection.select(frozenset({x}))
    fast.tab("linear")
    fast.answer(**{x: (2, 3)})
    assert fast.literal(FC, "in_features") == "4"
    fast.session.run.status.set(busy=False, outcome="done")
    fast.answer(**{x: (2, 3)})
    assert fast.literal(FC, "in_features") == "3"


def test_a_run_that_is_asked_for_waits_for_the_size(fast: Fast, begun: ItemId) -> None:
    run = fast.session.run
    assert run.shapes.awaited_by == "The size of fc"
    fast.answer(**{begun: (2, 3)})
    assert fast.literal(FC, "in_features") == "3" and not run.shapes.awaited_by
