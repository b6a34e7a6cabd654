"""Gradcheck against torch.autograd.gradcheck and against Jacobians known by hand."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from gradstudio.engine.experiment.gradcheck import check
from gradstudio.engine.experiment.rerun import World
from gradstudio.protocol.messages.debugging import Check, Checked, CheckRow
from tests.engine.build import PRELUDE, node
from tests.engine.conftest import Bench


def ask(bench: Bench, text: str, *lines: int, stop_after: int = 10**9) -> Checked:
    asked = 0

    def stopped() -> bool:
        nonlocal asked
        asked += 1
        return asked > stop_after

    bench.load(text)
    engine = bench.engine
    assert engine.loaded is not None
    world = World(engine.loaded, 0, engine._defaults, engine.stored.load_file, stopped)
    return check(world, Check(request=3, nodes=tuple(map(node, lines))))


def only(checked: Checked) -> CheckRow:
    (row,) = checked.rows
    return row


def torch_says(function: Callable[..., Any], *inputs: Tensor) -> bool:
    wide = [value.detach().to(torch.float64).requires_grad_() for value in inputs]
    return bool(torch.autograd.gradcheck(function, wide, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=False))


SMOOTH = {
    "tanh": ("y = torch.tanh(x)", torch.tanh),
    "softmax": ("y = x.softmax(-1)", lambda x: x.softmax(-1)),
    "broadcast": ("y = x * x[0] + x.T.sum()", lambda x: x * x[0] + x.T.sum()),
    "norm": ("y = torch.linalg.norm(x)", torch.linalg.norm),
    "relu": ("y = F.relu(x)", F.relu),
    "half is no gradient": ("y = (x * x.detach()).sum()", lambda x: (x * x.detach()).sum()),
    "round": ("y = x.round() * x", lambda x: x.round() * x),
    "power": ("y = x.abs() ** 1.5", lambda x: x.abs() ** 1.5),
}


@pytest.mark.parametrize("key", SMOOTH)
def test_the_verdict_is_that_of_torch(bench: Bench, key: str) -> None:
    text, function = SMOOTH[key]
    names: dict[str, Any] = {}
    exec(f"{PRELUDE}torch.manual_seed(0)\nx = torch.randn(3, 3)", names)
    row = only(ask(bench, f"x = torch.randn(3, 3)\n{text}", 2))
    assert row.ok is torch_says(function, names["x"])
    assert (row.name, row.source, row.node, row.elements) == (
        "x",
        node(1),
        node(2),
        9 * max(1, function(names["x"]).numel()),
    )


def test_a_wrong_gradient_is_found_with_both_numbers(bench: Bench) -> None:
    row = only(ask(bench, "x = torch.tensor([1.0, -3.0, 2.0])\ny = (x * x.detach()).sum()", 2))
    assert not row.ok
    assert (row.in_index, row.out_index) == ((1,), ())
    assert row.analytical == -3.0 and row.numerical == pytest.approx(-6.0, abs=1e-6)
    assert row.tolerance == pytest.approx(1e-5 + 1e-3 * 6)


def test_several_nodes_are_one_function(bench: Bench) -> None:
    text = "x = torch.randn(4)\nw = torch.randn(4, requires_grad=True)\na = x * w\nb = a.detach()\nc = (a * b).sum()"
    checked = ask(bench, text, 3, 4, 5)
    verdicts = {(row.name, row.node): row.ok for row in checked.rows}
    assert verdicts == {(name, node(line)): line == 3 for name in "xw" for line in (3, 4, 5)}
    for row in checked.rows[:2]:
        assert row.node == node(5)
        assert row.numerical == pytest.approx(2 * row.analytical, rel=1e-6)
    assert [row.name for row in ask(bench, text, 5).rows] == ["a", "b"]
    assert all(row.ok for row in ask(bench, text, 5).rows)


def test_a_cut_gives_zero_and_says_so(bench: Bench) -> None:
    checked = ask(bench, "x = torch.randn(3)\ny = x.detach()", 2)
    assert not only(checked).ok and only(checked).numerical == pytest.approx(1)
    assert "does not require grad even when its inputs do" in checked.error


def test_a_kink_and_a_jump_are_said(bench: Bench) -> None:
    checked = ask(bench, "x = torch.tensor([1.0, 0.0])\ny = F.relu(x)", 2)
    row = only(checked)
    assert not row.ok and (row.analytical, row.in_index) == (0.0, (1,)) and row.numerical == pytest.approx(0.5)
    assert "has a kink: its slope is 0 on the left and 1 on the right" in checked.error
    checked = ask(bench, "x = torch.tensor([0.3, 2.0])\ny = x.floor()", 2)
    assert not only(checked).ok and "At `x`[1] the function jumps by 1" in checked.error
    assert only(ask(bench, "x = torch.tensor([0.3, 2.5])\ny = x.floor()", 2)).ok


def test_parameters_of_modules_are_inputs(bench: Bench) -> None:
    text = "x = torch.randn(5, 3)\nfc = nn.Linear(3, 2)\ny = fc(x)\nn = nn.BatchNorm1d(2)\nz = n(y)\nloss = F.mse_loss(z, x[:, :2])"  # noqa: E501
    bench.run(text)
    weight = bench["fc"].weight  # type: ignore[attr-defined]
    checked = ask(bench, text, 3, 5, 6)
    assert checked.error == ""
    inputs = ["fc.weight", "fc.bias", "x", "n.weight", "n.bias"]
    assert [row.name for row in checked.rows if row.node == node(6)] == inputs
    assert [row.name for row in checked.rows if row.node == node(3)] == inputs[:3]
    assert all(row.ok for row in checked.rows)
    assert weight.dtype is torch.float32 and weight.grad is None


def test_random_and_in_place_operators(bench: Bench) -> None:
    text = "x = torch.randn(6)\ny = F.dropout(x * 1)\ny.mul_(3)\nx.add_(1)\nz = y * x"
    assert only(ask(bench, text, 2)).ok
    row = only(ask(bench, text, 3))
    assert row.ok and (row.name, row.source) == ("y", node(2))
    checked = ask(bench, text, 2, 3, 4, 5)
    assert {row.name for row in checked.rows if row.node == node(5)} == {"x"}
    assert all(row.ok for row in checked.rows)


def test_lists_complex_numbers_and_several_results(bench: Bench) -> None:
    checked = ask(bench, "x = torch.randn(4, 2)\nparts = x.split(2)\ny = torch.cat(parts, 1)", 3)
    assert [row.name for row in checked.rows] == ["parts[0]", "parts[1]"] and all(r.ok for r in checked.rows)
    checked = ask(bench, "x = torch.randn(3, dtype=torch.complex64)\ny = x * x.conj() + x\nz = y.abs()", 2, 3)
    assert [(row.node, row.ok, len(row.in_index)) for row in checked.rows] == [(node(3), True, 1), (node(2), True, 1)]
    checked = ask(bench, "x = torch.randn(5)\nv, i = x.topk(2)", 2)
    assert [(row.node, row.output, row.ok) for row in checked.rows] == [(node(2), 0, True)]


def test_only_a_sample_of_many_elements_is_checked(bench: Bench) -> None:
    checked = ask(bench, "x = torch.randn(30000)\ny = x.sin().sum()", 2)
    assert only(checked).ok and only(checked).elements == 166
    assert checked.error == "Of 30,000 input elements 166 were checked, a fixed random sample."


def test_of_everything_what_can_be_checked_is_and_the_rest_has_its_reason(bench: Bench) -> None:
    text = """
    x = torch.tensor([0.5, 1.5, 2.0], requires_grad=True)
    y = torch.exp(x)
    d = y.detach()
    z = d * x
    i = z.argmax()
    r = torch.round(z)
    o = r + torch.tanh(y)
    loss = o.sum()
    loss.backward()
    g = x.grad
    opt = optim.SGD([x], 0.1)
    opt.step()
    """
    text = "\n".join(line.strip() for line in text.strip().splitlines())
    checked = ask(bench, text, *range(1, 13))
    verdicts = {row.node: row.ok for row in checked.rows}
    assert verdicts == {node(2): True, node(3): False, node(4): False, node(6): True, node(7): True, node(8): True}
    reasons = {row.node: row.reason for row in checked.left_out}
    words = {1: "an input of the others", 5: "int64", 9: "backward", 10: "gradients", 11: "gradients", 12: "gradients"}
    assert reasons.keys() == {node(line) for line in words}
    assert all(word in reasons[node(line)] for line, word in words.items())
    worst = next(row for row in checked.rows if row.node == node(3))
    assert worst.analytical == 0
    assert worst.numerical == pytest.approx(float(torch.tensor(2.0).exp()))


def test_several_of_which_none_can_be_checked(bench: Bench) -> None:
    checked = ask(bench, "a = torch.randn(3, requires_grad=True)\na.sum().backward()", 1, 2)
    assert checked.rows == ()
    assert "None of them can be checked: `a` takes in nothing" in checked.error


def test_the_first_turn_of_a_loop_is_checked(bench: Bench) -> None:
    checked = ask(bench, "h = torch.ones(2)\nfor t in range(3):\n    h = torch.tanh(h) * (t + 1)", 3)
    assert only(checked).ok and only(checked).source == node(1)


def test_nothing_else_is_touched(bench: Bench) -> None:
    bench.run("x = torch.randn(3, requires_grad=True)\ny = F.dropout(x)\ny.sum().backward()")
    state, grad, x = torch.get_rng_state(), bench["x"].grad.clone(), bench["x"]  # type: ignore[attr-defined]
    engine = bench.engine
    assert engine.loaded is not None
    world = World(engine.loaded, 0, engine._defaults, engine.stored.load_file, lambda: False)
    assert check(world, Check(request=1, nodes=(node(2),))).rows
    assert torch.equal(torch.get_rng_state(), state) and torch.get_default_dtype() is torch.float32
    assert bench["x"] is x and torch.equal(x.grad, grad)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "lines", "words"),
    [
        ("a = torch.arange(3)\nb = a * 2", (2,), "Nothing differentiable goes into `b`"),
        ("a = torch.randn(3)\nb = a > 0", (2,), "gives bool, which has no gradient"),
        ("a = torch.randn(3)\nb = a.to(torch.float32)", (2,), "gives float32 also from float64"),
        ("a = torch.randn(3, requires_grad=True)\na.sum().backward()", (2,), "runs a backward"),
        ("a = torch.randn(3)\nprint(a)", (2,), "gives no tensor"),
        ("a = torch.randn(3)\nwith torch.no_grad():\n    b = a * 2", (3,), "switches gradients off"),
        ("a = torch.randn(3)\nb = a[5]\nc = a * 2", (3,), "The program fails before it could be checked: IndexError"),
        ("a = torch.randn(3)\nfor t in range(0):\n    b = a * 2", (3,), "is not reached"),
        ("a = torch.randn(3)", (9,), "not a statement of the program"),
        ("a = torch.randn(2)\nb = a.view(torch.int32)", (2,), "gives int32, which has no gradient"),
        ("a = torch.ones(2)\nb = a @ torch.ones(2, dtype=torch.float32)", (2,), "In float64 `b` fails: RuntimeError"),
    ],
)
def test_what_cannot_be_checked_is_said_in_words(bench: Bench, text: str, lines: tuple[int, ...], words: str) -> None:
    checked = ask(bench, text, *lines)
    assert words in checked.error and checked.rows == ()


def test_stop_is_heard_between_evaluations(bench: Bench) -> None:
    checked = ask(bench, "x = torch.randn(500)\ny = x.sin()", 2, stop_after=20)
    assert (checked.error, checked.rows) == ("Stopped.", ())
