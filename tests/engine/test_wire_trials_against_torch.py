"""Asked of the small program, torch says of a wire what it says in the whole one."""

import pytest

from gradstudio.advice.explanation import expected_record
from gradstudio.advice.wire_trial import SMALL, trial_program
from gradstudio.engine.infer.shape_inference import Inference
from gradstudio.engine.tensor_files import StoredTensors
from gradstudio.graph.model import ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.protocol.messages.inference import Infer, TryWire, WireTried
from gradstudio.protocol.messages.records import Record
from tests.graph.builder import Drawing


def tried(drawing: Drawing, target: ItemId) -> tuple[WireTried, WireTried]:
    """The answer for the small program, and for the whole."""
    whole = compile_graph(drawing.graph)
    inference, load = Inference(), StoredTensors().load_file
    told = {(port.node, port.output): port for port in inference.infer(Infer(revision=1, program=whole), load).ports}

    def look(item: ItemId, output: int) -> Record | None:
        return expected_record(told.get((item, output)))

    small = trial_program(drawing.graph, target, look)
    assert len(small.statements) < len(whole.statements) // 2
    answers = [inference.try_wire(TryWire(request=1, program=p, target=target), load) for p in (small, whole)]
    return answers[0], answers[1]


def told(answer: WireTried) -> tuple[str, list[tuple[str, object]]]:
    return answer.refusal, [(port.dtype, port.shape) for port in answer.outputs]


@pytest.mark.parametrize("size", ["(4, 5)", "(3, 5)"])
def test_the_small_program_is_answered_like_the_whole(size: str) -> None:
    drawing = Drawing()
    x = drawing.add("torch.randn", size="(3, 4)", requires_grad="True")
    for _ in range(SMALL):
        x = drawing.add("torch.tanh", x)
    y = drawing.add("operator.matmul", x, drawing.add("torch.randn", size=size))
    small, whole = tried(drawing, y)
    assert told(small) == told(whole)
    assert told(small)[1:] == ([("float32", (3, 5))],) if size == "(4, 5)" else "cannot be multiplied" in small.refusal


def test_a_module_far_away_is_taken_along() -> None:
    drawing = Drawing()
    x = drawing.add("torch.randn", size="(2, 3)")
    for _ in range(SMALL):
        x = drawing.add("torch.tanh", x)
    call = drawing.add("torch.nn.Linear")
    drawing.wire(x, call, "inputs.0")
    small, whole = tried(drawing, call)
    assert told(small) == told(whole)
    assert "cannot be multiplied" in small.refusal
