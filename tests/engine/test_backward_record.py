"""Everything a record of a backward tells beside the gradients themselves."""

import pytest
import torch

from gradstudio.engine.live.live_state import Loaded
from gradstudio.engine.value.value_records import serial_of
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced
from gradstudio.protocol.messages.events import Row, Traced
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.protocol.messages.requests import Do
from tests.engine.build import node, program
from tests.engine.conftest import Bench

SQUARES = "x = torch.tensor([1.0, 2.0], requires_grad=True)\ny = x * x\nz = y.exp()\nloss = z.sum()\nloss.backward()"


def rows_by_name(traced: BackwardTraced) -> dict[str, AutogradRow]:
    return {row.autograd: row for row in traced.rows}


def test_ids_and_next_edges_are_torchs_graph(bench: Bench) -> None:
    bench.run(SQUARES)
    (traced,) = bench.traced()
    rows = rows_by_name(traced)
    ids = {name: row.id for name, row in rows.items()}
    assert rows["SumBackward0"].next == ((ids["ExpBackward0"], 0),)
    assert rows["MulBackward0"].next == ((ids["AccumulateGrad"], 0), (ids["AccumulateGrad"], 0))
    assert rows["AccumulateGrad"].next == ()
    assert len(set(ids.values())) == 4


def test_the_values_made_at_an_edge_are_told_and_so_are_all_names_of_a_leaf(bench: Bench) -> None:
    bench.run(SQUARES.replace("y = x * x", "w = x\ny = w * x"))
    (traced,) = bench.traced()
    rows = rows_by_name(traced)
    assert [(value.node, value.index) for value in rows["MulBackward0"].values] == [(node(3), 0)]
    assert {value.node for value in rows["AccumulateGrad"].values} == {node(1), node(2)}


def test_saved_tensors_name_whose_value_they_are(bench: Bench) -> None:
    bench.run(SQUARES)
    (traced,) = bench.traced()
    rows = rows_by_name(traced)
    saved = {(s.name, s.node, s.shape, s.size_bytes, s.version, s.dtype) for s in rows["MulBackward0"].saved}
    assert saved == {("self", node(1), (2,), 8, 0, "float32"), ("other", node(1), (2,), 8, 0, "float32")}
    assert [(s.name, s.node) for s in rows["ExpBackward0"].saved] == [("result", node(3))]
    assert rows["SumBackward0"].saved == ()


def test_the_leaf_tells_its_grad_before_and_behind(bench: Bench) -> None:
    bench.run("x = torch.tensor(2.0, requires_grad=True)\na = x * 3\na.backward()\nb = x * 5\nb.backward()")
    first, second = (rows_by_name(traced)["AccumulateGrad"] for traced in bench.traced())
    assert first.before is None
    assert first.after is not None
    assert first.after.value == 3
    assert second.before is not None
    assert second.after is not None
    assert (second.before.value, second.incoming[0].value, second.after.value) == (3, 5, 8)  # type: ignore[union-attr]


@pytest.mark.parametrize("keep", [True, False])
def test_whether_the_graph_was_kept_is_told(bench: Bench, keep: bool) -> None:
    bench.run(SQUARES.replace("backward()", f"backward(retain_graph={keep})"))
    (traced,) = bench.traced()
    assert (traced.retained, traced.backward, traced.statement) == (keep, 1, node(5))
    assert traced.at_s > 0


def test_a_leaf_takes_a_gradient_over_without_a_copy_as_it_does_unrecorded(bench: Bench) -> None:
    text = (
        "X = torch.ones(10, 30)\nW = torch.ones(30, 40, requires_grad=True)\nh = X @ W\nloss = h.sum()\nloss.backward()"
    )
    bench.run(text)
    (traced,) = bench.traced()
    rows = rows_by_name(traced)
    sent, came, after = (
        rows["MmBackward0"].outgoing[1],
        rows["AccumulateGrad"].incoming[0],
        rows["AccumulateGrad"].after,
    )
    assert sent is not None
    assert sent == came == after
    assert sent.mean == pytest.approx(10)


