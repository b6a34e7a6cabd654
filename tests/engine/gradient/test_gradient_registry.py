"""Recorded gradients against retain_grad in plain torch, bit for bit; and the seven states."""

import pytest
import torch

from gradstudio.protocol import gradient_sentences as words
from gradstudio.protocol.messages.events import Gradients, Traced
from gradstudio.scene.card.gradient_state_words import state_words
from tests.engine.build import PRELUDE, node
from tests.engine.conftest import Bench

SCENARIOS = {
    "fan-out": "x = torch.tensor(2.0, requires_grad=True)\nz = x * 3\nw = z + x\nv = w * z\nv.backward()",
    "residual": """x = torch.randn(4, 4, requires_grad=True)
W = torch.randn(4, 4, requires_grad=True)
a = torch.tanh(x)
b = a @ W
c = a * b
d = c + a
loss = d.sum()
loss.backward()""",
    "broadcast": """a = torch.randn(3, 1, requires_grad=True)
b = torch.randn(4, requires_grad=True)
c = torch.randn((), requires_grad=True)
s = a + b
m = s * c
e = m - a
loss = (e * e).mean()
loss.backward()""",
    "same argument twice": "x = torch.randn(3, 3, requires_grad=True)\na = x * x\nb = a @ a\nloss = b.sum()\nloss.backward()",  # noqa: E501
    "views": """x = torch.randn(4, 6, requires_grad=True)
v = x.view(2, 12)
t = v.t()
s = t[2:8:2]
e = s.unsqueeze(0).expand(3, -1, -1)
d = e.diagonal(dim1=1, dim2=2)
r = d.reshape(-1)
loss = (r * r).sum() + x.flatten()[3]
loss.backward()""",
    "several outputs": """x = torch.randn(4, 9, requires_grad=True)
a, b, c = x.split(3, 1)
values, indices = a.topk(2)
ordered, places = b.sort(dim=1, descending=True)
deviation, mean = torch.std_mean(c, 1)
loss = values.sum() + (ordered * ordered).sum() + deviation.sum()
loss.backward()""",
    "integers in between": """x = torch.randn(5, requires_grad=True)
i = x.argsort()
y = x[i]
loss = (y * torch.arange(5)).sum()
loss.backward()""",
    "an attention head": """x = torch.randn(2, 5, 8, requires_grad=True)
W = torch.randn(8, 24, requires_grad=True)
q, k, v = (x @ W).chunk(3, -1)
scores = q @ k.transpose(-2, -1) / 8 ** 0.5
p = scores.softmax(-1)
out = p @ v
loss = out.logsumexp(-1).sum()
loss.backward()""",
    "a seed gradient": """x = torch.randn(3, 4, requires_grad=True)
W = torch.randn(4, 2, requires_grad=True)
y = x @ W
z = torch.tanh(y)
g = torch.randn(3, 2)
z.backward(g)""",
    "several roots": """x = torch.randn(3, requires_grad=True)
a = x * 2
b = a.exp()
c = a.sin()
torch.autograd.backward([b.sum(), c.sum()])""",
    "complex numbers": """x = torch.randn(3, dtype=torch.complex64, requires_grad=True)
y = x * x
z = y.abs()
loss = z.sum()
loss.backward()""",
    "a module that is many autograd nodes": """x = torch.randn(5, 2, 8, requires_grad=True)
att = nn.MultiheadAttention(8, 2)
out, weights = att(x, x, x)
loss = out.square().mean()
loss.backward()""",
    "a branch that is not taken": """x = torch.tensor([0.0, 1.0, -2.0], requires_grad=True)
r = x.sqrt()
y = torch.where(x > 0, r, x * 2)
loss = y.sum()
loss.backward()""",
    "create_graph": """x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x ** 3
loss = y.sum()
loss.backward(create_graph=True)""",
}


def by_hand(text: str) -> dict[str, torch.Tensor]:
    """Run the text in plain torch with `retain_grad` on every name; name -> gradient that reached it."""
    namespace: dict[str, object] = {}
    exec(PRELUDE + "torch.manual_seed(0)\n", namespace)
    known: dict[str, torch.Tensor] = {}
    for line in text.splitlines():
        exec(line, namespace)
        for name, value in namespace.items():
            if isinstance(value, torch.Tensor) and value.requires_grad and name not in known:
                value.retain_grad()
                known[name] = value
    return {name: tensor.grad for name, tensor in known.items() if tensor.grad is not None}


