"""Charts on cards: what a run learns, as a picture: over the plane, by class, as points, images or histograms."""

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

from gradstudio.graph.model import ChartKind, ItemId
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.bounds import Count, Size
from gradstudio.protocol.messages.progress import CurveKey

if TYPE_CHECKING:
    import numpy as np

Numbers: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.floating[Any]]]"
CURVE: Final[ChartKind] = "curve"
"""The one that the window draws itself, of what it is told of turns."""
SIDE: Final = 200
"""Pixels of a boundary, across and down; while a run is under way there may be fewer."""
COLOURS: Final = 256
"""Colours that a pixel may have."""
MOST_CLASSES: Final = 32
BINS: Final = 40
"""Of a histogram."""
MOST_RIDGES: Final = 24
"""Histograms in a chart of them."""
MOST_TILES: Final = 16
MOST_TILE_PX: Final = 64
"""A side of an image in a chart of them; larger ones are sent smaller."""
CHARTS: Final[dict[ChartKind, str]] = {
    "boundary": "Decision boundary",
    "path": "Path on the contours of the loss",
    "confusion": "Confusion matrix",
    "prediction": "Prediction against target",
    "components": "Two principal components",
    "images": "Images",
    "attention": "Attention map",
    "histogram": "Histogram over turns",
    "gradients": "Histogram of the gradient",
    CURVE: "Curve over turns",
}
FLOAT_BYTES: Final = 4
PAIR_BYTES: Final = 2 * FLOAT_BYTES
WantedChart = tuple[ItemId, ChartKind]


class Watch(Message, frozen=True):
    """What is to be told of turns from now on, also of a run that is under way; `Do` says it for a run that begins.

    Attributes:
        charts: nodes whose charts are drawn, and which; where no run is under way, at once.
    """

    curves: tuple[CurveKey, ...] = ()
    charts: tuple[WantedChart, ...] = ()


class NoChart(Message, frozen=True):
    """What keeps the chart of a node from being drawn, in words; `step`: how many statements had run."""

    node: ItemId
    kind: ChartKind
    step: Size = 0
    why: str = ""


class BoundaryDrawn(Message, frozen=True):
    """What a node, or the module it makes, gives over the plane.

    Attributes:
        step: how many statements had run; a chart stands until a later one.
        side: pixels across and down.
        levels: a byte a pixel, the upper row first. Of one number its place between 0 and 255 on a scale; of `classes`
            the class that wins, times `shades`, plus how sure that is.
        classes: of how many classes; 0: it is one number.
        span: left, right, lower and upper end of the plane.
        points: the data, pairs of float32, little-endian; `point_levels` what each is to be, as in `levels`; empty
            where that is not known.
    """

    node: ItemId
    step: Size = 0
    side: Count = SIDE
    levels: bytes = b""
    classes: Count = 0
    span: tuple[float, float, float, float] = (-1.0, 1.0, -1.0, 1.0)
    points: bytes = b""
    point_levels: bytes = b""

    @property
    def kind(self) -> ChartKind:
        """Which chart it is."""
        return "boundary"

    @property
    def shades(self) -> int:
        """How many bytes a class has."""
        return shades_of(self.classes)


class DescentDrawn(Message, frozen=True):
    """The loss over the two numbers that a node holds, and the path that they took while they were learnt.

    Attributes:
        step, side, span: as in `BoundaryDrawn`; the first number goes across, the second upwards, called as in `names`.
        levels: a byte a pixel, the upper row first: the cube root of its place between the least loss of the plane and
            the largest one, from 0 to 255; 255 where it is not finite.
        path: the numbers at the ends of turns, the oldest first: pairs of float32, little-endian. The first are those
            before the first turn; of many turns every n-th is there, and the newest.
        losses: float32 each, of the whole data; `steps` how many statements had run.
    """

    node: ItemId
    step: Size = 0
    side: Count = SIDE
    levels: bytes = b""
    span: tuple[float, float, float, float] = (-1.0, 1.0, -1.0, 1.0)
    names: tuple[str, str] = ("", "")
    path: bytes = b""
    losses: bytes = b""
    steps: tuple[Size, ...] = ()

    @property
    def kind(self) -> ChartKind:
        """Which chart it is."""
        return "path"

    def until(self, step: int) -> "DescentDrawn":
        """The same when so many statements had run."""
        count = max(bisect_right(self.steps, step), 1)
        return msgspec.structs.replace(
            self,
            path=self.path[: count * PAIR_BYTES],
            losses=self.losses[: count * FLOAT_BYTES],
            steps=self.steps[:count],
        )


