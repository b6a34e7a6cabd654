"""By which metric cards are coloured, if by one. No Qt."""

from gradstudio.scene.card.card_stack import CardStack
from gradstudio.scene.colour_scale import ColourScale, colour_scale
from gradstudio.scene.scene_state import SceneState


class CardColours:
    """The colour scale of the cards, as the results are now.

    Attributes:
        scale: what the cards are coloured by; None: by category.
    """

    def __init__(self, state: SceneState, stack: CardStack) -> None:
        """By category."""
        self._state, self._stack = state, stack
        self.scale: ColourScale | None = None

    def colour_by(self, name: str) -> None:
        """Colour the cards by a metric of `advice.metrics`; "": by category."""
        old, cards = self.scale, self._stack.cards
        self.scale = colour_scale(name, self._state.results, cards) if name else None
        if old != self.scale:
            for card in cards.values():
                card.revision += 1

    def follow(self) -> None:
        """Results changed: measure again what the cards are coloured by."""
        if self.scale is not None:
            self.colour_by(self.scale.metric.name)
