"""What lies on the canvas and where: cards, frames, notes, wires and ports as arrays. No painting here, and no Qt.

The scene follows the graph (`apply`), results (`results_changed`) and overlays (`show`); the view tells it.
"""

from collections.abc import Collection, Iterable, Set

from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.edits import Edits, RemoveWire, ReplaceNode, SetHeader, SetPlaces, touched_items
from gradstudio.graph.model import DEFINITION_INPUTS, DEFINITION_OUTPUTS, Graph, ItemId
from gradstudio.graph.ports.wire_dots import End
from gradstudio.graph.text.notes import note_of
from gradstudio.scene.card.card_maker import CardMaker
from gradstudio.scene.card.card_stack import CardStack
from gradstudio.scene.card_colours import CardColours
from gradstudio.scene.dragging import Drag
from gradstudio.scene.geometry import Box
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.placement import Placement
from gradstudio.scene.port_points import PortPoints
from gradstudio.scene.result_updates import ResultUpdates
from gradstudio.scene.results import Results
from gradstudio.scene.scene_state import SceneState
from gradstudio.scene.statement_numbers import StatementNumbers
from gradstudio.scene.text_measure import TextMeasure
from gradstudio.scene.wire.port_looks import PortLooks
from gradstudio.scene.wire.reroute_dots import Dots
from gradstudio.scene.wire.wire_options import WireOptions
from gradstudio.scene.wire.wire_routes import WireRoutes
from gradstudio.scene.wire.wiring import Wiring


