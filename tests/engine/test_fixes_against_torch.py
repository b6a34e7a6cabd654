"""Every fix that is edits is proven: a canvas fails in torch, each of its fixes is applied, and the error is gone.

What torch said is kept in ``tests/advice/recordings`` for the rooms without torch (tests/helpers/recordings.py).
"""

from collections.abc import Callable

import pytest

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.unordered_writes import unordered_writes
from gradstudio.advice.explanation import expected_record, explain, failed_of
from gradstudio.advice.fixes.finding_fixes import finding_fixes
from gradstudio.advice.fixes.fix_kinds import MAKERS, fixes_for
from gradstudio.advice.model import Fix
from gradstudio.advice.rules.error_rules import RULES
from gradstudio.advice.rules.gradient_errors import CARRIED, STEPPED
from gradstudio.engine.infer.shape_inference import Inference
from gradstudio.engine.tensor_files import StoredTensors
from gradstudio.graph import recipes
from gradstudio.graph.model import BodyId, Graph, ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.protocol.messages.events import Failed, Traced
from gradstudio.protocol.messages.inference import Infer
from gradstudio.protocol.messages.records import Record
from tests.advice.canvases import CANVASES, CASES, concluded, leaf, records_of, saved_augmented
from tests.advice.diagnosed import TOLD, found_in
from tests.engine.conftest import Bench
from tests.graph.builder import Drawing
from tests.helpers import recordings


def run(bench: Bench, graph: Graph) -> Failed | None:
    """The failure of the drawn program in the real engine; None when it ran."""
    program = compile_graph(graph)
    assert not program.incomplete
    bench.load(program)
    paused = bench.do("run", restart=True)
    return bench.failed() if paused.outcome == "failed" else None


def records(bench: Bench) -> Callable[[ItemId, int], Record | None]:
    return records_of(bench.events)


def edits_of(bench: Bench, drawing: Drawing) -> tuple[Failed, list[Fix]]:
    failed = run(bench, drawing.graph)
    assert failed is not None
    return failed, [fix for fix in fixes_for(failed, drawing.graph, records(bench)) if fix.edits]


@pytest.mark.parametrize(("rule", "draw", "least"), CASES, ids=lambda value: getattr(value, "__name__", None))
def test_each_fix_of_a_failing_canvas_takes_the_error_away(
    bench: Bench, rule: str, draw: Callable[[Drawing], None], least: int
) -> None:
    drawing = Drawing()
    draw(drawing)
    failed, fixes = edits_of(bench, drawing)
    matching = next(r.name for r in RULES if r.match(failed.type_name, failed.message))
    assert matching == rule, failed.message
    told = [event for event in bench.events if isinstance(event, Failed | Traced)]
    name = f"advice/recordings/{draw.__name__}"
    recordings.settle(name, told, concluded(drawing, told), recordings.ids_of(drawing.graph))
    assert len(fixes) >= least, [fix.title for fix in fixes]
    for fix in fixes:
        assert fix.edits is not None
        before = compile_graph(drawing.graph).code
        drawing.do(fix.edits)
        left = run(bench, drawing.graph)
        assert left is None, f"{fix.title}: {left and left.message}\n{compile_graph(drawing.graph).code}"
        drawing.undo()
        assert compile_graph(drawing.graph).code == before


def test_every_kind_of_fix_is_proven_by_a_canvas() -> None:
    proven = {kind.maker for rule in RULES if rule.name in CANVASES for kind in rule.kinds}
    proven |= {kind.maker for rule in (STEPPED, CARRIED) for kind in rule.kinds}  # in test_teaching_programs
    assert proven == set(MAKERS)
    assert {rule.name for rule in RULES if rule.kinds} == set(CANVASES) | {"matmul shapes of stand-ins"}


REFUSED = [
    (draw, least)
    for rule, draw, least in CASES
    if rule in ("matmul shapes", "broadcast", "einsum sizes", "class numbers")
]


@pytest.mark.parametrize(("draw", "least"), REFUSED, ids=lambda value: getattr(value, "__name__", None))
def test_what_inference_refuses_has_the_same_ways_out(
    bench: Bench, draw: Callable[[Drawing], None], least: int
) -> None:
    drawing = Drawing()
    draw(drawing)
    answer = Inference().infer(Infer(revision=1, program=compile_graph(drawing.graph)), StoredTensors().load_file)
    told = {(port.node, port.output): port for port in answer.ports}
    refusal = next(port for port in answer.ports if port.refusal)
    fixes = fixes_for(failed_of(refusal), drawing.graph, lambda item, output: expected_record(told.get((item, output))))
    offered = [fix for fix in fixes if fix.edits]
    assert len(offered) >= least
    for fix in offered:
        assert fix.edits is not None
        drawing.do(fix.edits)
        assert run(bench, drawing.graph) is None, fix.title
        drawing.undo()


