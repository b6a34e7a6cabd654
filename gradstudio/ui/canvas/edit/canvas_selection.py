"""What is selected on one canvas: items, wires, dots of wires, a note. Selecting is never an undo entry."""

from collections.abc import Iterable
from typing import Final

from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.model import ItemId, Wire
from gradstudio.graph.ports.wire_dots import coinciding_dots
from gradstudio.ui.canvas.canvas_context import CanvasContext

EDGES_STAY: Final = (
    "Inputs and Outputs are the edges of the group: they stay. Their menu adds and names what is on them."
)


class CanvasSelection:
    """Selects, and answers what commands can take of the selection."""

    def __init__(self, canvas: CanvasContext) -> None:
        """As the canvas's attention and its light have it."""
        self._canvas = canvas
        self._scene, self._attention = canvas.scene, canvas.attention

    # -------------------------------------------------------------- selecting

    def select(self, items: frozenset[ItemId]) -> None:
        """Select exactly these items, and no wires."""
        lit = self._canvas.lit
        lit.selected_wires, lit.selected_note, lit.selected_dots = frozenset(), None, frozenset()
        cards, current = self._scene.state.card_groups.cards(items), self._attention.current
        self._attention.select(cards, current if current in cards else max(cards, default=None))
        self._canvas.viewport().update()

    def select_all(self) -> None:
        """Select every item."""
        self.select(frozenset(self._scene.graph.nodes) | frozenset(self._scene.graph.blocks))

    def select_note(self, item: ItemId) -> None:
        """Select a note, and the statement it belongs to."""
        self.select(frozenset({item}) if item in self._scene.graph else frozenset())
        self._canvas.lit.selected_note = item

    def select_wires(self, wires: frozenset[Wire]) -> None:
        """Select wires instead of items."""
        self.select(frozenset())
        self._canvas.lit.selected_wires = wires
        self._attention.selection_changed.emit()  # what can be done now is another

    def select_dots(self, keys: frozenset[str]) -> None:
        """Select exactly these dots, with those that are one with them, and nothing else."""
        self.select(frozenset())
        self._canvas.lit.selected_dots = coinciding_dots(self._scene.graph, keys)
        self._attention.selection_changed.emit()  # what can be done now is another

    def clear(self) -> None:
        """Select nothing."""
        self.select(frozenset())

    # -------------------------------------------------------------- what is selected

    def is_selected(self, item: ItemId) -> bool:
        """Whether an item, or what shares its card, is selected."""
        return bool(self._scene.state.card_groups.whole((item,)) & self._attention.selection)

    def chosen(self) -> frozenset[ItemId]:
        """The selected items, a module and the call on its card together."""
        return self._scene.state.card_groups.whole(
            item for item in self._attention.selection if item in self._scene.graph
        )

    def statements(self) -> frozenset[ItemId]:
        """The selected items without the cards of a group's inputs and outputs; where there is nothing else, why not.

        Those two are the group's edges: they are neither deleted nor muted, copied or put into a block.
        """
        found = self.chosen()
        if found and not found - CARDS:
            self._canvas.refuse(EDGES_STAY)
        return found - CARDS

    def has_statements(self) -> bool:
        """Whether something is selected beside a group's inputs and outputs."""
        return bool(self._attention.selection - CARDS)

    def has_wires(self) -> bool:
        """Whether wires are selected."""
        return bool(self._canvas.lit.selected_wires)

    def can_delete(self) -> bool:
        """Whether something is selected that can be deleted: statements, wires or dots."""
        return self.has_statements() or bool(self._canvas.lit.selected_wires or self._canvas.lit.selected_dots)

    def dots_to_move(self, items: Iterable[ItemId]) -> frozenset[str]:
        """The dots that move with items: selected ones, and those of the wires between the items."""
        return coinciding_dots(self._scene.graph, self._canvas.lit.selected_dots) | self._scene.dots.between(items)