def test_a_custom_function_may_write_into_what_comes(bench: Bench) -> None:
    bench.load(
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\ny = x * 2\nz = rude(y)\nloss = z.sum()\nloss.backward()"
    )

    class Rude(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
            return x.clone()

        @staticmethod
        def backward(ctx: object, grad: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
            return grad.clone().mul_(5)

    class RudeLayer(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> object:
            return Rude.apply(x)

    bench.do("step")
    bench.engine.live.namespace["rude"] = RudeLayer()  # type: ignore[union-attr]
    bench.do("run")
    rows = rows_by_name(bench.traced()[-1])
    assert rows["RudeBackward"].incoming[0].value == [1, 1]  # type: ignore[union-attr]
    assert rows["RudeBackward"].outgoing[0].value == [5, 5]  # type: ignore[union-attr]
    assert bench["x"].grad.tolist() == [10, 10]  # type: ignore[attr-defined]


def test_a_users_hook_is_seen_where_it_changes_the_gradient(bench: Bench) -> None:
    bench.load("x = torch.tensor(2.0, requires_grad=True)\ny = x * 3\nz = y * 1\nz.backward()")
    bench.do("step", "step")
    bench["y"].register_hook(lambda grad: grad * 10)  # type: ignore[attr-defined]
    bench.do("run")
    rows = [row for row in bench.traced()[-1].rows if row.autograd == "MulBackward0"]
    assert [row.incoming[0].value for row in rows] == [1, 10]  # type: ignore[union-attr]
    assert bench["x"].grad.item() == 30  # type: ignore[attr-defined]


def test_storages_have_numbers_that_are_not_used_again() -> None:
    seen = set()
    for _ in range(50):
        tensor = torch.ones(1000)
        serial = serial_of(tensor.untyped_storage())
        assert serial_of(tensor[2:].untyped_storage()) == serial
        assert serial not in seen
        seen.add(serial)


# ------------------------------------------------------------------ only what is in view


def in_view(bench: Bench, text: str, *lines: int) -> None:
    built = program(text)
    bench.engine.load(Loaded("document", 9, built))
    bench.events.clear()
    bench.engine.do(Do(verb="run", summaries="visible", visible=tuple(node(line) for line in lines)))


def numbers(row: Row) -> Summary:
    (record,) = row.outputs
    assert isinstance(record, TensorRecord)
    return record.summary


def test_what_is_not_in_view_is_outlined_and_follows_when_there_is_time(bench: Bench) -> None:
    in_view(bench, SQUARES, 2)
    rows = [row for row in bench.rows() if row.outputs]
    assert [row.complete for row in rows] == [False, True, False, False]
    assert numbers(rows[1]).value == [1, 4]
    assert numbers(rows[2]) == Summary(dtype="float32", shape=(2,))
    outlined = bench.traced()[0]
    bench.events.clear()
    while bench.engine.idle():
        pass
    later = {row.step: row for row in bench.rows()}
    assert later.keys() == {1, 3, 4}
    assert all(row.complete for row in later.values())
    assert numbers(later[1]).value == [1, 2]
    (complete,) = bench.traced()
    assert len(complete.rows) == len(outlined.rows)
    assert complete.backward == outlined.backward
    bench.events.clear()
    assert not bench.engine.idle()
    assert bench.events == []


def test_what_was_completed_is_what_would_have_been_told_at_once(bench: Bench) -> None:
    bench.run(SQUARES)
    (at_once,), values = bench.traced(), {row.step: row.outputs[0] for row in bench.rows() if row.outputs}
    in_view(bench, SQUARES, 2)
    bench.events.clear()
    while bench.engine.idle():
        pass
    (later,) = bench.traced()
    assert [(r.incoming, r.outgoing, r.before, r.after) for r in later.rows] == [
        (r.incoming, r.outgoing, r.before, r.after) for r in at_once.rows
    ]
    assert [(w.target, w.port, w.grad, w.parts, w.place) for w in later.wires] == [
        (w.target, w.port, w.grad, w.parts, w.place) for w in at_once.wires
    ]
    for row in bench.rows():
        assert numbers(row) == values[row.step].summary  # type: ignore[union-attr]
    assert {r.grad.value is not None for r in bench.grads().values() if r.grad} == {True}


def test_a_value_is_completed_before_it_is_overwritten(bench: Bench) -> None:
    in_view(bench, "x = torch.ones(2)\ny = x * 2\ny.mul_(5)\nz = y + 1")
    rows = [row for event in bench.events if isinstance(event, Traced) for row in event.rows]
    complete = [numbers(row).value for row in rows if row.complete and row.node == node(2)]
    assert complete == [[2, 2]]
