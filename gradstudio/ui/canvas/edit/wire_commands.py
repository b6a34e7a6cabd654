"""What menus and keys ask of the canvas about wires: tracing, selecting along them, changing places."""

from typing import TYPE_CHECKING, Final, Literal

from PySide6.QtCore import QPoint
from PySide6.QtGui import QPainter

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId, Wire
from gradstudio.graph.names import title
from gradstudio.graph.ports import port_matching
from gradstudio.graph.ports.port_matching import Link
from gradstudio.graph.ports.wire_dots import dot_key
from gradstudio.scene.geometry import PATH_POINTS, snapped
from gradstudio.ui.canvas.paint import trace_painter
from gradstudio.ui.canvas.popups.wire_choice_list import LinkList

if TYPE_CHECKING:
    from PySide6.QtCore import SignalInstance
    from PySide6.QtWidgets import QWidget

    from gradstudio.scene.camera import Camera
    from gradstudio.scene.scene import Board
    from gradstudio.ui.canvas.canvas_context import DragOptions
    from gradstudio.ui.canvas.edit.canvas_selection import CanvasSelection
    from gradstudio.ui.canvas.paint.interaction_painter import OverlayState
    from gradstudio.ui.canvas.paint.primitives.canvas_style import Look
    from gradstudio.ui.canvas.paint.scene_painter import Layer
    from gradstudio.ui.state.document.attention import Attention
    from gradstudio.ui.state.document.graph_store import GraphStore


MIDDLE: Final = PATH_POINTS // 2


