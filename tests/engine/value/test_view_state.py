"""Tensors of which torch refuses to say whether they are leaves: the engine goes on without."""

import pytest

from tests.engine.conftest import Bench

FORBIDDEN_VIEW = """
w = torch.ones(4, requires_grad=True)
b = w * 1
with torch.no_grad():
    v = b.view(2, 2)
b.add_(w)
loss = b.sum()
loss.backward()
"""


@pytest.mark.parametrize("trace", [True, False])
def test_a_view_whose_history_torch_forbids_to_ask_for_is_told_all_the_same(bench: Bench, trace: bool) -> None:
    assert bench.run(FORBIDDEN_VIEW, trace=trace).outcome == "done"
    record = bench.report()["v"].outputs[0]
    assert (record.requires_grad, record.is_leaf, record.grad_fn) == (True, False, None)  # type: ignore[union-attr]
    assert bench.do("forward").outcome == "done"


def test_a_backward_from_it_fails_with_torchs_words(bench: Bench) -> None:
    bench.run(FORBIDDEN_VIEW + "s = v.sum()\n")
    assert bench.failed().message.startswith("A view was created in no_grad mode")
    bench.run(FORBIDDEN_VIEW + "torch.autograd.backward([v], [torch.ones(2, 2)])\n")
    assert bench.failed().type_name == "RuntimeError"
