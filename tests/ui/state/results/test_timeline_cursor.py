"""What the result store answers: as of the moment, the backward and the turns that are looked at."""

import pytest
from pytestqt.qtbot import QtBot

from gradstudio.graph.edits import AddBlock, AddNode, AddWire, apply_all
from gradstudio.graph.model import ROOT, Block, BodyId, Graph, ItemId, Node, Wire
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced, EdgeValue, WireGrad
from gradstudio.protocol.messages.debugging import MemoryByNode, NodeMemory
from gradstudio.protocol.messages.events import LeafState, ModeState, Row, ValueNow
from gradstudio.protocol.messages.records import ModuleRecord, Summary, TensorRecord, TupleRecord
from gradstudio.scene.card.parameter_rows import parameter_rows, record_now
from gradstudio.ui.state.document.attention import Attention
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.results.latest_value import latest_values
from gradstudio.ui.state.results.result_store import ResultStore

LOOP, W, H, OUT = (ItemId(word) for word in ("loop", "w", "h", "out"))
WIRE = Wire(W, 0, H, "other")


def looped() -> Graph:
    """w; for t in range: h = f(w); out = g(h)."""
    graph = Graph()
    apply_all(
        graph,
        (
            AddNode(Node(id=W, operator="torch.randn", names=("w",)), ROOT, 0),
            AddBlock(Block(id=LOOP, kind="for", variable="t"), ROOT, 1),
            AddNode(Node(id=H, operator="operator.mul", names=("h",)), BodyId(LOOP), 0),
            AddNode(Node(id=OUT, operator="torch.exp", names=("out",)), ROOT, 2),
            AddWire(WIRE),
        ),
    )
    return graph


def summary(value: float) -> Summary:
    return Summary(dtype="float32", shape=(), minimum=value, maximum=value, mean=value, value=value)


def row(node: ItemId, step: int, value: float, turns: tuple[int, ...] = (), storage: int = 0) -> Row:
    record = TensorRecord(
        device="cpu", summary=summary(value), requires_grad=True, is_leaf=node == W, storage=storage
    )  # fmt: skip
    return Row(step=step, node=node, outputs=(record,), turns=turns, seconds=0.25)


@pytest.fixture
def results(qtbot: QtBot) -> ResultStore:
    """A run of three turns and a backward through them, the last turn first."""
    store = GraphStore(looped())
    results = ResultStore(store, Attention(store), store)
    results.tables.begin(True)
    results.tables.add_rows([row(W, 1, 1.0, storage=7), *(row(H, 2 + t, 10.0 + t, (t,)) for t in range(3))])
    results.tables.add_rows([row(OUT, 5, 9.0, storage=7)])
    rows = tuple(
        AutogradRow(
            backward=1, autograd="MulBackward0", node=H, id=place, turns=(turn,), incoming=(summary(100.0 + turn),),
            values=(EdgeValue(node=H, turns=(turn,)),), seconds=0.5,
        )
        for place, turn in enumerate((2, 1, 0))
    )  # fmt: skip
    wires = tuple(
        WireGrad(source=W, target=H, port="other", turns=(turn,), place=place, grad=summary(turn))
        for place, turn in enumerate((2, 1, 0))
    )
    results.tables.add_backward(
        BackwardTraced(revision=1, rows=rows, wires=wires, backward=1, statement=ItemId("back"))
    )
    results.tables.add_rows([row(ItemId("back"), 6, 0.0)])
    results.tables.pace.flush()
    return results


def value(results: ResultStore, node: ItemId) -> object:
    outputs = results.outputs(node)
    return None if outputs is None else outputs[0].summary.value  # type: ignore[union-attr]


def grad(results: ResultStore, node: ItemId) -> object:
    found = results.grad(node)
    return None if found is None or found.grad is None else found.grad.value


def sent(results: ResultStore) -> object:
    found = results.wire_grad(WIRE)
    return None if found is None or found.grad is None else found.grad.value


