"""Lists what goes on on hosts, whoever began it, and takes one up or ends it."""

import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from PySide6.QtCore import QProcess, Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QListWidget,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gradstudio.protocol.hosts.host_book import Host
from gradstudio.protocol.messages.hosting import Staying
from gradstudio.ui.dialogs.host_dialog import KILL_WAIT_MS, hosts_command_line

Role = QDialogButtonBox.ButtonRole
WIDTH_PX: Final = 620
MOST_TITLE: Final = 80


class Found(NamedTuple):
    """An engine that goes on, and where."""

    host: Host
    engine: Staying

    @property
    def words(self) -> str:
        """A line about it."""
        engine = self.engine
        since = datetime.fromtimestamp(min(engine.since_s, datetime.max.timestamp() // 2)).strftime("%Y-%m-%d %H:%M")
        what = "computes" if engine.is_busy else "rests"
        if engine.has_ended:
            what = "has ended, its record is there"
        who = " · another window is on the line" if engine.is_joined else ""
        return f"{self.host.name} · {engine.title[:MOST_TITLE]} · since {since} · {what}{who}"


class RunningDialog(QDialog):
    """Asks every host at once, each in a process of its own; a host that does not answer holds up no other.

    Attributes:
        chosen: what is to be taken up; None when the person left.
    """

    def __init__(self, hosts: Sequence[Host], folder: Path, parent: QWidget | None = None) -> None:
        """Ask these hosts, which are known in that folder of settings."""
        super().__init__(parent)
        self.setWindowTitle("Running on hosts")
        self.chosen: Found | None = None
        self._folder = folder
        self._found: list[Found] = []
        self._asked: dict[str, QProcess] = {}
        self._troubles: dict[str, str] = {}
        self.list, self.said = QListWidget(), QLabel()
        self.take_up, self.end = QPushButton("Take up"), QPushButton("End it")
        self._build()
        for host in hosts:
            self._ask(host)
        self._refresh()

    def done(self, result: int) -> None:
        """Whoever has not answered is not waited for."""
        for process in self._asked.values():
            process.blockSignals(True)
            process.kill()
            process.waitForFinished(KILL_WAIT_MS)
        self._asked.clear()
        super().done(result)

    # ------------------------------------------------------------------ inner workings

    def _build(self) -> None:
        self.list.setAccessibleName("What goes on on hosts")
        self.list.currentRowChanged.connect(self._refresh)
        self.list.itemActivated.connect(lambda _item: self._choose())
        self.said.setTextFormat(Qt.TextFormat.PlainText)
        self.said.setWordWrap(True)
        self.said.setProperty("role", "dim")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        buttons.addButton(self.end, Role.ActionRole)
        buttons.addButton(self.take_up, Role.AcceptRole)
        buttons.rejected.connect(self.reject)
        buttons.accepted.connect(self._choose)
        self.end.clicked.connect(self._end_current)
        self.take_up.setDefault(True)
        column = QVBoxLayout(self)
        column.setSpacing(12)
        for widget in (self.list, self.said, buttons):
            column.addWidget(widget)
        self.setMinimumWidth(WIDTH_PX)

    def _ask(self, host: Host, *options: str) -> None:
        process = QProcess(self)
        process.finished.connect(lambda *_how: self._on_process_finished(host))
        self._asked[host.name] = process
        command = hosts_command_line(self._folder, "running", host.name, "--json", *options)
        process.start(sys.executable, command)

    def _current(self) -> Found | None:
        row = self.list.currentRow()
        return self._found[row] if 0 <= row < len(self._found) else None

    def _choose(self) -> None:
        self.chosen = self._current()
        if self.chosen is not None:
            self.accept()

    def _end_current(self) -> None:
        found = self._current()
        if found is not None and found.host.name not in self._asked:
            self._found.remove(found)
            self.list.takeItem(self.list.currentRow())
            self._ask(found.host, "--end", found.engine.name)
            self._refresh()

    def _refresh(self) -> None:
        for button in (self.take_up, self.end):
            button.setEnabled(self._current() is not None)
        lines = list(self._troubles.values())
        if self._asked:
            lines.append(f"Asking {', '.join(self._asked)}…")
        elif not self.list.count() and not lines:
            lines.append(
                "Nothing goes on on your hosts. Run ▸ Other machines ▸ Keep running has what runs there go on "
                "when its line breaks or its window closes."
            )
        self.said.setText("\n".join(lines))
        self.said.setVisible(bool(lines))

    # ------------------------------------------------------------------ slots

    def _on_process_finished(self, host: Host) -> None:
        process = self._asked.pop(host.name)
        lines = bytes(process.readAllStandardOutput().data()).splitlines()
        if process.exitCode():
            words = bytes(process.readAllStandardError().data()).decode("utf-8", "replace").strip()
            self._troubles[host.name] = words or f"“{host.name}” did not answer."
        process.deleteLater()
        for line in lines:
            try:
                found = Found(host, msgspec.json.decode(line, type=Staying))
            except msgspec.MsgspecError:
                continue  # words of the command
            self._found.append(found)
            self.list.addItem(found.words)
        if self.list.count() and self.list.currentRow() < 0:
            self.list.setCurrentRow(0)
        self._refresh()
