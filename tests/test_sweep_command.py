"""Sweeps: a training for each combination of literals, kept as runs beside the document."""

import json
import os
import signal
import struct
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from gradstudio.cli import main
from gradstudio.document.errors import BadSweep
from gradstudio.document.runs.kept_run import kept_runs
from gradstudio.document.runs.sweep_grid import combinations, search_space, values_of
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.curve_titles import judged_figures
from gradstudio.protocol.messages.progress import Curve, CurveKey, Turned
from gradstudio.sweep_command import Trial, is_hopeless, table_lines

pytestmark = pytest.mark.usefixtures("engines_are_forks")
PROGRAM = """import torch

torch.manual_seed(0)
w = torch.zeros(2, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1, momentum=0.9)
for step in range(12):
    loss = (w - 1).square().sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
TWO_LAYERS = """import torch

fc = torch.nn.Linear(2, 3)
head = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(fc.parameters(), lr=0.1)
for step in range(3):
    out = head(fc(torch.ones(5, 2)))
    loss = out.sum()
    loss.backward()
    opt.step()
"""


def test_a_list_a_range_and_equal_ratios() -> None:
    assert values_of("0.1, 0.01") == ["0.1", "0.01"]
    assert values_of("1:3:3") == ["1", "2", "3"]
    assert values_of("0.001:0.1:3:log") == ["0.001", "0.01", "0.1"]
    for text in ("1:2:1", "0:1:3:log", "1:2:3:lin", "a:b:c"):
        with pytest.raises(BadSweep):
            values_of(text)


def test_a_grid_has_every_combination() -> None:
    graph = read_script(PROGRAM).graph
    chosen = combinations(search_space(["lr=0.1,0.2", "step=3,4", "seed=7"], graph))
    assert len(chosen) == 4 and chosen[0] == {"opt.lr": "0.1", "step": "3", "seed": "7"}
    with pytest.raises(BadSweep, match=r"opt\.momentum"):
        search_space(["nothing=1"], graph)


def test_worse_than_the_median_of_the_others_is_hopeless() -> None:
    trials = [Trial(read_script(PROGRAM).graph, {}) for _ in range(5)]
    for number, trial in enumerate(trials):
        trial.losses = [float(number)] * 20
    assert not any(is_hopeless(trial, trials) for trial in trials), "where others have ended nothing is gained"
    trials[0].losses = [0.0] * 21
    assert [is_hopeless(trial, trials) for trial in trials] == [False, False, False, True, True]
    trials[4].losses = [float("nan")] * 12
    assert is_hopeless(trials[4], trials)
    trials[4].losses = [9.0] * 5
    assert not is_hopeless(trials[4], trials)
    trials[4].losses = []  # of an epoch, before its first batch
    assert not is_hopeless(trials[4], trials)
    assert trials[4].figure_at(0) is None


def test_what_is_chosen_to_judge_by_decides_who_stands_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "line.py"
    file.write_text(PROGRAM.replace(", momentum=0.9", "") + "    test_accuracy = loss.item()\n")
    words = ["sweep", str(file), "--set", "lr=0.001,0.002,0.003,0.1,0.2", "--jobs", "1", "--all"]
    assert main([*words, "--by", "test_accuracy"]) == 0
    rates = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert rates[:3] == ["0.001", "0.002", "0.003"], "the largest accuracy, which is the largest loss here"
    assert main([*words, "--by", "accuracy"]) == 2
    assert "no 'accuracy' says how well it learns. By: loss, test_accuracy." in capsys.readouterr().err


def test_a_training_that_was_stopped_stands_below_those_that_came_to_their_end() -> None:
    trials = [Trial(read_script(PROGRAM).graph, {"lr": text}) for text in ("0.1", "0.2", "0.3")]
    for trial, figure in zip(trials, (0.1, 0.3, 0.2), strict=True):
        trial.losses, trial.state = [figure] * 20, "finished"
    trials[0].state = "stopped"
    assert [line.split()[0] for line in table_lines(trials)] == ["lr", "0.3", "0.2", "0.1"]


def test_the_table_is_sorted_by_the_figures_that_it_shows() -> None:
    trials = [Trial(read_script(PROGRAM).graph, {"lr": text}) for text in ("0.1", "0.2")]
    for trial, newest in zip(trials, ([0.0, 0.2], [0.9, 0.1]), strict=True):
        trial.losses, trial.state, trial.last = [1.0] * 18 + newest, "finished", {"loss": newest[-1]}
    means = [trial.final_figure or 0.0 for trial in trials]
    assert means[0] < means[1], "by which trainings are stopped, and optuna proposes"
    assert [line.split()[:2] for line in table_lines(trials)] == [["lr", "loss"], ["0.2", "0.1"], ["0.1", "0.2"]]


def test_worse_in_what_is_judged_by_is_hopeless_however_the_loss_stands() -> None:
    graph = read_script(PROGRAM + "    val_accuracy = 1 - loss.item()\n").graph
    loop = next(item for item, block in graph.blocks.items() if block.kind == "for")
    nodes = {node.names[0]: node.id for node in graph.nodes.values() if node.names}
    trials = [Trial(graph, {}, judged_figures(graph)[0]) for _ in range(5)]
    for number, trial in enumerate(trials):
        told = {"loss": float(number), "val_accuracy": float(number)}
        turns = 21 if number == 4 else 20
        packed = {name: struct.pack(f"<{turns}d", *[value] * turns) for name, value in told.items()}
        curves = [Curve(CurveKey(nodes[name]), data) for name, data in packed.items()]
        trial.hear(Turned(loop, number=turns, curves=tuple(curves)))
    assert [trial.final_figure for trial in trials] == [0, -1, -2, -3, -4]
    assert [is_hopeless(trial, trials) for trial in trials] == [True, True, False, False, False]


def test_each_is_kept_as_a_run_and_no_engine_is_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "line.py"
    file.write_text(PROGRAM)
    assert main(["sweep", str(file), "--set", "lr=0.1,0.02,0.3", "--jobs", "1", "--all"]) == 0
    table = capsys.readouterr().out.splitlines()
    assert table[0].split() == ["opt.lr", "loss", "turns", "seconds", "state"] and len(table) == 4
    runs = list(kept_runs(tmp_path / "line.runs"))
    assert {run.record.literals["opt.lr"] for run in runs} == {"0.1", "0.02", "0.3"}
    assert all(run.state == "finished" and run.has_parameters and run.record.turns == 12 for run in runs)
    assert len({run.record.sweep for run in runs}) == 1
    assert all(run.record.threads > 0 for run in runs)
    assert not [one for one in psutil.Process().children(recursive=True) if one.status() != psutil.STATUS_ZOMBIE]


def test_a_curve_of_a_loop_within_is_not_mixed_with_that_of_the_loop_around(tmp_path: Path) -> None:
    file = tmp_path / "nested.py"
    inner = PROGRAM.replace("for step in range(12):", "for epoch in range(3):\n  for step in range(4):")
    file.write_text(inner.replace("\n    ", "\n      "))
    assert main(["sweep", str(file), "--set", "lr=0.1,0.02", "--jobs", "1", "--all"]) == 0
    for run in kept_runs(tmp_path / "nested.runs"):
        steps, values = run.curves()["loss"]
        assert steps.tolist() == list(range(12)) and len(set(values.tolist())) == 12


def test_what_cannot_be_swept_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "line.py"
    file.write_text(PROGRAM)
    assert main(["sweep", str(file), "--set", "lr=red"]) == 2
    assert "lr" in capsys.readouterr().err
    assert main(["sweep", str(tmp_path / "none.py"), "--set", "lr=1"]) == 4


def test_why_a_training_failed_and_at_which_node_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "two_layers.py"
    file.write_text(TWO_LAYERS)
    assert main(["sweep", str(file), "--set", "head.in_features=3,4", "--jobs", "1"]) == 1
    said = capsys.readouterr().err.splitlines()
    why = "at 'out': RuntimeError: mat1 and mat2 shapes cannot be multiplied (5x3 and 4x1)"
    assert said == ["head.in_features=3: finished", f"head.in_features=4: failed, {why}"]
    (failed,) = [run for run in kept_runs(tmp_path / "two_layers.runs") if run.state == "failed"]
    assert failed.record.reason == why


def test_without_optuna_the_line_that_installs_it_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    file = tmp_path / "line.py"
    file.write_text(PROGRAM)
    assert main(["sweep", str(file), "--set", "lr=0.001:1:log", "--search", "optuna"]) == 2
    assert 'pip install "gradstudio[sweep]"' in capsys.readouterr().err
    assert main(["sweep", str(file), "--set", "lr=0.001:1:log"]) == 2
    assert "0.001:1:5" in capsys.readouterr().err, "a grid has to know how many"
    assert main(["sweep", str(file), "--set", "lr=0.1,1", "--trials", "3"]) == 2
    assert not (tmp_path / "line.runs").exists()


def test_optuna_proposes_what_is_trained_and_hears_what_came_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("optuna", reason="an optional extra: sweep")
    file = tmp_path / "line.py"
    file.write_text(PROGRAM.replace("range(12)", "range(4000)").replace("square", "abs"))
    words = ["sweep", str(file), "--set", "lr=0.0001:1:log", "--set", "momentum=0,0.5", "--jobs", "1"]
    assert main([*words, "--search", "optuna", "--trials", "8"]) == 0
    table = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    runs = list(kept_runs(tmp_path / "line.runs"))
    assert len(table) == len(runs) == 8
    assert all(0.0001 <= float(row[0]) <= 1 and row[1] in ("0", "0.5") for row in table)
    assert len({(row[0], row[1]) for row in table}) == 8
    assert {run.state for run in runs} == {"finished", "stopped"}, "some were hopeless"
    assert all(("worse than the median" in run.record.reason) == (run.state == "stopped") for run in runs)


def test_what_is_under_way_is_written_while_it_trains_and_kept_when_it_is_cancelled(tmp_path: Path) -> None:
    file = tmp_path / "line.py"
    file.write_text(PROGRAM.replace("range(12)", "range(100_000_000)"))
    words = [sys.executable, "-m", "gradstudio", "sweep", str(file), "--set", "lr=0.1,0.02", "--jobs", "1"]
    with subprocess.Popen([*words, "--json", "--attached"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pause = threading.Event()
        first = json.loads(process.stdout.readline())
        assert first["state"] == "running" and first["chosen"] == {"opt.lr": "0.1"}
        while not (runs := list(kept_runs(tmp_path / "line.runs"))) or not runs[0].record.turns:
            assert not pause.wait(0.1) and process.poll() is None
        (run,) = runs
        assert run.id == first["run"] and run.state == "running" and len(run.curves()["loss"][0])
        engines = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 130
    (run,) = kept_runs(tmp_path / "line.runs")
    assert (run.state, run.record.reason) == ("stopped", "The sweep was cancelled.")
    gone, alive = psutil.wait_procs(engines, timeout=60)
    assert gone and not alive


def test_an_engine_that_dies_takes_its_own_training_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until then each of several has computed on as many threads as the document's own engine would."""
    cores = os.cpu_count() or 1
    monkeypatch.setenv("OMP_NUM_THREADS", str(cores))
    file = tmp_path / "line.py"
    file.write_text(PROGRAM.replace("range(12)", "range(100_000_000)"))
    words = [sys.executable, "-m", "gradstudio", "sweep", str(file), "--set", "step=100_000_000,100_000_001"]
    with subprocess.Popen([*words, "--jobs", "2", "--json"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(2):
            json.loads(process.stdout.readline())
        pause = threading.Event()
        while not all(threads := [run.record.threads for run in kept_runs(tmp_path / "line.runs")]) or len(threads) < 2:
            assert not pause.wait(0.1) and process.poll() is None
        assert threads == [cores, cores]
        engines = psutil.Process(process.pid).children(recursive=True)
        for engine in engines:
            engine.kill()
        ended = [json.loads(process.stdout.readline()) for _ in range(2)]
        assert process.wait() == 1
    assert {one["state"] for one in ended} == {"ended"}
    assert {run.state for run in kept_runs(tmp_path / "line.runs")} == {"ended"}