def test_a_new_tensor_is_read_by_all_that_read_the_changed_one(bench: Bench) -> None:
    drawing = Drawing()
    saved_augmented(drawing)
    _, fixes = edits_of(bench, drawing)
    assert fixes[0].edits is not None
    drawing.do(fixes[0].edits)
    code = compile_graph(drawing.graph).code
    assert "+ 1" in code and "+=" not in code
    run(bench, drawing.graph)
    total = next(node.id for node in drawing.graph.nodes.values() if node.operator == "torch.Tensor.sum")
    record = records(bench)(total, 0)
    assert record is not None and abs(record.summary.mean - 3 * (2.718281828 + 1)) < 1e-4  # type: ignore[union-attr]  # a tensor


def test_a_write_that_a_loop_would_have_to_carry_is_not_offered_as_a_new_tensor(bench: Bench) -> None:
    drawing = Drawing()
    x = leaf(drawing)
    written = drawing.add("torch.Tensor.add_", x, other="1")
    drawing.do(recipes.wrap(drawing.graph, (written,), "for"))
    block = next(iter(drawing.graph.blocks))
    drawing.do(recipes.set_literal(drawing.graph, block, "range.0", "2"))
    assert BodyId(block) in drawing.graph.bodies
    _, fixes = edits_of(bench, drawing)
    assert [fix.title for fix in fixes] == ["Wrap the statement in no_grad"]


def test_a_clash_is_told_with_both_statements_and_versions(bench: Bench) -> None:
    drawing = Drawing()
    saved_augmented(drawing)
    failed, fixes = edits_of(bench, drawing)
    words = explain(failed, drawing.graph).explanation
    assert "line 6 `y = torch.exp(x)` had saved at version 0 as its result (for ExpBackward0)" in words.replace(
        "Line", "line"
    )
    assert "line 7 `y += 1` wrote into y" in words and words.endswith("it is at version 1 now.")
    assert [fix.title for fix in fixes] == ["Use + instead of += on y", "Write into a copy of y (y.clone())"]


@pytest.mark.parametrize("key", ["torch.log", "torch.sqrt"])
def test_a_logarithm_and_a_root_of_zero_are_kept_finite(bench: Bench, key: str) -> None:
    drawing = Drawing()
    x = drawing.add("torch.zeros", size="(2,)", requires_grad="True")
    y = drawing.add(key, x)
    drawing.add("torch.Tensor.backward", drawing.add("torch.Tensor.sum", y))
    finding = Finding("backward_not_finite", "error", y, "", "", (y, x), 1)
    (fix,) = finding_fixes(finding, drawing.graph)
    assert run(bench, drawing.graph) is None
    assert not bench["x"].grad.isfinite().all()  # type: ignore[attr-defined]  # a tensor
    assert fix.edits is not None
    drawing.do(fix.edits)
    assert run(bench, drawing.graph) is None
    assert bench["x"].grad.isfinite().all()  # type: ignore[attr-defined]  # a tensor


def test_a_second_backward_is_told_with_both_statements(bench: Bench) -> None:
    drawing = Drawing()
    total = drawing.add("torch.Tensor.sum", drawing.add("torch.exp", leaf(drawing)), name="total")
    for _ in range(2):
        drawing.add("torch.Tensor.backward", total)
    failed, _ = edits_of(bench, drawing)
    words = explain(failed, drawing.graph).explanation
    first = failed.line - 1
    told = f"Line {failed.line} `total.backward()` is the second, the first was line {first} `total.backward()`."
    assert words.endswith(told) and "float32" not in words


def found(bench: Bench, drawing: Drawing, kind: str) -> Finding | None:
    """What a real run of the drawing brings to light, of that kind."""
    bench.events.clear()
    assert run(bench, drawing.graph) is None
    told = [event for event in bench.events if isinstance(event, TOLD)]
    findings = found_in(drawing, told)
    return next((finding for finding in findings.values() if finding.kind == kind), None)


