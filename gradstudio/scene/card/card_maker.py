"""Makes the cards of nodes: layout, height, debug sections, well and leaves, each from the scene's state. No Qt."""

from msgspec.structs import replace

from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.model import ItemId
from gradstudio.graph.ports.item_ports import output_family, written_wire
from gradstudio.operators.model import Family
from gradstudio.scene.card.card_layout import CardLayout
from gradstudio.scene.card.card_layout_cache import CardLayoutCache
from gradstudio.scene.card.compact_layout import compact
from gradstudio.scene.card.debug_sections import PLAIN, DebugSections, debug_sections
from gradstudio.scene.card.display_flags import display_flags_of
from gradstudio.scene.card.parameter_rows import NOTHING, ParameterRows, leaf_rows, module_state
from gradstudio.scene.card.result_sections import (
    NO_MODULE,
    ModuleContext,
    ResultSections,
    result_sections,
    well_heights,
)
from gradstudio.scene.card.section_heights import EDGE, NO_WELL, WellHeights, expected_printout, printout_height
from gradstudio.scene.items import Card
from gradstudio.scene.scene_state import SceneState


class CardMaker:
    """Makes what a card is made of; it keeps none of them.

    Attributes:
        expanded: cards that show their optional inputs.
        unfolded: cards that show all leaves of their module.
    """

    def __init__(self, state: SceneState) -> None:
        """Nothing is unfolded."""
        self._state = state
        self._layouts = CardLayoutCache(state.meter.width)
        self.expanded: set[ItemId] = set()
        self.unfolded: set[ItemId] = set()

    def card(self, item: ItemId) -> Card:
        """A new card for a node."""
        layout = self.layout(item)
        heights = self.well_heights(item, layout)
        return Card(layout, heights.room, heights.drawn, extras=self.extras(item))

    def again(self, item: ItemId, card: Card) -> Card:
        """The card of a node that changed: a later revision, about which nothing was read yet."""
        layout = self.layout(item)
        heights = self.well_heights(item, layout)
        return replace(
            card, layout=layout, result_height=heights.room, drawn=heights.drawn, extras=self.extras(item),
            revision=card.revision + 1, well=None, leaves=None,
        )  # fmt: skip

    def layout(self, item: ItemId) -> CardLayout:
        """What a card shows of its node and, where the two share it, of the module that is called."""
        state, expanded = self._state, item in self.expanded
        layout = self._layouts.layout(state.graph, item, expanded, state.card_groups.modules.get(item))
        return compact(layout, display_flags_of(state.graph.places.get(item)), state.meter.width, expanded=expanded)

    def well_heights(self, item: ItemId, layout: CardLayout) -> WellHeights:
        """How much room the results of a node have below its layout, and how much of it they take."""
        if layout.display_flags.collapsed or item in CARDS:
            return NO_WELL
        state, held = self._state, self._held(item, layout)
        heights = well_heights(state.results, item, state.shown, self._families(layout), _is_leaf(layout), held)
        expected = expected_printout(state.graph.nodes[item])
        said = printout_height(state.results.printout(item))
        if expected <= said:
            return heights
        edge = 0.0 if heights.room else EDGE  # below all that is drawn
        return WellHeights(heights.room + expected - said + edge, heights.drawn)

    def well(self, item: ItemId, card: Card) -> ResultSections:
        """The results of a node as its card says them."""
        state, layout = self._state, card.layout
        names, held = state.graph.nodes[item].names, self._held(item, layout)
        sections = result_sections(state.results, item, names, state.shown, held)
        if layout.module is None or state.results.moment is None:
            return sections
        return replace(sections, state=module_state(state.results, layout.module))

    def extras(self, item: ItemId) -> DebugSections:
        """What was tried at a node, its cost, and which of several ranks came late to it."""
        state = self._state
        if display_flags_of(state.graph.places.get(item)).collapsed:
            return PLAIN
        tried = state.experiments.what_if is not None or state.experiments.checked is not None
        row = state.results.row(item)
        came = row.came if row is not None else None
        if not tried and not state.shown.cost and came is None:
            return PLAIN
        return debug_sections(state.results, state.experiments, item, with_cost=state.shown.cost, came=came)

    def leaves(self, item: ItemId, layout: CardLayout) -> ParameterRows:
        """The rows of the parameters and buffers of the module on a card."""
        if layout.module is None or layout.display_flags.collapsed:
            return NOTHING
        return leaf_rows(self._state.results, layout.module, self._state.shown, unfolded=item in self.unfolded)

    def _families(self, layout: CardLayout) -> tuple[Family, ...]:
        """Of what a card shows the values of: its outputs, else what it has written into."""
        outputs = tuple([row.family for row in layout.outputs if row.owner == layout.item])
        if outputs:
            return outputs
        written = written_wire(self._state.graph, layout.item)
        return (output_family(self._state.graph, written.source, written.output),) if written is not None else ()

    def _held(self, item: ItemId, layout: CardLayout) -> ModuleContext:
        if layout.module is None or layout.display_flags.collapsed:
            return NO_MODULE
        return ModuleContext(layout.module, item in self.unfolded)


def _is_leaf(layout: CardLayout) -> bool:
    """Whether a node reads no other: what it makes has no history."""
    return not layout.is_joined and "wired" not in [row.state for row in layout.inputs]
