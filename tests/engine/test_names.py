"""Who bound a name: loop variables among them, renames, and parts that are pulled out by naming them."""

import pytest
import torch

from gradstudio.graph import recipes
from gradstudio.graph.edits import AddNode, ReplaceBlock, apply, apply_all
from gradstudio.graph.model import ROOT, Graph, ItemId, Node
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from tests.engine.build import node
from tests.engine.conftest import Bench
from tests.program.sketch import Sketch

OVER_PARAMETERS = """
fc = nn.Linear(2, 1)
loss = fc(torch.ones(1, 2)).sum()
loss.backward()
for p in fc.parameters():
    q = p * 2
"""


@pytest.mark.parametrize("trace", [True, False])
def test_a_loop_variable_is_reported_with_its_gradient(bench: Bench, trace: bool) -> None:
    bench.run(OVER_PARAMETERS, trace=trace)
    record = bench.report()["p"].outputs[0]
    assert (record.grad_state, record.grad.value) == ("value", [1.0])  # type: ignore[union-attr]


@pytest.mark.parametrize("trace", [True, False])
def test_a_name_that_a_loop_bound_last_is_the_loops(bench: Bench, trace: bool) -> None:
    bench.run("t = 7\nfor t in range(3):\n    x = torch.ones(2) * t", trace=trace)
    entry = bench.report(trace=True)["t"]
    assert (entry.node, entry.outputs[0].value) == (node(2), 2)  # type: ignore[union-attr]


def test_a_new_pass_forgets_loop_variables(bench: Bench) -> None:
    text = "w = torch.ones(2, requires_grad=True)\nloss = w.sum()\nloss.backward()\nfor t in range(3):\n    x = w * t"
    bench.run(text, "run", "forward")
    assert "t" not in bench


def test_a_failure_in_the_head_of_a_loop_names_its_address(bench: Bench) -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    loop = sketch.block("for", {"over": x}, variable="row")
    sketch.node("operator.neg", "y", {"a": (loop, 0)}, body=loop)
    for trace in (True, False):
        bench.run(compile_graph(sketch.graph), trace=trace)
        assert bench.failed().address == "for_1"


def drawn_loop() -> tuple[Graph, ItemId]:
    sketch = Sketch(seed=0)
    loop = sketch.block("for", literals={"range": "2"}, variable="i")
    first = sketch.node("operator.add", "a", {"a": (loop, 0)}, literals={"b": "1"}, body=loop)
    sketch.node("operator.add", "b", {"a": (loop, 0), "b": first}, body=loop)
    return sketch.graph, loop


def test_a_loop_variable_renamed_in_the_middle_of_a_turn_is_read_under_its_new_name(bench: Bench) -> None:
    graph, loop = drawn_loop()
    bench.run(compile_graph(graph), "step")
    block = graph.blocks[loop]
    apply(graph, ReplaceBlock(type(block)(id=loop, kind="for", literals=block.literals, variable="j")))
    assert bench.load(compile_graph(graph)) == (False, True)
    assert bench.do("run").outcome == "done"
    assert "i" not in bench
    assert bench["b"] == 3


def squares() -> tuple[Graph, ItemId, ItemId]:
    sketch = Sketch(seed=0)
    x = sketch.parameter("x")
    square = sketch.node("operator.pow", wires={"a": x}, literals={"b": "2"}, part=True)
    y = sketch.node("torch.Tensor.sum", "y", {"self": square})
    sketch.node("torch.Tensor.backward", wires={"self": y})
    last = sketch.node("operator.mul", "last", {"a": y}, literals={"b": "3"})
    return sketch.graph, square, last


def test_naming_a_part_that_has_run_keeps_the_state(bench: Bench) -> None:
    graph, square, _ = squares()
    bench.run(compile_graph(graph), "forward")
    apply_all(graph, recipes.rename(graph, square, ("square",)))
    assert bench.load(compile_graph(graph)) == (False, True)
    value = bench["square"]
    assert isinstance(value, torch.Tensor)
    assert value.item() == 1.0
    assert bench.do("backward").outcome == "done"
    assert bench.grads()[square, 0, ""].state == "value"


def test_renaming_what_the_last_pass_has_bound_keeps_the_state_of_this_one(bench: Bench) -> None:
    graph, _, last = squares()
    bench.run(compile_graph(graph), "run", "forward")
    apply_all(graph, recipes.rename(graph, last, ("other",)))
    assert bench.load(compile_graph(graph)) == (False, True)
    assert bench.do("run").outcome == "done"
    assert "other" in bench


def test_two_names_exchanged_keep_their_values(bench: Bench) -> None:
    sketch = Sketch(seed=0)
    a = sketch.node("python.literal", "a", literals={"value": "1"})
    b = sketch.node("python.literal", "b", literals={"value": "2"})
    bench.run(compile_graph(sketch.graph))
    for item, name in ((a, "c"), (b, "a"), (a, "b")):
        apply_all(sketch.graph, recipes.rename(sketch.graph, item, (name,)))
    assert bench.load(compile_graph(sketch.graph)) == (False, True)
    assert (bench["a"], bench["b"]) == (2, 1)