def test_now_is_the_last_turn(results: ResultStore) -> None:
    assert (value(results, H), grad(results, H), sent(results)) == (12.0, 102.0, 2)
    assert (results.moment, results.active, results.active_group) == (None, None, ())


def test_a_moment_of_the_forward_shows_what_had_run(results: ResultStore) -> None:
    results.attention.look_at(2)
    assert (value(results, H), grad(results, H), sent(results)) == (11.0, None, None)
    assert results.outputs(OUT) is None
    assert results.looking_back and results.moment == 2
    assert results.wire_record(WIRE) == row(W, 1, 1.0, storage=7).outputs[0]


def test_a_step_of_a_backward_shows_the_turn_it_stands_in(results: ResultStore) -> None:
    results.attention.look_at(6)
    assert (value(results, H), grad(results, H), sent(results)) == (11.0, 101.0, 1)
    step = results.backward_step()
    assert step is not None and step.turns == (1,)


def test_a_chosen_turn_is_shown_with_its_own_gradient(results: ResultStore) -> None:
    results.attention.choose_turn(LOOP, 0)
    assert (value(results, H), grad(results, H), sent(results)) == (10.0, 100.0, 0)
    results.attention.look_at(5)
    assert (value(results, H), grad(results, H), sent(results)) == (10.0, None, None), "it has not come to that turn"
    results.attention.choose_turn(LOOP, 7)
    assert value(results, H) is None, "there was no such turn"


def test_another_moment_is_announced_at_once_with_the_nodes_it_concerns(results: ResultStore) -> None:
    heard: list[object] = []
    results.changed.connect(heard.append)
    results.moment_moved.connect(lambda: heard.append("moved"))
    results.attention.look_at(4)
    heard.clear()
    results.attention.look_at(3)
    assert heard == [frozenset((H, OUT)), "moved"]
    heard.clear()
    results.attention.choose_turn(LOOP, 1)
    assert heard == [frozenset((LOOP, H)), "moved"]


def test_results_that_share_a_storage_are_pairs_once_both_are_there(results: ResultStore) -> None:
    assert results.shared_storage() == ((W, OUT),)
    results.attention.look_at(3)
    assert results.shared_storage() == ()


def test_time_is_the_sum_over_turns_as_far_as_it_went(results: ResultStore) -> None:
    assert results.seconds(H) == (0.75, 1.5)
    results.attention.look_at(6)
    assert results.seconds(H) == (0.75, 1.0)


def test_a_start_from_nothing_looks_at_now_and_has_no_past(results: ResultStore) -> None:
    results.attention.look_at(2)
    results.tables.begin(True)
    assert results.attention.moment is None
    assert not results.timeline.ticks


def test_a_repeat_is_announced_once_when_it_is_whole(results: ResultStore) -> None:
    heard: list[object] = []
    results.changed.connect(lambda _: heard.append(value(results, W)))
    results.tables.begin(True, held=True)
    results.tables.pace.flush()
    assert not heard, "nothing half-done is painted"
    results.tables.add_rows([row(W, 1, 5.0)])
    results.tables.release()
    assert heard == [5.0]


def test_what_nodes_hold_changes_no_result(results: ResultStore) -> None:
    changed, weighed = list[object](), list[object]()
    results.changed.connect(changed.append)
    results.weighed.connect(weighed.append)
    for _ in range(2):
        results.tables.set_memory(MemoryByNode(revision=0, rows=(NodeMemory(node=H, alive_bytes=8),)))
        results.tables.pace.flush()
    assert (changed, weighed) == ([], [frozenset({H})])


def test_the_latest_value_is_the_same_at_every_moment(results: ResultStore) -> None:
    known = latest_values(results)
    latest = known(H, 0)
    results.attention.look_at(0)
    assert results.outputs(H) is None
    assert latest is not None and known(H, 0) == latest


