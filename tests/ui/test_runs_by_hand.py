"""Runs: each training is kept beside its document while it runs, and looked at afterwards."""

import os
import signal
from collections.abc import Iterator, Sized
from pathlib import Path
from typing import Any

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from safetensors import safe_open

from gradstudio import paths
from gradstudio.document.runs.kept_run import KeptRun, kept_runs
from gradstudio.document.runs.run_writer import RunWriter
from gradstudio.graph.recipes import set_literal
from gradstudio.protocol.messages.events import Event, Log, Started
from gradstudio.protocol.messages.progress import CheckpointKept
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.ui.docks.runs.panel import HEAD_MARGINS_PX, RunsPanel
from gradstudio.ui.docks.runs.run_model import DIFFERS, LAST, RUN, STATE
from gradstudio.ui.docks.runs.run_words import SAME, about_two
from gradstudio.ui.state.runs.restore_run import restore
from gradstudio.ui.theme import theme
from tests.ui.desk import Desk, Keys

Tip = Qt.ItemDataRole.ToolTipRole
LINE = """import torch
from torch import optim
torch.manual_seed(1)
x = torch.randn(8, 2)
w = torch.zeros(2, requires_grad=True)
opt = optim.SGD([w], lr=0.1)
for step in range(30):
    noisy = x + torch.randn(8, 2)
    loss = ((noisy @ w - 1) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
accuracy = ((x @ w - 1).abs() < 1).float().mean()
"""
ENDLESS = LINE.replace("range(30)", "range(100_000_000)")


@pytest.fixture(autouse=True)
def _nothing_runs_on(desk: Desk) -> Iterator[None]:
    yield
    if desk.session.run.state.busy:
        desk.window.actions["run.stop"].trigger()
        desk.rest()


@pytest.fixture
def path(desk: Desk, qtbot: QtBot, tmp_path: Path) -> Path:
    desk.sit_down(qtbot)
    desk.open(LINE)
    path = tmp_path / "line.gsg"
    desk.session.save(path)
    return path


def runs(desk: Desk) -> list[KeptRun]:
    folder = desk.session.runs.folder
    assert folder is not None
    return list(kept_runs(folder))


def refuse(*_arguments: object) -> None:
    """As a disk that is full."""
    raise OSError("No space left on device")


