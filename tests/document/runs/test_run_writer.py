"""Runs as folders: what is written while it runs is whole at any moment, and few enough are kept."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import psutil
import pytest

from gradstudio.document.errors import CannotSave
from gradstudio.document.event_files import Points, Scalars, event_file, event_head, event_records, read_events
from gradstudio.document.runs import kept_run, run_writer
from gradstudio.document.runs.kept_run import (
    BEST,
    PARAMETERS,
    RunRecord,
    Writer,
    bring_back,
    delete,
    is_alive,
    kept_runs,
    rename,
)
from gradstudio.document.runs.run_comparison import setting_differences, summaries
from gradstudio.document.runs.run_literals import differing, literals_of
from gradstudio.document.runs.run_writer import Figure, RunWriter, learnt_curves
from gradstudio.program.reading.reader import read_script


def curve(*values: float, first: int = 0) -> Points:
    return np.arange(first, first + len(values), dtype=float), np.array(values)


def write(folder: Path, began: float = 1e9, **curves: Points) -> RunWriter:
    writer = RunWriter(folder, RunRecord(began=began, literals={"lr": "0.1"}), "x = 1\n")
    writer.add(curves)
    return writer


def test_what_was_changed_while_a_run_ran_tells_it_from_one_that_was_left_alone(tmp_path: Path) -> None:
    write(tmp_path / "a.runs").save()
    changed = write(tmp_path / "a.runs", began=2e9)
    changed.record.marks = ("from turn 7: opt: lr 0.1 → 0.01; drop: p 0.5 → 0.0", "from turn 9: opt: lr 0.01 → 0.1")
    changed.save()
    newer, older = kept_runs(tmp_path / "a.runs")
    assert summaries([newer, older]) == ["lr 0.1 → 0.01 · p 0.5 → 0.0 · lr 0.01 → 0.1", ""]


def test_points_are_put_behind_those_of_before_and_read_back(tmp_path: Path) -> None:
    writer = write(tmp_path / "a.runs", loss=curve(3.0, 2.0))
    writer.add({"loss": curve(3.0, 2.0, 1.0), "accuracy": curve(0.5)})
    writer.save()
    (run,) = kept_runs(tmp_path / "a.runs")
    turns, values = run.curves()["loss"]
    assert (turns.tolist(), values.tolist()) == ([0, 1, 2], [3, 2, 1])
    assert run.record.last == {"loss": 1.0, "accuracy": 0.5} and run.record.turns == 3
    assert run.program() == "x = 1\n" and run.state == "running"


def test_the_best_of_a_watched_figure_stays_whatever_is_kept_beside_it(tmp_path: Path) -> None:
    writer = write(tmp_path / "a.runs", loss=curve(3.0, 2.0))
    (run,) = kept_runs(tmp_path / "a.runs")
    assert run.best_figure is None
    writer.keep_parameters(b"first", {"loss": 1}, 0.5)
    for turn, value in enumerate((0.75, 0.875, 0.8, 0.875), 1):
        writer.keep_best(str(turn).encode(), Figure("accuracy", value, rises=True), turn)
    writer.keep_parameters(b"newest", {"loss": 2}, 0.1)
    (run,) = kept_runs(tmp_path / "a.runs")
    assert (run.parameters(BEST), run.parameters()) == (b"2", b"newest")
    assert (run.best_figure, run.record.best_of, run.record.best_turns) == (0.875, "accuracy", 2)
    writer.keep_best(b"less", Figure("val_loss", 7.0, rises=False), 5)
    writer.keep_best(b"more", Figure("val_loss", 8.0, rises=False), 6)
    assert run.parameters(BEST) == b"less"


def test_what_is_cut_off_while_a_checkpoint_is_written_lacks_no_turn_of_its_curve(tmp_path: Path) -> None:
    """The curve may go on behind the checkpoint, whose turns are then run again; it never ends before it."""
    losses = curve(5.0, 4.0, 3.0, 2.0)
    writer = write(tmp_path / "a.runs", loss=curve(5.0, 4.0))
    writer.keep(b"first", "", {"loss": 2}, {"loss": curve(5.0, 4.0)})
    best = writer.folder / BEST
    best.unlink()
    best.mkdir()  # what comes behind the checkpoint fails, as it would if the process were killed there
    with pytest.raises(CannotSave):
        writer.keep(b"second", "", {"loss": 4}, {"loss": losses})
    (run,) = kept_runs(tmp_path / "a.runs")
    assert (run.parameters(), run.learnt_turns) == (b"second", 4)
    assert [values.tolist() for _, values in learnt_curves(run).values()] == [[5, 4, 3, 2]]
    best.rmdir()
    parameters = writer.folder / PARAMETERS
    parameters.unlink()
    parameters.mkdir()
    with pytest.raises(OSError):
        writer.keep(b"third", "", {"loss": 5}, {"loss": curve(5.0, 4.0, 3.0, 2.0, 1.0)})
    (run,) = kept_runs(tmp_path / "a.runs")
    assert run.learnt_turns == 5, "turn 5 is run again behind the second"


def test_a_run_that_goes_on_is_rid_of_files_that_were_not_finished(tmp_path: Path) -> None:
    writer = write(tmp_path / "a.runs", loss=curve(3.0, 2.0))
    writer.keep(b"first", "", {"loss": 2}, {"loss": curve(3.0, 2.0)})
    (writer.folder / f".{PARAMETERS}.abcdef.tmp").write_bytes(b"half")
    (run,) = kept_runs(tmp_path / "a.runs")
    RunWriter.resume(run, learnt_curves(run))
    assert not list(writer.folder.glob(".*"))


@pytest.mark.parametrize("lost", [1, 30, 60])
def test_a_file_that_ends_in_a_record_is_read_up_to_it(lost: int) -> None:
    x = np.arange(300.0)
    data = event_file([Scalars("loss", x, x / 7)], 1.0)
    turns, values = read_events(data[:-lost])["loss"]
    count = 300 - -(-lost // 48)
    assert turns.tolist() == list(range(len(turns))) and abs(len(turns) - count) <= 1
    assert np.allclose(values, turns / 7)


def test_many_curves_written_by_turns_are_read_as_they_were() -> None:
    data = event_head(1.0)
    for first in range(0, 20000, 100):
        for tag in ("loss", "lost", "a longer name"):
            steps = np.arange(first, first + 100, dtype=float)
            data += event_records([Scalars(tag, steps, steps + len(tag))], float(first))
    for tag, (steps, values) in read_events(data).items():
        assert steps.tolist() == list(range(20000)) and (values - steps == len(tag)).all()


def test_a_writer_that_is_killed_leaves_a_run_that_ended_unexpectedly(tmp_path: Path) -> None:
    text = (
        "import os, signal, sys, numpy as np; from pathlib import Path\n"
        "from gradstudio.document.runs.run_writer import RunWriter, RunRecord\n"
        "writer = RunWriter(Path(sys.argv[1]), RunRecord(), 'x = 1')\n"
        "writer.add({'loss': (np.arange(5.0), np.arange(5.0))}); writer.save()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", text, str(tmp_path / "a.runs")], check=False)
    (run,) = kept_runs(tmp_path / "a.runs")
    assert run.state == "ended" and len(run.curves()["loss"][0]) == 5


def test_a_writer_that_has_ended_and_nobody_has_asked_for_is_not_at_work() -> None:
    """As a container's first process leaves it, which reaps nobody."""
    child = subprocess.Popen(["sleep", "0"])
    writer = Writer(child.pid, psutil.Process(child.pid).create_time())
    while psutil.Process(child.pid).status() != psutil.STATUS_ZOMBIE:
        pass
    assert not is_alive(writer)
    child.wait()


