"""The graph of a document and its history: the only door through which it changes."""

import atexit
import itertools
import weakref
from collections.abc import Callable
from typing import Concatenate, ParamSpec

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack
from shiboken6 import isValid

from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph

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

    def __init__(self, store: "GraphStore", edits: Edits, text: str, merge_key: str, merge_id: int) -> None:
        super().__init__(text)
        self._store = weakref.ref(store)
        self.edits, self.merge_key, self._merge_id = edits, merge_key, merge_id
        self.inverses: Edits = ()

    def redo(self) -> None:
        if (store := self._store()) is not None:
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
        edited(object): after edits were applied (also by undo and redo), with the tuple.
        submitted(object): the same once, when they are made: neither undo nor redo.
        replaced(): the whole graph is another one (opened, new).
        clean_changed(object): True when the graph is as it was saved.
        history_changed(): what can be undone and redone is another; after `edited`.
        refused(object): a person's wish was refused; the words why.
    """

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

    def submit(self, edits: Edits, text: str, merge_key: str = "") -> None:
        """Apply edits as one undo entry; entries with the same merge key become one.

        Raises:
            EditError: they do not fit; nothing is changed and nothing is on the stack.
        """
        if not edits:
            return
        apply_all(self.graph.copy(), edits)  # redo cannot fail later: it is tried on a copy first
        merge_id = self._merge_ids.setdefault(merge_key, next(self._merge_numbers)) if merge_key else -1
        self.undo_stack.push(_EditCommand(self, edits, text, merge_key, merge_id))
        self.submitted.emit(edits)

    def attempt(
        self,
        recipe: Callable[Concatenate[Graph, P], Edits],
        text: str,
        /,
        *arguments: P.args,
        **named: P.kwargs,
    ) -> bool:
        """Submit what a recipe makes of the graph; a refusal is announced in words."""
        try:
            edits = recipe(self.graph, *arguments, **named)
        except Refused as refusal:
            self.refused.emit(str(refusal))
            return False
        self.submit(edits, text)
        return True

    def load(self, graph: Graph) -> None:
        """Put another graph in place of this one, with an empty history."""
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
        self.edited.emit(edits)
        return inverses