def test_a_checkpoint_that_came_before_the_run_had_a_folder_is_kept(
    desk: Desk, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slow turns: the first checkpoint is there before the second turn, and may stay the only one."""
    kept: list[str] = []
    plain = RunWriter.keep

    def note(writer: RunWriter, data: bytes, lacks: str, *rest: Any) -> None:
        kept.append(lacks)
        plain(writer, data, lacks, *rest)

    def come_early(event: Event) -> None:
        if isinstance(event, Started):
            desk.session.run.questions.answered.emit(CheckpointKept(request=0, error="early"))

    monkeypatch.setattr(RunWriter, "keep", note)
    assert not runs(desk)  # what keeps them listens before
    desk.session.engine.received.connect(come_early)
    desk.window.actions["run.again"].trigger()
    desk.until(lambda: desk.session.run.state.at_end and runs(desk))
    desk.session.engine.received.disconnect(come_early)
    assert kept[0] == "early"


def loss(desk: Desk) -> Sized:
    """The values of the curve, as the window has them."""
    curves = desk.session.results.tables.curves
    return curves.points(curves.names[0])[1] if curves.names else ()


def train(desk: Desk, *states: str) -> KeptRun:
    """Run from nothing, until its run is kept as it ended."""
    before = {run.id for run in runs(desk)}
    desk.window.actions["run.again"].trigger()
    wanted = states or ("finished",)

    def new() -> list[KeptRun]:
        return [run for run in runs(desk) if run.id not in before and run.state in wanted]

    desk.until(new)
    return new()[0]


def test_a_training_is_kept_beside_its_document(desk: Desk, path: Path) -> None:
    run = train(desk)
    assert run.folder.parent == path.with_name("line.runs")
    turns, values = run.curves()["loss"]
    assert turns.tolist() == list(range(30)) and values[-1] == pytest.approx(run.record.last["loss"])
    assert run.record.seed == 1 and run.record.literals["opt.lr"] == "0.1" and run.record.turns == 30
    assert run.record.last["accuracy"] == desk.value("accuracy")
    assert "for step in range(30):" in run.program()
    desk.until(lambda: run.has_parameters)
    with safe_open(run.folder / "parameters.safetensors", "np") as file:
        assert {"state.w", "random"} <= set(file.keys())


def test_examples_that_come_with_the_program_get_no_folder_beside_them(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    example = next(paths.examples().glob("*.gsg"))
    desk.session.open(example)
    folder = desk.session.runs.folder
    assert desk.session.path == example and (folder is None or not folder.is_relative_to(example.parent))


def test_a_program_without_a_loop_and_a_slider_leave_nothing(desk: Desk, path: Path) -> None:
    train(desk)
    desk.session.run.repeat()
    desk.rest()
    desk.open("import torch\nx = torch.ones(3, requires_grad=True)\nx.sum().backward()\n")
    desk.session.save(path)
    desk.session.run.run()
    desk.rest()
    desk.session.runs.look()
    assert len(runs(desk)) == 1


def test_the_engine_is_killed_and_what_was_written_stays(desk: Desk, path: Path) -> None:
    desk.open(ENDLESS)
    desk.session.save(path)
    run = train(desk, "running")
    os.kill(desk.session.engine.pid, signal.SIGKILL)
    desk.until(lambda: runs(desk)[0].state == "ended")
    assert runs(desk)[0].id == run.id and len(runs(desk)[0].curves()["loss"][0]) >= 2


def test_a_disk_that_fills_up_ends_the_keeping_and_not_the_training(
    desk: Desk, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.open(ENDLESS)
    desk.session.save(path)
    train(desk, "running")

    heard = list[Event]()
    desk.session.engine.received.connect(heard.append)
    monkeypatch.setattr(RunWriter, "add", refuse)
    for _ in range(2):
        desk.session.run.questions.answered.emit(CheckpointKept(request=0, data=b"learnt"))
    assert desk.session.run.state.busy and desk.session.runs.current == ""
    told = [event for event in heard if isinstance(event, Log) and "No space left" in event.text]
    assert len(told) == 1


def test_a_disk_that_is_full_when_the_engine_dies_ends_the_keeping_alone(
    desk: Desk, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.open(ENDLESS)
    desk.session.save(path)
    train(desk, "running")

    monkeypatch.setattr(RunWriter, "save", refuse)
    os.kill(desk.session.engine.pid, signal.SIGKILL)
    desk.until(lambda: not desk.session.run.state.live)
    assert desk.session.run.state.outcome == "died" and desk.session.runs.current == ""


def test_stopped_and_gone_on_is_one_run(desk: Desk, path: Path) -> None:
    desk.open(ENDLESS)
    desk.session.save(path)
    run = train(desk, "running")
    for _ in range(2):
        desk.window.actions["run.stop"].trigger()
        desk.until(lambda: runs(desk)[0].state == "paused")
        turns = runs(desk)[0].record.turns
        desk.window.actions["run.run"].trigger()
        desk.until(lambda: runs(desk)[0].state == "running")
        desk.until(lambda turns=turns: len(loss(desk)) > turns)
    desk.window.actions["run.stop"].trigger()
    desk.until(lambda: runs(desk)[0].state == "paused")
    (kept,) = runs(desk)
    assert kept.id == run.id and kept.record.turns > turns and len(kept.curves()["loss"][0]) == kept.record.turns


def test_what_an_untitled_document_ran_is_its_own_when_it_is_saved(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    desk.sit_down(qtbot)
    desk.open(LINE)
    run = train(desk)
    assert "runs" in run.folder.parts and run.folder.parent.name == f"Untitled {desk.session.identity}.runs"
    desk.until(lambda: run.has_parameters)
    desk.session.save(tmp_path / "named.gsg")
    (kept,) = kept_runs(tmp_path / "named.runs")
    assert kept.id == run.id and kept.has_parameters and not run.folder.exists()


def test_a_folder_that_takes_nothing_is_said_once(desk: Desk, path: Path) -> None:
    path.with_name("line.runs").write_text("in the way")
    for _ in range(2):
        desk.window.actions["run.again"].trigger()
        desk.until(lambda: desk.session.run.state.at_end)
        desk.rest()
        desk.session.runs.look()
    assert desk.window.log.model.rowCount() >= 1


@pytest.fixture
def panel(desk: Desk, path: Path) -> RunsPanel:
    """The dock with two runs in it, the newer with another learning rate."""
    train(desk)
    item = desk.node("opt")
    assert desk.session.graph_store.attempt(set_literal, "Change lr", item, "lr", "0.3")
    newer = train(desk)
    desk.until(lambda: newer.has_parameters)
    desk.window.go_to_dock("runs")
    panel = desk.window.room.panels["runs"]
    assert isinstance(panel, RunsPanel)
    desk.until(lambda: panel.isVisible() and [run.state for run in panel.model.rows] == ["finished"] * 2)
    return panel


def cell(panel: RunsPanel, row: int, column: int) -> str:
    return str(panel.model.index(row, column).data())


def click(panel: RunsPanel, row: int, keys: Keys = Keys.NoModifier) -> None:
    at = panel.view.visualRect(panel.model.index(row, STATE)).center()
    QTest.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, keys, at)


def test_runs_stand_in_a_table_with_what_differs(desk: Desk, panel: RunsPanel) -> None:
    assert [cell(panel, row, DIFFERS) for row in range(2)] == ["lr 0.3", "lr 0.1"]
    assert "loss" in cell(panel, 0, LAST) and cell(panel, 0, STATE) == "finished"
    click(panel, 0)
    assert "The document is as it was then." in panel.words.toPlainText()
    click(panel, 1, Keys.ControlModifier)
    said = panel.words.toPlainText()
    assert "opt.lr: 0.1 → 0.3" in said and "+ opt = optim.SGD([w], lr=0.3)" in said.replace("\xa0", " ")


def test_a_time_of_today_is_short_and_no_cell_is_cut_where_there_is_room(panel: RunsPanel) -> None:
    panel.view.setFixedWidth(760)
    header = panel.view.horizontalHeader()
    assert len(cell(panel, 0, RUN)) == len("07:51") and cell(panel, 0, RUN) in panel.model.index(0, RUN).data(Tip)
    wanted = [max(panel.view.sizeHintForIndex(panel.model.index(row, k)).width() for row in range(2)) for k in range(6)]
    assert sum(wanted) < 760 and all(header.sectionSize(k) >= wanted[k] for k in range(6))
    panel.view.setFixedWidth(sum(wanted) - 20)
    kept = [k for k in range(6) if k not in (DIFFERS, LAST)]
    assert all(header.sectionSize(k) >= wanted[k] for k in kept), "times and states stay whole"
    title = header.fontMetrics().horizontalAdvance(str(panel.model.headerData(DIFFERS, Qt.Orientation.Horizontal)))
    assert header.sectionSize(DIFFERS) >= title + HEAD_MARGINS_PX, "and so do titles"
    header.resizeSection(DIFFERS, 200)
    panel.view.setFixedWidth(780)
    assert header.sectionSize(DIFFERS) == 200, "as somebody has drawn it"


def test_a_run_that_was_changed_while_it_ran_is_not_called_the_same_as_one_left_alone(panel: RunsPanel) -> None:
    run = panel.model.rows[0]
    changed = KeptRun(run.folder, msgspec.structs.replace(run.record, marks=("from turn 9: opt: lr 0.3 → 0.1",)))
    assert SAME in about_two(run, run, ("one", "other"), theme("dark"))
    said = about_two(run, changed, ("one", "other"), theme("dark"))
    assert SAME not in said and "other: from turn 9: opt: lr 0.3 → 0.1" in said


def test_the_curves_of_a_run_that_is_checked_lie_behind_those_of_now(desk: Desk, panel: RunsPanel) -> None:
    box = panel.model.index(1, RUN)
    panel.model.setData(box, Qt.CheckState.Checked, Qt.ItemDataRole.CheckStateRole)
    curves = desk.session.results.tables.curves
    (beside,) = [one for one in curves.beside if one.title == "loss"]
    assert beside.label == "lr 0.1" and len(beside.turns) == 30
    panel.model.setData(box, Qt.CheckState.Unchecked, Qt.ItemDataRole.CheckStateRole)
    assert curves.beside == ()


def test_a_run_is_restored_with_what_it_had_learnt_as_one_step(desk: Desk, panel: RunsPanel) -> None:
    old = panel.model.rows[1]
    steps = desk.session.graph_store.undo_stack.count()
    click(panel, 1)
    panel.restore_button.click()
    desk.rest()
    assert desk.graph.nodes[desk.node("opt")].literals["lr"] == "0.1"
    assert desk.session.graph_store.undo_stack.count() == steps + 1
    assert desk.session.run.state.outcome == "done" and not desk.session.run.state.at_end
    assert "What it had learnt is put back as of turn 30." in desk.said
    strip = panel.restored_strip
    assert strip.isVisible() and strip.words.whole == (
        "Restored “lr 0.1”: opt.lr 0.3 → 0.1. What it had learnt is put back as of turn 30."
    )
    assert desk.session.attention.selection == {desk.node("opt")}
    assert learnt_now(desk) == pytest.approx(learnt_by(old))
    strip.back.click()
    desk.until(lambda: learnt_now(desk) == pytest.approx(learnt_by(panel.model.rows[0])))
    assert desk.graph.nodes[desk.node("opt")].literals["lr"] == "0.3"
    assert not strip.isVisible()


def test_what_came_back_is_said_until_the_document_is_edited_or_runs(desk: Desk, panel: RunsPanel) -> None:
    for end in (lambda: set_rate(desk, "0.2"), desk.session.run.run):
        click(panel, 1)
        panel.restore_button.click()
        desk.rest()
        assert panel.restored_strip.isVisible()
        end()
        assert not panel.restored_strip.isVisible()
        desk.rest()


def set_rate(desk: Desk, rate: str) -> None:
    desk.session.graph_store.submit(set_literal(desk.graph, desk.node("opt"), "lr", rate), "Rate")


def learnt_by(run: KeptRun) -> list[float]:
    with safe_open(run.folder / "parameters.safetensors", "np") as file:
        learnt: list[float] = file.get_tensor("state.w").tolist()
    return learnt


def learnt_now(desk: Desk) -> object:
    record = desk.session.results.tables.written[desk.node("w"), 0].record
    assert isinstance(record, TensorRecord)
    return record.summary.value


def test_the_best_of_a_run_is_restored_from_its_menu(desk: Desk, path: Path) -> None:
    """The rate is far too high: the best is behind the first turn."""
    test = "    test_loss = ((x @ w - 1) ** 2).mean()\n"
    desk.open(LINE.replace("    opt.step()\n", f"    opt.step()\n{test}").replace("lr=0.1", "lr=2.0"))
    desk.session.save(path)
    train(desk)
    desk.until(lambda: runs(desk)[0].best_figure is not None)
    (run,) = runs(desk)
    assert run.record.best_of == "test_loss" and run.record.best_turns < run.record.turns
    desk.window.go_to_dock("runs")
    panel = desk.window.room.panels["runs"]
    assert isinstance(panel, RunsPanel)
    desk.until(lambda: panel.isVisible() and panel.model.rows)
    click(panel, 0)
    kept = f"at turn {run.record.best_turns}, is kept, too"
    desk.until(lambda: kept in panel.words.toPlainText())  # the panel hears of a file after it is there
    actions = {action.text(): action for action in panel.menu_of(panel.model.index(0, STATE)).actions()}
    actions[f"Restore its best (test_loss {run.record.best:.4g}, turn {run.record.best_turns})"].trigger()
    desk.until(lambda: "What it had learnt is put back" in desk.said)
    with safe_open(run.folder / "best.safetensors", "np") as file:
        learnt = file.get_tensor("state.w").tolist()
    record = desk.session.results.tables.written[desk.node("w"), 0].record
    assert isinstance(record, TensorRecord) and record.summary.value == pytest.approx(learnt)


def test_that_a_run_is_restored_is_said_when_it_is(desk: Desk, panel: RunsPanel) -> None:
    """The engine is not ready yet when it is asked: what it is about to do is not said as done."""
    said = list[tuple[str, bool]]()
    desk.session.run.status.noted.connect(lambda words: said.append((str(words), desk.session.run.state.live)))
    desk.session.run.restart_engine()
    click(panel, 1)
    panel.restore_button.click()
    assert desk.session.run.state.waiting
    desk.until(lambda: any("What it had learnt is put back" in words for words, _ in said))
    assert [is_live for words, is_live in said if "put back" in words] == [True]


def test_a_run_that_cannot_be_restored_now_is_not_said_to_be_by_a_later_run(desk: Desk, panel: RunsPanel) -> None:
    behind, run = desk.session, panel.model.rows[1]
    said, refused = list[str](), list[str]()
    behind.run.status.noted.connect(said.append)
    behind.run.status.refused.connect(refused.append)
    desk.window.actions["file.new"].trigger()
    desk.open(ENDLESS)
    desk.session.run.run()
    desk.until(lambda: desk.session.run.state.live)
    restore(behind, run, "slow")
    assert "is running in another tab" in refused[0]
    desk.session.run.stop()
    desk.rest()
    behind.run.run()
    desk.until(lambda: behind.run.state.at_end)
    assert not any("put back" in words for words in said)


def test_what_is_restored_is_not_taken_for_a_run_that_could_not_go_on(desk: Desk, panel: RunsPanel) -> None:
    """The engine refuses a checkpoint that is broken: what comes after has nothing to do with that run."""
    runs_before, broken = len(runs(desk)), panel.model.rows[0]
    whole = (broken.folder / "parameters.safetensors").read_bytes()
    (broken.folder / "parameters.safetensors").write_bytes(b"{}")
    desk.session.runs.go_on(broken)
    desk.until(lambda: desk.session.run.state.outcome == "refused")
    (broken.folder / "parameters.safetensors").write_bytes(whole)
    click(panel, 0)
    panel.restore_button.click()
    desk.until(lambda: "What it had learnt is put back" in desk.said)
    assert desk.session.runs.current == "" and len(runs(desk)) == runs_before
    assert broken.record.state == runs(desk)[0].state == "finished"


def test_a_run_gets_a_name_is_deleted_and_comes_back(desk: Desk, panel: RunsPanel) -> None:
    panel.model.setData(panel.model.index(1, RUN), "the slow one")
    assert cell(panel, 1, RUN) == "the slow one"
    click(panel, 1)
    QTest.keyClick(panel.view, Qt.Key.Key_Delete)
    assert [cell(panel, row, RUN) == "the slow one" for row in range(panel.model.rowCount())] == [False]
    panel.back_button.click()
    assert cell(panel, 1, RUN) == "the slow one" and panel.back_button.isHidden()
