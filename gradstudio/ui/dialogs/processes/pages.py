"""The places where several processes run, a page each: what is asked, what is wrong, and what it becomes."""

import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLineEdit, QListWidget, QListWidgetItem, QPlainTextEdit, QPushButton

from gradstudio.protocol.hosts.host_book import Host
from gradstudio.protocol.ranks.rank_command import MOST_RANKS
from gradstudio.protocol.torchrun.rendezvous import (
    BACKENDS,
    MOST_MACHINES,
    PORT,
    Rendezvous,
    new_key,
    script_words,
)
from gradstudio.protocol.torchrun.slurm_script import SlurmJob
from gradstudio.ui.dialogs.processes.checked_form import CheckedForm
from gradstudio.ui.state.runs.training_process import TrainingOrder
from gradstudio.ui.theme import mono_font, scale_px
from gradstudio.ui.widgets.number_box import NumberBox

LIST_PX, LINES_PX, ROW_PX = 96, 92, 3
BREAKS: Final = ("--rdzv-id", "--rdzv-endpoint")
"""Where a line of torchrun is broken, as a shell reads it."""
HERE_WORDS: Final = (
    "The program runs in so many processes of this machine at once, as torchrun starts them, and a verb goes to all: "
    "Run, Step, Stop, breakpoints. Cards say whether all hold the same; which one is shown is chosen beside the device."
)
HOSTS_WORDS: Final = (
    "The training script is sent to these hosts with its data, what they lack of it, and torchrun is started there. "
    "What it prints comes to the Log, its losses to Curves and Runs, its checkpoint beside the script."
)
MEETING_WORDS: Final = (
    "For machines of which GradStudio knows nothing: each starts the training script by its line. Train here writes "
    "the script and lets this machine take part; File ▸ Export Python… writes it, too, to be taken along."
)
SLURM_WORDS: Final = (
    "The training script is written, and a script for sbatch that starts one torchrun on each machine. All machines "
    "have to find both where they are written."
)
NO_HOSTS: Final = "There are no hosts yet: Run ▸ Other machines ▸ Add host…"
NONE_CHOSEN: Final = "Check one host or more."
OPTIONS: Final = "options"
OPEN_QUOTE: Final = "A quotation mark is left open."
SCRIPT_HINT: Final = "--epochs 10 --resume auto"


class HerePage(CheckedForm):
    """Processes of this machine, as the window shows them."""

    def __init__(self, count: int) -> None:
        """With so many."""
        super().__init__(HERE_WORDS)
        self.count = NumberBox()
        self.count.setRange(1, MOST_RANKS)
        self.count.setValue(count)
        self.add("count", "Processes", self.count)
        self.column.addStretch(1)

    def problems(self) -> dict[str, str]:
        """The box takes no other number."""
        return {}


class HostsPage(CheckedForm):
    """Hosts of this person, on which torchrun is started."""

    def __init__(self, hosts: Sequence[Host]) -> None:
        """These can be checked."""
        super().__init__(HOSTS_WORDS)
        self._hosts = hosts
        self.list, self.per_node = QListWidget(), QLineEdit("1")
        self.endpoint, self.options = QLineEdit(), QLineEdit()
        for host in hosts:
            item = QListWidgetItem(f"{host.name}   {host.where}")
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked if len(hosts) == 1 else Qt.CheckState.Unchecked)
            self.list.addItem(item)
        self.list.setSpacing(ROW_PX)
        self.list.setFixedHeight(scale_px(LIST_PX))
        self.list.itemChanged.connect(lambda _item: self.changed.emit())
        self.add("hosts", "Hosts", self.list)
        self.add("per_node", "Processes on each", self.per_node)
        self.add("endpoint", "They meet at", self.endpoint, f"the first host, at port {PORT}")
        self.add(OPTIONS, "Options of the script", self.options, SCRIPT_HINT)
        self.column.addStretch(1)

    @property
    def chosen(self) -> list[Host]:
        """Those that are checked."""
        checked = Qt.CheckState.Checked
        return [host for row, host in enumerate(self._hosts) if self.list.item(row).checkState() == checked]

    def problems(self) -> dict[str, str]:
        """A host at least, and processes; where all meet is known of hosts by ssh."""
        chosen, endpoint = self.chosen, self.endpoint.text().strip()
        meeting = Rendezvous("1", self.per_node.text().strip(), endpoint or f"first:{PORT}")
        found = {**meeting.problems(), **_options_problem(self.options)}
        if not chosen:
            found["hosts"] = NONE_CHOSEN if self._hosts else NO_HOSTS
        elif len(chosen) > 1 and not endpoint and not chosen[0].destination:
            found["endpoint"] = f"By which name do the others reach “{chosen[0].name}”? HOST:{PORT}"
        return found

    def order(self, settings: Path) -> TrainingOrder:
        """What `gradstudio train` is told."""
        names = ",".join(host.name for host in self.chosen)
        endpoint = self.endpoint.text().strip()
        return TrainingOrder(
            place=f"on {names.replace(',', ', ')}",
            options=("--hosts", names, "--config-dir", str(settings)),
            of_torchrun=(
                *("--nproc-per-node", self.per_node.text().strip()),
                *(("--rdzv-endpoint", endpoint) if endpoint else ()),
            ),
            of_script=tuple(script_words(self.options.text()) or ()),
        )


