"""Run ▸ Sweep…: trainings for several values of a literal, in the background, and what the Runs dock says of them."""

import json
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import psutil
import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialogButtonBox
from pytestqt.qtbot import QtBot

from gradstudio import paths
from gradstudio.document.file import load
from gradstudio.document.runs.kept_run import KeptRun, State, kept_runs
from gradstudio.document.runs.sweep_grid import SweepLine
from gradstudio.protocol.curve_titles import Watched
from gradstudio.ui.dialogs.sweep_dialog import LITERAL, NOW, VALUES, SweepDialog
from gradstudio.ui.docks.runs.panel import RunsPanel
from gradstudio.ui.docks.runs.run_model import LAST
from gradstudio.ui.state.runs.run_list import final_figure
from gradstudio.ui.state.runs.sweep_process import Order
from tests.ui.desk import Desk
from tests.ui.test_runs_by_hand import ENDLESS, LINE


def runs(desk: Desk) -> list[KeptRun]:
    folder = desk.session.runs.folder
    assert folder is not None
    return list(kept_runs(folder))


def ask(desk: Desk, act: Callable[[SweepDialog], None]) -> None:
    """The command, and what a person does in its dialog."""
    seen: list[SweepDialog] = []

    def answer() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, SweepDialog)
        seen.append(dialog)
        try:
            act(dialog)
        finally:
            if dialog.isVisible():
                dialog.reject()  # else what is wrong would wait for ever

    QTimer.singleShot(0, answer)
    desk.window.actions["run.sweep"].trigger()
    assert seen


def fill(dialog: SweepDialog, name: str, values: str) -> None:
    """Values for a literal, typed into its row."""
    rows = [dialog.table.item(row, 0) for row in range(dialog.table.rowCount())]
    row = next(row for row, item in enumerate(rows) if item is not None and item.text() == name)
    dialog.table.setCurrentCell(row, VALUES)
    item = dialog.table.item(row, VALUES)
    assert item is not None
    item.setText(values)


@pytest.fixture
def path(desk: Desk, qtbot: QtBot, tmp_path: Path) -> Path:
    desk.sit_down(qtbot)
    desk.open(LINE.replace("opt.step()\n", "opt.step()\n    test_accuracy = loss.item()\n"))
    path = tmp_path / "line.gsg"
    desk.session.save(path)
    return path


def test_a_learning_rate_is_swept_beside_the_window(desk: Desk, path: Path) -> None:
    def act(dialog: SweepDialog) -> None:
        ok = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
        assert not ok.isEnabled()
        fill(dialog, "opt.lr", "0.1, 0.001, 0.2")
        fill(dialog, "seed", "1, 2")
        assert "3 × 2 = 6 trainings" in dialog.said.text() or "2 × 3 = 6 trainings" in dialog.said.text()
        dialog.jobs.setValue(1)
        dialog.stops.setChecked(False)
        ok.click()

    ask(desk, act)
    panel = desk.window.room.panels["runs"]
    assert isinstance(panel, RunsPanel) and panel.isVisible() and not panel.strip.isHidden()
    assert not desk.session.run.state.busy, "the window is free"
    desk.until(lambda: not desk.session.runs.sweep.is_running)
    found = runs(desk)
    assert len(found) == 6 and {run.state for run in found} == {"finished"}
    assert len({(run.record.literals["opt.lr"], run.record.literals["seed"]) for run in found}) == 6
    assert len({run.record.sweep for run in found}) == 1
    accuracies = [run.record.last["test_accuracy"] for run in panel.model.rows]
    assert accuracies == sorted(accuracies, reverse=True), "the best stands above"
    assert "6 trainings" in desk.said and "The largest test_accuracy" in desk.said
    assert panel.strip.isHidden() and len(desk.session.results.tables.curves.beside) == 12


