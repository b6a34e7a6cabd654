"""Statements that run several at a time are told as if each had run alone."""

import pytest
import torch

from gradstudio.engine.backward.node_hooks import Hooks
from gradstudio.engine.run.segments import Segments
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import TensorRecord
from tests.engine.build import node
from tests.engine.conftest import Bench

LOOP = """w = torch.tensor([1.0, 2.0], requires_grad=True)
for i in range(3):
    a = w * 2
    b, c = a.sort()
    d = b.exp()
    loss = d.sum()
    loss.backward()
"""


@pytest.fixture
def segments(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many statements each segment has run."""
    lengths: list[int] = []
    run = Segments.run

    def counted(self: Segments, *arguments: object) -> object:
        ran = run(self, *arguments)  # type: ignore[arg-type]  # passed on as they are
        lengths.append(len(ran.notes))
        return ran

    monkeypatch.setattr(Segments, "run", counted)
    return lengths


def told(row: Row) -> tuple[object, ...]:
    records = [record for record in row.outputs if isinstance(record, TensorRecord)]
    return row.node, [(r.summary, r.grad_fn, r.is_leaf, r.stride, r.version, r.contiguous) for r in records]


def test_every_turn_is_told_alike(bench: Bench, segments: list[int]) -> None:
    assert bench.run(LOOP).outcome == "done"
    by_turn = [[told(row) for row in bench.rows() if row.turns == (turn,) and row.outputs] for turn in range(3)]
    assert by_turn[0] == by_turn[1] == by_turn[2]
    assert len(by_turn[0]) == 4
    assert segments == [4, 4]
    assert [row.step for row in bench.rows()] == list(range(1, len(bench.rows()) + 1))
    assert [len(traced.rows) for traced in bench.traced()] == [len(bench.traced()[0].rows)] * 3
    first, *others = [[(w.source, w.target, w.port, w.grad) for w in traced.wires] for traced in bench.traced()]
    assert others == [first, first]


def test_times_and_moments_follow_one_another(bench: Bench, segments: list[int]) -> None:
    bench.run(LOOP)
    rows = [row for row in bench.rows() if row.turns == (1,)]
    assert all(row.seconds > 0 for row in rows)
    assert [row.at_s for row in rows] == sorted(row.at_s for row in rows)
    assert segments


def test_the_statement_that_raises_is_named_and_those_before_it_are_told(bench: Bench, segments: list[int]) -> None:
    text = (
        "w = torch.eye(2)\nfor i in range(3):\n    m = w * 1.0\n    n = m + 0\n    c = torch.linalg.cholesky(n)\n"
        "    d = c + 1\n    w.sub_(1.0)"
    )
    paused = bench.run(text)
    assert (paused.outcome, bench.failed().node, bench.failed().turns) == ("failed", node(5), (1,))
    assert segments == [2]
    assert [row.node for row in bench.rows() if row.turns == (1,)] == [node(3), node(4)]
    assert paused.next_node == node(5)


def test_other_sizes_run_alone_first(bench: Bench, segments: list[int]) -> None:
    bench.run("w = torch.ones(2)\nfor i in range(3):\n    v = w[: i + 1]\n    a = v * 2\n    b = a + 1\n    c = b * b")
    assert [r.outputs[0].summary.shape for r in bench.rows() if r.node == node(6)] == [(1,), (2,), (2,)]  # type: ignore[union-attr]
    assert segments == [3]


def test_stepping_has_every_statement_run_alone(bench: Bench, segments: list[int]) -> None:
    bench.load(LOOP)
    for _ in range(6):
        bench.do("step")
    assert bench.do("step").outcome == "done"
    assert segments == []


def test_a_warning_within_is_at_its_statement(bench: Bench, segments: list[int]) -> None:
    bench.run("w = torch.ones(2, requires_grad=True)\nfor i in range(2):\n    a = w * 2\n    b = a.grad\n    c = a * 3")
    assert {warned.node for warned in bench.warned()} == {node(4)}


def test_hooks_leave_nothing_and_others_stay() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    assert y.grad_fn is not None
    seen: list[str] = []
    handle = y.grad_fn.register_hook(lambda *_: seen.append("theirs"))
    hooks = Hooks()
    hooks.add([(y.grad_fn, lambda *_: seen.append("ours"))])
    y.sum().backward(retain_graph=True)  # type: ignore[no-untyped-call]  # torch leaves it untyped
    hooks.remove()
    y.sum().backward(retain_graph=True)  # type: ignore[no-untyped-call]  # torch leaves it untyped
    handle.remove()
    y.sum().backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    assert seen == ["theirs", "ours", "theirs"]