def test_a_gradient_is_zeroed_before_the_backward_that_added_to_it(bench: Bench) -> None:
    drawing = Drawing()
    x = leaf(drawing)
    for _ in range(2):
        total = drawing.add("torch.Tensor.sum", drawing.add("torch.exp", x))
        drawing.add("torch.Tensor.backward", total)
    finding = found(bench, drawing, "accumulates")
    assert finding is not None
    doubled = bench["x"].grad.clone()  # type: ignore[attr-defined]  # a tensor
    (fix,) = finding_fixes(finding, drawing.graph)
    assert fix.title == "Zero the gradient before this backward (x.grad = None)" and fix.edits is not None
    drawing.do(fix.edits)
    lines = compile_graph(drawing.graph).code.splitlines()
    assert lines.index("x.grad = None") == max(k for k, line in enumerate(lines) if "backward()" in line) - 1
    assert found(bench, drawing, "accumulates") is None
    assert (bench["x"].grad * 2).allclose(doubled)  # type: ignore[attr-defined]  # a tensor


def test_losses_that_have_nothing_in_common_need_no_zeroing(bench: Bench) -> None:
    drawing = Drawing()
    for _ in range(2):
        drawing.add("torch.Tensor.backward", drawing.add("torch.Tensor.sum", drawing.add("torch.exp", leaf(drawing))))
    assert found(bench, drawing, "accumulates") is None


def test_the_gradient_of_a_loop_is_zeroed_in_each_turn(bench: Bench) -> None:
    drawing = Drawing()
    x = leaf(drawing)
    total = drawing.add("torch.Tensor.sum", drawing.add("torch.exp", x))
    inside = (total, drawing.add("torch.Tensor.backward", total))
    drawing.do(recipes.wrap(drawing.graph, (*(wire.source for wire in drawing.graph.wires_to(total)), *inside), "for"))
    block = next(iter(drawing.graph.blocks))
    drawing.do(recipes.set_literal(drawing.graph, block, "range.0", "3"))
    finding = found(bench, drawing, "accumulates")
    assert finding is not None
    (fix,) = finding_fixes(finding, drawing.graph)
    assert fix.edits is not None
    drawing.do(fix.edits)
    assert found(bench, drawing, "accumulates") is None


def test_an_unordered_write_gives_way_to_the_operator_that_returns_a_new_tensor(bench: Bench) -> None:
    drawing = Drawing()
    x = leaf(drawing)
    y = drawing.add("torch.Tensor.clone", x, name="y")
    written = drawing.add("torch.Tensor.mul_", y, other="2")
    drawing.add("torch.Tensor.sum", y, name="total")
    (finding,) = unordered_writes(drawing.graph)
    assert finding.node == written
    assert run(bench, drawing.graph) is None
    before = bench["total"].item()  # type: ignore[attr-defined]  # a tensor
    (fix,) = finding_fixes(finding, drawing.graph)
    assert (
        fix.title == "Use the operator that returns a new tensor (mul instead of mul_ on y)" and fix.edits is not None
    )
    drawing.do(fix.edits)
    assert unordered_writes(drawing.graph) == ()
    assert run(bench, drawing.graph) is None
    assert bench["total"].item() == before  # type: ignore[attr-defined]  # a tensor


@pytest.mark.parametrize("kind", ["detach", "no_grad"])
def test_a_cut_before_the_loss_is_named_and_taken_away(bench: Bench, kind: str) -> None:
    drawing = Drawing()
    w, v = leaf(drawing), drawing.add("torch.ones", name="v", size="(3,)", requires_grad="True")
    if kind == "detach":
        cut = drawing.add("torch.Tensor.detach", drawing.add("torch.exp", w), name="cut")
    else:
        cut = drawing.add("torch.exp", w, name="cut")
        drawing.do(recipes.wrap(drawing.graph, (cut,), "no_grad"))
    loss = drawing.add("torch.Tensor.sum", drawing.add("torch.mul", cut, v), name="loss")
    drawing.add("torch.Tensor.backward", loss)
    finding = found(bench, drawing, "no_gradient")
    assert finding is not None
    words = {"detach": "cut at cut: detach gives", "no_grad": "cut at cut: it stands under no_grad."}
    assert words[kind] in finding.explanation
    fixes = finding_fixes(finding, drawing.graph)
    titles = {
        "detach": ["Take detach away (cut passes its input on)"],
        "no_grad": ["Take cut out of no_grad", "Take the block no_grad away"],
    }
    assert [fix.title for fix in fixes] == titles[kind]
    for fix in fixes:
        assert fix.edits is not None
        drawing.do(fix.edits)
        assert found(bench, drawing, "no_gradient") is None, fix.title
        assert bench["x"].grad is not None  # type: ignore[attr-defined]  # a tensor
        drawing.undo()