def keep(desk: Desk, ends: list[tuple[State, float]], name: str = "loss") -> list[str]:
    """Runs that ended so, each with one figure; what they are called."""
    folder = desk.session.runs.folder
    assert folder is not None
    made = []
    for number, (state, figure) in enumerate(ends):
        record = {"began": 1.0 + number, "state": state, "last": {name: figure}, "turns": 5}
        made.append(f"2026-01-01T00-00-0{number}-1")
        (folder / made[-1]).mkdir(parents=True)
        (folder / made[-1] / "run.json").write_text(json.dumps(record))
    desk.session.runs.list.refresh()
    return made


def test_trainings_that_were_stopped_early_stand_below_those_that_came_to_their_end(desk: Desk, path: Path) -> None:
    """Their figure is of a part of the way: below, whether the least or the largest stands first."""
    keep(desk, [("stopped", 0.1), ("finished", 0.3), ("finished", 0.2), ("stopped", 9.0)])
    desk.window.go_to_dock("runs")
    panel = desk.window.room.panels["runs"]
    assert isinstance(panel, RunsPanel)
    panel.list.refresh()
    for order, losses in (("Ascending", [0.2, 0.3, 0.1, 9.0]), ("Descending", [0.3, 0.2, 9.0, 0.1])):
        panel.view.sortByColumn(LAST, Qt.SortOrder[f"{order}Order"])
        assert [final_figure(run) for run in panel.model.rows] == losses


@pytest.mark.parametrize("rises", [False, True])
def test_the_best_of_a_sweep_is_of_those_that_came_to_their_end(desk: Desk, path: Path, rises: bool) -> None:
    """Stopped early, failed or cut off, a figure is of half the way."""
    sweep, name = desk.session.runs.sweep, "test_accuracy" if rises else "loss"
    outside = 0.99 if rises else 0.01
    ends = [("stopped", outside), ("finished", 0.3), ("finished", 0.2), ("failed", outside), ("ended", outside)]
    made = keep(desk, ends, name)
    sweep.order = Order((), len(made), 1, stops=True, judge=Watched(name, rises) if rises else None)
    sweep.lines = {run: SweepLine(run, state) for run, (state, _) in zip(made, ends, strict=True)}
    best = sweep.best
    assert best is not None and best.id == made[1 if rises else 2]
    del sweep.lines[made[1]], sweep.lines[made[2]]
    assert sweep.best is None, "none has come to its end, and none is under way"
    sweep.changed.emit()
    panel = desk.window.room.panels["runs"]
    assert isinstance(panel, RunsPanel)
    assert [run.id for run in panel.model.rows[:2]] == ([made[1], made[2]] if rises else [made[2], made[1]])


def test_values_that_are_none_are_said_and_a_range_is_filled_in(desk: Desk, path: Path) -> None:
    desk.click("opt")

    def act(dialog: SweepDialog) -> None:
        first, now = dialog.table.item(0, 0), dialog.table.item(0, NOW)
        assert first is not None and now is not None
        assert (first.text(), now.text()) == ("opt.lr", "0.1"), "of the selected card first"
        dialog.fill.click()
        assert dialog.settings == ("opt.lr=0.01, 0.1, 1",) and dialog.order is not None
        fill(dialog, "opt.lr", "red")
        assert dialog.order is None and "lr" in dialog.said.text()
        fill(dialog, "opt.lr", "1:2:x")
        assert dialog.order is None and "no range" in dialog.said.text()

    ask(desk, act)
    assert not desk.session.runs.sweep.is_running and not runs(desk)


