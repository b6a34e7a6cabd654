"""What-if against plain torch: the changed program written out by hand and run by Python, bit for bit."""

from typing import Any

import pytest
import torch

from gradstudio.engine.experiment.rerun import World, stop_place
from gradstudio.engine.experiment.whatif import answer
from gradstudio.protocol.messages.debugging import Change, Difference, WhatIf, WhatIfAnswered
from tests.engine.build import PRELUDE, node
from tests.engine.conftest import Bench

STOP_NEVER = 10**9


def ask(bench: Bench, change: Change, stop_after: int = STOP_NEVER) -> WhatIfAnswered:
    engine = bench.engine
    asked = 0

    def stopped() -> bool:
        nonlocal asked
        asked += 1
        return asked > stop_after

    loaded = engine.loaded
    assert loaded is not None
    seed = engine.live.seed if engine.live is not None and engine.live.seed is not None else 0
    world = World(loaded, seed, engine._defaults, engine.stored.load_file, stopped)
    return answer(world, WhatIf(request=1, change=change), stop_place(engine.live, engine.stale, loaded))


def found(answered: WhatIfAnswered) -> dict[tuple[str, bool], Difference]:
    """By node (its last turn) and whether it is a gradient."""
    assert answered.error == ""
    return {(d.node, d.grad): d for d in answered.differences}


def plain(text: str, seed: int = 0) -> dict[str, Any]:
    """The names that plain Python binds; gradients of non-leaves kept by a `keep(name)` in the text."""
    kept: dict[str, torch.Tensor] = {}
    namespace: dict[str, Any] = {}

    def keep(name: str, tensor: torch.Tensor) -> None:
        tensor.register_hook(lambda grad: kept.__setitem__(name, grad))  # type: ignore[no-untyped-call]

    namespace["keep"] = keep
    exec(f"{PRELUDE}torch.manual_seed({seed})\n{text}", namespace)
    return {**namespace, "kept": kept}


def check(difference: Difference, before: torch.Tensor, after: torch.Tensor) -> None:
    assert difference.before is not None and difference.after is not None
    assert (difference.before.value, difference.after.value) == (before.tolist(), after.tolist())
    assert difference.largest == (after.double() - before.double()).abs().max().item()


NETWORK = """x = torch.randn(2, 3)
W = torch.randn(3, 2, requires_grad=True)
h = x @ W
a = torch.tanh(h)
noise = torch.randn(2, 2)
loss = ((a + noise) ** 2).mean()
loss.backward()"""


def test_a_value_that_is_no_leaf_keeps_its_graph(bench: Bench) -> None:
    bench.run(NETWORK)
    was = plain(NETWORK.replace("a = torch.tanh(h)", "keep('h', h); a = torch.tanh(h); keep('a', a)"))
    text = NETWORK.replace(
        "a = torch.tanh(h)",
        "keep('h', h); new = h.detach().clone(); new[1, 0] = 0.3; h = torch.where(new == h, h, h - h.detach() + new); "
        "a = torch.tanh(h); keep('a', a)",
    )
    now = plain(text)
    rows = found(ask(bench, Change(node=node(3), index=(1, 0), value=0.3)))
    assert {key[0] for key in rows} == {node(n) for n in (2, 3, 4, 6)}
    assert rows[node(3), False].after.value[1][0] == torch.tensor(0.3).item()  # type: ignore[union-attr, index]
    check(rows[node(4), False], was["a"], now["a"])
    check(rows[node(6), False], was["loss"], now["loss"])
    check(rows[node(2), True], was["W"].grad, now["W"].grad)
    check(rows[node(4), True], was["kept"]["a"], now["kept"]["a"])
    check(rows[node(3), True], was["kept"]["h"], now["kept"]["h"])
    assert (node(1), False) not in rows and (node(2), False) not in rows and (node(5), False) not in rows


def test_a_leaf_stays_a_leaf(bench: Bench) -> None:
    bench.run(NETWORK)
    was = plain(NETWORK)
    now = plain(NETWORK.replace("h = x @ W", "W.data[2, 1] = -4.0; h = x @ W"))
    rows = found(ask(bench, Change(node=node(2), index=(2, 1), value=-4)))
    check(rows[node(2), False], was["W"], now["W"])
    check(rows[node(2), True], was["W"].grad, now["W"].grad)
    check(rows[node(6), False], was["loss"], now["loss"])


def test_all_elements_and_a_value_without_gradient(bench: Bench) -> None:
    bench.run(NETWORK)
    now = plain(NETWORK.replace("h = x @ W", "x = torch.full((2, 3), 2.0); h = x @ W"))
    rows = found(ask(bench, Change(node=node(1), value=2.0)))
    check(rows[node(2), True], plain(NETWORK)["W"].grad, now["W"].grad)
    assert rows[node(1), False].after.value == [[2.0] * 3] * 2  # type: ignore[union-attr]


