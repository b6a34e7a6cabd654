"""The small program that is asked about a wire, and what the answer is told as. No torch: answers are made up."""

from gradstudio.advice.explanation import expected_record
from gradstudio.advice.wire_trial import (
    NEAR,
    SMALL,
    judge,
    missing_reason,
    pending_verdict,
    trial_program,
    way_out,
    with_way_out,
)
from gradstudio.graph.model import ItemId
from gradstudio.program.model import flatten_statements
from gradstudio.protocol.messages.inference import PortInference, WireTried
from gradstudio.protocol.messages.records import Record
from tests.graph.builder import Drawing


def known(item: ItemId, _output: int) -> Record | None:
    return expected_record(PortInference(node=item, dtype="float32", shape=(3, 4)))


def unknown(_item: ItemId, _output: int) -> Record | None:
    return None


def chain(length: int) -> tuple[Drawing, ItemId]:
    drawing = Drawing()
    last = drawing.add("torch.randn", name="x", size="(3, 4)")
    for _ in range(length):
        last = drawing.add("torch.exp", last)
    return drawing, last


def lines(drawing: Drawing, target: ItemId, lookup: object) -> list[str]:
    program = trial_program(drawing.graph, target, lookup)  # type: ignore[arg-type]  # a plain function
    return [statement.text for statement in flatten_statements(program.statements)]


def test_a_small_program_is_asked_whole() -> None:
    drawing, last = chain(5)
    assert len(lines(drawing, last, known)) == 6


def test_of_a_long_program_only_what_is_near_is_asked_behind_a_stand_in() -> None:
    drawing, last = chain(SMALL + 20)
    told = lines(drawing, last, known)
    assert len(told) == NEAR + 1
    assert told[0].endswith("torch.empty(3, 4, dtype=torch.float32)")
    assert told[1].split("torch.exp(")[1].rstrip(")") == told[0].split(" = ")[0]


def test_where_nothing_is_known_the_program_is_followed_to_its_beginning() -> None:
    drawing, last = chain(SMALL + 20)
    assert "randn" in lines(drawing, last, unknown)[0]


def test_a_block_is_never_taken_apart() -> None:
    from gradstudio.graph import recipes

    drawing, last = chain(SMALL + 20)
    drawing.do(recipes.wrap(drawing.graph, (last,), "no_grad"))
    assert len(lines(drawing, last, known)) == SMALL + 21


def test_what_would_come_out_is_told_by_name() -> None:
    drawing, last = chain(1)
    port = PortInference(node=last, dtype="float32", shape=(3, 4))
    verdict = judge(drawing.graph, WireTried(request=1, target=last, outputs=(port,)), known)
    name = drawing.graph.nodes[last].names[0]
    assert (verdict.outcome, verdict.title) == ("fits", f"→ {name}: float32 [3, 4]")


def test_what_only_a_run_can_tell_is_said_to_be_so() -> None:
    drawing, last = chain(1)
    verdict = judge(drawing.graph, WireTried(request=1, target=last), known)
    assert verdict.outcome == "unknown" and "after a run" in verdict.title


def test_a_refusal_is_told_with_operands_and_the_way_out() -> None:
    drawing = Drawing()
    a, b = (drawing.add("torch.randn", name=name, size="(3, 4)") for name in ("a", "b"))
    y = drawing.add("operator.matmul", a, b)
    words = "mat1 and mat2 shapes cannot be multiplied (3x4 and 3x4)"
    tried = WireTried(request=1, target=y, refusal=words)
    verdict = judge(drawing.graph, tried, known)
    assert verdict.outcome == "refused"
    assert verdict.words == words
    assert verdict.text.endswith("Here a is float32 [3, 4], b is float32 [3, 4].")
    assert verdict.fix == "", "nobody has asked what torch says then"
    fix = way_out(drawing.graph, tried, known)
    assert fix is not None and fix.title == "Transpose b (b.T)"
    mended = with_way_out(verdict, fix, drawing.graph, WireTried(request=2, target=y), known)
    assert (mended.fix, mended.then) == ("Transpose b (b.T)", "")
    still = WireTried(request=2, target=y, refusal="expected m1 and m2 to have the same dtype, but got: float != long")
    assert "dtype" in with_way_out(verdict, fix, drawing.graph, still, known).then


def test_an_argument_that_is_still_empty_is_named() -> None:
    drawing = Drawing()
    y = drawing.add("operator.matmul", drawing.add("torch.randn", size="(3, 4)"), name="y")
    reason = missing_reason(trial_program(drawing.graph, y, known), y)
    assert pending_verdict(drawing.graph, y, reason).title == "Fits so far; y cannot run yet: 'b' is empty"
