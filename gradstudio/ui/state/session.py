"""One open document: its graph, its run, what is looked at, and where it is saved."""

import re
import uuid
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal

from gradstudio import paths
from gradstudio.document import file
from gradstudio.document.errors import CannotOpen
from gradstudio.document.file import View
from gradstudio.graph.model import Graph, Header, ItemId
from gradstudio.graph.slices import AT_ONCE
from gradstudio.program.file_lines import FileLines
from gradstudio.protocol.messages.events import Log
from gradstudio.protocol.messages.requests import Answer
from gradstudio.ui.state.document.attention import Attention
from gradstudio.ui.state.document.file_stamp import Stamp, stamp_of
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.document.group_scope import Scope, ShownStore
from gradstudio.ui.state.idle_work import IdleWork
from gradstudio.ui.state.library.page_store import PageStore
from gradstudio.ui.state.results.canvas_ids import CanvasIds
from gradstudio.ui.state.results.memory_store import MemoryStore
from gradstudio.ui.state.results.player import Player
from gradstudio.ui.state.results.result_store import ResultStore
from gradstudio.ui.state.results.turn_watch import TurnWatch
from gradstudio.ui.state.run.debug_store import DebugStore
from gradstudio.ui.state.run.engine_client import EngineClient
from gradstudio.ui.state.run.engine_line import EngineLine
from gradstudio.ui.state.run.experiments import Experiments
from gradstudio.ui.state.run.problem_store import ProblemStore
from gradstudio.ui.state.run.run_controller import RunController
from gradstudio.ui.state.run.run_patience import RunPatience
from gradstudio.ui.state.run.wire_inference import WireInference

if TYPE_CHECKING:
    from gradstudio.protocol.messages.hosting import Document
    from gradstudio.ui.state.long_lived import LongLived
    from gradstudio.ui.state.results.recorded_run import RecordedRun
    from gradstudio.ui.state.results.turn_request import TurnRequest
    from gradstudio.ui.state.runs.run_keeper import RunKeeper
    from gradstudio.ui.state.runs.training_process import TrainingProcess

RECORD_SUFFIX: Final = ".record"
PYTHON_SUFFIXES: Final = (".py", ".ipynb")
UNTITLED: Final = "Untitled"


