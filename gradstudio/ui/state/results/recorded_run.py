"""The record of a run that lies beside a document, shown as if it had just run: nothing is executed for it."""

import shutil
from pathlib import Path

from gradstudio.document.atomic_write import system_refusal
from gradstudio.document.errors import CannotSave
from gradstudio.graph.model import ItemId
from gradstudio.graph.operator_rows import holds_autograd
from gradstudio.protocol.errors import BadRecord
from gradstudio.protocol.record_file import RunRecord, SourceLine, program_digest, read_record
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.results.result_tables import ResultTables
from gradstudio.ui.state.results.run_names import RunNames
from gradstudio.ui.state.run import run_events
from gradstudio.ui.state.run.run_controller import RunController


class RecordedRun:
    """Puts a record into the tables of a document, and remembers where it came from.

    Attributes:
        path: of the record.
        words: what opening the document has to say of it: where it is from, or why it is not shown.
    """

    def __init__(self, store: GraphStore, tables: ResultTables, run: RunController, path: Path) -> None:
        """Show the record in a file, when it is of this very program."""
        self.path = path
        self._sources: dict[ItemId, SourceLine] = {}
        try:
            record = read_record(path)
        except BadRecord as error:
            self.words = f"The record {path.name} cannot be read: {error}."
            return
        if record.head.program != program_digest(run.program):
            self.words = f"The record {path.name} is of another program, so it is not shown."
            return
        self._sources = record.head.sources
        self.words = _words(record, not holds_autograd(store.graph))
        tables.begin(True, names=RunNames(store.graph, run.program))
        for event in record.events:
            run_events.keep(event, tables, None, {})
        tables.set_counter(ItemId(""))
        tables.release()
        run.displaced.begin(record.head.title, run.program, self.words)
        run.status.set(live=False, is_record=True, at_end=True, next_node=ItemId(""))

    def source(self, node: ItemId) -> SourceLine | None:
        """The line of the script that the node was recorded from."""
        return self._sources.get(node)

    def save(self, target: Path) -> None:
        """The document is saved under another name: its record goes with it.

        Raises:
            CannotSave: the system refused.
        """
        if self.path == target or not self.path.is_file():
            return
        try:
            shutil.copyfile(self.path, target)
        except OSError as error:
            raise CannotSave(f"The record was not saved: {system_refusal(error, target)}.") from error
        self.path = target


def _words(record: RunRecord, can_run: bool) -> str:
    head = record.head
    words = f"Recorded from {head.title}: nothing was executed. Step with F10 and Shift+F10"
    if can_run and head.repeats:
        words += "; Run begins with the weights and inputs that the step began with."
    elif can_run:
        words += "; Run begins anew, with other weights and inputs: to see the record again, open it again."
    else:
        words += "."
    return " ".join([words, *head.notes])
