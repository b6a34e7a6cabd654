"""What is said of a training that has ended."""

from typing import cast

from pytestqt.qtbot import QtBot

from gradstudio.document.runs.kept_run import RunRecord
from gradstudio.program.reading.reader import read_script
from gradstudio.ui.state.engines.rank_child import RankGroup
from gradstudio.ui.state.results.result_store import ResultStore
from gradstudio.ui.state.runs.early_end import end_words

NOBODY = cast(ResultStore, None)
"""Only a loop with code asks for results."""


def test_a_figure_of_several_processes_names_the_rank_that_has_told_it(qtbot: QtBot) -> None:
    graph = read_script("import torch\n\nx = torch.ones(2)\n").graph
    record, ranks = RunRecord(seconds=3.0, last={"loss": 0.25}), RankGroup(4)
    assert end_words(record, graph, NOBODY).endswith("kept in Runs: loss 0.25")
    ranks.look_at(2)
    assert end_words(record, graph, NOBODY, ranks).endswith("kept in Runs: loss 0.25 (on rank 2 of 4)")
