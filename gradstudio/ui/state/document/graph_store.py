"""The graph of a document and its history: the only door through which it changes."""

import atexit
import itertools
import weakref
from collections.abc import Callable
from typing import Concatenate, ParamSpec

import msgspec
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack
from shiboken6 import isValid

from gradstudio.graph.edits import AddNode, Edit, Edits, ReplaceNode, apply_all
from gradstudio.graph.errors import EditError, Refused
from gradstudio.graph.model import Graph, ItemId

P = ParamSpec("P")


_STACKS: list[QUndoStack] = []
"""WORKAROUND(PySide frees commands before the stack that deletes them, and crashes): stacks live to the end."""


@atexit.register
def _hush_stacks() -> None:
    """WORKAROUND(a dying QUndoStack still signals): at the end of the process nobody is left who could listen."""
    for stack in _STACKS:
        if isValid(stack):
            stack.blockSignals(True)


class _EditCommand(QUndoCommand):
    """A tuple of edits and the tuple that takes them back; the only undo command there is."""

    def __init__(
        self, store: "GraphStore", edits: Edits, inverses: Edits, text: str, merge_key: str, merge_id: int
    ) -> None:
        """The edits are applied already: the first redo, which Qt asks for at once, tells of them alone."""
        super().__init__(text)
        self._store = weakref.ref(store)
        self.edits, self.merge_key, self._merge_id = edits, merge_key, merge_id
        self.inverses = inverses
        self._is_new = True

    def redo(self) -> None:
        if (store := self._store()) is not None and self._is_new:
            self._is_new = False
            store._announce(self.edits)
        elif store is not None:
            self.inverses = store._apply(self.edits)

    def undo(self) -> None:
        if (store := self._store()) is not None:
            store._apply(self.inverses)

    def id(self) -> int:
        return self._merge_id

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, _EditCommand) or not self.merge_key or self.merge_key != other.merge_key:
            return False
        self.edits = (*self.edits, *other.edits)
        self.inverses = (*other.inverses, *self.inverses)
        return True