def test_only_what_one_varies_is_offered_and_all_of_its_row_is_seen(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.session.restore(load(paths.examples() / "07_digits_perceptron.gsg"), None)
    desk.window.actions["graph.training"].trigger()

    def act(dialog: SweepDialog) -> None:
        table = dialog.table
        names = [item.text() for row in range(table.rowCount()) if (item := table.item(row, LITERAL)) is not None]
        assert names[:3] == ["optimizer.lr", "epoch", "seed"] and "loader.batch_size" in names
        assert not any(word in name for name in names for word in ("digest", "template", "size.", "dim", "grad"))
        judges = [dialog.judge.itemText(k) for k in range(dialog.judge.count())]
        assert judges[0] == "loss_test, the least" and judges[-1] == "the loss while it learns, the least"
        assert any(words.startswith("accuracy") and words.endswith(", the largest") for words in judges), judges
        dialog.fill.click()
        assert dialog.order is not None and dialog.order.judge == ("loss_test", False), "what nobody learns from first"
        seen = table.viewport().rect()
        for column in (LITERAL, NOW, VALUES):
            item = table.item(0, column)
            assert item is not None and item.text() and seen.contains(table.visualItemRect(item))
            assert table.visualItemRect(item).width() > table.fontMetrics().horizontalAdvance(item.text())

    ask(desk, act)


def test_optuna_is_chosen_in_the_dialog_where_it_is_installed(
    desk: Desk, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)

    def act(dialog: SweepDialog) -> None:
        assert dialog.trials.isHidden()
        dialog.search.setCurrentIndex(1)
        fill(dialog, "opt.lr", "0.1, 0.2")
        assert dialog.order is None and 'pip install "gradstudio[sweep]"' in dialog.said.text()
        optuna = ModuleType("optuna")
        optuna.__spec__ = ModuleSpec("optuna", None)
        monkeypatch.setitem(sys.modules, "optuna", optuna)
        dialog.trials.setValue(5)
        assert "2 trainings" in dialog.said.text(), "no combination is trained twice"
        dialog.fill.click()
        assert dialog.settings == ("opt.lr=0.01:1:log",) and not dialog.trials.isHidden()
        assert dialog.order is not None and (dialog.order.search, dialog.order.count) == ("optuna", 5)
        dialog.search.setCurrentIndex(0)
        assert dialog.order is None and "0.01:1:5" in dialog.said.text()

    ask(desk, act)


def test_a_sweep_by_optuna_runs_beside_the_window(desk: Desk, path: Path) -> None:
    pytest.importorskip("optuna", reason="an optional extra: sweep")

    def act(dialog: SweepDialog) -> None:
        dialog.search.setCurrentIndex(1)
        fill(dialog, "opt.lr", "0.001:1:log")
        dialog.trials.setValue(3)
        dialog.jobs.setValue(1)
        dialog.buttons.button(QDialogButtonBox.StandardButton.Ok).click()

    ask(desk, act)
    desk.until(lambda: not desk.session.runs.sweep.is_running)
    rates = {float(run.record.literals["opt.lr"]) for run in runs(desk)}
    assert len(rates) == 3 and min(rates) >= 0.001 and max(rates) <= 1 and "3 trainings" in desk.said


def test_a_sweep_is_cancelled_and_what_was_trained_stays(desk: Desk, path: Path) -> None:
    desk.open(ENDLESS)
    desk.session.save(path)

    def act(dialog: SweepDialog) -> None:
        fill(dialog, "opt.lr", "0.1, 0.2")
        dialog.jobs.setValue(1)
        dialog.buttons.button(QDialogButtonBox.StandardButton.Ok).click()

    ask(desk, act)
    desk.until(lambda: runs(desk) and runs(desk)[0].record.turns)
    panel = desk.window.room.panels["runs"]
    assert isinstance(panel, RunsPanel)
    desk.until(lambda: panel.model.rows and panel.model.rows[0].state == "running")
    children = psutil.Process().children(recursive=True)
    QTest.mouseClick(panel.strip.cancel, Qt.MouseButton.LeftButton)
    desk.until(lambda: not desk.session.runs.sweep.is_running)
    (run,) = runs(desk)
    assert run.state == "stopped" and len(run.curves()["loss"][0]) and "cancelled" in desk.said
    assert len(psutil.Process().children(recursive=True)) < len(children)
