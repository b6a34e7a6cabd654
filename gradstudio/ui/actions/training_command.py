"""Add training, share it out to several processes, and checkpoints of it as files.

Add training puts the loss of the program into a loop that learns, as nodes and blocks like any others.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QInputDialog, QWidget

from gradstudio.graph.edits import Edits
from gradstudio.graph.model import BodyId, Graph, ItemId
from gradstudio.graph.recipes.effect_statements import BACKWARD
from gradstudio.graph.text.item_titles import title
from gradstudio.program.errors import NoForm, NotReadable
from gradstudio.protocol.messages.progress import CheckpointKept
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.ui.actions.command_context import Context
from gradstudio.ui.canvas.view import CanvasView
from gradstudio.ui.state.session import Session

if TYPE_CHECKING:
    from gradstudio.program.forms.training.distributed_training import Way
    from gradstudio.program.forms.training.training_options import TrainingOptions

CHECKPOINTS = "Checkpoints (*.safetensors)"
SUFFIX = ".safetensors"
KEPT = "The checkpoint behind turn {turns:,} is in {name}. The training script goes on from it, too (--resume)."
WAYS: "dict[str, Way]" = {
    "DistributedDataParallel: each process holds the whole model": "ddp",
    "fully_shard (FSDP2): the processes share its parameters out": "fsdp",
}
WAYS_WORDS = (
    "Several processes train together, as torchrun starts them: each learns from its share of the data, and gradients\n"
    "are averaged. What that takes is put in as ordinary lines, to be read and changed afterwards.\n\n"
    "The model:"
)
DISTRIBUTED = (
    "Several processes train it together now: Run ▸ On several processes…, or torchrun on the exported script."
)
DONE = "A loop learns the loss now: Run (F5)."


def asked_training(session: Session, window: QWidget) -> "TrainingOptions | None":
    """How a person wants to train; None where they do not, or nothing can be trained, which is said."""
    from gradstudio.ui.dialogs.training.training_dialog import TrainingDialog

    if _training_text(session, None) is None:
        return None
    dialog = TrainingDialog(session.graph_store.graph.header.device, window)
    is_chosen = dialog.exec() == TrainingDialog.DialogCode.Accepted
    options = dialog.options
    dialog.deleteLater()
    return options if is_chosen else None


def add_training(canvas: CanvasView, session: Session, options: "TrainingOptions | None" = None) -> bool:
    """Change the program by its text; what cannot be trained is refused in words, and False."""
    from gradstudio.document.python.merge_edits import merge

    text, before = _training_text(session, options), frozenset(session.graph_store.graph.blocks)
    if text is None or not _take(canvas, session, lambda graph: merge(graph, text, anew=True), "Add training", DONE):
        return False
    canvas.navigation.land(_learning_loop(session.graph_store.graph, before))
    return True


def distribute(canvas: CanvasView, session: Session, window: QWidget) -> bool:
    """Ask how, and have several processes train together what one trains; what cannot be is refused in words."""
    from gradstudio.document.python.merge_edits import edits_to
    from gradstudio.program.forms.training.distributed_training import distributed
    from gradstudio.program.merging.whole_merge import merge_whole

    store = session.graph_store
    store.settle()
    try:
        distributed(store.graph)  # what is refused in any case is not asked about
        chosen, is_accepted = QInputDialog.getItem(window, "Distribute", WAYS_WORDS, list(WAYS), editable=False)
        if not is_accepted:
            return False
        text = distributed(store.graph, WAYS[chosen])
    except NoForm as error:
        session.run.status.refused.emit(str(error))
        return False

    def edits(graph: Graph) -> Edits:
        return edits_to(graph, merge_whole(graph, text, keeps_code=True), anew=True)

    return _take(canvas, session, edits, "Distribute", DISTRIBUTED)


def _take(canvas: CanvasView, session: Session, edits: Callable[[Graph], Edits], command: str, words: str) -> bool:
    """Edit the program by another text of it, as one undo entry; False where a canvas cannot express that, in words."""
    store = session.graph_store
    try:
        store.submit(edits(store.graph), command)
    except NotReadable as error:
        session.run.status.refused.emit(str(error))
        return False
    canvas.setFocus()  # the field that was typed in is another's by now, or gone
    session.run.status.noted.emit(words)
    return True


def _training_text(session: Session, options: "TrainingOptions | None") -> str | None:
    """The program with a training in it; None where there is none, which is said."""
    from gradstudio.program.forms.training.added_training import USUAL, with_training

    store = session.graph_store
    store.settle()
    if not is_complete(session):
        return None
    try:
        return with_training(store.graph, lambda value: shape_of(session, *value), options or USUAL)
    except NoForm as error:
        session.run.status.refused.emit(str(error))
        return None


def is_complete(session: Session) -> bool:
    """Whether the program can run; why it cannot is said."""
    for missing in session.run.program.incomplete:
        words = f"'{title(session.graph_store.graph, missing.node)}' cannot run yet: {missing.reason}"
        session.run.status.refused.emit(words)
        return False
    return True


def _learning_loop(graph: Graph, before: frozenset[ItemId]) -> list[ItemId]:
    """The new block in which the backward stands."""
    calls = {item for item, node in graph.nodes.items() if node.operator == BACKWARD}
    new = (block for block in graph.blocks if block not in before)
    return [block for block in new if not calls.isdisjoint(graph.bodies[BodyId(block)])]


def shape_of(session: Session, node: ItemId, output: int) -> tuple[int, ...] | None:
    """What is known of the shape of a value: from a run, else as it is expected."""
    results = session.results
    records = results.outputs(node) or ()
    record = records[output] if output < len(records) else None
    if isinstance(record, TensorRecord):
        return record.summary.whole_shape
    expected = results.inference(node, output)
    shape = expected.shape if expected is not None else None
    return tuple(shape) if shape is not None and all(isinstance(size, int) for size in shape) else None


class CheckpointFiles(QObject):
    """Writes the run as a file, and has it go on from one."""

    def __init__(self, context: Context, parent: QObject) -> None:
        """Work on the context's session."""
        super().__init__(parent)
        self._context, self._session = context, context.session
        self._asked = 0
        self._session.run.questions.answered.connect(self._on_answered)

    def keep(self) -> None:
        """Ask for the run; where it is to be kept is asked when it is there."""
        self._asked = self._session.run.questions.keep_checkpoint()

    def go_on(self) -> None:
        """Ask for a file, and train on from it."""
        from gradstudio.ui.dialogs.file_dialog import ask_what

        theme = self._context.canvas.canvas_style.theme
        path = ask_what(self._context.window, theme, "Continue from checkpoint", self._folder(), CHECKPOINTS)
        if path is not None:
            self.go_on_from(path)

    def go_on_from(self, path: Path) -> None:
        """Train on from a file."""
        run = self._session.run
        try:
            data = path.read_bytes()
        except OSError as error:
            run.status.refused.emit(f"“{path.name}” cannot be read: {error.strerror}.")
            return
        self._session.run.do("continue", checkpoint=data, breakpoints=())

    def _on_answered(self, answer: object) -> None:
        if not isinstance(answer, CheckpointKept) or not self._asked or answer.request != self._asked:
            return
        self._asked = 0
        if answer.error:
            self._session.run.status.refused.emit(answer.error)
            return
        from gradstudio.ui.dialogs.file_dialog import ask_where

        stem = self._session.path.stem if self._session.path is not None else self._session.subject or "untitled"
        proposed = self._folder() / f"{stem.replace('/', ' ')}{SUFFIX}"
        theme = self._context.canvas.canvas_style.theme
        path = ask_where(self._context.window, theme, "Save checkpoint", proposed, CHECKPOINTS)
        if path is not None:
            self._write(path, answer)

    def _write(self, path: Path, kept: CheckpointKept) -> None:
        from gradstudio.document.atomic_write import write_file
        from gradstudio.document.errors import CannotSave

        status = self._session.run.status
        try:
            write_file(path, kept.data)
        except CannotSave as error:
            status.refused.emit(str(error))
            return
        status.noted.emit(KEPT.format(turns=kept.turns, name=path.name))

    def _folder(self) -> Path:
        """Beside the document, else where the last dialog ended."""
        path = self._session.path or self._session.read_from
        last = self._context.settings.preferences.folder
        if path is not None:
            return path.parent
        return Path(last) if last else Path.home()
