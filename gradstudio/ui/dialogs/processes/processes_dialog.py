"""On several processes…: where they are, a page each, and what is begun there."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QTabWidget, QVBoxLayout, QWidget

from gradstudio.protocol.hosts.host_book import Host
from gradstudio.protocol.torchrun.slurm_script import has_slurm
from gradstudio.ui.dialogs.dialog_size import fit_dialog
from gradstudio.ui.dialogs.processes.pages import HerePage, HostsPage, MeetingPage, SlurmPage
from gradstudio.ui.widgets.form_layout import paragraph

Button = QDialogButtonBox.StandardButton
WIDTH_PX, HEIGHT_PX = 680, 620
HERE, HOSTS, MEETING, SLURM = range(4)
TITLES: Final = ("&This machine", "&Hosts", "Any &rendezvous", "&Slurm")
BUTTONS: Final = ("Run here", "Train there", "Train here", "Write…")
TRUST: Final = "I trust this program: the script runs as any Python, without the walls around a run"
SUBMIT: Final = "Submit it, too; for that I trust this program"
NO_SBATCH: Final = "Submit it, too (there is no sbatch on this machine: take both scripts to where Slurm is)"
WRITTEN: Final = "The script and its checkpoint: {folder}"


class ProcessesDialog(QDialog):
    """Nothing is begun before the button of a page is pressed; `place` is the page that was chosen."""

    def __init__(
        self,
        count: int,
        hosts: Sequence[Host],
        script: Path,
        note: str = "",
        *,
        is_cuda: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        """With so many processes here, and these hosts.

        Args:
            count: of processes here.
            hosts: those that can be chosen.
            script: where a training's would be.
            note: what is to be known before it is trained elsewhere.
            is_cuda: whether the program wants GPUs.
            parent: the window.
        """
        super().__init__(parent)
        self.setWindowTitle("On several processes")
        self.here, self.hosts = HerePage(count), HostsPage(hosts)
        self.meeting, self.slurm = MeetingPage(script.name), SlurmPage(is_cuda=is_cuda)
        self._pages = (self.here, self.hosts, self.meeting, self.slurm)
        self.tabs, self.trust, self.buttons = QTabWidget(), QCheckBox(), QDialogButtonBox(Button.Ok | Button.Cancel)
        self.written = paragraph(note or WRITTEN.format(folder=script.parent), "dim")
        for title, page in zip(TITLES, self._pages, strict=True):
            self.tabs.addTab(page, title)
            page.changed.connect(self._check)
        column = QVBoxLayout(self)
        column.setSpacing(10)
        column.addWidget(self.tabs, 1)
        for widget in (self.written, self.trust, self.buttons):
            column.addWidget(widget)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self.tabs.currentChanged.connect(self._on_tab_changed)
        self.trust.toggled.connect(self._check)
        self._on_tab_changed()
        fit_dialog(self, WIDTH_PX, HEIGHT_PX)
        self.here.count.setFocus()
        self.here.count.selectAll()

    @property
    def place(self) -> int:
        """One of `HERE`, `HOSTS`, `MEETING` and `SLURM`."""
        return self.tabs.currentIndex()

    # ------------------------------------------------------------------ inner workings

    def _on_tab_changed(self) -> None:
        """The yes is to what this page would run; none is needed to run here, and none to write for Slurm."""
        place, is_slurm = self.place, self.place == SLURM
        self.trust.setChecked(False)
        can_submit = has_slurm()
        of_slurm = SUBMIT if can_submit else NO_SBATCH
        self.trust.setText(of_slurm if is_slurm else TRUST)
        self.trust.setEnabled(can_submit or not is_slurm)
        for widget in (self.trust, self.written):
            widget.setVisible(place != HERE)
        self.buttons.button(Button.Ok).setText(BUTTONS[place])
        self._check()

    def _check(self) -> None:
        """Say what is wrong at the fields of the page in front."""
        page = self._pages[self.place]
        problems = page.problems()
        page.show_problems(problems)
        is_trusted = self.place in (HERE, SLURM) or self.trust.isChecked()
        self.buttons.button(Button.Ok).setEnabled(not problems and is_trusted)
