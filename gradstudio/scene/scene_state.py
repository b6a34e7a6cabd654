"""What the parts of a scene have in common: what they show, which items share a card, its revisions. No Qt."""

from dataclasses import dataclass, field

from gradstudio.graph.card_grouping import CardGroups, card_groups
from gradstudio.graph.model import BodyId, Graph, ItemId
from gradstudio.scene.card.debug_sections import Experiments, NoExperiments
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.results import Results
from gradstudio.scene.text_measure import TextMeasure


@dataclass(slots=True, eq=False)
class SceneState:
    """What is shown, and its revisions. The scene alone writes here; its parts read.

    Attributes:
        shown: the overlays that are on.
        meter: measures texts.
        experiments: what was tried; shown on the cards.
        card_groups: which items share a card; that of a module and its call is kept under the call.
        revision: another one when anything of the scene changed.
        geometry_revision: another one when anything is elsewhere.
        graph_revision: another one when the graph was edited.
    """

    graph: Graph
    results: Results
    shown: Shown
    meter: TextMeasure
    experiments: Experiments = field(default_factory=NoExperiments)
    card_groups: CardGroups = field(init=False)
    revision: int = 0
    geometry_revision: int = 0
    graph_revision: int = 0

    def __post_init__(self) -> None:
        """Ask which items share a card."""
        self.card_groups = card_groups(self.graph)

    def members(self, block: ItemId) -> frozenset[ItemId]:
        """Everything inside a block, blocks included, itself not."""
        return frozenset(self.graph.order(BodyId(block)))
