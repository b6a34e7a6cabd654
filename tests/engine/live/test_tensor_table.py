"""Tables of a moment that is past: refused in words where only a preview is left."""

from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.live.tensor_table import fetch
from gradstudio.protocol.messages.events import Fetched
from gradstudio.protocol.messages.requests import Fetch
from tests.engine.build import node
from tests.engine.conftest import Bench


def fetched(bench: Bench, line: int, name: str = "", grad: bool = False) -> Fetched:
    with clean_modes():
        return fetch(bench.engine.live, Fetch(request=1, node=node(line), name=name, grad=grad))


def test_a_value_that_was_overwritten_is_not_told_as_it_was(bench: Bench) -> None:
    bench.run("x = torch.ones(2)\ny = x * 2\nx.add_(5)")
    assert "That moment is past: it was overwritten since" in fetched(bench, 1).error
    assert fetched(bench, 1, name="x").values == ((6.0, 6.0),)
    assert fetched(bench, 2).values == ((2.0, 2.0),)
    assert fetched(bench, 3).values == ((6.0, 6.0),)


def test_a_trained_parameter_is_told_as_it_stands_or_refused(bench: Bench) -> None:
    bench.run(
        "fc = nn.Linear(2, 1)\no = optim.SGD(fc.parameters(), lr=1.0)\ns = fc(torch.ones(1, 2)).sum()\n"
        "s.backward()\no.step()"
    )
    weight = bench["fc"].weight  # type: ignore[attr-defined]
    assert fetched(bench, 1, name="fc.weight").values == (tuple(weight[0].tolist()),)
    assert "That moment is past" in fetched(bench, 1, name=".weight").error


def test_a_value_and_a_gradient_that_had_to_make_room(bench: Bench) -> None:
    bench.run("x = torch.ones(2, requires_grad=True)\ny = x * 2\ns = y.sum()\ns.backward()\ny = 3")
    live = bench.engine.live
    assert live is not None
    live.gradients.values[node(2), 0, ""].grad = None
    live.gradients.values[node(2), 0, ""].tensor = None
    assert fetched(bench, 2, grad=True).error == "That gradient had to make room; only its preview was kept."
    assert fetched(bench, 2).error == "That moment is past: the value is not kept, only its preview is."
