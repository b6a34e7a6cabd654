"""How gradients stand at the end of a verb: what the rows of the run said already is named, all else is told.

That what a window makes of it is what the engine has, `Bench` asserts of every program of every test.
"""

import pytest
import torch
from torch import Tensor

from gradstudio.protocol.framing import encode
from gradstudio.protocol.messages.events import Gradients
from gradstudio.protocol.messages.records import Summary
from gradstudio.protocol.messages.requests import Do
from tests.engine.build import node
from tests.engine.conftest import Bench

LENGTH = 30
CHAIN = "\n".join(
    [
        "h0 = torch.linspace(-1, 1, 400).reshape(20, 20).requires_grad_()",
        *(f"h{k + 1} = torch.tanh(h{k} * {1 + k / 10})" for k in range(LENGTH)),
        f"loss = h{LENGTH}.sum()",
        "loss.backward()",
    ]
)


def told(bench: Bench) -> Gradients:
    """The last whole telling."""
    return [event for event in bench.events if isinstance(event, Gradients) and event.whole][-1]


def by_hand() -> list[Tensor]:
    """The values of the chain, each with its `.grad`."""
    values = [torch.linspace(-1, 1, 400).reshape(20, 20).requires_grad_()]
    for k in range(LENGTH):
        values.append(torch.tanh(values[-1] * (1 + k / 10)))
        values[-1].retain_grad()
    values[-1].sum().backward()
    return values


def figures(summary: Summary | None) -> tuple[object, ...]:
    assert summary is not None
    return summary.minimum, summary.maximum, summary.mean, summary.rms, summary.shape


def test_a_gradient_crosses_once_and_is_torchs(bench: Bench) -> None:
    bench.run(CHAIN, "forward", "backward")
    values = by_hand()
    picture = 4 * values[0].numel()
    sent = sum(len(encode(event)) for event in bench.events)
    assert sent < 1.5 * picture * 2 * (LENGTH + 1), "of each tanh and each product one picture"
    for k in range(1, LENGTH + 1):
        row = bench.window.grad(node(k + 1))
        grad = values[k].grad
        assert row is not None and row.grad is not None and grad is not None and row.state == "value"
        low, high, mean, rms, shape = figures(row.grad)
        expected = (grad.min().item(), grad.max().item(), grad.mean().item(), grad.square().mean().sqrt().item())
        assert (low, high, mean, rms) == pytest.approx(expected, rel=1e-5)
        assert shape == (20, 20)


def test_what_waits_is_named_and_not_told_in_rows(bench: Bench) -> None:
    bench.run(CHAIN, "forward")
    made = {node(k + 1) for k in range(1, LENGTH + 1)}
    assert made <= set(told(bench).in_record.births)
    assert not made & {row.node for row in told(bench).rows}


def test_what_was_told_before_is_told_again_in_rows(bench: Bench) -> None:
    """A window may have gone back since, and a whole telling sets it right."""
    bench.run(CHAIN, "forward", "backward")
    bench.do("zero_grad")
    assert told(bench).in_record == Gradients(revision=0, rows=()).in_record
    assert {node(k + 1) for k in range(LENGTH + 1)} <= {row.node for row in told(bench).rows}


NOT_IN_RECORD = {
    "given back by autograd.grad": "h = x * 3\ng = torch.autograd.grad((h * h).sum(), [h])",
    "written into since": "h = x * 3\nh.mul_(2)\nh.sum().backward()",
    "not reached": "h = x * 3\nk = x * 2\nk.sum().backward()",
    "several results": "h, k = (x * 3).unbind()\nh.backward()",
}


@pytest.mark.parametrize("text", NOT_IN_RECORD.values(), ids=NOT_IN_RECORD)
def test_what_the_record_does_not_tell_is_told_in_rows(bench: Bench, text: str) -> None:
    bench.run(f"x = torch.tensor([1.0, 2.0], requires_grad=True)\n{text}")
    assert node(2) in {row.node for row in told(bench).rows}


def test_an_older_value_that_a_backward_meets_once_more_says_nothing_of_the_new_one(bench: Bench) -> None:
    bench.run(
        "m = nn.Linear(1, 1)\n"
        "x = torch.tensor(2.0, requires_grad=True)\n"
        "h = x + torch.rand(())\n"
        "loss = (m.weight * h).sum()\n"
        "loss.backward()"
    )
    module, before = bench["m"], bench["h"]
    assert isinstance(module, torch.nn.Linear) and isinstance(before, Tensor)
    del module.weight
    module.weight = before  # type: ignore[assignment]  # no parameter any more
    bench.do("forward", "backward")
    assert bench["h"] is not before
    told_now = bench.window.grad(node(3))
    assert told_now is not None and told_now.grad is not None
    assert told_now.grad.value == before.item(), "what came to the new value, not to the old one"


def test_gradients_out_of_view_are_told_in_full_once_there_is_time() -> None:
    bench = Bench()
    bench.run(CHAIN, "forward")
    bench.engine.do(Do(verb="backward", summaries="visible", visible=(node(3),)))
    before = len(bench.events)
    while bench.engine.idle():
        pass
    since = [event for event in bench.events[before:] if isinstance(event, Gradients)]
    assert not {node(k + 1) for k in range(1, LENGTH + 1)} & {row.node for event in since for row in event.rows}
    values = by_hand()
    for k in range(1, LENGTH + 1):
        grad = values[k].grad
        assert grad is not None
        for backward in (None, 1):
            row = bench.window.grad(node(k + 1), backward=backward)
            assert row is not None
            assert figures(row.grad)[2] == pytest.approx(grad.mean().item(), rel=1e-5)
    for tick in bench.window.ticks:
        for value in tick.autograd.values if tick.autograd is not None else ():
            places = [place for place in range(LENGTH + 1) if node(place + 1) == value.node]
            grad = values[places[0]].grad if places else None
            if grad is not None:
                then = bench.window.grad(value.node, tick=tick.index)
                assert then is not None
                assert figures(then.grad)[2] == pytest.approx(grad.mean().item(), rel=1e-5), "at its own moment, too"
    leaf, grad = bench.window.grad(node(1), backward=1), values[0].grad
    assert leaf is not None and grad is not None
    assert figures(leaf.grad)[2] == pytest.approx(grad.mean().item(), rel=1e-5)
