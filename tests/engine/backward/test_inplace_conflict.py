"""Who wrote into what when torch refuses an in-place write, or a backward after one."""

from typing import Any

import pytest

from gradstudio.protocol.messages.debugging import Clash
from tests.engine.build import PRELUDE_LINES, node
from tests.engine.conftest import Bench

LEAF = "x = torch.tensor([1.0, 2.0], requires_grad=True)\n"


def clash(bench: Bench, text: str, *verbs: Any) -> Clash:
    assert bench.run(text, *verbs).outcome == "failed"
    found = bench.failed().clash
    assert found is not None
    return found


def culprits(found: Clash) -> list[tuple[str, tuple[int, ...], int]]:
    return [(one.node, one.turns, one.version) for one in found.culprits]


def line(of: int) -> int:
    """Line of the script: the header has a seed."""
    return of + PRELUDE_LINES + 1


def test_exp_keeps_its_result_and_adding_to_it_is_the_culprit(bench: Bench) -> None:
    found = clash(bench, LEAF + "y = x.exp()\ny += 1\ns = y.sum()\ns.backward()")
    assert (found.victim, found.victim_address, found.victim_line) == (node(2), "y", line(2))
    assert (found.autograd, found.saved, found.value) == ("ExpBackward0", "result", node(2))
    assert (found.saved_version, found.version) == (0, 1)
    (culprit,) = found.culprits
    assert (culprit.node, culprit.line, culprit.version) == (node(3), line(3), 1)
    assert culprit.address


def test_what_a_write_into_a_view_kept_is_found_by_the_log_of_writes(bench: Bench) -> None:
    """CopySlices hides the operator inside it, and with it what that one saved."""
    text = (
        LEAF
        + """
v1 = x * 1
v2 = v1 + v1
v3 = v2.unsqueeze(0)
v3.mul_(v3)
with torch.no_grad():
    v2.add_(1)
s = v3.sum()
s.backward()"""
    )
    found = clash(bench, text)
    assert (found.victim, found.autograd, found.value) == (node(6), "CopySlices", node(5))
    assert (found.saved_version, found.version) == (0, 2)
    assert culprits(found) == [(node(6), (), 1), (node(8), (), 2)]


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize("between", ["", "a = w * 2\n", "with torch.no_grad():\n    c = row.sum()\n", "b = row\n"])
def test_looking_at_a_view_lets_no_write_through_that_torch_refuses(bench: Bench, between: str, trace: bool) -> None:
    text = f"w = torch.ones(2, 2, requires_grad=True)\nbase = torch.zeros(2, 2)\nrow = base.t()\nbase += w\n{between}"
    bench.load(text + "row.zero_()")
    assert bench.do("run", trace=trace).outcome == "failed"
    assert "a leaf Variable that requires grad" in bench.failed().message


def test_a_view_that_a_statement_brings_up_to_date_has_its_wire_and_gradient(bench: Bench) -> None:
    text = """
w = torch.ones(2, 2, requires_grad=True)
base = torch.zeros(2, 2)
row = base.t()
base += w
y = row * 3
s = y.sum()
s.backward()"""
    assert bench.run(text).outcome == "done"
    (backward,) = bench.traced()
    sent = {(wire.source, wire.target): wire.grad for wire in backward.wires}
    grad = sent[node(3), node(5)]
    assert grad is not None
    assert grad.value == [[3.0, 3.0], [3.0, 3.0]]


def test_the_same_with_a_square_is_no_clash(bench: Bench) -> None:
    assert bench.run(LEAF + "y = x ** 2\ny += 1\ns = y.sum()\ns.backward()").outcome == "done"


@pytest.mark.parametrize(
    ("operation", "autograd", "saved"),
    [
        ("x.sigmoid()", "SigmoidBackward0", "result"),
        ("x.tanh()", "TanhBackward0", "result"),
        ("torch.softmax(x, 0)", "SoftmaxBackward0", "result"),
        ("x.sqrt()", "SqrtBackward0", "result"),
    ],
)
@pytest.mark.parametrize(
    "write",
    ["y.mul_(2)", "y[0] = 7.0", "y *= 2", "with torch.no_grad():\n    y.add_(1)", "z = F.relu(y, inplace=True)"],
)
def test_an_operator_that_keeps_its_result_against_every_way_to_write(
    bench: Bench, operation: str, autograd: str, saved: str, write: str
) -> None:
    found = clash(bench, f"{LEAF}y = {operation}\n{write}\ns = y.sum()\ns.backward()")
    assert (found.victim, found.autograd, found.saved, found.value) == (node(2), autograd, saved, node(2))
    assert [culprit.node for culprit in found.culprits] == [node(3 + write.startswith("with"))]


def test_an_operand_that_was_kept_is_named(bench: Bench) -> None:
    text = """
    a = torch.ones(2, 2, requires_grad=True)
    b = torch.full((2, 2), 3.0)
    c = a @ b
    b += 1
    b.mul_(2)
    s = c.sum()
    s.backward()
    """
    found = clash(bench, text)
    assert (found.victim, found.autograd, found.value) == (node(3), "MmBackward0", node(2))
    assert (found.saved_version, found.version) == (0, 2)
    assert culprits(found) == [(node(4), (), 1), (node(5), (), 2)]