def test_a_gradient_is_changed_as_it_arrives(bench: Bench) -> None:
    bench.run(NETWORK)
    hook = "a.register_hook(lambda g: torch.full_like(g, 1.0)); noise = torch.randn(2, 2)"
    now = plain(NETWORK.replace("noise = torch.randn(2, 2)", hook))
    rows = found(ask(bench, Change(node=node(4), grad=True, value=1.0)))
    assert rows.keys() == {(node(n), True) for n in (2, 3, 4)}
    check(rows[node(2), True], plain(NETWORK)["W"].grad, now["W"].grad)
    assert rows[node(4), True].after.value == [[1.0, 1.0], [1.0, 1.0]]  # type: ignore[union-attr]


def test_the_gradient_of_a_leaf_is_changed_before_it_is_accumulated(bench: Bench) -> None:
    text = "w = torch.ones(2, requires_grad=True)\ny = w * 3\nz = y.sum()\nz.backward(retain_graph=True)\nz.backward()"
    bench.run(text)
    rows = found(ask(bench, Change(node=node(1), grad=True, index=(0,), value=10)))
    assert rows[node(1), True].after.value == [20.0, 6.0]  # type: ignore[union-attr]
    assert rows.keys() == {(node(1), True)}


TRAINING = """w = torch.tensor([1.0, -2.0], requires_grad=True)
lr = 0.1
for step in range(3):
    loss = (w ** 2).sum()
    loss.backward()
    with torch.no_grad():
        w -= lr * w.grad
    w.grad = None
out = w * 2"""


def test_a_number_and_a_loop_that_writes_in_place(bench: Bench) -> None:
    bench.run(TRAINING)
    was, now = plain(TRAINING), plain(TRAINING.replace("lr = 0.1", "lr = 0.25"))
    answered = ask(bench, Change(node=node(2), value=0.25))
    rows = found(answered)
    assert (rows[node(2), False].before.value, rows[node(2), False].after.value) == (0.1, 0.25)  # type: ignore[union-attr]
    check(rows[node(7), False], was["w"].detach(), now["w"].detach())
    check(rows[node(9), False], was["out"], now["out"])
    assert [d.turns for d in answered.differences if d.node == node(4) and not d.grad] == [(1,), (2,)]


def test_one_turn_of_a_loop(bench: Bench) -> None:
    bench.run(TRAINING)
    now = plain(
        TRAINING.replace("    loss.backward", "    loss = loss * (3.0 if step == 1 else 1.0)\n    loss.backward")
    )
    answered = ask(bench, Change(node=node(4), turns=(1,), grad=True, value=3.0))
    rows = found(answered)
    check(rows[node(9), False], plain(TRAINING)["out"], now["out"])
    assert {d.turns for d in answered.differences if d.node == node(4)} == {(1,), (2,)}


def test_a_loop_variable(bench: Bench) -> None:
    text = "x = torch.ones(3)\ny = x * 1\nfor t in range(3):\n    y = y * (t + 1)"
    bench.run(text)
    rows = found(ask(bench, Change(node=node(3), turns=(2,), value=9)))
    check(rows[node(4), False], torch.full((3,), 6.0), torch.full((3,), 20.0))


def test_modules_optimizers_and_integers(bench: Bench) -> None:
    text = """x = torch.randn(4, 3)
fc = nn.Linear(3, 2)
target = torch.tensor([0, 1, 1, 0])
opt = optim.SGD(fc.parameters(), lr=0.1, momentum=0.9)
y = fc(x)
loss = F.cross_entropy(y, target)
loss.backward()
opt.step()
z = fc(x)"""
    bench.run(text)
    was = plain(text)
    now = plain(text.replace("opt = ", "fc.bias.data[1] = 3.0; opt = "))
    answered = ask(bench, Change(node=node(2), path="bias", index=(1,), value=3))
    check(found(answered)[node(9), False], was["z"], now["z"])
    weight = next(d for d in answered.differences if d.path == "weight" and not d.grad)
    check(weight, was["fc"].weight, now["fc"].weight)
    now = plain(text.replace("[0, 1, 1, 0]", "[0, 1, 0, 0]"))
    check(found(ask(bench, Change(node=node(3), index=(2,), value=0)))[node(9), False], was["z"], now["z"])


def test_an_item_of_a_list_and_an_in_place_result(bench: Bench) -> None:
    text = """x = torch.arange(6.0, requires_grad=True)
parts = x.split(2)
y = parts[1] * 1
y.mul_(3)
z = y.exp()
z.sum().backward()"""
    bench.run(text)
    was = plain(text)
    rows = found(ask(bench, Change(node=node(2), path="1", index=(0,), value=0.5)))
    changed = "y = (parts[1] + torch.tensor([-1.5, 0.0])) * 1"
    check(rows[node(5), False], was["z"], plain(text.replace("y = parts[1] * 1", changed))["z"])
    rows = found(ask(bench, Change(node=node(4), index=(1,), value=0.25)))
    now = plain(text.replace("z = y.exp()", "y = y + torch.tensor([0.0, -8.75]); z = y.exp()"))
    check(rows[node(5), False], was["z"], now["z"])
    check(rows[node(1), True], was["x"].grad, now["x"].grad)