class WireCommands:
    """Methods of `CanvasView` about wires; what they need of it is declared here."""

    if TYPE_CHECKING:
        selection: CanvasSelection
        drag_options: DragOptions
        store: GraphStore
        attention: Attention
        board: Board
        layer: Layer
        look: Look
        camera: Camera
        lit: OverlayState
        said: SignalInstance

        def viewport(self) -> QWidget: ...
        def refuse(self, words: str) -> None: ...

    trace_on = False
    link_list: LinkList | None = None
    _traced: tuple[tuple[int, frozenset[ItemId]], trace_painter.Trace] | None = None

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

    def traced(self) -> trace_painter.Trace | None:
        """What the trace lights now; None when it is off, or nothing is selected."""
        if not self.trace_on:
            return None
        board = self.board
        selection = frozenset(k for k in self.attention.selection if k in board.index or k in board.frames)
        if not selection:
            return None
        key = (self.board.graph_revision, selection)
        if self._traced is None or self._traced[0] != key:
            self._traced = key, trace_painter.trace(self.board, selection)
        return self._traced[1]

    def _paint_trace(self, painter: QPainter) -> None:
        found = self.traced()
        if found is not None:
            view = self.viewport()
            trace_painter.paint_trace(painter, self.layer, self.camera, view.width(), view.height(), found)

    def select_feeding(self) -> None:
        """Select, too, everything that feeds the selection."""
        self.selection.select(self.attention.selection | trace_painter.feeding(self.board, self.attention.selection))

    def select_following(self) -> None:
        """Select, too, everything that follows from the selection."""
        self.selection.select(self.attention.selection | trace_painter.following(self.board, self.attention.selection))

    # -------------------------------------------------------------- dots

    def on_grid(self, x: float, y: float) -> tuple[float, float]:
        """A scene point, on the grid where the canvas snaps to it."""
        return (snapped(x), snapped(y)) if self.drag_options.snap_to_grid else (x, y)

    def put_dot(self, wire: Wire, x: float, y: float, index: int | None = None) -> None:
        """Lead a wire through a scene point; the dot is selected."""
        if wire not in self.board.wire_index:
            return
        place = self.board.dot_index(wire, x, y) if index is None else index
        if self.store.attempt(recipes.add_dot, "Add dot", wire, place, self.on_grid(x, y)):
            self.selection.select_dots(frozenset({dot_key((wire.target, wire.port), place)}))

    def put_dots(self) -> None:
        """Put a dot into the middle of each selected wire."""
        if not self.lit.selected_wires:
            self.refuse("Click on a wire first; or double-click where the dot is to be.")
        for wire in sorted(self.lit.selected_wires):
            x, y = self.board.paths[self.board.wire_index[wire]][MIDDLE].tolist()
            self.put_dot(wire, x, y)

    def remove_dots(self, wire: Wire) -> None:
        """Take all dots of a wire away: it runs as it did without."""
        self.store.attempt(recipes.remove_dots, "Remove dots", tuple(self.board.dots_of(wire)))

    # -------------------------------------------------------------- from card to card

    def links_between(self, source: ItemId, target: ItemId) -> list[Link]:
        """The wires that could be drawn from one card to another, the best fitting first."""
        sources, targets = self._owners(source, "outputs"), self._owners(target, "inputs")
        face = self.board.face(target)
        found = port_matching.links(self.board.graph, sources, targets)
        return [link for link in found if face is not None and face.input(link.port) is not None]

    def _owners(self, item: ItemId, side: Literal["inputs", "outputs"]) -> list[ItemId]:
        """The items whose ports stand on a card."""
        face = self.board.face(item)
        rows = getattr(face, side) if face is not None else ()
        return list(dict.fromkeys(row.owner for row in rows))

    def choose_links(self, source: ItemId, target: ItemId, links: list[Link], at: tuple[float, float]) -> None:
        """Let the person choose among the wires that two cards could have, from a list at view pixels."""
        self.close_links()
        graph = self.board.graph
        ends = {(link.source, link.output, link.target, link.port): link for link in links}
        there = [link for end, link in ends.items() if graph.wires.get((end[2], end[3])) == Wire(*end)]
        words = f"Connect {title(graph, source)} to {title(graph, target)}"
        made = LinkList(self.viewport(), words, links, there, self.look.theme)
        made.chosen.connect(self._on_links_chosen)
        made.closed.connect(self._on_links_closed)
        self.link_list = made
        made.open_at(QPoint(round(at[0]), round(at[1])))

    def connect_selected(self) -> None:
        """Choose the wires from the first to the second of two selected cards, in program order."""
        cards = self.board.joining.cards(self.attention.selection)
        chosen = [item for item in self.board.ids if item in cards]
        places = {item: k for k, item in enumerate(self.board.graph.order())}
        chosen.sort(key=lambda item: places[item])
        if len(chosen) != 2:
            self.refuse("Select two cards: the wires from the first to the second can be chosen then.")
            return
        for source, target in (chosen, chosen[::-1]):
            links, box = self.links_between(source, target), self.board.box(target)
            if links and box is not None:
                self.choose_links(source, target, links, self.camera.to_view(box.x, box.y + box.height / 2))
                return
        first, second = (title(self.board.graph, item) for item in chosen)
        self.refuse(f"No output of {first} or {second} fits an input of the other.")

    def can_connect(self) -> bool:
        """Whether two cards are selected."""
        return len(self.board.joining.cards(self.attention.selection) & self.board.cards.keys()) == 2

    def close_links(self) -> None:
        """Close the list of wires if one is open."""
        if self.link_list is not None:
            self.link_list.close_now()

    def _on_links_chosen(self, new: object, gone: object) -> None:
        assert isinstance(new, tuple)
        assert isinstance(gone, tuple)
        draw, cut = (tuple(Wire(*link[:4]) for link in some) for some in (new, gone))
        words = f"Wire {len(draw)} times" if len(draw) > 1 else "Wire" if draw else f"Remove {counted(len(cut))}"
        self.store.attempt(recipes.set_links, words, cut, draw)

    def _on_links_closed(self) -> None:
        self.link_list = None
        if (canvas := self.viewport().parentWidget()) is not None:
            canvas.setFocus()

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

    # -------------------------------------------------------------- places of wires

    def swap_inputs(self) -> None:
        """Exchange the first two operands of each selected node."""
        graph = self.board.graph
        items = [item for item in sorted(self.selection.chosen()) if recipes.swappable(graph, item) is not None]
        if not items:
            self.refuse("Select a node with two inputs to let them change places.")
        for item in items:
            self.store.attempt(recipes.swap_inputs, "Swap inputs", item)

    def can_swap(self) -> bool:
        """Whether something selected has two operands."""
        graph = self.board.graph
        return any(recipes.swappable(graph, item) is not None for item in self.attention.selection)


def counted(number: int) -> str:
    """How many wires, in words."""
    return f"{number} wire" if number == 1 else f"{number} wires"
