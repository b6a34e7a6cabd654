"""Texts in the manner of real files, which hold more than a canvas draws: opened, kept as typed, run as Python does."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradstudio.graph.analysis.program_analysis import incomplete
from gradstudio.graph.model import Graph
from gradstudio.graph.text.code_records import code_of, is_code
from gradstudio.graph.text.drawn_bodies import body_places
from gradstudio.graph.text.while_heads import condition_in
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.program.trust import code_digest
from gradstudio.program.write import write_script
from gradstudio.protocol import client
from gradstudio.protocol.client import RUNS_CODE, EngineProcess
from gradstudio.protocol.messages.events import Report
from gradstudio.protocol.messages.records import ModuleRecord, Summary, TensorRecord
from gradstudio.protocol.messages.requests import Trust
from tests.corpus.running import by_engine, by_python, differences

HERE = Path(__file__).parent
TEXTS = sorted((HERE / "code").glob("*.py"))
ALL_OF_IT = {
    *("whole_file_exec", "star_import", "names_bound_as_it_runs", "frames_looked_at"),
    *("exec_between_what_is_drawn", "exec_binds_torch", "exec_of_settings"),
}
"""These are one card each, in which stretches and functions may be drawn."""
LOOKED_UP = re.compile(r"(\w+?)\d+ = \1\d*")
"""What a definition that code calls reads from around it."""


def texts(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def engines() -> Iterator[dict[bool, EngineProcess]]:
    """By whether it runs code."""
    with EngineProcess((*client.COMMAND, RUNS_CODE)) as free, EngineProcess() as walled:
        for process in (free, walled):
            process.wait_until_ready()
        yield {True: free, False: walled}


def codes_of(graph: Graph) -> list[str]:
    """What cards of code hold, those in definitions behind the others."""
    graphs = (graph, *(definition.graph for definition in graph.definitions.values()))
    return [code_of(node) for one in graphs for node in one.nodes.values() if is_code(node)]


def lines_of(printed: str) -> list[str]:
    return [line.rstrip() for line in printed.splitlines() if line.strip()]


def leaf_gradients(report: Report) -> list[tuple[Summary | None, str]]:
    """The gradient of each leaf that a name holds, itself or in a module, and how it is told."""
    records = [record for entry in report.entries for record in entry.outputs]
    tensors = [record for record in records if isinstance(record, TensorRecord)]
    tensors += [one for record in records if isinstance(record, ModuleRecord) for one in record.parameters.values()]
    return [(one.grad, one.grad_state) for one in tensors]


@texts(TEXTS)
def test_a_text_opens_and_is_kept_as_it_was_typed(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    graph = read_script(text, keeps_code=True).graph
    assert incomplete(graph) == {}
    codes = codes_of(graph)
    for code in codes:
        if (condition := condition_in(code)) and condition in text:
            continue  # it stands in the head of a `while`, or on lines of its own
        for line in code.split("\n"):
            is_typed = (
                line in text
                or next(body_places(line), None) is not None
                or line.replace("result = ", "return ", 1) in text
            )
            assert is_typed or LOOKED_UP.fullmatch(line)
    written = write_script(graph)
    again = read_script(written, keeps_code=True).graph
    before, after = ([code.replace("device_", "device") for code in found] for found in (codes, codes_of(again)))
    assert sorted(after) == sorted(before)  # a device that is a definition's own has another name
    assert write_script(again) == written
    assert (len(graph.nodes) == 1) == (path.stem in ALL_OF_IT)


@texts(TEXTS)
@pytest.mark.parametrize("traced", [False, True], ids=["plain", "traced"])
def test_a_trusted_text_has_the_values_gradients_and_prints_of_python(
    path: Path, traced: bool, engines: dict[bool, EngineProcess]
) -> None:
    text = path.read_text(encoding="utf-8")
    graph = read_script(text, keeps_code=True).graph
    program = compile_graph(graph)
    trust = Trust(code_digest(program), str(path), str(path.parent)) if program.codes else None
    canvas, outcome = by_engine(engines[trust is not None], graph, f"{path.stem}{traced}", trust=trust, trace=traced)
    assert outcome.failed is None, outcome.failed and f"{outcome.failed.address}: {outcome.failed.message}"
    python = by_python(text, str(path), outcome.report.seed, as_main=True)
    assert differences(python, canvas) == []
    assert lines_of(canvas.printed) == lines_of(python.printed)
    assert [state for grad, state in leaf_gradients(outcome.report) if grad is not None and state == "not_run"] == []