def test_it_goes_as_far_as_the_live_state_and_leaves_it_alone(bench: Bench) -> None:
    bench.run(NETWORK, "forward")
    live = bench.engine.live
    assert live is not None
    weight, state = bench["W"], torch.get_rng_state()
    names, version = set(live.namespace), weight._version  # type: ignore[attr-defined]
    answered = ask(bench, Change(node=node(3), index=(0, 0), value=0))
    assert not [d for d in answered.differences if d.grad] and answered.differences
    assert bench["W"] is weight and weight._version == version and weight.grad is None  # type: ignore[attr-defined]
    assert set(live.namespace) == names and torch.equal(torch.get_rng_state(), state)
    bench.do("backward")
    assert torch.equal(bench["W"].grad, plain(NETWORK)["W"].grad)  # type: ignore[attr-defined]


def test_a_program_paused_in_a_block_keeps_its_modes(bench: Bench) -> None:
    text = "a = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n    b = a * 2\n    c = b * 2\nd = a * 3"
    bench.load(text)
    bench.do("step", "step", "step")
    assert not torch.is_grad_enabled()
    rows = found(ask(bench, Change(node=node(1), index=(0,), value=5)))
    assert rows.keys() == {(node(1), False), (node(3), False), (node(4), False)}
    assert not torch.is_grad_enabled()
    bench.do("run")
    assert not bench["c"].requires_grad and bench["d"].requires_grad  # type: ignore[attr-defined]
    assert torch.is_grad_enabled()


def test_default_dtype_and_an_unseeded_program(bench: Bench) -> None:
    text = "torch.set_default_dtype(torch.float64)\nx = torch.randn(3)\ny = x * 2"
    bench.load(text, seed=None)
    try:
        bench.do("run")
        rows = found(ask(bench, Change(node=node(2), index=(0,), value=1)))
        assert rows[node(3), False].before.value == bench["y"].tolist()  # type: ignore[union-attr, attr-defined]
        assert torch.get_default_dtype() is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_a_change_that_changes_nothing(bench: Bench) -> None:
    bench.run(TRAINING)
    assert found(ask(bench, Change(node=node(1), index=(0,), value=1.0))) == {}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (Change(node=node(1), index=(5, 0), value=1), "has no element [5, 0]: its shape is [2, 3]"),
        (Change(node=node(1), index=(0,), value=1), "has no element [0]"),
        (Change(node=node(3), index=(0,), value=0.5), "0.5 is no whole number"),
        (Change(node=node(3), index=(0,), value=2**70), "is not between"),
        (Change(node=node(4), value=7), "neither True nor False"),
        (Change(node=node(5), value=1.5), "1.5 is no whole number"),
        (Change(node=node(5), index=(1,), value=1), "single number"),
        (Change(node=node(6), value=1), "neither a tensor nor a number"),
        (Change(node=node(99), value=1), "not a part of the program"),
        (Change(node=node(8), value=1), "stands in a loop: say in which turn"),
        (Change(node=node(8), turns=(7,), value=1), "was not run in turn 8 before"),
        (Change(node=node(8), turns=(7, 2), value=1), "was not run in turn 3 in 8 before"),
        (Change(node=node(1), grad=True, value=1), "does not require grad"),
        (Change(node=node(9), grad=True, value=1), "No gradient arrived"),
        (Change(node=node(10), value=1), "gives no result"),
        (Change(node=node(9), path="bias", value=1), "has no item bias"),
    ],
)
def test_what_cannot_be_changed_is_said_in_words(bench: Bench, change: Change, words: str) -> None:
    bench.run(
        "x = torch.ones(2, 3)\nW = torch.ones(3, requires_grad=True)\ni = torch.tensor([1, 2])\nb = x > 0\nn = 2\n"
        "d = torch.float32\nfor t in range(2):\n    c = x * t\ny = W * 2\nprint(n)\nz = W.sum()\nz.backward()"
    )
    answered = ask(bench, change)
    assert words in answered.error and answered.differences == ()


def test_a_change_that_breaks_the_program_names_the_node(bench: Bench) -> None:
    bench.run("x = torch.arange(4)\ni = torch.tensor([1, 2])\ny = x * 2\nz = y[i]")
    answered = ask(bench, Change(node=node(2), index=(0,), value=40))
    assert answered.failed == node(4) and "IndexError" in answered.error
    assert [d.node for d in answered.differences] == [node(2)]


def test_stop_is_heard_between_statements(bench: Bench) -> None:
    bench.run(TRAINING)
    assert ask(bench, Change(node=node(2), value=0.3), stop_after=4).error == "Stopped."