def test_a_trained_leaf_shows_what_it_was_at_the_moment(qtbot: QtBot) -> None:
    store = GraphStore(looped())
    results = ResultStore(store, Attention(store), store)
    tables = results.tables
    tables.begin(True)

    def leaf(value: float, version: int) -> TensorRecord:
        return TensorRecord(device="cpu", summary=summary(value), requires_grad=True, storage=7, version=version)

    tables.add_rows([Row(step=1, node=W, outputs=(leaf(1.0, 0),))])
    writes = [Row(step=2 + t, node=H, outputs=(leaf(10.0 + t, 1 + t),), turns=(t,)) for t in range(3)]
    tables.add_rows(writes)
    tables.set_written([ValueNow(W, 1, leaf(12.5, 4))])

    def shown() -> object:
        (record,) = results.outputs(W) or ()
        assert isinstance(record, TensorRecord)
        return record.summary.value

    assert shown() == 12.5, "also what no row tells, as of an optimizer"
    seen = []
    for tick in range(4):
        results.attention.look_at(tick)
        seen.append(shown())
    assert seen == [1.0, 10.0, 11.0, 12.0]
    results.attention.look_at(None)
    tables.set_written([ValueNow(W, 9, leaf(99.0, 9))])
    assert shown() == 12.0, "not another run's leaf"


def test_a_value_without_gradient_shows_now_what_was_written_into_it(qtbot: QtBot) -> None:
    store = GraphStore(looped())
    results = ResultStore(store, Attention(store), store)
    results.tables.begin(True)
    made = TensorRecord(device="cpu", summary=summary(0.0), storage=7, version=0)
    now = TensorRecord(device="cpu", summary=summary(0.5), storage=7, version=20)
    results.tables.add_rows([Row(step=1, node=W, outputs=(made,))])
    results.tables.set_written([ValueNow(W, 1, now)])
    assert results.outputs(W) == (now,)
    results.attention.look_at(0)
    assert results.outputs(W) == (made,), "as it was at its own moment"


def test_a_list_shows_what_was_appended_since(qtbot: QtBot) -> None:
    store = GraphStore(looped())
    results = ResultStore(store, Attention(store), store)
    results.tables.begin(True)
    results.tables.add_rows([Row(step=1, node=W, outputs=(TupleRecord(class_name="list", length=0),))])
    grown = TupleRecord(class_name="list", length=200)
    results.tables.set_written([ValueNow(W, 1, grown)])
    assert results.outputs(W) == (grown,)
    results.tables.set_written([ValueNow(W, 9, grown)])
    assert results.outputs(W) == (TupleRecord(class_name="list", length=0),), "not another run's list"


def test_whatever_a_backward_came_to_or_left_out_is_announced(qtbot: QtBot) -> None:
    store = GraphStore(looped())
    results = ResultStore(store, Attention(store), store)
    tables = results.tables
    tables.begin(True)
    tables.add_rows([row(W, 1, 1.0), row(H, 2, 3.0), row(OUT, 3, 9.0)])
    tables.pace.flush()
    reached = AutogradRow(
        backward=1, autograd="MulBackward0", node=H, id=1, incoming=(summary(1.0),), values=(EdgeValue(node=OUT),)
    )  # fmt: skip
    with qtbot.waitSignal(tables.changed) as heard:
        tables.add_backward(BackwardTraced(revision=0, statement=W, backward=1, rows=(reached,)))
        tables.pace.flush()
    assert heard.args == [{H, OUT}], "the value that it came to is another node's"
    with qtbot.waitSignal(tables.changed) as heard:
        tables.add_rows([Row(step=4, node=ItemId("backward"), outputs=())])
        tables.pace.flush()
    grads = {node: results.grad(node) for node in (W, H)}
    left = {node for node, found in grads.items() if found is not None and found.state == "not_reached"}
    assert left
    assert left <= heard.args[0], "what waited for it in vain is told at its end"


