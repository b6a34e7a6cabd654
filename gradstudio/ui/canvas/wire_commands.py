"""What menus and keys ask of the canvas about wires: tracing, selecting along them, changing places."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from PySide6.QtGui import QPainter

from gradstudio.graph import recipes
from gradstudio.graph.dots import dot_key, shared
from gradstudio.graph.model import ItemId, Wire
from gradstudio.ui.canvas import tracing
from gradstudio.ui.canvas.geometry import PATH_POINTS, snapped
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


MIDDLE: Final = PATH_POINTS // 2


class WireCommands:
    """Methods of `CanvasView` about wires; what they need of it is declared here."""

    if TYPE_CHECKING:
        store: GraphStore
        attention: Attention
        board: Board
        layer: Layer
        camera: Camera
        lit: OverlayState
        snap_to_grid: bool
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

    # -------------------------------------------------------------- dots

    def on_grid(self, x: float, y: float) -> tuple[float, float]:
        """A scene point, on the grid where the canvas snaps to it."""
        return (snapped(x), snapped(y)) if self.snap_to_grid else (x, y)

    def put_dot(self, wire: Wire, x: float, y: float, index: int | None = None) -> None:
        """Lead a wire through a scene point; the dot is selected."""
        if wire not in self.board.wire_index:
            return
        place = self.board.dot_index(wire, x, y) if index is None else index
        if self.store.attempt(recipes.add_dot, "Add dot", wire, place, self.on_grid(x, y)):
            self.select_dots(frozenset({dot_key((wire.target, wire.port), place)}))

    def put_dots(self) -> None:
        """Put a dot into the middle of each selected wire."""
        if not self.lit.selected_wires:
            self.refuse("Click on a wire first; or double-click where the dot is to be.")
        for wire in sorted(self.lit.selected_wires):
            x, y = self.board.paths[self.board.wire_index[wire]][MIDDLE].tolist()
            self.put_dot(wire, x, y)

    def select_dots(self, keys: frozenset[str]) -> None:
        """Select exactly these dots, with those that are one with them, and nothing else."""
        self.select(frozenset())
        self.lit.selected_dots = shared(self.board.graph, keys)

    def remove_dots(self, wire: Wire) -> None:
        """Take all dots of a wire away: it runs as it did without."""
        self.store.attempt(recipes.remove_dots, "Remove dots", tuple(self.board.dots_of(wire)))

    def dots_to_move(self, items: Iterable[ItemId]) -> frozenset[str]:
        """The dots that move with items: selected ones, and those of the wires between the items."""
        return shared(self.board.graph, self.lit.selected_dots) | self.board.dots_between(items)

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