class ConfusionDrawn(Message, frozen=True):
    """How often each class was taken for each.

    Attributes:
        counts: a row for each class that is right, a column for each that was said.
    """

    node: ItemId
    step: Size = 0
    counts: tuple[tuple[Count, ...], ...] = ()

    @property
    def kind(self) -> ChartKind:
        """Which chart it is."""
        return "confusion"


class PointsDrawn(Message, frozen=True):
    """Rows of data as points of a plane.

    Attributes:
        kind: "prediction": what is right across, what was said upwards, on one scale; "components": the two principal
            components of what a node gives, the first across.
        span, points, point_levels, classes: as in `BoundaryDrawn`.
        figure: of predictions the coefficient of determination, R² (1 is perfect, 0 as good as the mean); of components
            the share of the variance that the two hold; None where it is none.
        rows: of how many rows; the points may be some of them.
    """

    node: ItemId
    step: Size = 0
    kind: ChartKind = "prediction"
    span: tuple[float, float, float, float] = (-1.0, 1.0, -1.0, 1.0)
    points: bytes = b""
    point_levels: bytes = b""
    classes: Count = 0
    figure: float | None = None
    rows: Count = 0


class ImagesDrawn(Message, frozen=True):
    """Images side by side: of data, with what they are and what they were taken for, or of the filters of a layer.

    Attributes:
        kind: "images", or "attention": of each head its weights, a row a query, a column a key.
        height, width: of each, in pixels; `channels` 1 (grey) or 3 (red, green, blue).
        pixels: a byte a pixel and channel; images one behind the other, rows from above, channels of a pixel together.
        truths, said: numbers of classes, one an image; empty where they are not known.
        total: of how many.
        signed: grey from 0 to 255 stands for numbers below and above zero, which is 128.
        span: the numbers at the ends of the scale.
        sizes: height and width before large images were made smaller, a pixel the mean of those that it stands for.
    """

    node: ItemId
    step: Size = 0
    kind: ChartKind = "images"
    height: Count = 0
    width: Count = 0
    channels: Count = 1
    pixels: bytes = b""
    truths: tuple[int, ...] = ()
    said: tuple[int, ...] = ()
    total: Count = 0
    signed: bool = False
    span: tuple[float, float] = (0.0, 0.0)
    sizes: tuple[Size, Size] = (0, 0)


class HistogramDrawn(Message, frozen=True):
    """Histograms of a weight, a gradient or another tensor, the first and the newest turn and some in between.

    Attributes:
        kind: "histogram", or "gradients" of its `.grad`.
        of: what of the node: "weight", "all parameters", "gradient"; "" is its value.
        numbers: how many there are now; `odd` of them are not finite and in no bin.
        turns: of the outermost loop, counted from one; 0 outside. The oldest first, as in all that follows.
        edges: where the first of `BINS` bins begins and where the last one ends.
        counts: `BINS` uint32 each, little-endian.
    """

    node: ItemId
    step: Size = 0
    kind: ChartKind = "histogram"
    of: str = ""
    numbers: Size = 0
    odd: Size = 0
    turns: tuple[Count, ...] = ()
    edges: tuple[tuple[float, float], ...] = ()
    counts: bytes = b""


class CurveShown(msgspec.Struct, frozen=True, eq=False):
    """A number of a node over the turns of a loop; of the window's own making, no message.

    Attributes:
        key: which number.
        turns: of each value, from 0; `values` NaN where a turn had none.
        looked_at: the turn of the moment, from 0; None: the newest.
    """

    key: CurveKey
    turns: Numbers
    values: Numbers
    looked_at: int | None = None

    @property
    def kind(self) -> ChartKind:
        """Which chart it is."""
        return CURVE

    @property
    def standing(self) -> tuple[int, int]:
        """Where the moment is: which of the values that is, and in which turn, counted from 1."""
        turn = self.looked_at if self.looked_at is not None else int(self.turns[-1])
        return max(int(self.turns.searchsorted(turn, "right")) - 1, 0), turn + 1


DrawnChart = NoChart | BoundaryDrawn | DescentDrawn | ConfusionDrawn | PointsDrawn | ImagesDrawn | HistogramDrawn
Chart = DrawnChart | CurveShown


def shades_of(classes: int) -> int:
    """How many bytes each of so many classes has."""
    return COLOURS // max(classes, 1)