def test_what_tells_most_runs_apart_is_said_first(tmp_path: Path) -> None:
    for number, (width, rate) in enumerate((("16", "0.1"), ("32", "0.1"), ("32", "0.2"), ("32", "0.3"))):
        writer = write(tmp_path / "a.runs", 1e9 + number)
        writer.record.literals = {"fc.out_features": width, "opt.lr": rate}
        writer.save()
    said = summaries(list(kept_runs(tmp_path / "a.runs")))
    assert said == [
        f"lr {rate} · out_features {width}"
        for rate, width in (("0.3", "32"), ("0.2", "32"), ("0.1", "32"), ("0.1", "16"))
    ]


def test_of_runs_on_other_threads_that_is_said(tmp_path: Path) -> None:
    for began, threads in ((1e9, 1), (2e9, 4)):
        writer = write(tmp_path / "a.runs", began)
        writer.record.threads = threads
        writer.save()
    runs = list(kept_runs(tmp_path / "a.runs"))
    assert summaries(runs) == ["threads 4", "threads 1"]
    assert setting_differences(runs[1].record, runs[0].record) == [("threads", "1", "4")]


def test_the_oldest_documents_that_were_never_saved_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_writer, "UNTITLED_KEPT", 2)
    others = [tmp_path / "digits.runs", tmp_path / "Untitled of mine.runs"]
    folders = [tmp_path / f"Untitled {number:032x}.runs" for number in range(4)]
    for age, folder in enumerate([*others, *folders]):
        writer = write(folder)
        if folder is not folders[0]:  # that one is being written still
            writer.record.state = "finished"
        writer.save()
        os.utime(folder, (1e9 + age, 1e9 + age))
    write(folders[3])
    assert [folder.exists() for folder in folders] == [True, False, True, True]
    assert all(folder.exists() for folder in others)


