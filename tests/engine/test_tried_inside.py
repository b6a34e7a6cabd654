"""What-if and gradcheck of nodes inside calls of groups, against plain torch."""

import pytest
import torch

from gradstudio.engine.experiment.gradcheck import check
from gradstudio.engine.experiment.rerun import World, stop_place
from gradstudio.engine.experiment.whatif import answer
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.debugging import Change, Check, Checked, Difference, WhatIf, WhatIfAnswered
from tests.engine.conftest import Bench
from tests.engine.run.test_call_tracing import CLASSES, FUNCTIONS
from tests.engine.test_paused_inside import Walk

pytestmark = pytest.mark.feature(40)


def world(bench: Bench) -> World:
    engine = bench.engine
    assert engine.loaded is not None
    return World(engine.loaded, 0, engine._defaults, engine.stored.load_file, lambda: False)


def changed(bench: Bench, walk: Walk, address: str, **fields: object) -> WhatIfAnswered:
    change = Change(node=walk.id(address), **fields)  # type: ignore[arg-type]
    engine, around = bench.engine, world(bench)
    return answer(around, WhatIf(request=1, change=change), stop_place(engine.live, engine.stale, around.loaded))


def checked(bench: Bench, walk: Walk, *addresses: str) -> Checked:
    return check(world(bench), Check(request=1, nodes=tuple(map(walk.id, addresses))))


def numbers(difference: Difference) -> tuple[object, object]:
    assert difference.before is not None and difference.after is not None
    return difference.before.value, difference.after.value


def twice(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    d = torch.tanh(b * (b + 1))
    for _ in range(3):
        d = d * a
    return d


def test_a_value_inside_one_call_changes_what_follows_inside_and_outside(bench: Bench) -> None:
    walk = Walk(bench, FUNCTIONS)
    walk.do()
    answered = changed(bench, walk, "y/twice.b/scale.b", index=(1,), value=5.0)
    assert answered.error == ""
    found = {(walk.address(one.node), one.output, one.grad): one for one in answered.differences}
    torch.manual_seed(0)
    w = torch.randn(3, requires_grad=True)
    b = (w * 2.0).detach().clone()
    b[1] = 5.0
    y, plain = twice(w, b), twice(w, w * 2.0)
    assert numbers(found["y", 0, False]) == (plain.tolist(), y.tolist())
    assert numbers(found["z", 0, False])[1] == twice(y, y * 2.0).tolist()
    assert numbers(found["y/twice.b/scale.b", 0, False])[1] == b.tolist()
    assert ("w", 0, True) in found and ("w", 0, False) not in found
    assert ("z/twice.b/scale.b", 0, False) in found


def test_what_a_call_is_given_can_be_changed_and_a_gradient_inside_too(bench: Bench) -> None:
    walk = Walk(bench, FUNCTIONS)
    walk.do()
    answered = changed(bench, walk, "z/@inputs", index=(0,), value=0.5)
    found = {(walk.address(one.node), one.grad) for one in answered.differences}
    assert answered.error == "" and ("z", False) in found and ("y", False) not in found
    answered = changed(bench, walk, "z/twice.b/scale.b", grad=True, value=0.0)
    assert answered.error == ""
    found = {(walk.address(one.node), one.grad) for one in answered.differences}
    assert ("w", True) in found and not [node for node, grad in found if not grad]


def test_what_if_goes_as_far_as_the_run_that_is_paused_inside(bench: Bench) -> None:
    walk = Walk(bench, FUNCTIONS)
    walk.do(until=walk.id("z/twice.b"))
    answered = changed(bench, walk, "y/twice.b/scale.b", value=0.25)
    last = {walk.address(one.node) for one in answered.differences}
    assert "z/twice.b/scale.b" in last and "z" not in last
    assert "was not run" in changed(bench, walk, "z/twice.e", value=1.0).error


def test_a_change_that_makes_what_is_inside_fail_names_the_node_inside(bench: Bench) -> None:
    text = FUNCTIONS.replace("b = a * k", "n = int(k)\n    b = a.view(n, 3) if False else a * k").replace(
        " if False else a * k", ""
    )
    walk = Walk(bench, text.replace("k=2.0", "k=1").replace("n = int(k)", "n = k + 0"))
    walk.do()
    answered = changed(bench, walk, "y/twice.b/scale.n", value=2)
    assert answered.error.startswith("With the change the program fails at `y/b/b`"), answered
    assert answered.failed == walk.id("y/twice.b/scale.b")


@pytest.mark.parametrize(
    ("text", "address"),
    [(FUNCTIONS, "y/twice.d@1"), (FUNCTIONS, "z/twice.b/scale.b"), (CLASSES, "y/Net.b/Block.h"), (CLASSES, "z/Net.b")],
)
def test_gradcheck_of_a_node_inside_agrees(bench: Bench, text: str, address: str) -> None:
    walk = Walk(bench, text)
    answered = checked(bench, walk, address)
    assert answered.rows and all(row.ok and row.node == walk.id(address) for row in answered.rows), answered


def test_gradcheck_of_a_class_inside_checks_its_parameters(bench: Bench) -> None:
    walk = Walk(bench, CLASSES)
    assert {row.name for row in checked(bench, walk, "y/Net.b/Block.h").rows} >= {"x", "self.fc.weight", "self.fc.bias"}


def test_gradcheck_of_several_nodes_wants_them_in_one_call(bench: Bench) -> None:
    walk = Walk(bench, FUNCTIONS)
    assert checked(bench, walk, "y/twice.b/scale.b", "y/twice.b/scale.add_1").rows
    assert "one call at a time" in checked(bench, walk, "y/twice.d@1", "z/twice.d@1").error
    lost = check(world(bench), Check(request=1, nodes=(ItemId(f"{walk.id('y')}/nothing"),)))
    assert "not a statement" in lost.error