def test_what_an_optimizer_stepped_is_shown_as_of_the_moment(qtbot: QtBot) -> None:
    store = GraphStore(looped())
    results = ResultStore(store, Attention(store), store)
    tables = results.tables
    tables.begin(True)
    step = ItemId("step")

    def leaf(value: float, version: int, storage: int = 7) -> TensorRecord:
        return TensorRecord(device="cpu", summary=summary(value), requires_grad=True, storage=storage, version=version)

    layer = ModuleRecord(class_name="Linear", parameters={"weight": leaf(5.0, 0, 8)})
    tables.add_rows([Row(step=1, node=W, outputs=(leaf(1.0, 0),)), Row(step=2, node=OUT, outputs=(layer,))])
    for turn in range(3):
        writes = (LeafState(7, leaf(10.0 + turn, 1 + turn)), LeafState(8, leaf(50.0 + turn, 1 + turn, 8)))
        tables.add_rows([row(H, 3 + 2 * turn, 0.0, turns=(turn,))])
        tables.pace.flush()
        with qtbot.waitSignal(tables.changed) as heard:
            tables.add_rows([Row(step=4 + 2 * turn, node=step, outputs=(), turns=(turn,), writes=writes)])
            tables.pace.flush()
        assert {W, OUT} <= heard.args[0], "their cards are others"

    def shown() -> tuple[object, object, object]:
        (record,) = results.outputs(W) or ()
        went_in = results.wire_record(WIRE)
        assert isinstance(record, TensorRecord)
        assert isinstance(went_in, TensorRecord)
        module = results.module_now(OUT) or layer
        return record.summary.value, module.parameters["weight"].summary.value, went_in.summary.value

    assert shown() == (12.0, 52.0, 11.0), "what went in is not what it is now"
    left = results.left_by(OUT, 0, "weight")
    assert left is not None
    assert left.node == step
    seen = []
    for tick in range(2, 8):
        results.attention.look_at(tick)
        seen.append(shown())
    assert seen == [
        (1.0, 5.0, 1.0), (10.0, 50.0, 1.0), (10.0, 50.0, 10.0),
        (11.0, 51.0, 10.0), (11.0, 51.0, 11.0), (12.0, 52.0, 11.0)
    ]  # fmt: skip


def test_a_module_is_shown_as_of_the_moment(qtbot: QtBot) -> None:
    store = GraphStore(looped())
    results = ResultStore(store, Attention(store), store)
    tables = results.tables

    def leaf(value: float, version: int, storage: int, learns: bool = False) -> TensorRecord:
        return TensorRecord(
            device="cpu", summary=summary(value), requires_grad=learns, storage=storage, version=version
        )

    weights, mean = {"weight": leaf(5.0, 0, 8, True)}, {"running_mean": leaf(0.0, 0, 9)}
    norm = ModuleRecord(class_name="BatchNorm1d", parameters=weights, buffers=mean)
    tables.begin(True)
    tables.add_rows([Row(step=1, node=W, outputs=(norm,)), row(OUT, 2, 3.0)])
    tables.pace.flush()
    for step, row_of in enumerate(
        (
            Row(step=3, node=H, outputs=(), writes=(LeafState(9, leaf(0.5, 1, 9)),)),
            Row(step=4, node=OUT, outputs=(), writes=(LeafState(8, leaf(5.0, 0, 8)),)),
            Row(step=5, node=H, outputs=(), modes=(ModeState(W, 0, training=False),)),
        )
    ):
        with qtbot.waitSignal(tables.changed) as heard:
            tables.add_rows([row_of])
            tables.pace.flush()
        assert W in heard.args[0], step

    def card() -> tuple[bool, bool, object]:
        record, leaves = record_now(results, W), parameter_rows(results, W)
        assert record is not None
        assert leaves is not None
        weight, buffer = leaves
        assert buffer.summary is not None
        return record.training, weight.requires_grad, buffer.summary.value

    assert card() == (False, False, 0.5)
    seen = []
    for tick in range(1, 5):
        results.attention.look_at(tick)
        seen.append(card())
    assert seen == [(True, True, 0.0), (True, True, 0.5), (True, False, 0.5), (False, False, 0.5)]
    results.attention.look_at(1)
    assert card() == (True, True, 0.0)
