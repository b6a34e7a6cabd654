"""Run ▸ On several processes…: what is wrong stands at its field, a training on a host is a run, a job is a file."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QDialogButtonBox, QFileDialog, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from gradstudio.document.runs.kept_run import kept_runs
from gradstudio.program.forms.training.distributed_training import RUNS_AS_WRITTEN
from gradstudio.protocol.hosts.host_book import Host, HostBook
from gradstudio.ui.dialogs.processes.processes_dialog import HOSTS, MEETING, SLURM, ProcessesDialog
from gradstudio.ui.docks.runs.panel import RunsPanel
from gradstudio.ui.state.runs import training_process
from tests.helpers.patience import PATIENCE_SECONDS
from tests.test_cli_train import ENDLESS
from tests.ui.desk import Desk
from tests.ui.test_lost_hosts import is_gone

BY_SSH, BY_COMMAND = Host("gpu1", "me@gpu1"), Host("box", command="docker exec -i box")


@pytest.fixture
def dialog(qtbot: QtBot, tmp_path: Path) -> ProcessesDialog:
    made = ProcessesDialog(2, (BY_SSH, BY_COMMAND), tmp_path / "net-train" / "net.py")
    qtbot.addWidget(made)
    return made


def begin(dialog: ProcessesDialog) -> QPushButton:
    button: QPushButton = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
    return button


def test_here_needs_no_yes_and_a_training_does(dialog: ProcessesDialog) -> None:
    assert begin(dialog).isEnabled() and dialog.trust.isHidden()
    dialog.tabs.setCurrentIndex(MEETING)
    assert not begin(dialog).isEnabled() and not dialog.trust.isHidden()
    dialog.trust.setChecked(True)
    assert begin(dialog).isEnabled()
    dialog.tabs.setCurrentIndex(HOSTS)
    assert not dialog.trust.isChecked(), "the yes was to another place"


def test_what_a_program_that_joins_its_processes_keeps_not_is_said_before_it_starts(
    qtbot: QtBot, tmp_path: Path
) -> None:
    made = ProcessesDialog(2, (BY_SSH,), tmp_path / "net.py", RUNS_AS_WRITTEN)
    qtbot.addWidget(made)
    assert made.written.isHidden(), "here it is run as ever"
    made.tabs.setCurrentIndex(HOSTS)
    assert not made.written.isHidden() and "no checkpoint" in made.written.text()


@pytest.mark.parametrize(
    ("name", "text"), [("endpoint", "gpu1:70000"), ("endpoint", "gpu1"), ("nodes", "0"), ("per_node", "none")]
)
def test_what_is_wrong_stands_at_its_field(dialog: ProcessesDialog, name: str, text: str) -> None:
    dialog.tabs.setCurrentIndex(MEETING)
    dialog.trust.setChecked(True)
    field = getattr(dialog.meeting, name)
    was = field.text()
    field.setText(text)
    said = dialog.meeting.problem(name)
    assert said and field.accessibleDescription() == said and not begin(dialog).isEnabled()
    assert not dialog.meeting.lines.toPlainText() and dialog.meeting.copy.isHidden()
    field.setText(was)
    assert not dialog.meeting.problem(name) and begin(dialog).isEnabled()


def test_the_line_for_each_machine_is_copied_as_a_shell_reads_it(dialog: ProcessesDialog) -> None:
    dialog.tabs.setCurrentIndex(MEETING)
    page = dialog.meeting
    page.endpoint.setText("gpu1:29400")
    page.options.setText("--epochs 3")
    page.copy.click()
    read = subprocess.run(
        ["bash", "-c", f"torchrun() {{ printf '%s\\n' \"$@\"; }}; {QApplication.clipboard().text()}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert read.stdout.split() == [*page.meeting.options(), "net.py", "--epochs", "3"]
    page.backend.setCurrentText("static")
    assert "--node-rank 1" in page.lines.toPlainText()
    page.machine.setValue(2)
    assert page.problem("machine") == "Machines are numbered from 0 to 1."
    page.machine.setValue(1)
    assert dialog.meeting.order().of_torchrun[-2:] == ("--node-rank", "1")


def test_hosts_are_checked_and_one_that_has_no_name_is_asked_for_it(dialog: ProcessesDialog, tmp_path: Path) -> None:
    dialog.tabs.setCurrentIndex(HOSTS)
    page = dialog.hosts
    assert page.problem("hosts")
    page.list.item(1).setCheckState(Qt.CheckState.Checked)
    assert not page.problems()
    page.list.item(0).setCheckState(Qt.CheckState.Checked)
    assert not page.problems(), "the first is reached by ssh, which has a name for it"
    page.per_node.setText("4")
    page.options.setText('--epochs "3')
    assert page.problem("options")
    page.options.setText("--epochs 3")
    order = page.order(tmp_path)
    assert order.options == ("--hosts", "gpu1,box", "--config-dir", str(tmp_path))
    assert order.of_torchrun == ("--nproc-per-node", "4") and order.of_script == ("--epochs", "3")


def test_every_field_has_a_name_for_a_screen_reader(dialog: ProcessesDialog) -> None:
    for page in (dialog.here, dialog.hosts, dialog.meeting, dialog.slurm):
        fields = [one for one in vars(page).values() if hasattr(one, "accessibleName") and not isinstance(one, QLabel)]
        assert fields and all(one.accessibleName() or one.text() for one in fields)


def test_no_machines_are_no_job(dialog: ProcessesDialog) -> None:
    dialog.tabs.setCurrentIndex(SLURM)
    page = dialog.slurm
    assert begin(dialog).isEnabled()
    page.nodes.setValue(0)
    page.time.setText("soon")
    assert page.problem("nodes") and page.problem("time") and not begin(dialog).isEnabled()


def answer(desk: Desk, act: Callable[[ProcessesDialog], None]) -> None:
    """The command, and what a person does in its dialog."""
    seen: list[QDialog] = []

    def look() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, ProcessesDialog)
        seen.append(dialog)
        act(dialog)
        assert begin(dialog).isEnabled()
        begin(dialog).click()

    QTimer.singleShot(0, look)
    desk.window.actions["run.processes"].trigger()
    assert seen


@pytest.fixture
def path(desk: Desk, qtbot: QtBot, tmp_path: Path) -> Iterator[Path]:
    """A file with a training in the window, and a host."""
    desk.sit_down(qtbot)
    path = tmp_path / "net.py"
    path.write_text(ENDLESS)
    desk.session.open(path)
    desk.session.save(tmp_path / "net.gsg")
    book = HostBook(desk.window.settings.folder)
    book.add(Host("shell", command="sh -c {engine}", python=sys.executable))
    yield tmp_path
    book.remove("shell")


def test_a_job_is_written_with_its_script(desk: Desk, path: Path) -> None:
    target = path / "job.sbatch"

    def choose() -> None:
        chooser = QApplication.activeModalWidget()
        if not isinstance(chooser, QFileDialog):
            QTimer.singleShot(50, choose)
            return
        chooser.selectFile(str(target))
        QTest.keyClick(chooser, Qt.Key.Key_Return)

    def fill(dialog: ProcessesDialog) -> None:
        QTimer.singleShot(0, choose)
        dialog.tabs.setCurrentIndex(SLURM)
        dialog.slurm.nodes.setValue(2)
        dialog.slurm.partition.setText("gpu")

    answer(desk, fill)
    assert target.is_file(), desk.said
    text = target.read_text()
    assert "#SBATCH --nodes=2" in text and "#SBATCH --partition=gpu" in text
    assert subprocess.run(["bash", "-n", str(target)], check=False).returncode == 0
    assert (path / "net-train" / "net.py").is_file() and str(target) in desk.said


def begin_on_host(dialog: ProcessesDialog) -> None:
    """A training without an end that anybody waits for."""
    dialog.tabs.setCurrentIndex(HOSTS)
    dialog.hosts.options.setText("--device cpu --epochs 100000")
    dialog.trust.setChecked(True)


@pytest.mark.slow
@pytest.mark.usefixtures("ranks_are_forks")
def test_a_training_on_a_host_is_a_run_that_is_drawn_and_stopped(
    desk: Desk, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(path / "cache"))
    monkeypatch.setattr(training_process, "TWICE_S", PATIENCE_SECONDS)  # a click is as long here as it takes
    answer(desk, begin_on_host)
    training = desk.session.training
    panel = desk.window.room.panels["runs"]
    assert isinstance(panel, RunsPanel) and panel.isVisible() and not panel.training_strip.isHidden()
    desk.until(lambda: training.turns > 2)
    desk.until(lambda: "turn" in panel.training_strip.words.text())
    drawn = {curve.title for curve in desk.session.results.tables.curves.beside}
    assert drawn == {"loss", "lr"}, "its curves are drawn while it goes on"
    assert desk.window.actions["run.stop"].isEnabled() and not desk.window.actions["run.pause"].isEnabled()
    desk.window.frame.activateWindow()  # a dialog was in front
    desk.until(desk.window.frame.isActiveWindow)
    desk.key(Qt.Key.Key_F5, Qt.KeyboardModifier.ShiftModifier)
    strip = panel.training_strip
    assert "keep a checkpoint" in strip.words.text() and strip.stop.text() == "End at once"
    assert not strip.stop.isEnabled(), "a double click is no second wish"
    desk.until(lambda: not training.is_running)
    assert "was stopped" in desk.said and not desk.window.actions["run.stop"].isEnabled()
    folder = desk.session.runs_folder
    assert folder is not None
    (run,) = kept_runs(folder)
    steps, losses = run.curves()["loss"]
    assert run.state == "stopped" and len(steps) == training.turns and losses[-1] < losses[0]
    assert (path / "net-train" / "net.safetensors").is_file(), "its checkpoint has come back"


@pytest.mark.slow
@pytest.mark.usefixtures("ranks_are_forks")
def test_a_document_that_is_closed_waits_for_no_training_which_still_keeps_its_checkpoint(
    desk: Desk, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(path / "cache"))
    answer(desk, begin_on_host)
    training = desk.session.training
    desk.until(lambda: training.turns > 2)
    below = psutil.Process().children(recursive=True)
    trains = [one for one in below if "--attached" in one.cmdline()]
    assert len(trains) == 2, "who stands for it, and who trains"
    training.leave()
    assert not training.is_running
    desk.until(lambda: all(map(is_gone, trains)))
    assert (path / "net-train" / "net.safetensors").is_file(), "its checkpoint has come back"
