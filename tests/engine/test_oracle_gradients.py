"""What random programs against plain torch have shown: what a recorded backward must not change or lose."""

import pytest
import torch

from gradstudio.engine.live.tensor_table import fetch
from gradstudio.protocol.messages.requests import Fetch
from tests.engine.build import PRELUDE, node
from tests.engine.conftest import Bench

HANDED_ON = {
    "a view of the given gradient": """
v = nn.Parameter(torch.randn(2, 3))
y = 1 + v
z = y[None]
g = torch.ones(1, 2, 3)
z.backward(g)
v.grad += 1""",
    "only one leaf is asked for": """
v = torch.ones(2, 3, requires_grad=True)
y = v.movedim(0, -1)
g = torch.randn(3, 2)
y.backward(g, retain_graph=True, inputs=[v])
g += g""",
    "two roots": """
v = torch.ones(2, 3, requires_grad=True)
y = v.view(6)
z = v.exp()
s = z.sum()
w = y[:3]
g = torch.randn(3)
torch.autograd.backward([w, s], [g, None])
v.grad.zero_()""",
}


@pytest.mark.parametrize("name", HANDED_ON)
def test_a_given_gradient_that_torch_hands_to_a_leaf_is_shared_as_without_a_record(bench: Bench, name: str) -> None:
    plain: dict[str, torch.Tensor] = {}
    exec(f"{PRELUDE}torch.manual_seed(0)\n{HANDED_ON[name]}", plain)
    assert bench.run(HANDED_ON[name]).outcome == "done"
    v, g = bench["v"], bench["g"]
    assert isinstance(v, torch.Tensor)
    assert isinstance(g, torch.Tensor)
    assert plain["v"].grad is not None
    assert v.grad is not None
    assert torch.equal(v.grad, plain["v"].grad)
    assert torch.equal(g, plain["g"])
    assert (v.grad.data_ptr() == g.data_ptr()) == (plain["v"].grad.data_ptr() == plain["g"].data_ptr())


def test_a_recorded_gradient_that_was_overwritten_is_not_told_as_if_it_were_whole(bench: Bench) -> None:
    bench.run(HANDED_ON["a view of the given gradient"])
    live = bench.engine.live
    told = fetch(live, Fetch(request=1, node=node(3), grad=True))
    assert told.error.startswith("That gradient is past")
    shown = bench.grad(3).grad
    assert shown is not None
    assert shown.value == [[[1, 1, 1], [1, 1, 1]]]


def sent(bench: Bench) -> dict[tuple[str, str, tuple[int, ...]], object]:
    wires = bench.traced()[-1].wires
    return {(wire.target, wire.port, wire.turns): wire.grad.value for wire in wires if wire.grad is not None}


@pytest.mark.parametrize("alias", ["w = y", "w = y.contiguous()", "w = y.float()"])
@pytest.mark.parametrize("seed", ["", "torch.tensor(5.0)"])
def test_an_alias_that_a_backward_starts_from_passes_the_seed_on(bench: Bench, alias: str, seed: str) -> None:
    bench.run(f"x = torch.tensor(2.0, requires_grad=True)\ny = x * 3\n{alias}\nw.backward({seed})")
    port = "value" if alias == "w = y" else "self"
    assert sent(bench)[node(3), port, ()] == (5 if seed else 1)


def test_an_alias_of_a_leaf_has_what_its_readers_and_the_seed_send(bench: Bench) -> None:
    bench.run(
        "x = torch.tensor(1.0, requires_grad=True)\ny = x\nz = y ** 2\ntorch.autograd.backward([z, y])",
        tensors=(),
    )
    assert bench["x"].grad.item() == 3  # type: ignore[attr-defined]
    assert sent(bench)[node(2), "value", ()] == 2  # the builder's list of roots is no wire, so no seed is known
    text = "x = torch.tensor(1.0, requires_grad=True)\ny = x\nz = y ** 2\nz.backward(retain_graph=True)\ny.backward()"
    bench.run(text)
    assert sent(bench)[node(2), "value", ()] == 1


def test_a_loop_that_gives_back_its_tensor_passes_it_through_every_turn(bench: Bench) -> None:
    text = """
    x = torch.ones(3, requires_grad=True)
    h = x * 2
    for t in range(3):
        h = h.contiguous()
    s = torch.ones(3)
    h.backward(s)
    """
    bench.run(text)
    wires = sent(bench)
    assert [wires[node(4), "self", (turn,)] for turn in range(3)] == [[1, 1, 1]] * 3
    sources = {w.turns: w.source_turns for w in bench.traced()[-1].wires if w.target == node(4)}
    assert sources[2,] == (1,)
    assert sources[1,] == (0,)


def test_one_tensor_twice_in_a_list_is_dealt_out_and_not_counted_twice(bench: Bench) -> None:
    text = """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = x * 1
    xs = [h, h]
    y = torch.cat(xs)
    k = torch.tensor([1.0, 2.0, 3.0, 4.0])
    z = y * k
    s = z.sum()
    s.backward()
    """
    bench.run(text)
    wires = sent(bench)
    assert wires[node(3), "elements.0", ()] == [1, 2]
    assert wires[node(3), "elements.1", ()] == [3, 4]
    assert bench["x"].grad.tolist() == [4, 6]  # type: ignore[attr-defined]


def test_a_root_torch_has_no_edge_for_fails_in_torchs_words(bench: Bench) -> None:
    text = """
    x = torch.randn(3, 3, requires_grad=True)
    g = torch.ones(2)
    with torch.no_grad():
        v = x.as_strided((2,), (1,))
    v.backward(g)
    """
    assert bench.run(text).outcome == "failed"
    assert bench.failed().message == "element 0 of tensors does not require grad and does not have a grad_fn"
