"""The record of a run that lies beside a document, shown as if it had just run: nothing is executed for it."""

import shutil
from pathlib import Path

from gradstudio.document.atomic_write import system_refusal
from gradstudio.document.errors import CannotSave
from gradstudio.graph.model import ItemId
from gradstudio.protocol.errors import BadRecord
from gradstudio.protocol.record_file import RunRecord, SourceLine, program_digest, read_record, record_beside
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.results.result_tables import ResultTables
from gradstudio.ui.state.results.run_names import RunNames
from gradstudio.ui.state.run import run_events
from gradstudio.ui.state.run.run_controller import RunController


class RecordedRun:
    """Puts a record into the tables of a document, and remembers where it came from.

    Attributes:
        path: of the record that is shown, or was until the program ran; None: there is none.
        words: what opening the document has to say of it; "" for nothing.
    """

    def __init__(self, store: GraphStore, tables: ResultTables, run: RunController) -> None:
        """There is none yet."""
        self._store, self._tables, self._run = store, tables, run
        self._record: RunRecord | None = None
        self.path: Path | None = None
        self.words = ""

    def forget(self) -> None:
        """Another document is in place."""
        self._record = self.path = None
        self.words = ""

    def show_beside(self, document: Path) -> None:
        """Show the record beside a document, when there is one and it is of this very program; say why not."""
        path = record_beside(document)
        if not path.is_file():
            return
        try:
            record = read_record(path)
        except BadRecord as error:
            self.words = f"The record {path.name} cannot be read: {error}."
            return
        if record.head.program != program_digest(self._run.program):
            self.words = f"The record {path.name} is of another program, so it is not shown."
            return
        self._record, self.path = record, path
        self._show(record)

    def source(self, node: ItemId) -> SourceLine | None:
        """The line of the script that the node was recorded from."""
        return self._record.head.sources.get(node) if self._record is not None else None

    def save_beside(self, document: Path) -> None:
        """The document is saved under another name: its record goes with it.

        Raises:
            CannotSave: the system refused.
        """
        target = record_beside(document)
        if self.path is None or self.path == target or not self.path.is_file():
            return
        try:
            shutil.copyfile(self.path, target)
        except OSError as error:
            raise CannotSave(f"The record was not saved: {system_refusal(error, target)}.") from error
        self.path = target

    def _show(self, record: RunRecord) -> None:
        run, tables = self._run, self._tables
        tables.begin(True, names=RunNames(self._store.graph, run.program))
        for event in record.events:
            run_events.keep(event, tables, None, {})
        tables.set_counter(ItemId(""))
        tables.release()
        notes = " ".join(record.head.notes)
        words = (
            f"Recorded from {record.head.title}: nothing was executed. Step with F10 and Shift+F10; Run begins anew."
        )
        self.words = f"{words} {notes}".strip()
        run.displaced.begin(record.head.title, run.program, self.words)
        run.status.set(live=False, is_record=True, at_end=True, next_node=ItemId(""))
