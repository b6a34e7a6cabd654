"""The driver of faults: every kind once, and that it sees what is wrong."""

from pathlib import Path

import pytest

from gradstudio.errors import GradStudioError
from gradstudio.graph.model import Graph

pytest.importorskip("resource", reason="faults are set up by limits that this system has not")
from tools.campaign.fault_kinds import FAULTS, Kind
from tools.campaign.faults import tried

QUICK = [name for name in FAULTS if not name.startswith("little memory")]


@pytest.mark.parametrize("name", QUICK)
def test_each_fault_is_answered_as_is_due_and_the_document_is_whole(tmp_path: Path, name: str) -> None:
    assert tried(tmp_path, FAULTS[name], 3)[1] == ""


def wrong(folder: Path, kind: Kind) -> str:
    return tried(folder, kind, 0)[1]


def _raise(error: BaseException) -> None:
    raise error


def _spoil(folder: Path, _graph: Graph) -> None:
    (folder / "kept.gsg").write_text("{")


def _litter(folder: Path, _graph: Graph) -> None:
    (folder / ".kept.gsg.1.tmp").touch()


def test_what_is_no_error_of_ours_has_no_words_or_spoils_the_document_is_a_failure(tmp_path: Path) -> None:
    assert "error, where" in wrong(tmp_path, Kind(lambda folder, graph: _raise(OSError("why"))))
    assert "without words" in wrong(tmp_path, Kind(lambda folder, graph: _raise(GradStudioError(""))))
    assert "unreadable" in wrong(tmp_path, Kind(_spoil, None, ("done",)))
    assert "left behind" in wrong(tmp_path, Kind(_litter, None, ("done",)))
    assert "neither as it was" in wrong(tmp_path, Kind(lambda folder, graph: None, None, ("done",), writes=True))