class Scene:
    """Holds the parts of one graph's picture, and the order in which they follow what happens to it.

    Attributes:
        state: what is shown, which items share a card, and the revisions.
        stack: the cards, in painting order.
        placement: where cards, frames and notes stand.
        wiring: which wires are drawn.
        dots: where wires are led through.
        routes: the paths of wires.
        ports: all ports that can be pointed at.
        numbers: the order of statements, as cards show it, and which of them are left out.
        looks: how outputs are drawn, and the colours of wires.
        colours: the metric by which cards are coloured.
        updates: what cards say about results, and which of them wait to be measured.
        drag: what is shown elsewhere while it is dragged.
    """

    def __init__(self, graph: Graph, results: Results, shown: Shown, meter: TextMeasure) -> None:
        """Lay out everything once."""
        self.state = state = SceneState(graph, results, shown, meter)
        self.results = results
        maker = CardMaker(state)
        self.stack = stack = CardStack(state, maker)
        self.placement = placement = Placement(state, stack)
        self.wiring = Wiring(state)
        self.dots = Dots(state, placement, self.wiring)
        self.routes = WireRoutes(state, stack, placement, self.wiring, self.dots)
        self.ports = PortPoints(stack, placement)
        self.numbers = StatementNumbers(state, stack)
        self.looks = PortLooks(state, stack, self.wiring, self.numbers)
        self.colours = CardColours(state, stack)
        self.updates = ResultUpdates(state, stack, maker, placement, self._place)
        self.drag = Drag(state, placement, self.wiring, self.routes, self._place)
        self.rebuild()

    @property
    def graph(self) -> Graph:
        """What is shown."""
        return self.state.graph

    # -------------------------------------------------------------- the graph

    def rebuild(self, graph: Graph | None = None) -> None:
        """Forget all and read the graph anew."""
        state = self.state
        state.graph_revision += 1
        state.graph = graph if graph is not None else state.graph
        state.card_groups = card_groups(state.graph)
        self.stack.cards.clear()
        self.looks.forget()
        self.updates.forget()
        self.drag.forget()
        self._sync()
        self.routes.catch_up(None)

    def apply(self, edits: Edits) -> None:
        """Follow edits that were just applied to the graph."""
        self.state.graph_revision += 1
        self.stack.follow_flags(edits)
        if all(isinstance(edit, SetPlaces) for edit in edits):
            self._place(_keys(edits))
            return
        if any(isinstance(edit, SetHeader) for edit in edits):
            self.stack.cards.clear()
        in_place = all(isinstance(edit, ReplaceNode) for edit in edits)  # as those of a slider that moves
        in_place = self._join() and in_place and self.wiring.is_muted_as_before()
        again, in_place = self._make_again(edits, in_place)
        if not in_place:
            self._sync(again | _keys(edits), _ends_of_removed(edits))
        elif self.numbers.follow():
            self.looks.color_wires()

    def _join(self) -> bool:
        """Ask anew which modules share a card; False when others do now."""
        before, self.state.card_groups = self.state.card_groups, card_groups(self.state.graph)
        return self.stack.follow_card_groups(before)

    def _make_again(self, edits: Edits, in_place: bool) -> tuple[set[ItemId], bool]:
        """Make the cards anew that look different; which, and whether nothing is elsewhere because of them."""
        groups = self.state.card_groups
        # A statement about what holds a module changes its mode; a slider cannot.
        switched = set[ItemId]() if in_place else self.stack.in_other_modes()
        again = {groups.home(item) for item in touched_items(edits)} | switched
        for item in again:
            stays = self.stack.make_again(item)
            in_place = in_place and stays and self._note_stays(item)
            self.looks.distrust(groups.whole((item,)))
        return again | self.stack.follow_titles(), in_place

    def _note_stays(self, item: ItemId) -> bool:
        node, note = self.graph.nodes.get(item), self.placement.notes.get(item)
        return node is None or note_of(node) == (note.text if note is not None else "")

    def _sync(self, changed: Set[str] | None = None, removed: Iterable[End] = ()) -> None:
        """Cards for all nodes, none for others; then places, wires, ports.

        Of what was there only these are of another size, or elsewhere; None: any. From the `removed` ports wires were
        taken away.
        """
        self.stack.follow()
        self.numbers.forget()
        self.numbers.follow()
        self.wiring.follow(removed)
        self._place(self.stack.came.union(changed) if changed is not None else None)
        self.looks.color_wires()

    def _place(self, moved: frozenset[str] | None = None) -> None:
        """Rectangles, frames, notes and wires, from the graph's places; only these are elsewhere now; None: any."""
        self.state.geometry_revision += 1
        self.dots.follow()
        cards = self.placement.place_changed(moved) if moved is not None else None
        if cards is None:
            self.placement.place()
        self.routes.route(cards)
        self.stack.list_leaves()

    def items_in(self, view: Box) -> frozenset[ItemId]:
        """What may show in a rectangle of the scene: items on cards, all blocks, and the edges of a definition."""
        ids = self.stack.ids
        cards = self.state.card_groups.whole(ids[k] for k in self.placement.cards_in(view))
        return cards.union(self.placement.frames, (DEFINITION_INPUTS, DEFINITION_OUTPUTS))

    # -------------------------------------------------------------- results and overlays

    def results_changed(self, items: Collection[ItemId] = (), resized: Collection[ItemId] | None = None) -> None:
        """Results of these nodes changed; of all when none is named. While looking back, cards are measured later.

        `resized` are those that may be of another height; None: all of them.
        """
        self.state.revision += 1
        homes = self.updates.follow(items, resized)
        self.looks.distrust(self.state.card_groups.whole(homes) if homes else None)
        self.updates.measure_few()
        self.colours.follow()

    def show(self, shown: Shown) -> None:
        """Other overlays are on."""
        self.state.shown = shown
        self.results_changed()
        self.updates.catch_up()

    # -------------------------------------------------------------- how it is looked at

    def expand(self, item: ItemId) -> None:
        """Unfold the optional inputs of a card, or fold them again."""
        self.stack.expand(self.state.card_groups.home(item))
        self._place()

    def unfold(self, item: ItemId) -> None:
        """Show all leaves of the module on a card, or fold them again."""
        self.stack.unfold(self.state.card_groups.home(item))
        self._place()

    def show_wires(self, wires: WireOptions) -> None:
        """Draw wires in another way."""
        if self.wiring.view != wires:
            self.wiring.view = wires
            self._place()
            self.routes.catch_up(None)


def _keys(edits: Edits) -> frozenset[str]:
    """Of what is put elsewhere."""
    return frozenset(key for edit in edits if isinstance(edit, SetPlaces) for key in edit.places)


def _ends_of_removed(edits: Edits) -> list[End]:
    """The ports whose wires were taken away."""
    return [(edit.wire.target, edit.wire.port) for edit in edits if isinstance(edit, RemoveWire)]