def recorded(bench: Bench) -> dict[str, torch.Tensor]:
    """name -> gradient, as the engine keeps it."""
    live = bench.engine.live
    assert live is not None
    found = {}
    for name, (item, output) in live.binder.items():
        value = live.gradients.values.get((item, output, ""))
        if value is None:
            continue
        leaf = live.gradients.leaf_of(value)
        grad = value.grad if leaf is None else leaf.tensor.grad
        if grad is not None:
            found[name] = grad
    return found


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph:UserWarning")
def test_every_gradient_is_torchs_own(bench: Bench, name: str) -> None:
    text = SCENARIOS[name]
    expected = by_hand(text)
    assert bench.run(text).outcome == "done"
    got = recorded(bench)
    assert got.keys() == expected.keys()
    for variable, grad in expected.items():
        assert got[variable].dtype == grad.dtype
        assert torch.equal(got[variable].nan_to_num(7), grad.nan_to_num(7)), variable


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph:UserWarning")
def test_the_summaries_are_of_these_gradients(bench: Bench, name: str) -> None:
    bench.run(SCENARIOS[name])
    live = bench.engine.live
    assert live is not None
    grads = recorded(bench)
    rows = bench.grads()
    for variable, grad in grads.items():
        summary = rows[(*live.binder[variable], "")].grad
        assert summary is not None
        assert summary.shape == tuple(grad.shape)
        if not grad.is_complex() and grad.isfinite().all():
            assert summary.maximum == pytest.approx(grad.max().item())
            assert summary.mean == pytest.approx(grad.mean().item(), rel=1e-4, abs=1e-6)
            assert summary.rms == pytest.approx(grad.square().mean().sqrt().item(), rel=1e-4)


def test_no_hook_is_left_behind(bench: Bench) -> None:
    bench.run(SCENARIOS["residual"], "run", "forward", "backward")
    for name in "xWabcd":
        tensor = bench[name]
        assert isinstance(tensor, torch.Tensor)
        assert not tensor._backward_hooks
        assert not tensor.retains_grad


def test_the_programs_own_grad_of_a_non_leaf_stays_none_with_torchs_warning(bench: Bench) -> None:
    bench.run("x = torch.tensor(2.0, requires_grad=True)\ny = x * 2\nz = y * y\nz.backward()\ng = y.grad")
    assert bench["g"] is None
    assert bench.state(2) == "value"
    warned = bench.warned()
    assert [w.node for w in warned] == [node(5)]
    assert "not a leaf" in warned[0].message


def test_a_gradient_in_front_of_an_in_place_write_is_that_of_the_value_before(bench: Bench) -> None:
    text = """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.mul_(3)
    y.add_(1)
    loss = (y * torch.tensor([1.0, 10.0])).sum()
    loss.backward()
    """
    bench.run(text)
    assert [bench.grad(line).grad.value for line in (2, 3, 4)] == [[3, 30], [1, 10], [1, 10]]  # type: ignore[union-attr]
    assert bench.grad(1).grad.value == [6, 60]  # type: ignore[union-attr]


def test_a_view_written_in_place_passes_gradients_to_its_base(bench: Bench) -> None:
    text = """
    x = torch.ones(4, requires_grad=True)
    z = torch.tensor(5.0, requires_grad=True)
    y = x * 2
    v = y[1:3]
    v.mul_(z)
    loss = y.tanh().sum()
    loss.backward()
    """
    bench.run(text)
    x, z = torch.ones(4, requires_grad=True), torch.tensor(5.0, requires_grad=True)
    y = x * 2
    y[1:3].mul_(z)
    y.tanh().sum().backward()
    assert torch.equal(bench["x"].grad, x.grad)  # type: ignore[attr-defined]
    assert torch.equal(bench["z"].grad, z.grad)  # type: ignore[attr-defined]
    assert bench.state(4) == "not_reached"


def test_the_record_of_a_backward_names_nodes_and_what_went_in_and_out(bench: Bench) -> None:
    bench.run("x = torch.tensor(2.0, requires_grad=True)\nz = x * 3\nw = z + x\nloss = w ** 2\nloss.backward()")
    (event,) = bench.autograd()
    rows = [
        (r.autograd, r.node, [s and s.value for s in r.incoming], [s and s.value for s in r.outgoing])
        for r in event.rows
    ]
    assert rows == [
        ("PowBackward0", node(4), [1.0], [16.0]),
        ("AddBackward0", node(3), [16.0], [16.0, 16.0]),
        ("MulBackward0", node(2), [16.0], [48.0, None]),
        ("AccumulateGrad", node(1), [64.0], []),
    ]