FAILS_LATE = """
x = torch.ones(2)
for t in range(3):
    y = x * t
    z = torch.ones(2)[t:2 - t].view(2 - 2 * t)
    w = y + 1
    v = torch.ones(2 - t) + w
    u = v * 2
"""


@pytest.mark.parametrize(
    "text",
    [
        FAILS_LATE,
        "x = torch.ones(2)\nfor t in range(2):\n    y = x.view(5)",
        "x = torch.tensor(2.0)\ny = x * 2\nfor row in x:\n    z = row",
        "h = torch.ones(2)\nfor t in range(2):\n    y = h.view(5)\n    h = y + 1",
    ],
)
def test_a_plain_run_that_fails_reports_what_a_traced_one_does(bench: Bench, text: str) -> None:
    bench.run(text)
    traced = bench.report()
    bench.run(text, trace=False)
    plain = bench.report()
    assert {name: entry.node for name, entry in plain.items()} == {name: entry.node for name, entry in traced.items()}


def test_a_name_bound_twice_in_a_turn_that_fails_between_is_the_first_of_them(bench: Bench) -> None:
    bench.run("for t in range(3):\n    y = torch.ones(2) * t\n    z = torch.ones(2).view(2 - t)\n    y = y + 10")
    assert "invalid for input of size 2" in bench.failed().message
    report = bench.report(trace=True)
    assert report["y"].node == node(2)
    assert report["y"].outputs[0].summary.value == [1.0, 1.0]  # type: ignore[union-attr]
    assert report["y@2"].outputs[0].summary.value == [10.0, 10.0]  # type: ignore[union-attr]


def test_a_backward_run_again_begins_from_the_part_it_began_from(bench: Bench) -> None:
    sketch = Sketch(seed=0)
    x = sketch.parameter("x")
    square = sketch.node("operator.pow", wires={"a": x}, literals={"b": "2"}, part=True)
    total = sketch.node("torch.Tensor.sum", wires={"self": square}, part=True)
    sketch.node("torch.Tensor.backward", wires={"self": total})
    bench.run(compile_graph(sketch.graph), "forward", "backward", "backward")
    assert "a second time" in bench.failed().message
    assert "sum_1" not in bench
    assert bench.do("forward", "backward").outcome == "done"
    bench.run(compile_graph(sketch.graph), trace=False)
    assert bench.do("backward").outcome == "refused"


def test_what_ran_in_an_earlier_pass_may_be_edited_ahead_of_the_counter(bench: Bench) -> None:
    graph, _, last = squares()
    bench.run(compile_graph(graph), "run", "forward")
    apply_all(graph, recipes.delete(graph, [last]))
    sketch_node = Node(id=last, operator="builtins.print", lengths={"values": 1}, literals={"values.0": "1"})
    apply(graph, AddNode(sketch_node, ROOT, len(graph.bodies[ROOT])))
    assert bench.load(compile_graph(graph)) == (False, True)
    assert bench.do("run").outcome == "done"
    assert [event.text for event in bench.printed()] == ["1"]


TAKEN_APART = (
    "xs = [1.5, 2.5]\nfor k, (i, x) in enumerate(enumerate(xs)):\n    y = x * k\nfor t in range(3):\n    pass\nz = t"
)


@pytest.mark.parametrize("trace", [True, False])
def test_what_a_loop_takes_apart_at_its_head_is_bound_and_nothing_else(bench: Bench, trace: bool) -> None:
    bench.run(compile_graph(read_script(TAKEN_APART).graph), trace=trace)
    report = bench.report()
    values = {name: entry.outputs[0].value for name, entry in report.items() if name != "xs"}  # type: ignore[union-attr]
    assert values == {"k": 1, "i": 1, "x": 2.5, "y": 2.5, "t": 2, "z": 2}
    assert [report[name].line for name in "kixt"] == [2, 2, 2, 4]
    assert "for_1" not in bench


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize(
    ("over", "failed", "bound"),
    [("[(0, (1, 2)), (1, (1, 2, 3))]", "i", {"k": 1, "i": 1, "x": 2}), ("[(0, 1, 2)]", "k", {}), ("n", "for_1", {})],
)
def test_a_head_that_cannot_take_an_element_apart_fails_where_it_would(
    bench: Bench, trace: bool, over: str, failed: str, bound: dict[str, int]
) -> None:
    text = f"n = 5\nfor k, (i, x) in {over}:\n    y = x\n"
    bench.run(compile_graph(read_script(text).graph), trace=trace)
    assert bench.failed().address == failed
    values = {name: bench.report()[name].outputs[0].value for name in "kix" if name in bench.report()}  # type: ignore[union-attr]
    assert values == bound
