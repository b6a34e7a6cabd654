"""What a recorded pass may ask of our own functions: so many calls for each operator, forward and backward together."""

from tests.engine.conftest import Bench
from tests.helpers.call_count import calls_of

CALLS_AN_OPERATOR = 40
"""Lowering it is welcome."""
SPELLED = ("torch.mul({}, 1.01)", "torch.tanh({})", "torch.add({}, 0.1)", "torch.sigmoid({})")


def chain(length: int) -> str:
    """So many small operators one after the other, and a backward."""
    lines = ["h0 = torch.full((16, 8), 0.5, requires_grad=True)"]
    lines += [f"h{k + 1} = {SPELLED[k % 4].format(f'h{k}')}" for k in range(length)]
    return "\n".join([*lines, f"loss = h{length}.sum()", "loss.backward()"])


def calls_of_a_pass(bench: Bench, length: int) -> int:
    """Calls of functions in gradstudio that a recorded pass takes once all is made ready."""
    bench.run(chain(length))
    bench.do("forward", "backward", "forward", "backward")
    return min(calls_of(lambda: bench.do("forward", "backward")) for _ in range(3))  # one may meet a collection


def test_an_operator_more_takes_few_calls_more() -> None:
    short, long = 100, 200
    calls = {length: calls_of_a_pass(Bench(compares=False), length) for length in (short, long)}
    an_operator = (calls[long] - calls[short]) / (long - short)
    assert an_operator <= CALLS_AN_OPERATOR, f"{an_operator} calls an operator"
