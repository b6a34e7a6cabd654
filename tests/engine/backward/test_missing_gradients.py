"""Values that a backward did not reach, or not where they were made: what is true of them, and the reason told."""

from typing import Any

from gradstudio.protocol import gradient_sentences as words
from tests.engine.build import PRELUDE, node
from tests.engine.conftest import Bench


def in_torch(text: str) -> dict[str, Any]:
    """The names of the text after it ran in plain torch."""
    namespace: dict[str, Any] = {}
    exec(PRELUDE + text, namespace)
    return namespace


WRITTEN_VIEW = """
x = torch.tensor([[1.0, 2, 3], [4, 5, 6]], requires_grad=True)
s = torch.tensor(2.0, requires_grad=True)
z = x * s
v = z.view(3, 2)
t = v.t()
v.add_(s)
loss = t.mean()
loss.backward()
"""


def test_another_view_of_written_memory_has_the_gradient_of_the_value_after_the_write(bench: Bench) -> None:
    bench.run(WRITTEN_VIEW)
    plain = in_torch(WRITTEN_VIEW.replace("loss =", "t.retain_grad(); v.retain_grad(); loss ="))
    shown = bench.grad(5)
    assert shown.grad is not None and shown.grad.value == plain["t"].grad.tolist()  # type: ignore[union-attr]
    assert (shown.state, shown.reason) == ("value", words.value_after("add_"))
    assert plain["v"].grad is None
    assert (bench.state(4), bench.grad(4).cause) == ("not_reached", node(6))
    assert "written to by add_ since" in bench.grad(4).reason
    assert (bench.state(6), bench.grad(6).cause) == ("not_reached", node(5))
    (arrived,) = [value for row in bench.traced()[0].rows for value in row.values if value.node == node(5)]
    assert arrived.after == "add_"


def test_what_came_to_a_node_that_refused_to_run_has_arrived(bench: Bench) -> None:
    text = """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    z = y * 3
    w = y * z
    l = w.sum()
    y.add_(1)
    l.backward()
    """
    assert bench.run(text).outcome == "failed"
    assert [bench.state(line) for line in (1, 2, 3, 4)] == ["not_reached", "not_reached", "not_reached", "value"]
    text = text.replace("w = y * z", "w = y + z")
    assert bench.run(text).outcome == "failed"
    plain = in_torch(
        "x = torch.ones(2, requires_grad=True)\ny = x.exp()\ny.retain_grad()\n(y + y * 3).sum().backward()"
    )
    shown = bench.grad(2)
    assert (bench.state(1), shown.state) == ("not_reached", "value")
    assert shown.grad is not None and shown.grad.value == plain["y"].grad.tolist()  # type: ignore[union-attr]


def test_a_refused_autograd_grad_has_computed_what_it_did_not_return(bench: Bench) -> None:
    text = """
    x = torch.tensor(2.0, requires_grad=True)
    w = torch.tensor(3.0, requires_grad=True)
    y = x ** 2
    g = torch.autograd.grad(y, [x, w])
    """
    assert bench.run(text).outcome == "failed"
    assert [bench.state(line) for line in (1, 2, 3)] == ["not_retained", "not_reached", "value"]
    assert "ended in an error" in bench.grad(1).reason


def test_what_was_not_reached_has_its_reason(bench: Bench) -> None:
    bench.run(
        """
        x = torch.tensor(2.0, requires_grad=True)
        unused = x * 2
        h = x * 3
        c = h.detach()
        z = x * c
        z.backward()
        """
    )
    assert bench.grad(2).reason == "Nothing that the backward began from was computed from it."
    assert (bench.state(3), bench.grad(3).cause) == ("not_reached", node(4))
    assert bench.grad(3).reason == "The way back to it is cut: detach gives a tensor that does not require grad."
