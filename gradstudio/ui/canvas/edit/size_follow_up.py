"""Sizes that a fresh node takes when the shape it follows from is known, where it was wired before that."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QTextEdit

from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.model import ItemId, Wire
from gradstudio.operators.search.fitting_literals import TARGET, layer_literals
from gradstudio.scene.items import PortRef
from gradstudio.scene.results import Results
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.edit.wired_adding import NO_LITERALS, givers_of, known_shape, written_shape
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.throttle import Throttle

REST_MS: Final = 100
"""So long after results changed sizes are written; they may change within an edit, and a person may be typing."""


class _Awaited(NamedTuple):
    """A fresh node whose literals follow from a shape: a layer by the wire into its call, a target by that to its loss.

    Attributes:
        literals: what stood in the node when it came: whatever differs now, a person has written.
        is_older: a shape was known, perhaps of the program before: the one that counts comes with the fresh node's.
    """

    item: ItemId
    wire: Wire
    literals: Mapping[str, str]
    is_older: bool


class SizeFollowUp(QObject):
    """Gives fresh layers and targets their sizes as soon as these are known, as if they had come with them.

    What was taken back since is given up, as is a node whose wire is another, and a literal that a person wrote.
    A run that is asked for begins behind them; while one is under way nothing is written, and what it began with stays.

    Attributes:
        rest: until the next look at what is known.
    """

    def __init__(self, canvas: CanvasContext, is_in_use: Callable[[], bool]) -> None:
        """Nothing is waited for; results are listened to only while something is.

        `is_in_use` says whether the hand is busy on the canvas.
        """
        super().__init__(canvas.widget)
        self._canvas, self._is_in_use = canvas, is_in_use
        self._root = canvas.session.scope.root
        self._run, self._ran = canvas.session.run, False
        self._run.shapes.begin_with_them.append(self._missing_size)
        self._awaited: list[_Awaited] = []
        self._step = 0
        self.rest = Throttle(REST_MS, self)
        self.rest.due.connect(self._on_rest_due)

    def wait(self, item: ItemId, port: PortRef) -> None:
        """A fresh node was wired to or from a port; what it follows from may not be known yet."""
        graph = self._root.graph
        if self._canvas.session.scope.path:
            return
        if port.side == "output":
            holder = card_groups(graph).modules.get(item)
            wire = next((wire for wire in graph.wires_to(item) if wire.source == port.item), None)
        else:
            holder, wire = item, graph.wire_into(port.item, "input") if port.path == TARGET else None
        if wire is None or holder is None or written_shape(graph, wire.source) is not None:
            return
        if not self._awaited:
            self._step = self._root.undo_stack.index()
            self._canvas.session.results.changed.connect(self._on_results_changed)
            self._root.history_changed.connect(self._on_history_changed)
            self._ran = self._run.status.is_under_way
            self._run.status.preparing.connect(self.take_up)
            self._run.status.changed.connect(self._on_run_changed)
            self._root.replaced.connect(self._give_up)
        is_older = known_shape(graph, self._results, wire.source, wire.output) is not None
        self._awaited.append(_Awaited(holder, wire, dict(graph.nodes[holder].literals), is_older))

    @property
    def _results(self) -> Results:
        return self._canvas.scene.results

    @property
    def _is_busy(self) -> bool:
        """Whether a person types, anywhere, or drags."""
        if self._run.state.waiting:  # for this: what has the keys then is no reason to wait longer
            return self._is_in_use()
        return isinstance(QApplication.focusWidget(), QLineEdit | QPlainTextEdit | QTextEdit) or self._is_in_use()

    def _missing_size(self) -> str:
        """What a run waits for: a size that the engine is about to tell; "": nothing."""
        if self._canvas.session.scope.path or not self._run.shapes.awaited:
            return ""
        from gradstudio.graph.text.item_titles import title

        graph = self._root.graph
        return next((f"The size of {title(graph, one.item)}" for one in self._awaited if self._stands(one)), "")

    def take_up(self) -> None:
        """Write the sizes that are known by now; whatever is open over the canvas is about to close."""
        if not self._awaited or self._run.status.is_under_way:
            return
        self._root.settle()  # what is being typed may be one of these literals
        waiting = [one for one in self._awaited if self._stands(one)]
        found = [(one, self._wanted(one)) for one in waiting]
        self._awaited = [one for one, wanted in found if wanted is None]
        for one, wanted in found:
            for path, text in (wanted or {}).items():
                self._write(one, path, text)
        if not self._awaited:
            self._give_up()

    def _write(self, one: _Awaited, path: str, text: str) -> None:
        graph = self._root.graph
        now = graph.nodes[one.item].literals.get(path, "")
        if now == one.literals.get(path, "") and now != text and graph.wire_into(one.item, path) is None:
            self._root.refine(one.item, path, text)

    def _stands(self, one: _Awaited) -> bool:
        """Whether the node is there, and follows from the same wire."""
        graph = self._root.graph
        return one.item in graph.nodes and graph.wire_into(one.wire.target, one.wire.port) == one.wire

    def _wanted(self, one: _Awaited) -> Mapping[str, str] | None:
        """Literals that follow from the shape that is known by now; None: it is not."""
        graph, wire = self._root.graph, one.wire
        shape = known_shape(graph, self._results, wire.source, wire.output)
        is_layer = card_groups(graph).modules.get(wire.target) == one.item
        fresh = wire.target if is_layer else one.item
        if shape is None or (one.is_older and self._results.inference(fresh) is None):
            return None
        node = graph.nodes[one.item]
        if is_layer:
            return layer_literals(node.operator, shape)
        likely = givers_of(graph, self._results, wire.target, TARGET)
        return next((giver.literals for giver in likely if giver.key == node.operator), NO_LITERALS)

    def _on_results_changed(self, _items: object) -> None:
        self.rest.request()

    def _on_run_changed(self, state: RunState) -> None:
        """A run begins with what stands there; one that waits is looked after; behind one that ends more is known."""
        before, self._ran = self._ran, self._run.status.is_under_way
        if self._ran and not before:
            self._give_up()
        elif state.waiting or before:
            self.rest.request()

    def _on_rest_due(self) -> None:
        """What is typed or dragged goes on: an edit would end it."""
        if self._is_any_known:
            if self._is_busy:
                self.rest.request()
            else:
                self.take_up()
        if self._awaited and self._run.state.waiting:
            self.rest.request()
            self._let_run()

    @property
    def _is_any_known(self) -> bool:
        """Whether sizes are known by now, and may be written."""
        if self._canvas.session.scope.path or self._run.status.is_under_way:
            return False
        return any(self._stands(one) and self._wanted(one) is not None for one in self._awaited)

    def _let_run(self) -> None:
        """What was asked to run and waits for nothing now begins; not within what is under way just now."""
        QTimer.singleShot(0, self, self._run.begin_waiting)

    def _on_history_changed(self) -> None:
        before, self._step = self._step, self._root.undo_stack.index()
        if self._step < before:
            self._give_up()

    def _give_up(self) -> None:
        self._awaited = []
        self.rest.cancel()
        self._canvas.session.results.changed.disconnect(self._on_results_changed)
        self._root.history_changed.disconnect(self._on_history_changed)
        self._root.replaced.disconnect(self._give_up)
        self._run.status.preparing.disconnect(self.take_up)
        self._run.status.changed.disconnect(self._on_run_changed)
        self._let_run()
