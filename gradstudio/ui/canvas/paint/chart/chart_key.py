"""What a painted chart is kept under: the very chart and theme, which are compared by what they are, not by content."""

from typing import Generic, TypeVar

from gradstudio.protocol.messages.charts import BoundaryDrawn, DescentDrawn, ImagesDrawn, PointsDrawn
from gradstudio.ui.theme import Theme

DrawnT = TypeVar("DrawnT", bound=BoundaryDrawn | DescentDrawn | PointsDrawn | ImagesDrawn)


class ChartKey(Generic[DrawnT]):
    """The same objects, not equal ones: a chart is large."""

    def __init__(self, drawn: DrawnT, theme: Theme) -> None:
        """Of a chart in the colours of a theme."""
        self.drawn, self.theme = drawn, theme

    def __eq__(self, other: object) -> bool:
        """Whether both are the same."""
        return isinstance(other, ChartKey) and other.drawn is self.drawn and other.theme is self.theme

    def __hash__(self) -> int:
        """By what the objects are."""
        return hash((id(self.drawn), id(self.theme)))
