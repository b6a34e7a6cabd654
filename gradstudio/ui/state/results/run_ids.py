"""What a node on the canvas is called in a run; here both are the same. No Qt here."""

from gradstudio.graph.model import ItemId


class Placed:
    """Asked wherever a panel looks into the timeline itself."""

    def full(self, node: ItemId) -> ItemId:
        """The id under which a run speaks of what is shown."""
        return node

    def shown(self, node: ItemId) -> ItemId:
        """What stands for an item on the canvas."""
        return node
