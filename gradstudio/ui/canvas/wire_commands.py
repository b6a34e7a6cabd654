"""What menus and keys ask of the canvas about wires: tracing, selecting along them, changing places."""

from typing import TYPE_CHECKING

from PySide6.QtGui import QPainter

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId, Wire
from gradstudio.ui.canvas import tracing
from gradstudio.ui.canvas.port_gesture import counted

if TYPE_CHECKING:
    from PySide6.QtCore import SignalInstance
    from PySide6.QtWidgets import QWidget

    from gradstudio.ui.canvas.board import Board
    from gradstudio.ui.canvas.camera import Camera
    from gradstudio.ui.canvas.layer import Layer
    from gradstudio.ui.canvas.overlay import OverlayState
    from gradstudio.ui.state.attention import Attention
    from gradstudio.ui.state.graph_store import GraphStore


class WireCommands:
    """Methods of `CanvasView` about wires; what they need of it is declared here."""

    if TYPE_CHECKING:
        store: GraphStore
        attention: Attention
        board: Board
        layer: Layer
        camera: Camera
        lit: OverlayState
        said: SignalInstance

        def viewport(self) -> QWidget: ...
        def refuse(self, words: str) -> None: ...
        def select(self, items: frozenset[ItemId]) -> None: ...
        def chosen(self) -> frozenset[ItemId]: ...

    trace_on = False
    _traced: tuple[tuple[int, frozenset[ItemId]], tracing.Trace] | None = None

    # -------------------------------------------------------------- tracing

    def toggle_trace(self) -> None:
        """Light what feeds and what follows the selection, and fade the rest; or no longer."""
        self.trace_on = not self.trace_on
        words = "Trace is on: what feeds and follows the selection is lit" if self.trace_on else "Trace is off"
        self.said.emit(words)
        self.viewport().update()

    def is_tracing(self) -> bool:
        """Whether the trace is on."""
        return self.trace_on

    def traced(self) -> tracing.Trace | None:
        """What the trace lights now; None when it is off, or nothing is selected."""
        selection = self.attention.selection & frozenset(self.board.index.keys() | self.board.frames.keys())
        if not self.trace_on or not selection:
            return None
        key = (self.board.graph_revision, selection)
        if self._traced is None or self._traced[0] != key:
            self._traced = key, tracing.trace(self.board, selection)
        return self._traced[1]

    def _paint_trace(self, painter: QPainter) -> None:
        found = self.traced()
        if found is not None:
            view = self.viewport()
            tracing.paint_trace(painter, self.layer, self.camera, view.width(), view.height(), found)

    def select_feeding(self) -> None:
        """Select, too, everything that feeds the selection."""
        self.select(self.attention.selection | tracing.feeding(self.board, self.attention.selection))

    def select_following(self) -> None:
        """Select, too, everything that follows from the selection."""
        self.select(self.attention.selection | tracing.following(self.board, self.attention.selection))

    # -------------------------------------------------------------- muted wires

    def toggle_wires_muted(self, wires: tuple[Wire, ...] = ()) -> None:
        """Take wires, by default the selected ones, out of the program; all of them muted: back into it."""
        chosen = wires or tuple(self.lit.selected_wires)
        live = tuple(wire for wire in chosen if wire not in self.board.muted)
        if not chosen:
            self.refuse("Click on a wire first; or draw a line over wires with Ctrl+Alt and the right button.")
        elif live:
            self.store.attempt(recipes.mute_wires, f"Mute {counted(len(live))}", live)
        else:
            self.store.attempt(recipes.unmute_wires, f"Unmute {counted(len(chosen))}", chosen)

    def has_wires_selected(self) -> bool:
        """Whether wires are selected."""
        return bool(self.lit.selected_wires)

    # -------------------------------------------------------------- places of wires

    def swap_inputs(self) -> None:
        """Exchange the first two operands of each selected node."""
        graph = self.board.graph
        items = [item for item in sorted(self.chosen()) if recipes.swappable(graph, item) is not None]
        if not items:
            self.refuse("Select a node with two inputs to let them change places.")
        for item in items:
            self.store.attempt(recipes.swap_inputs, "Swap inputs", item)

    def can_swap(self) -> bool:
        """Whether something selected has two operands."""
        graph = self.board.graph
        return any(recipes.swappable(graph, item) is not None for item in self.attention.selection)
