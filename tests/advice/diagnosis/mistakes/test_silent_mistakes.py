"""Mistakes that torch runs silently: each is found where it is made, and its fix takes it away."""

import pytest

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.silent_mistakes import (
    NODES_AT_ONCE,
    silent_mistakes,
    silent_slices,
)
from gradstudio.advice.fixes.finding_fixes import finding_fixes
from gradstudio.graph import recipes
from gradstudio.graph.edits import AddNode, AddWire, apply_all
from gradstudio.graph.model import ROOT, Graph, ItemId, Node, Wire
from gradstudio.graph.slices import AT_ONCE, work_through
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.records import OptimizerRecord, Record, Summary, TensorRecord
from tests.graph.builder import Drawing


def tensor(*shape: int, grad: bool = False) -> TensorRecord:
    return TensorRecord(device="cpu", summary=Summary(dtype="float32", shape=shape), requires_grad=grad)


class Known:
    def __init__(self) -> None:
        self.records: dict[ItemId, Record] = {}

    def __call__(self, item: ItemId, _output: int) -> Record | None:
        return self.records.get(item)


def only(found: tuple[Finding, ...], kind: str) -> Finding:
    (finding,) = found
    assert finding.kind == kind
    return finding


def mended(d: Drawing, finding: Finding) -> str:
    fix = finding_fixes(finding, d.graph)[0]
    assert fix.edits is not None
    d.do(fix.edits)
    return compile_graph(d.graph).code


@pytest.mark.parametrize("key", ["torch.nn.functional.mse_loss", "operator.sub"])
@pytest.mark.parametrize(("p_shape", "t_shape", "shape"), [((8, 1), (8,), "8, 1"), ((8,), (8, 1), "8")])
def test_a_column_and_a_vector_broadcast(
    key: str, p_shape: tuple[int, ...], t_shape: tuple[int, ...], shape: str
) -> None:
    d, known = Drawing(), Known()
    p = d.add("torch.randn", size=str(p_shape), requires_grad="True", name="p")
    t = d.add("torch.randn", size=str(t_shape), name="t")
    item = d.add(key, p, t)
    assert silent_mistakes(d.graph, known) == ()
    known.records = {p: tensor(*p_shape, grad=True), t: tensor(*t_shape)}
    finding = only(silent_mistakes(d.graph, known), "broadcasts")
    assert (finding.node, finding.severity) == (item, "warning")
    assert "[8, 8]" in finding.title
    assert f"t.reshape({shape})" in mended(d, finding).replace("(8,)", "8").replace("((8, 1))", "(8, 1)")


def test_tables_of_all_pairs_are_meant() -> None:
    d, known = Drawing(), Known()
    x = d.add("torch.randn", size="(8,)", requires_grad="True")
    column = d.add("torch.Tensor.unsqueeze", x, dim="1")
    t = d.add("torch.randn", size="(8,)")
    d.add("operator.sub", column, t)
    known.records = {column: tensor(8, 1, grad=True), x: tensor(8, grad=True), t: tensor(8)}
    assert silent_mistakes(d.graph, known) == ()


def test_softmax_before_cross_entropy() -> None:
    d = Drawing()
    x, t = d.add("torch.randn", size="(2, 3)", name="x"), d.add("torch.tensor", data="[0, 1]", name="t")
    p = d.add("torch.softmax", x, name="p", dim="1")
    d.add("torch.nn.functional.cross_entropy", p, t, name="loss")
    finding = only(silent_mistakes(d.graph, Known()), "twice_softmax")
    assert "cross_entropy(x, t)" in mended(d, finding)
    assert silent_mistakes(d.graph, Known()) == ()


@pytest.mark.parametrize("many", [2, 3, 8])
def test_a_sigmoid_of_a_sigmoid_is_a_slip_and_a_chain_of_them_is_meant(many: int) -> None:
    d = Drawing()
    x = d.add("torch.randn", size="(2,)", name="x", requires_grad="True")
    for _ in range(many):
        x = d.add("torch.sigmoid", x)
    found = silent_mistakes(d.graph, Known())
    assert [finding.kind for finding in found] == (["twice_sigmoid"] if many == 2 else [])


