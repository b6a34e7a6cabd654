"""What wires and compact cards write of the values and gradients of every example, beside torch's own numbers."""

from collections.abc import Iterator

import pytest
import torch

from gradstudio import paths
from gradstudio.document import file
from gradstudio.engine.live.live_state import Loaded
from gradstudio.engine.verbs import Engine
from gradstudio.program.compile import compile_graph
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import Traced
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.protocol.messages.requests import Do
from gradstudio.scene import value_format
from gradstudio.scene.wire.wire_labels import brief
from tests.engine.conftest import Bench

EXAMPLES = sorted(path.stem for path in paths.examples().glob("*.gsg"))
COMPLEX = """
z = torch.tensor([3.0 + 4.0j, 1.0 - 2.0j, 0.5j], requires_grad=True)
w = z * (2.0 - 1.0j)
loss = (w * w.conj()).real.sum()
loss.backward()
"""


def summaries(events: list[Message]) -> Iterator[Summary]:
    """All that a run told of numbers: values of statements, and gradients of wires."""
    for event in events:
        if isinstance(event, Traced):
            records = (record for row in event.rows for record in row.outputs)
            yield from (record.summary for record in records if isinstance(record, TensorRecord))
        elif isinstance(event, BackwardTraced):
            yield from (wire.grad for wire in event.wires if wire.grad is not None)


def check(summary: Summary) -> bool:
    """Whether its elements are told, and then what is written of them is what torch has."""
    if summary.value is None:
        return False
    tensor = torch.tensor(_floats(summary.value), dtype=torch.float64)
    words = brief(summary)
    if not tensor.isfinite().all():
        assert "NaN" in words or "∞" in words, words
    elif tensor.numel() == 1:
        digits = 5e-3 if "e" in words.replace("True", "1").replace("False", "0") else 1e-3  # three, or four
        assert float(words.replace("True", "1").replace("False", "0")) == pytest.approx(tensor.item(), rel=digits)
    elif summary.rms is not None or summary.dtype.startswith("complex"):
        norm = torch.linalg.vector_norm(tensor).item()
        assert float(words.removeprefix("‖∇‖ ").lstrip("~")) == pytest.approx(norm, rel=6e-3)
    return True


def _floats(value: object) -> object:
    return [_floats(one) for one in value] if isinstance(value, list | tuple) else float(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("example", EXAMPLES)
def test_what_is_written_of_an_example_is_what_torch_has(example: str) -> None:
    events = list[Message]()
    graph = file.load(paths.examples() / f"{example}.gsg")
    engine = Engine(events.append, lambda: False)
    engine.stored.add({digest: tensor.data for digest, tensor in graph.tensors.items()})
    engine.load(Loaded("document", 1, compile_graph(graph)))
    engine.do(Do(verb="run", trace=True))
    engine.settle()
    checked = [check(summary) for summary in summaries(events)]
    assert any(checked)


def test_the_gradient_of_a_complex_value_is_its_norm_not_its_shape(bench: Bench) -> None:
    bench.run(COMPLEX)
    sent = [summary for summary in summaries(bench.events) if summary.dtype.endswith("complex64")]
    assert len(sent) > 2
    for summary in sent:
        assert check(summary)
        assert brief(summary).startswith("‖∇‖ ")
    z = bench["z"]
    assert isinstance(z, torch.Tensor)
    assert z.grad is not None
    written = value_format.number(torch.linalg.vector_norm(z.grad).item(), 3)
    assert f"‖∇‖ {written}" in map(brief, sent)
