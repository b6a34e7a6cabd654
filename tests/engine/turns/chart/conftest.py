"""How often charts are drawn in these tests."""

import pytest

from gradstudio.engine.turns import turn_sampling
from gradstudio.engine.turns.chart import chart_drawing
from tests.engine.turns.checkpoints.test_going_back import Clock


@pytest.fixture
def always_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time passes with every look, so pictures are drawn all along."""
    clock = Clock()
    monkeypatch.setattr(chart_drawing, "time", clock)
    monkeypatch.setattr(turn_sampling, "time", clock)