def test_inner_autograd_nodes_belong_to_the_operator_they_are_part_of(bench: Bench) -> None:
    bench.run(
        "x = torch.randn(3, 4, requires_grad=True)\nt = torch.tensor([0, 1, 2])\nloss = F.cross_entropy(x, t)\nloss.backward()"  # noqa: E501
    )
    (event,) = bench.autograd()
    assert {row.autograd: row.node for row in event.rows} == {
        "NllLossBackward0": node(3),
        "LogSoftmaxBackward0": node(3),
        "AccumulateGrad": node(1),
    }


def test_turns_of_a_loop_are_told_in_the_record(bench: Bench) -> None:
    bench.run("x = torch.tensor(2.0, requires_grad=True)\nh = x * 1\nfor t in range(3):\n    h = h * x\nh.backward()")
    (event,) = bench.autograd()
    assert [row.turns for row in event.rows if row.node == node(4)] == [(2,), (1,), (0,)]
    assert bench["x"].grad.item() == 4 * 2**3  # type: ignore[attr-defined]


def test_module_parameters_have_gradients_by_path(bench: Bench) -> None:
    bench.run("fc = nn.Linear(2, 1)\nx = torch.ones(3, 2)\ny = fc(x)\nloss = y.sum()\nloss.backward()")
    assert bench.grad(1, path="weight").grad.value == [[3.0, 3.0]]  # type: ignore[union-attr]
    assert bench.grad(1, path="bias").grad.value == [3.0]  # type: ignore[union-attr]
    assert bench.state(2) == "not_required"
    assert bench.state(3) == "value"


# ------------------------------------------------------------------ states


def test_a_gradient_is_not_run_until_a_backward_ran(bench: Bench) -> None:
    bench.run(SCENARIOS["fan-out"], "forward")
    assert {row.state for row in bench.grads().values()} == {"not_run"}
    bench.do("backward")
    assert {row.state for row in bench.grads().values()} == {"value"}


def test_what_is_made_after_the_backward_is_not_run(bench: Bench) -> None:
    bench.run("x = torch.tensor(1.0, requires_grad=True)\ny = x * 2\ny.backward()\nz = x * 3")
    assert (bench.state(2), bench.state(4)) == ("value", "not_run")


def test_a_cut_names_the_node_and_what_lies_behind_names_the_cut(bench: Bench) -> None:
    bench.run(
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\ny = x * 2\nd = y.detach()\ne = d * 3\nloss = (y * e).sum()\nloss.backward()"  # noqa: E501
    )
    assert (bench.state(3), bench.grad(3).cause) == ("cut", node(3))
    assert "detach" in bench.grad(3).reason
    assert (bench.state(4), bench.grad(4).cause) == ("not_required", node(3))
    assert bench.grad(1).grad.value == [2 * 6, 2 * 12]  # type: ignore[union-attr]


def test_a_cut_by_no_grad_names_the_block(bench: Bench) -> None:
    bench.run(
        "x = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n    y = x * 2\nz = (x * y).sum()\nz.backward()"
    )
    assert (bench.state(3), bench.grad(3).cause) == ("cut", node(2))


def test_an_integer_result_is_cut_for_having_no_gradient(bench: Bench) -> None:
    bench.run("x = torch.ones(2, requires_grad=True)\ni = x.argmax()\nb = x > 0\nloss = x.sum()\nloss.backward()")
    assert "int64" in bench.grad(2).reason
    assert (bench.state(2), bench.state(3)) == ("cut", "cut")


def test_zero_is_a_value_and_none_is_not(bench: Bench) -> None:
    bench.run("x = torch.tensor([1.4], requires_grad=True)\ny = x.round()\nu = x * 2\nloss = y.sum()\nloss.backward()")
    assert (bench.state(1), bench.grad(1).grad.value) == ("value", [0.0])  # type: ignore[union-attr]
    assert bench.state(3) == "not_reached"


def test_an_unused_output_is_not_reached(bench: Bench) -> None:
    bench.run(
        "x = torch.randn(3, 3, requires_grad=True)\nu, s, v = torch.linalg.svd(x)\nloss = s.sum()\nloss.backward()"
    )
    assert [bench.state(2, output) for output in range(3)] == ["not_reached", "value", "not_reached"]


def test_two_backwards_in_one_pass_accumulate_and_the_parts_are_told(bench: Bench) -> None:
    bench.run("x = torch.tensor(2.0, requires_grad=True)\na = x * 3\na.backward()\nb = x * 5\nb.backward()")
    assert bench.state(1) == "accumulated"
    assert [(p.backward, p.grad.value) for p in bench.grad(1).parts] == [(1, 3.0), (2, 5.0)]  # type: ignore[union-attr]
    assert bench.grad(1).grad.value == 8.0  # type: ignore[union-attr]


