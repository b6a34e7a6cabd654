"""The ways out of recorded failures: what they are called and the programs they lead to. torch proved them once."""

from collections.abc import Callable

import pytest

from gradstudio.advice.fixes.fix_kinds import fixes_for
from gradstudio.advice.rules.error_rules import RULES
from gradstudio.graph.model import ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.protocol.messages.events import Failed
from gradstudio.protocol.messages.records import Record
from tests.advice.canvases import CASES, concluded, failure_of
from tests.graph.builder import Drawing
from tests.helpers import recordings
from tests.helpers.laws import check_each


@pytest.mark.parametrize(("rule", "draw", "least"), CASES, ids=lambda value: getattr(value, "__name__", None))
def test_a_recorded_failure_has_the_ways_out_that_were_proven(
    rule: str, draw: Callable[[Drawing], None], least: int
) -> None:
    drawing = Drawing()
    draw(drawing)
    ids = recordings.ids_of(drawing.graph)
    before = compile_graph(drawing.graph).code
    recording = recordings.load(f"advice/recordings/{draw.__name__}", ids)
    failed = failure_of(recording.events)
    assert next(r.name for r in RULES if r.match(failed.type_name, failed.message)) == rule
    now = concluded(drawing, recording.events)
    assert now["explanation"] == recording.concluded["explanation"]  # type: ignore[index]  # JSON
    assert [list(way) for way in now["fixes"]] == recording.concluded["fixes"]  # type: ignore[index,attr-defined]  # JSON
    codes = [code for _, code in now["fixes"] if code]  # type: ignore[attr-defined]  # JSON
    assert len(codes) >= least
    assert before not in codes, "each way out changes the program"


def test_without_what_was_recorded_of_values_nothing_breaks() -> None:
    check_each(((draw.__name__, draw) for _, draw, _ in CASES), has_ways_out_without_values)


def has_ways_out_without_values(draw: Callable[[Drawing], None]) -> None:
    drawing = Drawing()
    draw(drawing)
    recording = recordings.load(f"advice/recordings/{draw.__name__}", recordings.ids_of(drawing.graph))
    for way in fixes_for(failure_of(recording.events), drawing.graph, nothing):
        if way.edits is not None:
            drawing.do(way.edits)
            assert compile_graph(drawing.graph).code
            drawing.undo()


def nothing(_item: ItemId, _output: int) -> Record | None:
    return None


@pytest.mark.parametrize(
    ("message", "package"),
    [("No module named 'torchvision'", "torchvision"), ("No module named 'sklearn'", "scikit-learn")],
)
def test_an_import_that_finds_nothing_says_what_installs_it(message: str, package: str) -> None:
    first, second = (way.title for way in fixes_for(missing(message), Drawing().graph, nothing))
    assert first.endswith(f" -m pip install {package}")
    assert second == "Correct its name, or put its file beside the program"


@pytest.mark.parametrize("message", ["No module named 'torch.there'", "No module named 'json'"])
def test_what_is_part_of_something_that_is_there_is_not_installed(message: str) -> None:
    assert [way.title for way in fixes_for(missing(message), Drawing().graph, nothing)] == ["Correct its name"]


def missing(message: str) -> Failed:
    return Failed(revision=0, node=ItemId(""), address="", line=1, type_name="ModuleNotFoundError", message=message)
