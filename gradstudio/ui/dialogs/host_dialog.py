"""Asks for another machine to run on, looks what is there, and sends it an engine when it has none."""

import sys
from pathlib import Path

import msgspec
from PySide6.QtCore import QProcess, Qt, QTemporaryDir
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gradstudio.protocol.errors import BadHost
from gradstudio.protocol.hosts import host_check
from gradstudio.protocol.hosts.host_book import Host, HostBook
from gradstudio.protocol.messages.events import Device
from gradstudio.ui.state.cli_process import cli_arguments

Button = QDialogButtonBox.StandardButton
WIDTH_PX = 620
SSH, COMMAND = "ssh", "a command"
HINTS = {
    SSH: "[user@]host, or a name of your ~/.ssh/config",
    COMMAND: "docker exec -i box · kubectl exec -i pod -- · srun -n1 · sh -c {engine}",
}
KILL_WAIT_MS = 2000


def hosts_command_line(folder: Path, *arguments: str) -> list[str]:
    """What follows Python for ``gradstudio hosts``, with the hosts of a folder of settings."""
    return cli_arguments("hosts", "--config-dir", str(folder), *arguments)


class HostDialog(QDialog):
    """Nothing is kept before *Add* or *Connect*, and nothing is sent before *Send the engine*.

    Attributes:
        chosen: the host that is kept now; None when the person left.
    """

    def __init__(self, book: HostBook, known: Host | None = None, parent: QWidget | None = None) -> None:
        """Add a host to that book, or look at one that is `known`."""
        super().__init__(parent)
        self.setWindowTitle("Add host" if known is None else f"Host “{known.name}”")
        self._book, self._known = book, known
        self.chosen: Host | None = None
        self._folder = QTemporaryDir()
        self._trial = HostBook(Path(self._folder.path()))
        self.name, self.where, self.python = QLineEdit(), QLineEdit(), QLineEdit("python3")
        self.way = QComboBox()
        self.way.addItems([SSH, COMMAND])
        self.said = QPlainTextEdit()
        self.check, self.send, self.add = (
            QPushButton("Check"),
            QPushButton("Send the engine"),
            QPushButton("Add" if known is None else "Connect"),
        )
        self._process = QProcess(self)
        self._process.readyReadStandardOutput.connect(self._on_process_ready_read)
        self._process.readyReadStandardError.connect(self._on_process_error_read)
        self._process.finished.connect(self._on_process_finished)
        self._process.errorOccurred.connect(lambda _error: self._refresh())
        self._build()
        if known is not None:
            self._fill(known)
        self._on_way_changed()

    @property
    def is_checking(self) -> bool:
        """Whether the host is being asked."""
        return self._process.state() != QProcess.ProcessState.NotRunning

    def done(self, result: int) -> None:
        """A check that is under way ends with the dialog."""
        self._process.kill()
        self._process.waitForFinished(KILL_WAIT_MS)
        super().done(result)

    # ------------------------------------------------------------------ inner workings

    def _build(self) -> None:
        form = QFormLayout()
        form.setHorizontalSpacing(14)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        rows = {"Name": self.name, "Reached by": self.way, "Where": self.where, "Python there": self.python}
        for title, widget in rows.items():
            widget.setAccessibleName(title)
            form.addRow(title, widget)
        self.name.setPlaceholderText("gpu1")
        words = QLabel(
            "ssh is the one of your system, with its keys and configuration; it asks for no password here. "
            "Programs run there with your rights there."
        )
        words.setProperty("role", "dim")
        words.setWordWrap(True)
        self.said.setReadOnly(True)
        self.said.setAccessibleName("What is there")
        self.said.setPlaceholderText("Check says what is there: Python, torch, devices, an engine or none.")
        self.said.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        buttons = QDialogButtonBox(Button.Cancel)
        buttons.addButton(self.check, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.addButton(self.send, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.addButton(self.add, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.rejected.connect(self.reject)
        buttons.accepted.connect(self._keep)
        self.check.clicked.connect(lambda: self._look())
        self.send.clicked.connect(lambda: self._look("--send"))
        column = QVBoxLayout(self)
        column.setSpacing(12)
        column.addLayout(form)
        for widget in (words, self.said, buttons):
            column.addWidget(widget)
        for button in buttons.buttons():
            if isinstance(button, QPushButton):
                button.setAutoDefault(False)  # Enter looks before anything is kept, and keeps what was looked at
        self.setMinimumWidth(WIDTH_PX)
        self.way.currentIndexChanged.connect(lambda _index: self._on_way_changed())
        for field in (self.name, self.where, self.python):
            field.textChanged.connect(lambda _text: self._refresh())

    def _fill(self, known: Host) -> None:
        self.name.setText(known.name)
        self.name.setReadOnly(True)
        self.way.setCurrentText(SSH if known.destination else COMMAND)
        self.where.setText(known.destination or known.command)
        self.python.setText(known.python)

    def _host(self) -> Host:
        """What is typed, as a host."""
        name, where, python = (field.text().strip() for field in (self.name, self.where, self.python))
        if self.way.currentText() == SSH:
            return Host(name, where, python=python)
        return Host(name, command=where, python=python)

    def _look(self, *options: str) -> None:
        """Ask the host, in a process of its own; what it says is shown as it comes."""
        self.said.clear()
        host = self._host()
        try:
            for other in self._trial.hosts():
                self._trial.remove(other.name)
            self._trial.add(host)
        except BadHost as error:
            self._say(str(error))
            return
        folder = Path(self._folder.path())
        self._process.start(sys.executable, hosts_command_line(folder, "check", host.name, *options))
        self._refresh()

    def _keep(self) -> None:
        host = self._host()
        try:
            known = self._trial.hosts()
            found = (
                known[0].devices
                if known and msgspec.structs.replace(known[0], devices=()) == host
                else self._devices_of(host)
            )
            host = msgspec.structs.replace(host, devices=found)
            if self._known is None:
                self._book.add(host)
            else:
                self._book.put(host)
        except BadHost as error:
            self._say(str(error))
            return
        self.chosen = host
        self.accept()

    def _devices_of(self, host: Host) -> tuple[Device, ...]:
        """Those that are known of it, where it was not looked at now."""
        known = self._known
        return known.devices if known is not None and msgspec.structs.replace(known, devices=()) == host else ()

    def _say(self, text: str) -> None:
        self.said.appendPlainText(text.rstrip("\n"))

    def _refresh(self) -> None:
        """What can be asked now."""
        is_there, is_found = self._found()
        is_whole = all(field.text().strip() for field in (self.name, self.where, self.python))
        for button in (self.check, self.send, self.add):
            button.setEnabled(is_whole and not self.is_checking)
        self.send.setEnabled(self.send.isEnabled() and not is_there)
        self.check.setText("Checking…" if self.is_checking else "Check")
        (self.add if is_found else self.check).setDefault(True)

    def _found(self) -> tuple[bool, bool]:
        """Of what is typed: whether this version's engine is there, and whether programs can run there."""
        known = self._trial.hosts()
        if self.is_checking or not known or msgspec.structs.replace(known[0], devices=()) != self._host():
            return False, False
        said = self.said.toPlainText()
        return host_check.IS_THERE in said or host_check.WAS_SENT in said, bool(known[0].devices)

    # ------------------------------------------------------------------ slots

    def _on_way_changed(self) -> None:
        self.where.setPlaceholderText(HINTS[self.way.currentText()])
        self._refresh()

    def _on_process_ready_read(self) -> None:
        self._say(bytes(self._process.readAllStandardOutput().data()).decode("utf-8", "replace"))

    def _on_process_error_read(self) -> None:
        self._say(bytes(self._process.readAllStandardError().data()).decode("utf-8", "replace"))

    def _on_process_finished(self) -> None:
        self._refresh()