def test_a_gradient_that_a_later_backward_has_nothing_to_do_with_is_that_of_its_own(bench: Bench) -> None:
    bench.run(
        "p = torch.tensor(2.0, requires_grad=True)\nq = torch.tensor(3.0, requires_grad=True)\n"
        "a = p * 3\na.backward()\nb = q * 5\nb.backward()"
    )
    assert (bench.state(1), bench.state(2)) == ("value", "value")
    assert bench.grad(1).reason == "What backward 1 left in .grad; the later ones did not come here."
    assert bench.grad(1).grad.value == 3.0  # type: ignore[union-attr]


def test_what_is_left_over_from_an_earlier_pass_is_accumulated(bench: Bench) -> None:
    bench.run("x = torch.tensor(2.0, requires_grad=True)\ny = x * 3\ny.backward()", "run", "forward")
    assert bench.state(1) == "accumulated"
    assert "Left by backward 1 (pass 1)" in bench.grad(1).reason


@pytest.mark.parametrize("clearing", ["x.grad.zero_()", "x.grad = None"])
def test_zeroing_or_clearing_starts_afresh(bench: Bench, clearing: str) -> None:
    bench.run(
        f"x = torch.tensor(2.0, requires_grad=True)\na = x * 3\na.backward()\n{clearing}\nb = x * 5\nb.backward()"
    )
    assert (bench.state(1), bench.grad(1).grad.value) == ("value", 5.0)  # type: ignore[union-attr]


def test_a_grad_set_to_none_is_not_run(bench: Bench) -> None:
    bench.run("x = torch.tensor(2.0, requires_grad=True)\na = x * 3\na.backward()\nx.grad = None")
    assert bench.state(1) == "not_run"


def test_an_optimizers_zero_grad_is_seen(bench: Bench) -> None:
    text = """
    fc = nn.Linear(2, 1)
    opt = optim.SGD(fc.parameters(), lr=0.1)
    x = torch.ones(1, 2)
    for t in range(2):
        opt.zero_grad()
        y = fc(x).sum()
        y.backward()
        opt.step()
    """
    bench.run(text)
    assert bench.state(1, path="weight") == "value"
    assert bench.grad(1, path="weight").grad.value == [[1.0, 1.0]]  # type: ignore[union-attr]


def test_autograd_grad_returns_gradients_and_leaves_grad_alone(bench: Bench) -> None:
    bench.run(
        "x = torch.tensor(3.0, requires_grad=True)\nh = x * 2\ny = h ** 2\ngx, gh = torch.autograd.grad(y, [x, h])"
    )
    assert (bench["gx"].item(), bench["gh"].item()) == (24, 12)  # type: ignore[attr-defined]
    assert bench["x"].grad is None  # type: ignore[attr-defined]
    assert (bench.state(1), bench.state(2)) == ("not_retained", "value")
    assert bench.grad(2).grad.value == 12.0  # type: ignore[union-attr]


def test_over_the_budget_the_oldest_go_and_their_summaries_stay(bench: Bench) -> None:
    bench.load("x = torch.ones(1000, requires_grad=True)\na = x * 2\nb = a * 3\nloss = b.sum()\nloss.backward()")
    bench.do("step")
    bench.engine.live.gradients.kept._allowed = 4100  # type: ignore[union-attr]
    bench.do("run")
    assert [bench.state(line) for line in (2, 3)] == ["value", "not_retained"]
    assert bench.grad(3).grad.maximum == 1  # type: ignore[union-attr]


def test_set_up_leaves_that_are_not_used_are_not_reached(bench: Bench) -> None:
    bench.run(
        "x = torch.ones(2, requires_grad=True)\nunused = torch.ones(2, requires_grad=True)\ny = x.sum()\ny.backward()"
    )
    assert bench.state(2) == "not_reached"


def test_a_plain_run_tells_leaves_from_what_it_did_not_keep(bench: Bench) -> None:
    text = """
    x = torch.tensor(2.0, requires_grad=True)
    unused = torch.tensor(2.0, requires_grad=True)
    y = x ** 2
    d = y.detach()
    e = d * 2
    y.backward()
    z = x * 5
    """
    bench.run(text, trace=False)
    states = [bench.state(line) for line in (1, 2, 3, 4, 5, 7)]
    assert states == ["value", "not_reached", "not_retained", "cut", "not_required", "not_run"]
    assert bench.grad(5).cause == node(4)


