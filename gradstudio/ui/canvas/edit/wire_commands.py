"""What menus and keys ask of the canvas about wires: tracing, selecting along them, changing places."""

from typing import TYPE_CHECKING, Final, Literal

from PySide6.QtCore import QPoint
from PySide6.QtGui import QPainter

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId, Wire
from gradstudio.graph.ports.wire_dots import dot_key
from gradstudio.graph.text.item_titles import title
from gradstudio.scene.geometry import PATH_POINTS, nearest_grid_multiple
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.edit.canvas_selection import CanvasSelection
from gradstudio.ui.canvas.paint import trace_painter

if TYPE_CHECKING:
    from gradstudio.graph.ports.port_matching import Link
    from gradstudio.ui.canvas.popups.wire_choice_list import WireChoiceList

MIDDLE: Final = PATH_POINTS // 2


class WireCommands:
    """Traces wires, leads them through dots, draws them from card to card, mutes them."""

    def __init__(self, canvas: CanvasContext, selection: CanvasSelection) -> None:
        """Nothing is traced, and no list is open."""
        self._canvas, self._selection = canvas, selection
        self._scene, self._store, self._attention = canvas.scene, canvas.store, canvas.attention
        self.trace_on = False
        self.link_list: WireChoiceList | None = None
        self._traced: tuple[tuple[int, frozenset[ItemId]], trace_painter.Trace] | None = None

    # -------------------------------------------------------------- tracing

    def toggle_trace(self) -> None:
        """Light what feeds and what follows the selection, and fade the rest; or no longer."""
        self.trace_on = not self.trace_on
        words = "Trace is on: what feeds and follows the selection is lit" if self.trace_on else "Trace is off"
        self._canvas.said.emit(words)
        self._canvas.viewport().update()

    def is_tracing(self) -> bool:
        """Whether the trace is on."""
        return self.trace_on

    def traced(self) -> trace_painter.Trace | None:
        """What the trace lights now; None when it is off, or nothing is selected."""
        if not self.trace_on:
            return None
        scene = self._scene
        selection = frozenset(
            k for k in self._attention.selection if k in scene.stack.index or k in scene.placement.frames
        )
        if not selection:
            return None
        key = (self._scene.state.graph_revision, selection)
        if self._traced is None or self._traced[0] != key:
            self._traced = key, trace_painter.trace(self._scene, selection)
        return self._traced[1]

    def paint_trace(self, painter: QPainter) -> None:
        """Over the scene: what the trace lights, the rest faded."""
        found = self.traced()
        if found is not None:
            view = self._canvas.viewport()
            trace_painter.paint_trace(
                painter, self._canvas.layer, self._canvas.camera, view.width(), view.height(), found
            )

    def select_feeding(self) -> None:
        """Select, too, everything that feeds the selection."""
        self._selection.select(
            self._attention.selection | trace_painter.upstream_of(self._scene, self._attention.selection)
        )

    def select_following(self) -> None:
        """Select, too, everything that follows from the selection."""
        self._selection.select(
            self._attention.selection | trace_painter.downstream_of(self._scene, self._attention.selection)
        )

    # -------------------------------------------------------------- dots

    def on_grid(self, x: float, y: float) -> tuple[float, float]:
        """A scene point, on the grid where the canvas snaps to it."""
        return (
            (nearest_grid_multiple(x), nearest_grid_multiple(y)) if self._canvas.drag_options.snap_to_grid else (x, y)
        )

    def put_dot(self, wire: Wire, x: float, y: float, index: int | None = None) -> None:
        """Lead a wire through a scene point; the dot is selected."""
        if self._scene.wiring.place_of(wire) is None:
            return
        place = self._scene.routes.dot_index(wire, x, y) if index is None else index
        if self._store.attempt(recipes.add_dot, "Add dot", wire, place, self.on_grid(x, y)):
            self._selection.select_dots(frozenset({dot_key((wire.target, wire.port), place)}))

    def put_dots(self) -> None:
        """Put a dot into the middle of each selected wire."""
        if not self._canvas.lit.selected_wires:
            self._canvas.refuse("Click on a wire first; or double-click where the dot is to be.")
        for wire in sorted(self._canvas.lit.selected_wires):
            x, y = self._scene.routes.paths[self._scene.wiring.ends[wire.target, wire.port]][MIDDLE].tolist()
            self.put_dot(wire, x, y)

    def remove_dots(self, wire: Wire) -> None:
        """Take all dots of a wire away: it runs as it did without."""
        self._store.attempt(recipes.remove_dots, "Remove dots", tuple(self._scene.dots.of(wire)))

    def remove_wires(self, wires: tuple[Wire, ...]) -> None:
        """Take wires away."""
        self._store.attempt(
            recipes.disconnect_all, "Remove wire" if len(wires) == 1 else f"Remove {count_words(len(wires))}", wires
        )

    # -------------------------------------------------------------- from card to card

    def links_between(self, source: ItemId, target: ItemId) -> "list[Link]":
        """The wires that could be drawn from one card to another, the best fitting first."""
        from gradstudio.graph.ports import port_matching

        sources, targets = self.owners(source, "outputs"), self.owners(target, "inputs")
        layout = self._scene.placement.layout(target)
        found = port_matching.rank_links(self._scene.graph, sources, targets)
        return [link for link in found if layout is not None and layout.input(link.port) is not None]

    def owners(self, item: ItemId, side: Literal["inputs", "outputs"]) -> list[ItemId]:
        """The items whose ports stand on a card."""
        layout = self._scene.placement.layout(item)
        rows = getattr(layout, side) if layout is not None else ()
        return list(dict.fromkeys(row.owner for row in rows))

    def choose_links(self, source: ItemId, target: ItemId, links: "list[Link]", at: tuple[float, float]) -> None:
        """Let the person choose among the wires that two cards could have, from a list at view pixels."""
        from gradstudio.ui.canvas.popups.wire_choice_list import WireChoiceList

        self.close_links()
        graph = self._scene.graph
        ends = {(link.source, link.output, link.target, link.port): link for link in links}
        there = [link for end, link in ends.items() if graph.wires.get((end[2], end[3])) == Wire(*end)]
        words = f"Connect {title(graph, source)} to {title(graph, target)}"
        made = WireChoiceList(self._canvas.viewport(), words, links, there, self._canvas.canvas_style.theme)
        made.chosen.connect(self._on_links_chosen)
        made.closed.connect(self._on_links_closed)
        self.link_list = made
        made.open_at(QPoint(round(at[0]), round(at[1])))

    def connect_selected(self) -> None:
        """Choose the wires from the first to the second of two selected cards, in program order."""
        cards = self._scene.state.card_groups.cards(self._attention.selection)
        chosen = [item for item in self._scene.stack.ids if item in cards]
        places = {item: k for k, item in enumerate(self._scene.graph.order())}
        chosen.sort(key=lambda item: places[item])
        if len(chosen) != 2:
            self._canvas.refuse("Select two cards: the wires from the first to the second can be chosen then.")
            return
        for source, target in (chosen, chosen[::-1]):
            links, box = self.links_between(source, target), self._scene.placement.box(target)
            if links and box is not None:
                self.choose_links(source, target, links, self._canvas.camera.to_view(box.x, box.y + box.height / 2))
                return
        first, second = (title(self._scene.graph, item) for item in chosen)
        self._canvas.refuse(f"No output of {first} or {second} fits an input of the other.")

    def can_connect(self) -> bool:
        """Whether two cards are selected."""
        return len(self._scene.state.card_groups.cards(self._attention.selection) & self._scene.stack.cards.keys()) == 2

    def close_links(self) -> None:
        """Close the list of wires if one is open."""
        if self.link_list is not None:
            self.link_list.close_now()

    def _on_links_chosen(self, new: object, gone: object) -> None:
        assert isinstance(new, tuple)
        assert isinstance(gone, tuple)
        draw, cut = (tuple(Wire(*link[:4]) for link in some) for some in (new, gone))
        if len(draw) > 1:
            words = f"Wire {len(draw)} times"
        elif draw:
            words = "Wire"
        else:
            words = f"Remove {count_words(len(cut))}"
        self._store.attempt(recipes.set_links, words, cut, draw)

    def _on_links_closed(self) -> None:
        self.link_list = None
        self._canvas.widget.setFocus()

    # -------------------------------------------------------------- muted wires

    def toggle_wires_muted(self, wires: tuple[Wire, ...] = ()) -> None:
        """Take wires, by default the selected ones, out of the program; all of them muted: back into it."""
        chosen = wires or tuple(self._canvas.lit.selected_wires)
        live = tuple(wire for wire in chosen if wire not in self._scene.wiring.muted)
        if not chosen:
            self._canvas.refuse("Click on a wire first; or draw a line over wires with Ctrl+Alt and the right button.")
        elif live:
            self._store.attempt(recipes.mute_wires, f"Mute {count_words(len(live))}", live)
        else:
            self._store.attempt(recipes.unmute_wires, f"Unmute {count_words(len(chosen))}", chosen)

    # -------------------------------------------------------------- places of wires

    def swap_inputs(self) -> None:
        """Exchange the first two operands of each selected node."""
        graph = self._scene.graph
        items = [
            item for item in sorted(self._selection.chosen()) if recipes.swappable_operands(graph, item) is not None
        ]
        if not items:
            self._canvas.refuse("Select a node with two inputs to let them change places.")
        for item in items:
            self._store.attempt(recipes.swap_inputs, "Swap inputs", item)

    def can_swap(self) -> bool:
        """Whether something selected has two operands."""
        graph = self._scene.graph
        return any(recipes.swappable_operands(graph, item) is not None for item in self._attention.selection)


def count_words(number: int) -> str:
    """How many wires, in words."""
    return f"{number} wire" if number == 1 else f"{number} wires"