class GraphStore(QObject):
    """Holds the graph; every change is submitted here, checked, undoable and announced.

    Signals:
        changing(): an edit, undo or redo is about to come; what is being typed is kept or given up now.
        edited(object): after edits were applied (also by undo and redo), with the tuple.
        submitted(object): the same once, when they are made: neither undo nor redo.
        replaced(): the whole graph is another one (opened, new).
        clean_changed(object): True when the graph is as it was saved.
        history_changed(): what can be undone and redone is another; after `edited`.
        refused(object): a person's wish was refused; the words why.
    """

    changing = Signal()
    edited = Signal(object)
    submitted = Signal(object)
    replaced = Signal()
    clean_changed = Signal(object)
    history_changed = Signal()
    refused = Signal(object)

    def __init__(self, graph: Graph | None = None, parent: QObject | None = None) -> None:
        """Begin with a graph, or an empty one, and an empty history."""
        super().__init__(parent)
        self.graph = graph if graph is not None else Graph()
        self.undo_stack = QUndoStack()
        _STACKS.append(self.undo_stack)
        self.undo_stack.cleanChanged.connect(self._on_undo_stack_clean_changed)
        # WORKAROUND(a dying QUndoStack still signals): by way of a slot of its owner, which is deaf by then.
        self.undo_stack.indexChanged.connect(self._on_undo_stack_index_changed)
        self._merge_ids: dict[str, int] = {}
        self._merge_numbers = itertools.count(1)
        self._revision = 0
        self._settles = self._applies = False

    def submit(self, edits: Edits, text: str, merge_key: str = "") -> None:
        """Apply edits as one undo entry; entries with the same merge key become one.

        Raises:
            EditError: they do not fit; nothing is changed and nothing is on the stack.
        """
        inverses = self._try(edits) if edits else None
        if inverses is None:
            return
        merge_id = self._merge_ids.setdefault(merge_key, next(self._merge_numbers)) if merge_key else -1
        self.undo_stack.push(_EditCommand(self, edits, inverses, text, merge_key, merge_id))
        self.submitted.emit(edits)

    def refine(self, item: ItemId, path: str, text: str) -> None:
        """Write a literal of a node as if it had been there since: undo and redo know the node with it only.

        It is no entry of its own. A file that was saved meanwhile has the older literal: it is not clean any more.
        """
        assert not self._applies, "an edit within an undo, a redo or another edit"
        before = self.graph.nodes[item].literals.get(path, "")

        def with_literal(edit: Edit) -> Edit:
            if not isinstance(edit, AddNode | ReplaceNode) or edit.node.id != item:
                return edit
            if edit.node.literals.get(path, "") != before:
                return edit
            node = msgspec.structs.replace(edit.node, literals={**edit.node.literals, path: text})
            return msgspec.structs.replace(edit, node=node)

        for k in range(self.undo_stack.count()):
            command = self.undo_stack.command(k)
            assert isinstance(command, _EditCommand)
            edits = tuple(with_literal(edit) for edit in command.edits)
            if edits != command.edits and k < self.undo_stack.cleanIndex():
                self.undo_stack.resetClean()
            command.edits, command.inverses = edits, tuple(with_literal(edit) for edit in command.inverses)
        self._apply((with_literal(ReplaceNode(self.graph.nodes[item])),))

    def accompany(self, edits: Edits) -> None:
        """Apply edits that follow from the newest change: both are taken back, and made again, together.

        Nothing of it is said of the file: it is no change that a person made.
        """
        assert not self._applies, "an edit within an undo, a redo or another edit"
        inverses, newest = self._apply(edits), self.undo_stack.index() - 1
        command = self.undo_stack.command(newest) if newest >= 0 else None
        if command is not None:
            assert isinstance(command, _EditCommand)
            command.edits, command.inverses = (*command.edits, *edits), (*inverses, *command.inverses)

    def attempt(
        self,
        recipe: Callable[Concatenate[Graph, P], Edits],
        text: str,
        /,
        *arguments: P.args,
        **named: P.kwargs,
    ) -> bool:
        """Submit what a recipe makes of the graph; a refusal is announced in words."""
        self.settle()
        try:
            edits = recipe(self.graph, *arguments, **named)
        except Refused as refusal:
            self.refused.emit(str(refusal))
            return False
        self.submit(edits, text)
        return True

    def settle(self) -> bool:
        """Let whoever is being typed into keep it or give it up, before anything else changes; whether that edited."""
        if self._settles or self._applies:
            return False
        before, self._settles = self._revision, True
        try:
            self.changing.emit()
        finally:
            self._settles = False
        return self._revision != before

    def try_out(self, edits: Edits) -> Graph | None:
        """A copy of the graph with these edits, after what was being typed; None: it took the ground from under them.

        Raises:
            EditError: they do not fit, and did not before either.
        """
        kept, draft = self.settle(), self.graph.copy()
        return draft if self._fit(draft, edits, kept) is not None else None

    def _try(self, edits: Edits) -> Edits | None:
        """Apply edits after what was being typed, and return what takes them back; None and `EditError` as above."""
        kept = self.settle()
        assert not self._applies, "an edit within an undo, a redo or another edit"
        return self._fit(self.graph, edits, kept)  # all of them or none: redo cannot fail later

    def _fit(self, graph: Graph, edits: Edits, kept: bool) -> Edits | None:
        try:
            return apply_all(graph, edits)
        except EditError:
            if not kept:
                raise
            self.refused.emit(
                "What was being typed was kept first, and this does not fit it. Do it again if it is meant."
            )
            return None

    def undo(self) -> None:
        """Take back the newest change: what was being typed, if that is right."""
        self.settle()
        self.undo_stack.undo()

    def redo(self) -> None:
        """Make the change again that was taken back."""
        self.settle()
        self.undo_stack.redo()

    def go_to(self, step: int) -> None:
        """Undo or redo until so many changes are made."""
        self.settle()
        self.undo_stack.setIndex(step)

    def load(self, graph: Graph) -> None:
        """Put another graph in place of this one, with an empty history; what is being typed belongs to this one."""
        self.settle()
        self.graph = graph
        self.undo_stack.clear()
        self._merge_ids.clear()
        self.undo_stack.setClean()
        self.replaced.emit()

    def set_clean(self) -> None:
        """The graph as it stands was saved."""
        self.undo_stack.setClean()

    def forget_clean(self) -> None:
        """The file is not what is here, whatever is undone: something beside the graph is another."""
        self.undo_stack.resetClean()

    @property
    def is_clean(self) -> bool:
        """Whether nothing changed since the last save."""
        return self.undo_stack.isClean()

    @property
    def is_untouched(self) -> bool:
        """Whether nobody has changed anything yet, not even to take it back."""
        return self.is_clean and not self.undo_stack.count()

    def close(self) -> None:
        """The document is closed: its history is forgotten, and nobody hears of it."""
        self.undo_stack.blockSignals(True)
        self.undo_stack.clear()

    def _on_undo_stack_clean_changed(self, clean: bool) -> None:
        self.clean_changed.emit(clean)

    def _on_undo_stack_index_changed(self, _index: int) -> None:
        self.history_changed.emit()

    def _apply(self, edits: Edits) -> Edits:
        inverses = apply_all(self.graph, edits)
        self._announce(edits)
        return inverses

    def _announce(self, edits: Edits) -> None:
        """Tell of edits that were just applied; nobody edits meanwhile."""
        self._applies = True
        try:
            self._revision += 1
            self.edited.emit(edits)
        finally:
            self._applies = False