class MeetingPage(CheckedForm):
    """Any rendezvous of torchrun, with the line for each machine."""

    def __init__(self, script: str) -> None:
        """For a script of that name."""
        super().__init__(MEETING_WORDS)
        self._script, self._key = script, new_key()
        self.nodes, self.per_node, self.endpoint = QLineEdit("2"), QLineEdit("1"), QLineEdit()
        self.backend, self.machine, self.options = QComboBox(), NumberBox(), QLineEdit()
        self.lines, self.copy = QPlainTextEdit(), QPushButton("Copy")
        self.backend.addItems(BACKENDS)
        self.machine.setRange(0, MOST_MACHINES)
        self.endpoint.setText(f"{socket.gethostname()}:{PORT}")
        self.add("nodes", "Machines (--nnodes)", self.nodes, "2, or from 1 to 4 as 1:4")
        self.add("per_node", "Processes on each (--nproc-per-node)", self.per_node)
        self.add("endpoint", "They meet at (--rdzv-endpoint)", self.endpoint, f"HOST:{PORT}")
        self.add("backend", "By (--rdzv-backend)", self.backend)
        self.add("machine", "This machine is number", self.machine)
        self.add(OPTIONS, "Options of the script", self.options, SCRIPT_HINT)
        self.lines.setReadOnly(True)
        self.lines.setFont(mono_font())
        self.lines.setFixedHeight(scale_px(LINES_PX))
        self.lines.setAccessibleName("The line for each machine")
        self.lines.setTabChangesFocus(True)
        self.copy.setAutoDefault(False)
        self.copy.setToolTip("Copy the lines")
        self.copy.clicked.connect(self._copy)
        self.column.addWidget(self.lines)
        self.column.addWidget(self.copy, 0, Qt.AlignmentFlag.AlignRight)
        self.column.addStretch(1)

    @property
    def meeting(self) -> Rendezvous:
        """What stands there."""
        texts = (self.nodes.text().strip(), self.per_node.text().strip(), self.endpoint.text().strip())
        return Rendezvous(*texts, self.backend.currentText(), self._key)

    def problems(self) -> dict[str, str]:
        """As torchrun would refuse it; the lines stand there where nothing is wrong."""
        meeting = self.meeting
        found = {**meeting.problems(), **_options_problem(self.options)}
        if "nodes" not in found and self.machine.value() >= meeting.machines:
            found["machine"] = f"Machines are numbered from 0 to {meeting.machines - 1}."
        self.lines.setPlainText("" if found else self._words(meeting))
        for widget in (self.lines, self.copy):
            widget.setVisible(not found)
        return found

    def order(self) -> TrainingOrder:
        """This machine's part."""
        meeting = self.meeting
        return TrainingOrder(
            place=f"with others at {meeting.endpoint}",
            of_torchrun=tuple(meeting.options(self.machine.value())),
            of_script=tuple(script_words(self.options.text()) or ()),
        )

    def _words(self, meeting: Rendezvous) -> str:
        lines = [_broken(line) for line in meeting.commands(self._script, self.options.text().strip())]
        if len(set(lines)) == 1:
            return f"# on each machine\n{lines[0]}"
        return "\n".join(f"# on machine {number}\n{line}" for number, line in enumerate(lines))

    def _copy(self) -> None:
        self.lines.selectAll()
        self.lines.copy()


class SlurmPage(CheckedForm):
    """A job of Slurm."""

    def __init__(self, *, is_cuda: bool) -> None:
        """For a program on a GPU, or on the CPU."""
        super().__init__(SLURM_WORDS)
        self.nodes, self.per_node, self.gpus = NumberBox(), NumberBox(), NumberBox()
        self.time, self.partition, self.setup = QLineEdit("01:00:00"), QLineEdit(), QLineEdit(_activation())
        self.options = QLineEdit()
        for box, least, value in ((self.nodes, 0, 1), (self.per_node, 0, 1), (self.gpus, 0, int(is_cuda))):
            box.setRange(least, MOST_MACHINES)
            box.setValue(value)
        self.add("nodes", "Machines (--nodes)", self.nodes)
        self.add("per_node", "Processes on each", self.per_node)
        self.add("gpus", "GPUs of each", self.gpus)
        self.add("time", "At most (--time)", self.time, "that of the partition")
        self.add("partition", "Partition", self.partition, "that of the cluster")
        self.add("setup", "Before it", self.setup, "module load cuda")
        self.add(OPTIONS, "Options of the script", self.options, SCRIPT_HINT)
        self.column.addStretch(1)

    @property
    def job(self) -> SlurmJob:
        """What stands there."""
        texts = (self.time.text().strip(), self.partition.text().strip(), self.setup.text())
        return SlurmJob(self.nodes.value(), self.per_node.value(), self.gpus.value(), *texts)

    @property
    def of_script(self) -> list[str]:
        """The options of the script."""
        return script_words(self.options.text()) or []

    def problems(self) -> dict[str, str]:
        """What Slurm would not take."""
        return {**self.job.problems(), **_options_problem(self.options)}


def _broken(line: str) -> str:
    for option in BREAKS:
        line = line.replace(f" {option} ", f" \\\n    {option} ", 1)
    return line


def _options_problem(field: QLineEdit) -> dict[str, str]:
    return {OPTIONS: OPEN_QUOTE} if script_words(field.text()) is None else {}


def _activation() -> str:
    """What makes this very Python the one of a job; "" where it is the system's."""
    script = Path(sys.prefix) / "bin" / "activate"
    return f"source {script}" if os.name == "posix" and script.is_file() else ""