def test_the_oldest_without_a_name_makes_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_writer, "KEPT", 3)
    monkeypatch.setattr(run_writer, "PARAMETERS_KEPT", 2)
    runs = tmp_path / "a.runs"
    for number in range(5):
        writer = write(runs, began=1e9 + number)
        writer.record.state = "finished"
        writer.keep_parameters(b"learnt", {})
        writer.save()
        if number == 0:
            rename(next(kept_runs(runs)), "the first")
    kept = list(kept_runs(runs))
    assert [run.record.name for run in kept] == ["", "", "", "the first"]
    assert [run.has_parameters for run in kept] == [True, True, False, True]


def test_what_was_deleted_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_run, "DELETED_KEPT", 1)
    runs = tmp_path / "a.runs"
    first, second = (write(runs, loss=curve(value)).folder.name for value in (1.0, 2.0))
    for run in kept_runs(runs):
        delete(run)
    assert list(kept_runs(runs)) == [] and bring_back(runs) == first
    assert [run.id for run in kept_runs(runs)] == [first] and bring_back(runs) == "" and first != second


def test_a_name_that_is_given_while_it_runs_stays(tmp_path: Path) -> None:
    writer = write(tmp_path / "a.runs")
    rename(next(kept_runs(tmp_path / "a.runs")), "  best ")
    writer.record.state = "finished"
    writer.save()
    (run,) = kept_runs(tmp_path / "a.runs")
    assert (run.record.name, run.state) == ("best", "finished")


@pytest.mark.parametrize("content", [b"", b"{", b'{"began": "x"}', b"[1]", b"\xff" * 9])
def test_a_folder_that_is_no_run_is_passed_over(content: bytes, tmp_path: Path) -> None:
    runs = tmp_path / "a.runs"
    (writer := write(runs)).save()
    (runs / "2026-01-01T00-00-00-1").mkdir()
    (runs / "2026-01-01T00-00-00-1" / "run.json").write_bytes(content)
    (runs / "notes").mkdir()
    assert [run.folder for run in kept_runs(runs)] == [writer.folder]


def test_of_many_runs_no_more_are_read_than_are_asked_for(tmp_path: Path) -> None:
    for number in range(3):
        write(tmp_path / "a.runs", began=1e9 + number)
    found = kept_runs(tmp_path / "a.runs")
    newest = next(found)
    for folder in (tmp_path / "a.runs").iterdir():
        if folder != newest.folder:
            (folder / "run.json").unlink()
    assert newest.record.began == 1e9 + 2 and not list(found)


PROGRAM = """import torch

w = torch.zeros(2, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1, momentum=0.9)
for step in range(3):
    loss = (w - 1).square().sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_literals_have_the_names_of_their_arguments() -> None:
    graph = read_script(PROGRAM).graph
    literals = literals_of(graph)
    assert literals["opt.lr"] == "0.1" and literals["step"] == "3" and literals["seed"] == "none"
    other = literals_of(read_script(PROGRAM.replace("0.1", "0.3")).graph)
    assert differing([literals, other]) == ["opt.lr"]
