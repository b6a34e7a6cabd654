"""Begins what a person has chosen in *On several processes…*: ranks here, a training elsewhere, or a job of Slurm."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from gradstudio.document.atomic_write import write_file
from gradstudio.document.python.python_export import write_training
from gradstudio.errors import GradStudioError
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.training.distributed_training import RUNS_AS_WRITTEN, joins_processes
from gradstudio.protocol.hosts.host_book import Host
from gradstudio.protocol.torchrun.slurm_script import SUFFIX, slurm_script, submit
from gradstudio.ui.actions.command_context import Context
from gradstudio.ui.dialogs.file_dialog import ask_where
from gradstudio.ui.dialogs.processes import processes_dialog
from gradstudio.ui.dialogs.processes.processes_dialog import ProcessesDialog
from gradstudio.ui.state.engines.rank_child import RankGroup
from gradstudio.ui.state.runs.training_process import training_folder

KINDS: Final = f"Scripts for sbatch (*{SUFFIX})"
NO_TRAINING: Final = "There is no training to export: {reason}"
WRITTEN: Final = "The job is written: sbatch {path}"
SUBMITTED: Final = "Slurm has taken it: job {job}."
NO_PLACE: Final = "There is no place for the script: save the document first."


class ProcessesStart:
    """Of one document."""

    def __init__(self, context: Context, show_dock: Callable[[str], None]) -> None:
        """Work on the context's session; `show_dock` shows one by its key."""
        self._show_dock = show_dock
        self._context, self._session, self._window = context, context.session, context.window

    def ask(self, known: RankGroup | None, hosts: Sequence[Host], switch: Callable[..., None]) -> None:
        """Ask where, and begin there.

        Args:
            known: the processes that run programs here now.
            hosts: those there are.
            switch: has engines elsewhere; takes the words for the place, what makes them, and their `ranks`.
        """
        session = self._session
        session.graph_store.settle()
        folder = session.runs_folder
        script = self._script(folder) if folder is not None else Path("program.py")
        count = known.count if known is not None else 2
        graph = session.graph_store.graph
        note = RUNS_AS_WRITTEN if joins_processes(graph, stem=script.stem) else ""
        is_cuda = graph.header.device.startswith("cuda")
        dialog = ProcessesDialog(count, hosts, script, note, is_cuda=is_cuda, parent=self._window)
        is_chosen = dialog.exec() == ProcessesDialog.DialogCode.Accepted
        if is_chosen and dialog.place == processes_dialog.HERE:
            self._run_here(dialog.here.count.value(), known, switch)
        elif is_chosen and folder is None:
            session.run.status.refused.emit(NO_PLACE)
        elif is_chosen and self._can_train():
            self._write_job(dialog, script) if dialog.place == processes_dialog.SLURM else self._train(dialog, script)
        dialog.deleteLater()

    def _run_here(self, count: int, known: RankGroup | None, switch: Callable[..., None]) -> None:
        """Have so many processes, and run; not where a person keeps what is at work elsewhere."""
        engine = self._session.engine
        is_there = count == known.count if known is not None else count == 1 and not engine.place
        if not is_there:
            ranks = RankGroup(count) if count > 1 else None
            place = ranks.place if ranks is not None else ""
            switch(place, ranks.make if ranks is not None else None, ranks=ranks)
            if engine.client.exchange.ranks is not ranks or engine.place != place:
                return
        self._session.run.run()

    def _script(self, folder: Path) -> Path:
        stem = re.sub(r"\W+", "_", folder.stem).strip("_") or "program"
        return training_folder(folder, stem) / f"{stem}.py"

    def _can_train(self) -> bool:
        from gradstudio.ui.actions.training_command import is_complete

        return is_complete(self._session, self._session.graph_store.graph, self._session.run.program)

    def _train(self, dialog: ProcessesDialog, script: Path) -> None:
        session = self._session
        if dialog.place == processes_dialog.HOSTS:
            order = dialog.hosts.order(self._context.settings.folder)
        else:
            order = dialog.meeting.order()
        if words := session.training.start(session.graph_store.graph, order, script.stem):
            session.run.status.refused.emit(words)
        else:
            self._show_dock("runs")

    def _write_job(self, dialog: ProcessesDialog, script: Path) -> None:
        """Ask where, write both scripts, and submit the job where that was wanted."""
        status = self._session.run.status
        theme = self._context.canvas.canvas_style.theme
        proposed = script.parent.with_name(f"{script.stem}{SUFFIX}")
        path = ask_where(self._window, theme, "Script for sbatch", proposed, KINDS)
        if path is None:
            return
        try:
            script.parent.mkdir(parents=True, exist_ok=True)
            write_training(self._session.graph_store.graph, script)
            write_file(path, slurm_script(dialog.slurm.job, script.resolve(), dialog.slurm.of_script).encode())
            words = WRITTEN.format(path=path)
            if dialog.trust.isChecked():
                words = SUBMITTED.format(job=submit(path))
        except NoForm as error:
            status.refused.emit(NO_TRAINING.format(reason=error))
        except (OSError, GradStudioError) as error:
            status.refused.emit(str(error))
        else:
            status.noted.emit(words)
