"""The folder of a run may be anybody's: no link in it is followed, no pipe waited for, and no text takes it all."""

import os
from pathlib import Path

import pytest

from gradstudio.document.errors import NothingToContinue
from gradstudio.document.runs.kept_run import BEST, PARAMETERS, PROGRAM, RECORD, KeptRun, RunRecord, kept_runs
from gradstudio.document.runs.run_writer import RunWriter, learnt_curves

EVENTS = "events.out.tfevents.1.gradstudio"


@pytest.fixture
def run(tmp_path: Path) -> KeptRun:
    writer = RunWriter(tmp_path / "net.runs", RunRecord(began=1.0), "x = 1\n")
    writer.keep_parameters(b"learnt", {"loss": 3}, 1.0)
    writer.record.state = "stopped"
    writer.save()
    (found,) = kept_runs(tmp_path / "net.runs")
    assert found.can_go_on and found.parameters() == b"learnt" and found.program() == "x = 1\n"
    return found


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
@pytest.mark.parametrize("name", [RECORD, PROGRAM, PARAMETERS, EVENTS])
def test_a_pipe_is_not_waited_for(run: KeptRun, name: str) -> None:
    (run.folder / name).unlink()
    os.mkfifo(run.folder / name)
    runs = list(kept_runs(run.folder.parent))
    assert len(runs) == (name != RECORD)
    assert (run.program() == "") == (name == PROGRAM) and not run.curves()
    if name == PARAMETERS:
        assert not run.can_go_on
        with pytest.raises(NothingToContinue, match="it is no file"):
            run.parameters()


@pytest.mark.parametrize("name", [RECORD, PROGRAM, PARAMETERS])
def test_a_link_is_not_followed(run: KeptRun, name: str, tmp_path: Path) -> None:
    (run.folder / name).replace(tmp_path / "elsewhere")
    (run.folder / name).symlink_to(tmp_path / "elsewhere")
    assert len(list(kept_runs(run.folder.parent))) == (name != RECORD)
    assert (run.program() == "") == (name == PROGRAM) and run.can_go_on == (name != PARAMETERS)


def test_a_link_to_a_folder_is_no_run(run: KeptRun, tmp_path: Path) -> None:
    run.folder.replace(tmp_path / "elsewhere")
    run.folder.symlink_to(tmp_path / "elsewhere")
    assert not list(kept_runs(run.folder.parent))


@pytest.mark.parametrize("name", [PARAMETERS, BEST, EVENTS])
def test_what_goes_on_writes_nothing_outside_of_its_folder(run: KeptRun, name: str, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (run.folder / name).unlink()
    (run.folder / name).symlink_to(tmp_path / "mine")
    writer = RunWriter.resume(run, learnt_curves(run))
    writer.keep_parameters(b"more", {"loss": 4}, 0.5)
    assert (tmp_path / "mine").read_text() == "mine"
    assert (run.folder / PARAMETERS).read_bytes() == b"more"


def test_a_record_that_goes_down_without_end_is_none(run: KeptRun) -> None:
    (run.folder / RECORD).write_text('{"other": ' + "[" * 100_000 + "]" * 100_000 + "}")
    assert not list(kept_runs(run.folder.parent))
