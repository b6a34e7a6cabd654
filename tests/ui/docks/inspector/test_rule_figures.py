"""Of every backward step in the examples and in programs of tutorials: the figures of what leaves, checked by torch."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from gradstudio import paths
from gradstudio.document import file
from gradstudio.engine.live.live_state import Loaded
from gradstudio.engine.verbs import Engine
from gradstudio.graph.model import Graph
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.requests import Do
from gradstudio.ui.docks.inspector.backward_lines import lines_of
from gradstudio.ui.docks.inspector.backward_section import step_of
from gradstudio.ui.docks.inspector.operands import operands_of, small_text
from gradstudio.ui.pictures.recorded_results import recorded_results

CORPUS = Path(__file__).parents[3] / "corpus" / "accepted"
TUTORIALS = ("autograd_1", "autograd_2", "autograd_3", "micro_1", "hooks_free_1", "carried_1", "detach_1", "main_1")
PROGRAMS = [*sorted(paths.examples().glob("*.gsg")), *(CORPUS / f"{stem}.py" for stem in TUTORIALS)]
AS_PYTHON = (("·", "*"), ("−", "-"), ("^", "**"), ("²", "**2"), ("Σ ", ""))
ARITHMETIC = re.compile(r"[\d\s.,()\[\]+\-*/e]+")
VECTOR = re.compile(r"\[[^\]]*\]")


def _graph(path: Path) -> Graph:
    return file.load(path) if path.suffix == ".gsg" else read_script(path.read_text()).graph


def _told(graph: Graph) -> Iterator[tuple[str, str, bool]]:
    """Of each rule whose gradient leaves as a number or a small vector: what is said, that gradient, and the sum."""
    events = list[Message]()
    engine = Engine(events.append, lambda: False)
    engine.stored.add({digest: tensor.data for digest, tensor in graph.tensors.items()})
    engine.load(Loaded("document", 1, compile_graph(graph)))
    engine.do(Do(verb="run", trace=True))
    engine.settle()
    results = recorded_results(graph, events)  # type: ignore[arg-type]  # others are left out there
    for item in graph.nodes:
        step = step_of(results.timeline, item, None, None)
        if step is None or step.order > 1 or any(row.autograd == "AccumulateGrad" for row in step.rows):
            continue
        operands = operands_of(graph, item, results.outputs, results.wire_record)
        rules = lines_of(graph, step, operands, (), False).rule
        arrived = [arrival.grad for arrival in step.arrivals if arrival.grad is not None]
        for wire in step.wires:
            lines = [line.note for line in rules if line.note.startswith(f"grad_{wire.port} = ")]
            left = small_text(wire.grad) if wire.grad is not None else ""
            if lines and left and len(arrived) == 1 and small_text(arrived[0]):
                yield lines[0].partition(" = ")[2], left, "Σ" in lines[0]


def _value(text: str, is_sum: bool) -> torch.Tensor | None:
    """What a text of figures comes to; None for one with words."""
    for ours, theirs in AS_PYTHON:
        text = text.replace(ours, theirs)
    if ARITHMETIC.fullmatch(text) is None:
        return None
    value = torch.as_tensor(eval(VECTOR.sub(lambda found: f"torch.tensor({found[0]})", text), {"torch": torch}))
    return value.sum() if is_sum else value


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_what_leaves_has_its_figures_and_they_add_up(path: Path) -> None:
    for said, left, is_sum in _told(_graph(path)):
        *_, rule, result = ["", *re.split(" [=≈] ", said)]
        assert result == left, said
        value, wanted = _value(rule, is_sum), _value(left, False)
        if value is not None and wanted is not None and rule != left:
            torch.testing.assert_close(value.expand(wanted.shape).float(), wanted.float(), rtol=0.02, atol=1e-6)


def test_most_of_the_elementwise_rules_of_the_examples_are_written_out() -> None:
    told = [said for path in PROGRAMS[:22] for said, _, _ in _told(_graph(path))]
    written = [said for said in told if any(_value(part, False) is not None for part in re.split(" [=≈] ", said)[:-1])]
    assert len(told) >= 40 and len(written) >= 24
    assert "grad · b = 16 · 3 = 48" in told
