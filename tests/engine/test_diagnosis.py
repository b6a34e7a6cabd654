"""Diagnosis of real runs: what it names is where torch shows the trouble. What torch said is kept for tests/advice."""

import pytest

from gradstudio.program.compile import compile_graph
from tests.advice.diagnosed import TOLD, Diagnosed, Found, found_in
from tests.engine.conftest import Bench
from tests.graph.builder import Drawing
from tests.helpers import recordings


@pytest.fixture
def diagnosis(bench: Bench, request: pytest.FixtureRequest):
    """Runs a drawing and gives what is found."""

    def find(drawing: Drawing) -> Found:
        bench.run(compile_graph(drawing.graph))
        told = [event for event in bench.events if isinstance(event, TOLD)]
        found = found_in(drawing, told)
        concluded = {key: finding.title for key, finding in found.items()}
        recordings.settle(recordings.of_test(request, "advice"), told, concluded, recordings.ids_of(drawing.graph))
        return found

    return find


class TestRealRuns(Diagnosed):
    """Each drawing is run by the engine."""
