"""Add training, share it out to several processes, and checkpoints of it as files.

Add training puts the loss of the program into a loop that learns, as nodes and blocks like any others.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QInputDialog, QWidget

from gradstudio.errors import GradStudioError
from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.model import BodyId, Graph, ItemId
from gradstudio.graph.recipes.effect_statements import BACKWARD
from gradstudio.graph.text.item_titles import title
from gradstudio.program.errors import NoForm, NotReadable
from gradstudio.program.forms.training.training_options import USUAL, TrainingOptions
from gradstudio.program.model import Program
from gradstudio.protocol.messages.progress import CheckpointKept
from gradstudio.ui.actions.command_context import Context
from gradstudio.ui.canvas.view import CanvasView
from gradstudio.ui.state.session import Session

if TYPE_CHECKING:
    from gradstudio.graph.recipes.training_target import Goal, Target
    from gradstudio.program.forms.training.added_training import AddedTraining
    from gradstudio.program.forms.training.distributed_training import Way

CHECKPOINTS = "Checkpoints (*.safetensors)"
SUFFIX = ".safetensors"
KEPT = "The checkpoint behind turn {turns:,} is in {name}. The training script goes on from it, too (--resume)."
WAYS: "dict[str, Way]" = {
    "DistributedDataParallel: each process holds the whole model": "ddp",
    "fully_shard (FSDP2): the processes share its parameters out": "fsdp",
}
WAYS_WORDS = (
    "Several processes train together, as torchrun starts them: each batch is shared out among them, and gradients\n"
    "are averaged, so a step learns from as many rows as before, and as the exported training script does: the same\n"
    "numbers, unless the loop itself draws at random (dropout). All of it is ordinary lines, to be changed.\n\n"
    "The model:"
)
DISTRIBUTED = (
    "Several processes train it together now: Run ▸ On several processes…, or torchrun on the exported script."
)
SEVERAL = "The target is missing, and {names} could be it: choose with Graph ▸ Add training with…"
NONE_FITS = (
    "The target is missing, and nothing on the canvas fits. Wire one, or have one made: Graph ▸ Add training with…"
)
DONE = "A loop learns the loss now: Run (F5), and Curves draws it."
OTHER_WIDTH = "“{name}” has {what}, {layer} gives {given}"
NO_ENGINE = "There is no engine, so shapes are not known: Run ▸ Restart engine, then Add training again."
NO_SHAPES = "Shapes are not known: a run tells them (F5). Then choose Add training again."
DONE_WITH_CODE = "A loop learns the loss now: Run (F5), which asks first, for some of its lines are code."


class NotTrainable(GradStudioError):
    """A program that no training can be added to, and why."""


class AskedTraining(NamedTuple):
    """What a person has chosen; `edits` wire the target that was missing, `note` says what else they change."""

    options: TrainingOptions
    edits: Edits = ()
    note: str = ""


def asked_training(session: Session, window: QWidget) -> AskedTraining | None:
    """How a person wants to train; None where they do not.

    Raises:
        NotTrainable: nothing can be trained; says why.
        ShapesAwaited: the engine is about to tell what that hangs on.
    """
    from gradstudio.ui.dialogs.training.training_dialog import TrainingDialog

    session.graph_store.settle()
    graph = session.graph_store.graph
    goal, found = _open_target(session)

    def asked(target: "Target | None", loss: str, options: TrainingOptions = USUAL) -> AskedTraining:
        return _wired(graph, goal, target, loss, options) if goal is not None and target else _widened(graph, options)

    first = found[0] if found else None
    _training(session, asked(first, first.losses[0] if first is not None else ""))  # what is refused is not asked about
    dialog = TrainingDialog(graph.header.device, found, window, note_of=lambda target, loss: asked(target, loss).note)
    is_chosen = dialog.exec() == TrainingDialog.DialogCode.Accepted
    options, target, loss = dialog.options, dialog.target, dialog.loss.currentText()
    dialog.deleteLater()
    if not is_chosen:
        return None
    return asked(target, loss, options)


def usual_training(session: Session) -> AskedTraining:
    """The shortest training, of a target that can be meant only.

    Raises:
        NotTrainable: one has to be chosen.
        ShapesAwaited: the engine is about to tell what that hangs on.
    """
    from gradstudio.graph.recipes.training_target import usual_target

    session.graph_store.settle()
    goal, found = _open_target(session)
    if goal is None:
        return _widened(session.graph_store.graph, USUAL)
    place = usual_target(found)
    if place is None or found[place].value is None:
        fitting = [f"'{one.name}'" for one in found if one.name and not one.is_input]
        raise _refusal(session, SEVERAL.format(names=" or ".join(fitting)) if fitting else NONE_FITS)
    return _wired(session.graph_store.graph, goal, found[place], found[place].losses[0], USUAL)


def _wired(graph: Graph, goal: "Goal", target: "Target", loss: str, options: TrainingOptions) -> AskedTraining:
    """The target at the loss; the last layer gets as many outputs as it has columns, or a stored one classes."""
    from gradstudio.advice.fixes.layer_fixes import layer_before
    from gradstudio.graph.recipes.repairs import combine_steps
    from gradstudio.graph.recipes.training_target import wire_target

    edits = wire_target(graph, goal, target, loss)
    wanted, what, given = _width(graph, goal, target, loss)
    if not what:
        return AskedTraining(options, edits)
    layer = layer_before(graph, goal.prediction[0])
    owner = "the prediction" if layer is None else f"“{title(graph, layer.id)}”"
    note = OTHER_WIDTH.format(name=target.name, what=what, layer=owner, given=given)
    if layer is None:
        return AskedTraining(options, edits, f"{note}.")
    edits = combine_steps(
        graph,
        lambda now: recipes.set_literal(now, layer.id, "out_features", str(wanted)),
        lambda now: wire_target(now, goal, target, loss),
    )
    return AskedTraining(options, edits, f"{note}: it is set to {wanted}.")


def _widened(graph: Graph, options: TrainingOptions) -> AskedTraining:
    """No target is missing; the last layer gets as many outputs as a stored one has classes, if it has fewer."""
    from gradstudio.advice.fixes.layer_fixes import layer_of_classes

    layer, missing = layer_of_classes(graph)
    if layer is None or missing is None:
        return AskedTraining(options)
    name, owner = title(graph, missing.target), f"“{title(graph, layer.id)}”"
    note = OTHER_WIDTH.format(name=name, what=f"{missing.classes} classes", layer=owner, given=missing.outputs)
    edits = recipes.set_literal(graph, layer.id, "out_features", str(missing.classes))
    return AskedTraining(options, edits, f"{note}: it is set to {missing.classes}.")


def _width(graph: Graph, goal: "Goal", target: "Target", loss: str) -> tuple[int, str, int]:
    """How wide the prediction has to be, by what in words, and how wide it is; no words where it is wide enough."""
    from gradstudio.document.data.stored_data import count_classes
    from gradstudio.graph.recipes.training_target import CLASS_WORDS

    if target.width:
        return target.width, f"{target.width} {'column' if target.width == 1 else 'columns'}", goal.shape[-1]
    if loss not in CLASS_WORDS or target.value is None or len(goal.shape) < 2:
        return 0, "", 0
    classes = count_classes(graph, target.value[0])
    return classes, f"{classes} classes" if classes > goal.shape[1] else "", goal.shape[1]


def add_training(canvas: CanvasView, session: Session, asked: AskedTraining) -> bool:
    """Change the program by its text; False where a canvas cannot express that, which is said.

    Raises:
        NotTrainable: it cannot be trained so; says why.
        ShapesAwaited: the engine is about to tell what that hangs on.
    """
    from gradstudio.document.python.merge_edits import edits_to, merge
    from gradstudio.program.merging.whole_merge import merge_whole

    added, before = _training(session, asked), frozenset(session.graph_store.graph.blocks)

    def edits(graph: Graph) -> Edits:
        wired = _after(graph, asked.edits)
        if not asked.options.is_code:
            return (*asked.edits, *merge(wired, added.text, anew=True))
        return (*asked.edits, *edits_to(wired, merge_whole(wired, added.text, keeps_code=True), anew=True))

    words = (DONE_WITH_CODE if asked.options.is_code else DONE, asked.note, added.note)
    if not _take(canvas, session, edits, "Add training", " ".join(filter(None, words))):
        return False
    canvas.navigation.land(_learning_loop(session.graph_store.graph, before))
    if notes := " ".join(filter(None, (asked.note, added.note))):  # the status bar cuts them
        canvas.bubble.say(notes, canvas.viewport().rect().center(), role="info")
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


def _refusal(session: Session, words: str) -> NotTrainable:
    """Why not, or that nobody knows what the program gives.

    Raises:
        ShapesAwaited: the engine is about to tell, and a target may be missing then.
    """
    from gradstudio.ui.dialogs.training.awaited_shapes import ShapesAwaited

    if lacks_shape(session):
        if session.run.shapes.awaited:
            raise ShapesAwaited(words)
        if session.engine.state == "dead":
            words = NO_ENGINE
        elif session.results.tables.is_stale or not session.results.tables.inference:
            words = NO_SHAPES
    return NotTrainable(words)


def lacks_shape(session: Session) -> bool:
    """Whether nobody knows that a target is missing where one may be: that hangs on a shape."""
    from gradstudio.graph.recipes.training_target import KnownTensor, find_goal
    from gradstudio.ui.dialogs.training.known_shapes import known_of

    graph, some, known = session.graph_store.graph, KnownTensor((1,), "float32"), known_of(session)
    would_be = find_goal(graph, session.attention.current, lambda value: known(value) or some)
    return would_be is not None and _open_target(session)[0] is None


def _open_target(session: Session) -> "tuple[Goal | None, list[Target]]":
    """Where the program misses a target, and what can be it."""
    from gradstudio.advice.fixes.layer_fixes import layer_before
    from gradstudio.graph.recipes.training_target import find_goal, targets
    from gradstudio.ui.dialogs.training.known_shapes import known_of

    graph, known = session.graph_store.graph, known_of(session)
    goal = find_goal(graph, session.attention.current, known)
    if goal is None:
        return None, []
    has_layer = layer_before(graph, goal.prediction[0]) is not None
    return goal, targets(graph, goal, known, sets_width=has_layer)


def _after(graph: Graph, edits: Edits) -> Graph:
    """The graph as some edits would leave it."""
    if not edits:
        return graph
    changed = graph.copy()
    apply_all(changed, edits)
    return changed


def _training(session: Session, asked: AskedTraining) -> "AddedTraining":
    """The program with a training in it.

    Raises:
        NotTrainable: there is none; says why.
        ShapesAwaited: the engine is about to tell what that hangs on.
    """
    from gradstudio.program.compile import compile_graph
    from gradstudio.program.forms.training.added_training import with_training
    from gradstudio.ui.dialogs.training.known_shapes import known_of

    store = session.graph_store
    store.settle()
    graph = _after(store.graph, asked.edits)
    lack = _lack(graph, compile_graph(graph) if asked.edits else session.run.program)
    if lack:
        raise _refusal(session, lack)
    known = known_of(session)

    def shape_of(value: tuple[ItemId, int]) -> tuple[int, ...] | None:
        tensor = known(value)
        return tensor.shape if tensor is not None else None

    try:
        return with_training(graph, shape_of, asked.options)
    except NoForm as error:
        raise _refusal(session, str(error)) from error


def is_complete(session: Session, graph: Graph, program: Program) -> bool:
    """Whether a program can run; why it cannot is said."""
    lack = _lack(graph, program)
    if lack:
        session.run.status.refused.emit(lack)
    return not lack


def _lack(graph: Graph, program: Program) -> str:
    """Which node cannot run yet, and why; "" where all can."""
    for missing in program.incomplete:
        return f"'{title(graph, missing.node)}' cannot run yet: {missing.reason}"
    return ""


def _learning_loop(graph: Graph, before: frozenset[ItemId]) -> list[ItemId]:
    """The new block in which the backward stands."""
    calls = {item for item, node in graph.nodes.items() if node.operator == BACKWARD}
    new = (block for block in graph.blocks if block not in before)
    return [block for block in new if not calls.isdisjoint(graph.bodies[BodyId(block)])]


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
