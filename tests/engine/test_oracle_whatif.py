"""What-if where two names are one leaf: only what reads the changed name sees another value."""

from gradstudio.protocol.messages.debugging import Change
from tests.engine.build import node
from tests.engine.conftest import Bench
from tests.engine.experiment.test_whatif import ask

TEXT = """
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * x
w = x.float()
z = w * 3
a = y + z
s = a.sum()
s.backward()
"""


def test_an_alias_of_a_leaf_is_changed_and_the_leaf_is_not(bench: Bench) -> None:
    bench.run(TEXT)
    answered = ask(bench, Change(node=node(3), index=(0,), value=10.0))
    assert answered.error == ""
    after = {(d.node, d.grad): d.after.value for d in answered.differences if d.after is not None}
    assert after == {
        (node(3), False): [10, 2],
        (node(4), False): [30, 6],
        (node(5), False): [31, 10],
        (node(6), False): 41,
    }
    assert bench["x"].tolist() == [1, 2]  # type: ignore[attr-defined]
    assert bench["x"].grad.tolist() == [5, 7]  # type: ignore[attr-defined]


def test_the_leaf_itself_is_changed_for_all_its_names(bench: Bench) -> None:
    bench.run(TEXT)
    answered = ask(bench, Change(node=node(1), index=(0,), value=10.0))
    after = {(d.node, d.grad): d.after.value for d in answered.differences if d.after is not None}
    assert after[node(2), False] == [100, 4]
    assert after[node(4), False] == [30, 6]
    assert after[node(1), True] == [23, 7]