def test_a_plain_run_knows_an_accumulated_gradient(bench: Bench) -> None:
    text = "x = torch.tensor(2.0, requires_grad=True)\na = x * 3\na.backward()\n{}\nb = x * 5\nb.backward()"
    bench.run(text.format("c = 1"), trace=False)
    assert bench.state(1) == "accumulated"
    bench.run(text.format("x.grad.zero_()"), trace=False)
    assert bench.state(1) == "value"


def test_a_second_backward_in_the_text_fails_in_both_ways_with_the_same_words(bench: Bench) -> None:
    text = "x = torch.tensor(2.0, requires_grad=True)\ny = x ** 2\ny.backward()\ny.backward()"
    for trace in (True, False):
        assert bench.run(text, trace=trace).outcome == "failed"
        assert bench.failed().node == node(4)
        assert "a second time" in bench.failed().message


def test_a_forward_loop_does_not_keep_the_graphs_of_its_turns(bench: Bench) -> None:
    import gc
    import weakref

    text = "x = torch.ones(10, requires_grad=True)\nfor t in range(50):\n    y = x.exp()\n    z = y.sum()"
    bench.load(text)
    alive = weakref.WeakSet[torch.UntypedStorage]()
    original = bench.engine.memory.see
    bench.engine.memory.see = lambda tensor, *of: (alive.add(tensor.untyped_storage()), original(tensor, *of))[1]  # type: ignore[method-assign, assignment, func-returns-value]
    bench.do("run")
    gc.collect()
    assert len(alive) <= 3


def test_a_gradient_is_counted_only_as_long_as_its_value_is_there(bench: Bench) -> None:
    turn = "    y = x.exp()\n    z = y.sum()\n    if t == 0:\n        z.backward()"
    bench.run(f"x = torch.ones(10, requires_grad=True)\nfor t in range(1):\n{turn}")
    gradients = bench.engine.live.gradients  # type: ignore[union-attr]
    assert gradients.kept.grad_bytes == 4 + 10 * 4
    bench.run(f"x = torch.ones(10, requires_grad=True)\nfor t in range(2):\n{turn}")
    assert bench.engine.live.gradients.kept.grad_bytes == 0  # type: ignore[union-attr]


def test_leaves_made_in_a_loop_are_watched_only_while_they_are_bound(bench: Bench) -> None:
    bench.run(
        "for t in range(50):\n    w = torch.ones(10, requires_grad=True)\n    y = (w * t).sum()\n    y.backward()"
    )
    assert len(bench.engine.live.gradients.leaves) == 1  # type: ignore[union-attr]
    assert bench.grad(2).grad.maximum == 49  # type: ignore[union-attr]


def test_a_gradient_given_back_for_a_value_is_told_with_its_statement(bench: Bench) -> None:
    bench.run(
        "x = torch.tensor(2.0, requires_grad=True)\nh = x * 3\ns = h * h\ng = torch.autograd.grad(s, [h])\nz = h + 1"
    )
    told = [
        place
        for place, event in enumerate(bench.events)
        if isinstance(event, Gradients) and not event.whole and any(row.node == node(2) for row in event.rows)
    ]
    later = next(
        place
        for place, event in enumerate(bench.events)
        if isinstance(event, Traced) and any(row.node == node(5) for row in event.rows)
    )
    assert told
    assert told[0] < later
    event = bench.events[told[0]]
    assert isinstance(event, Gradients)
    summary = next(row for row in event.rows if row.node == node(2)).grad
    assert summary is not None
    assert summary.value == 12.0


EMPTIED = """x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(3.0, requires_grad=True)
still = torch.tensor(1.0, requires_grad=True)
optimizer = torch.optim.SGD([y], lr=0.1)
for turn in range(3):
    loss = x * y
    loss.backward()
    x.grad = None
    optimizer.zero_grad()
"""


def test_a_leaf_whose_grad_was_set_to_none_says_so_and_by_what(bench: Bench) -> None:
    bench.run(EMPTIED)
    bench.engine.settle()
    for line in (1, 2):
        row = bench.grad(line)
        assert (row.state, row.grad, row.reason) == ("not_run", None, words.EMPTIED)
        assert state_words(row.state, row.reason) == "set to None"
    assert (bench.grad(1).cause, bench.grad(2).cause) == (node(8), node(9))
    assert bench.grad(3).reason != words.EMPTIED, "nothing emptied it"