def test_only_writes_behind_the_saving_are_culprits(bench: Bench) -> None:
    found = clash(bench, LEAF + "b = torch.ones(2)\nb += 1\ny = x * b\nb += 1\ns = y.sum()\ns.backward()")
    assert (found.victim, found.value, found.saved_version, found.version) == (node(4), node(2), 1, 2)
    assert culprits(found) == [(node(5), (), 2)]


def test_a_view_that_is_written_through_is_found(bench: Bench) -> None:
    found = clash(bench, LEAF + "y = x.exp()\nv = y[0]\nv.add_(1)\ns = y.sum()\ns.backward()")
    assert (found.victim, found.value) == (node(2), node(2))
    assert culprits(found) == [(node(4), (), 1)]


def test_an_out_argument_writes(bench: Bench) -> None:
    text = LEAF + "b = torch.ones(2)\ny = x * b\nz = torch.add(torch.ones(2), 1, out=b)\ns = y.sum()\ns.backward()"
    found = clash(bench, text)
    assert (found.victim, found.value) == (node(3), node(2))
    assert culprits(found) == [(node(4), (), 1)]


def test_a_module_that_works_in_place_writes(bench: Bench) -> None:
    found = clash(bench, LEAF + "act = nn.ReLU(inplace=True)\ny = x.tanh()\nz = act(y)\ns = z.sum()\ns.backward()")
    assert (found.victim, found.value, found.saved) == (node(3), node(3), "result")
    assert culprits(found) == [(node(4), (), 1)]


def test_a_parameter_that_is_written_into_is_found(bench: Bench) -> None:
    text = """
    net = nn.Linear(2, 1, bias=False)
    x = torch.ones(3, 2, requires_grad=True)
    s = net(x).sum()
    nn.init.zeros_(net.weight)
    s.backward()
    """
    found = clash(bench, text)
    assert (found.victim, found.value) == (node(3), node(1))
    assert culprits(found) == [(node(4), (), found.version)]


def test_in_a_loop_the_turn_that_wrote_is_named(bench: Bench) -> None:
    text = """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = torch.zeros(2)
    total = torch.zeros(())
    for i in range(3):
        y = x * h
        total = total + y.sum()
        h += 1
    total.backward()
    """
    found = clash(bench, text)
    assert (found.victim, found.autograd, found.value) == (node(5), "MulBackward0", node(2))
    assert (found.saved_version, found.version) == (2, 3)
    assert culprits(found) == [(node(7), (2,), 3)]


def test_a_step_of_the_optimizer_between_two_backwards(bench: Bench) -> None:
    text = """
    net = nn.Linear(2, 3)
    out = nn.Linear(3, 1)
    opt = optim.SGD([*net.parameters(), *out.parameters()], lr=0.1)
    x = torch.ones(4, 2)
    h = net(x)
    loss = out(h).sum()
    loss.backward(retain_graph=True)
    opt.step()
    loss.backward()
    """
    found = clash(bench, text)
    assert (found.victim, found.value) == (node(6), node(2))
    assert [culprit.node for culprit in found.culprits] == [node(8)]
    assert found.autograd == "AddmmBackward0"


def test_the_first_victim_torch_comes_to_is_the_one_told(bench: Bench) -> None:
    found = clash(bench, LEAF + "y = x.exp()\nz = y.sin()\ny += 1\ns = (z + y).sum()\ns.backward()")
    assert (found.victim, found.autograd, found.saved, found.value) == (node(3), "SinBackward0", "self", node(2))


@pytest.mark.parametrize("write", ["x += 1", "x.add_(1)", "x[0] = 5.0", "y = F.relu(x, inplace=True)"])
def test_a_leaf_that_requires_grad_is_the_victim_itself(bench: Bench, write: str) -> None:
    found = clash(bench, LEAF + write)
    assert (found.victim, found.victim_line, found.autograd) == (node(1), line(1), "")
    assert [(one.node, one.line) for one in found.culprits] == [(node(2), line(2))]


def test_a_view_of_a_leaf_leads_to_the_leaf(bench: Bench) -> None:
    found = clash(bench, LEAF + "v = x[0]\nv.add_(1)")
    assert (found.victim, [culprit.node for culprit in found.culprits]) == (node(1), [node(3)])


def test_a_view_made_without_gradients_leads_to_what_it_looks_at(bench: Bench) -> None:
    found = clash(bench, LEAF + "y = x * 1\nwith torch.no_grad():\n    v = y[:1]\nv.add_(1)")
    assert (found.victim, [culprit.node for culprit in found.culprits]) == (node(2), [node(5)])


@pytest.mark.parametrize(
    ("text", "verbs"),
    [
        (LEAF + "s = (x * x).sum()\ns.backward()", ("run", "backward")),
        (LEAF + "y = x.reshape(3)", ("run",)),
        ("x = torch.ones(2)\ns = x.sum()\ns.backward()", ("run",)),
    ],
)
def test_other_failures_are_no_clash(bench: Bench, text: str, verbs: tuple[Any, ...]) -> None:
    assert bench.run(text, *verbs).outcome == "failed"
    assert bench.failed().clash is None


def test_a_name_that_is_bound_anew_keeps_no_blame(bench: Bench) -> None:
    text = """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for i in range(4):
        b = torch.ones(2)
        b += 1
    c = torch.ones(2)
    y = x * c
    c += 1
    s = y.sum()
    s.backward()
    """
    assert culprits(clash(bench, text)) == [(node(7), (), 1)]