@pytest.mark.parametrize("before", ["torch.softmax", "torch.nn.functional.relu", "torch.nn.functional.log_softmax"])
def test_nll_loss_of_what_is_no_logarithm(before: str) -> None:
    d = Drawing()
    x, t = d.add("torch.randn", size="(2, 3)"), d.add("torch.tensor", data="[0, 1]")
    p = d.add(before, x, **({"dim": "1"} if "softmax" in before else {}))
    d.add("torch.nn.functional.nll_loss", p, t)
    found = silent_mistakes(d.graph, Known())
    if "log" in before:
        assert found == ()
        return
    assert "log" in mended(d, only(found, "no_logarithm"))
    assert silent_mistakes(d.graph, Known()) == ()


def test_an_optimizer_over_what_does_not_require_grad() -> None:
    d, known = Drawing(), Known()
    w = d.add("torch.zeros", size="(2,)", name="w")
    d.do(recipes.connect(d.graph, w, 0, d.add("torch.optim.SGD"), "params"))
    known.records = {w: tensor(2)}
    finding = only(silent_mistakes(d.graph, known), "frozen_parameter")
    assert "w = torch.zeros(2, requires_grad=True)" in mended(d, finding)


@pytest.mark.parametrize(("line", "acts"), [("opt.step", ["opt.step"]), ("opt.step()", []), ("x.shape", [])])
def test_a_method_that_is_named_and_not_called_is_told(line: str, acts: list[str]) -> None:
    text = f"import torch\nx = torch.ones(2)\nopt = torch.optim.SGD([x], lr=0.1)\nwhile x.sum() > 5:\n    {line}\n"
    found = [
        one for one in silent_mistakes(read_script(text, keeps_code=True).graph, Known()) if one.kind == "not_called"
    ]
    assert [one.title.partition("`")[2].partition("`")[0] for one in found] == acts


STEPPED_BY_CODE = """\
import torch
w = torch.ones(2, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
w.sum().backward()
opt.step()
"""


@pytest.mark.parametrize(
    ("group", "is_said"),
    [({"lr": 0.0, "initial_lr": 0.1}, False), ({"lr": 0.0, "initial_lr": 0.0}, True), ({"lr": 0.0}, True)],
)
def test_a_rate_that_a_schedule_has_brought_to_zero_is_no_mistake(group: dict[str, object], is_said: bool) -> None:
    graph = read_script(STEPPED_BY_CODE).graph
    held = OptimizerRecord(class_name="SGD", groups=(group,))

    def lookup(item: ItemId, output: int) -> Record | None:
        return held if graph.nodes[item].names == ("opt",) else None

    assert ("no_rate" in {one.kind for one in silent_mistakes(graph, lookup)}) is is_said


def test_a_long_program_is_looked_through_in_slices_and_a_short_one_without_a_stop() -> None:
    graph, count = Graph(), AT_ONCE + NODES_AT_ONCE
    short = Graph()
    for k in range(count):
        key = "torch.nn.functional.softmax" if k % 3 else "torch.relu" if k else "torch.randn"
        edits = [AddNode(Node(id=ItemId(f"n{k}"), operator=key, names=(f"v{k}",)), ROOT, k)]
        wires = [AddWire(Wire(ItemId(f"n{k - 1}"), 0, ItemId(f"n{k}"), "input"))] if k else []
        for each in (graph, short) if k < 3 else (graph,):
            apply_all(each, (*edits, *wires))
    assert len([*silent_slices(graph, Known())]) >= count // NODES_AT_ONCE
    assert [*silent_slices(short, Known())] == []
    found = work_through(silent_slices(graph, Known()))
    assert found == silent_mistakes(graph, Known()) and len(found) > len(silent_mistakes(short, Known())) > 0