class Session(QObject):
    """Bundles the truths of one document.

    Attributes:
        idle: long work that is done while nobody does anything.
        scope: which group's inside is shown; `shown_store` is what canvas and inspector read and edit.
        path: where it is saved; None before the first save.
        read_from: the Python text that it was read from, until it is saved; None: none.
        view: zoom and centre as they stood in the file, for the canvas to take up.
        subject: what it is about while it has no path: the example or the Python text it came from.
        identity: what no other document has, while it has no file: it keeps it when it is recovered, or opened again.
        number: of the untitled documents of a window, from 1; `copy`: of the open ones of one file or subject.
        record: what lies beside the document of a run elsewhere; None: nothing does.
        example: stem of the example's file that it began as, or of its own file; "" for others.
        untitled_runs: the folder in which its runs are kept while it has no path; None: they are not.
        lines_read: where the items begin in the Python file that was read; None: it was no such file.
        stamp: how the file looked on disk when it was read or written last.

    Signals:
        path_changed(): saved under another name, opened, or new.
    """

    path_changed = Signal()

    def __init__(self, engine: EngineClient, parent: QObject | None = None) -> None:
        """An empty, unsaved document on this engine."""
        super().__init__(parent)
        self.engine = EngineLine(engine, self)
        self.engine.title = lambda: self.title
        self.idle = IdleWork(self)
        self._long_lived: LongLived | None = None
        self.path: Path | None = None
        self.read_from: Path | None = None
        self.view: View | None = None
        self.identity = uuid.uuid4().hex
        self.subject, self.example, self.number, self.copy = "", "", 1, 1
        self.stamp: Stamp | None = None
        self.untitled_runs: Path | None = None
        self.lines_read: Mapping[ItemId, int] | None = None
        self._runs: RunKeeper | None = None
        self.graph_store = GraphStore(parent=self)
        self.scope = Scope(self.graph_store, self)
        self.shown_store = ShownStore(self.graph_store, self.scope, self)
        self.attention = Attention(self)
        self.debug = DebugStore(self.graph_store, self)
        ids = CanvasIds(self.scope)
        self.results = ResultStore(self, self.attention, self.graph_store, ids)
        self.scope.changed.connect(self.results.tables.announce_everything)
        self.player = Player(self.attention, self.results, self)
        self.memory = MemoryStore(self)
        self.pages = PageStore(self.engine, self)
        store, results = self.graph_store, self.results
        self.run = RunController(store, self.engine, results, self.memory, self.idle, self, self.debug)
        self.run.code_question.file = lambda: self.path or self.read_from
        self.engine.line = self.run.code_question.line
        self.run.code_question.tell = lambda words: self.engine.tell(Log(level="warning", text=words))
        self.record: RecordedRun | None = None
        self.run.questions.wire_asked = self.run.shapes.patience.asked_of_wire
        self.turn_watch = TurnWatch(store, results.tables, self.engine, self.run.status, self)
        self.patience = RunPatience(self.engine, self.run.status, self.results.tables, self)
        self.problems = ProblemStore(self.graph_store, self.results, self.run, self.attention, self.idle, self)
        self.trials = WireInference(self.graph_store, self.results, self.run.questions, self.engine, self)
        self.experiments = Experiments(self.graph_store, self.run.questions, self, ids.here)
        self.scope.changed.connect(self.experiments.show_again)
        results.tables.curves.changed.connect(self._on_curves_changed)

    @cached_property
    def turns(self) -> "TurnRequest":
        """Asks for turns that are not in the record."""
        from gradstudio.ui.state.results.turn_request import TurnRequest  # no loop has turned at a start

        return TurnRequest(self.run, self.results, self)

    @property
    def title(self) -> str:
        """What the window's title shows: no other document of the window has the same one and the same file."""
        return f"{self.name} ({self.copy})" if self.copy > 1 else self.name

    @property
    def name(self) -> str:
        """What it is called, as another tab of the same file may be."""
        if self.path is not None:
            return self.path.name
        return self.subject or (UNTITLED if self.number == 1 else f"{UNTITLED} {self.number}")

    @property
    def runs_folder(self) -> Path | None:
        """Where its runs are kept: beside it, or, without a file and of an example, in the program's own folder.

        What is called Untitled shares that name with others, now and later: its folder is of it alone.
        """
        if self.path is not None and not self.path.resolve().is_relative_to(paths.examples().resolve()):
            return file.runs_folder(self.path)
        if self.untitled_runs is None:
            return None
        name = self.name if self.path is not None or self.subject else f"{UNTITLED} {self.identity}"
        stem = re.sub(r"[^\w.-]+", " ", name).strip()
        return self.untitled_runs / f"{stem}{file.RUNS_SUFFIX}"

    @property
    def runs(self) -> "RunKeeper":
        """What keeps its runs: made with the first curve, or when somebody looks at them."""
        if self._runs is None:
            from gradstudio.ui.state.runs.run_keeper import RunKeeper

            self._runs = RunKeeper(self, self)
        return self._runs

    @cached_property
    def training(self) -> "TrainingProcess":
        """What trains it elsewhere."""
        from gradstudio.ui.state.runs.training_process import TrainingProcess

        return TrainingProcess(self.runs, self.engine, self.run.status, self)

    def offer_cut_off_run(self) -> None:
        """A training of the document that was killed with its window can go on."""
        folder = self.runs_folder
        if folder is not None and folder.is_dir():
            self.runs.offer()

    def answer_input(self, text: str | None) -> None:
        """Give the program the line that it waits for; None: nobody types any more."""
        if self.results.tables.asked is not None:
            self.engine.send(Answer(text=text, echo=True))
            self.results.tables.ask(None)

    @property
    def is_untouched(self) -> bool:
        """Whether nothing in it is anybody's own: empty or an example, and never changed."""
        return self.path is None and self.read_from is None and self.graph_store.is_untouched

    @property
    def is_blank(self) -> bool:
        """Whether it is empty, and always was."""
        return self.is_untouched and not self.graph_store.graph.nodes

    def new(self, header: Header | None = None) -> None:
        """Put an empty document in place, with this header where one is given."""
        graph = Graph()
        graph.header = header or graph.header
        self._take(graph, None, None)

    def open(self, path: Path) -> None:
        """Put a file's document in place of this one; a Python text, or the graph in a picture, becomes a new one.

        Raises:
            DocumentError: the file cannot be read; this document is untouched.
        """
        if path.suffix in PYTHON_SUFFIXES:
            from gradstudio.document.python import python_document

            read = python_document.load_python(path)
            self._take(read.graph, None, None, path, path.stem, lines=read.lines)
            return
        if path.suffix.lower() == ".png":
            from gradstudio.document import png_embedding

            graph, view = png_embedding.load_picture(path)
            self._take(graph, None, view, path, path.stem)
            return
        graph, view = file.load_with_view(path)
        self._take(graph, path, view)
        if path.with_suffix(RECORD_SUFFIX).is_file():
            from gradstudio.ui.state.results.recorded_run import RecordedRun

            self.record = RecordedRun(self.graph_store, self.results.tables, self.run, path.with_suffix(RECORD_SUFFIX))

    def open_example(self, path: Path) -> None:
        """Open a file as a new, unsaved document, so that saving does not change the example.

        Raises:
            DocumentError: the file cannot be read; this document is untouched.
        """
        graph, view = file.load_with_view(path)
        self._take(
            graph, None, view, subject=path.stem.lstrip("0123456789").replace("_", " ").strip(), example=path.stem
        )

    def restore(
        self, graph: Graph, path: Path | None, subject: str = "", view: View | None = None, identity: str = ""
    ) -> None:
        """Put a recovered graph in place; it counts as changed since the last save, and has its runs again."""
        self._take(graph, path, view, subject=subject, identity=identity)
        self.graph_store.forget_clean()

    def take_up(self, document: "Document", title: str) -> None:
        """Put what runs on a host in place, as another window has left it there; what is heard next is its run.

        Raises:
            DocumentError: it is none, or its stored tensors were too large to be kept there.
        """
        if not document.text:
            raise CannotOpen(f"the stored tensors of “{title}” are too large to be kept with it on a host")
        self._take(file.loads(document.text), None, None, subject=title)
        self.graph_store.forget_clean()
        self.run.away.adopt(document)

    def save(self, path: Path, view: View | None = None) -> None:
        """Write the document to a file, atomically.

        Raises:
            DocumentError: it could not be written; the old file is whole.
        """
        file.save(self.graph_store.graph, path, view)
        self.stamp = stamp_of(path)
        self.graph_store.set_clean()
        if path != self.path:
            if self.path is None and (folder := self.runs_folder) is not None and folder.is_dir():
                _ = self.runs  # it is to know where they lie before they move
            if self.record is not None:
                self.record.save(path.with_suffix(RECORD_SUFFIX))
            self.path = path
            self.path_changed.emit()

    @property
    def changed_on_disk(self) -> bool:
        """Whether another program has written the file, or taken it away, since it was read or written here."""
        return self.path is not None and self.stamp is not None and stamp_of(self.path) != self.stamp

    def keep_mine(self) -> None:
        """What is here is meant, whatever the file holds now; it counts as unsaved."""
        if self.path is not None:
            self.stamp = stamp_of(self.path)
            self.graph_store.forget_clean()

    def close(self) -> None:
        """The document is closed: it hears nothing more of the engine."""
        if "training" in self.__dict__:
            self.training.leave()
        if self._runs is not None:
            self._runs.close()
        self.engine.hang_up()
        self.graph_store.close()
        if self._long_lived is not None:
            self._long_lived.let_go()

    def _on_curves_changed(self) -> None:
        """The first curve: from now on runs are kept."""
        if self._runs is None and self.results.tables.curves.names:
            self.runs.look()

    def _set_aside(self, graph: Graph) -> None:
        """The collector of garbage need not look at a large document again and again."""
        if self._long_lived is not None:
            self._long_lived.let_go()
        if len(graph.nodes) > AT_ONCE:
            from gradstudio.ui.state.long_lived import LongLived

            self._long_lived = self._long_lived or LongLived(self.idle, self)
            self._long_lived.expect()

    def _take(
        self,
        graph: Graph,
        path: Path | None,
        view: View | None,
        read_from: Path | None = None,
        subject: str = "",
        example: str = "",
        lines: Mapping[ItemId, int] | None = None,
        identity: str = "",
    ) -> None:
        self.attention.select(())
        self._set_aside(graph)
        self.run.code_question.file_lines = FileLines(graph, lines) if lines is not None else FileLines()
        self.lines_read = lines
        self.path = path
        self.view = view
        self.read_from = read_from
        self.subject = subject
        self.identity = identity or uuid.uuid4().hex
        self.example = example or (path.stem if path is not None else "")
        self.stamp = stamp_of(path) if path is not None else None
        self.record = None
        self.graph_store.load(graph)
        self.run.shapes.show_if_few()
        self.memory.clear()  # what another document held is not this one's
        self.path_changed.emit()
