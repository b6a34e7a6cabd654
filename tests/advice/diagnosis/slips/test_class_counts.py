"""A stored target with more classes than the model has scores for: told where torch would refuse a batch."""

import msgspec
import pytest

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.silent_mistakes import silent_mistakes
from gradstudio.advice.fixes.finding_fixes import finding_fixes
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.write import write_script
from gradstudio.protocol.messages.records import Record, Summary, TensorRecord
from tests.advice.counted_classes import CLASS, SILENT, TOLD, program


def told(graph: Graph, records: dict[ItemId, Record] | None = None) -> list[Finding]:
    known = records or {}
    found = silent_mistakes(graph, lambda item, _output: known.get(item))
    return [finding for finding in found if finding.kind == "missing_classes"]


@pytest.mark.parametrize("body", TOLD.values(), ids=TOLD)
def test_both_numbers_are_said_and_the_fix_ends_it(body: str) -> None:
    graph = program(body)
    (finding,) = told(graph)
    assert finding.title.startswith("y has 10 classes, and ") and finding.title.endswith(" gives 8")
    assert "Target 9 is out of bounds" in finding.explanation
    if "def judge" not in body:
        (fix,) = finding_fixes(finding, graph)
        assert fix.edits is not None and "out_features=10" in fix.title
        apply_all(graph, fix.edits)
        assert "10)" in write_script(graph) and not told(graph)


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_what_torch_takes_or_another_look_tells_is_not_told(body: str) -> None:
    assert not told(program(body))


@pytest.mark.parametrize(("labels", "dtype"), [((-100, 9, 1), "int64"), ((-1, 9, 1), "int64"), ((0, 9, 1), "float32")])
def test_what_is_no_class_number_says_nothing(labels: tuple[int, ...], dtype: str) -> None:
    assert not told(program(TOLD["a function"], labels, dtype))


def test_the_layer_in_a_class_is_named_and_what_is_known_of_the_scores_counts_where_no_layer_is() -> None:
    graph = program(CLASS + "loss = F.cross_entropy(net(X), y)\n")
    (finding,) = told(graph)
    assert finding.title == "y has 10 classes, and Net ▸ fc gives 8", finding.title
    graph = program("logits = torch.randn(8, 8, requires_grad=True)\nloss = F.cross_entropy(logits, y)\n")
    assert not told(graph), "nothing is known of them"
    logits = next(item for item, node in graph.nodes.items() if "logits" in node.names)

    def known(*shape: int) -> dict[ItemId, Record]:
        return {logits: TensorRecord(device="cpu", summary=Summary(dtype="float32", shape=shape), requires_grad=True)}

    assert [one.title for one in told(graph, known(8, 8))] == ["y has 10 classes, and logits gives 8"]
    assert not told(graph, known(8, 10)) and not told(graph, known(8, 8, 5)), "scores of places, too"


def test_what_was_stored_is_counted_once() -> None:
    graph = program(TOLD["a function"])
    assert told(graph)
    ((digest, tensor),) = graph.tensors.items()
    graph.tensors[digest] = msgspec.structs.replace(tensor, data=b"")  # what is counted anew would fail
    assert told(graph)
