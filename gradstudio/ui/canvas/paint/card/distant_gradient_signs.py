"""The state of a gradient on a plate: its sign where there is room, else a dot of a form and a colour of its own."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import GradState, ModuleRecord, TensorRecord
from gradstudio.scene.card.section_heights import awaits_gradient, gradient_of
from gradstudio.scene.geometry import Floats
from gradstudio.scene.results import Results
from gradstudio.scene.scene import Scene
from gradstudio.ui.canvas.paint.primitives.batch_drawing import draw_rects
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.canvas.paint.primitives.glyphs import paint_state

SIGN: Final = 11.0
ROOM: Final = 15.0
"""Of a sign with the ground around it, view pixels."""
LEAST_PLATE: Final = (24.0, 20.0)
"""Width and height of the smallest plate with a sign; smaller ones have a dot."""
LEAST_DOTTED: Final = (10.0, 8.0)
"""Width and height of the smallest plate with a dot, view pixels."""
GRADIENT: Final = "gradient"
DOTS: Final[dict[GradState, tuple[str, tuple[tuple[float, float, float, float], ...], bool]]] = {
    "value": (GRADIENT, ((-6, -6, 4, 4),), False),
    "accumulated": ("warning", ((-6, -6, 4, 4), (-12, -6, 4, 4)), False),
    "cut": ("warning", ((-7, -7, 1, 5), (-4, -7, 1, 5)), False),
    "not_retained": (GRADIENT, ((-6, -6, 4, 4),), True),
    "not_reached": ("unknown_value", ((-7, -7, 2, 2), (-4, -7, 2, 2), (-7, -4, 2, 2), (-4, -4, 2, 2)), False),
    "not_required": ("unknown_value", ((-7, -4, 5, 1),), False),
    "not_run": ("unknown_value", ((-4, -4, 2, 2),), False),
}
"""Role, rectangles (left and top from the plate's lower right corner, width, height), and whether they are hollow."""
GRAVITY: Final[tuple[GradState, ...]] = (
    "cut", "not_reached", "accumulated", "value", "not_retained", "not_run", "not_required",
)  # fmt: skip
"""Of the parameters of a module, the state that is told first."""


def state_of(results: Results, item: ItemId) -> GradState | None:
    """The state of the first result's gradient, or the gravest among a module's parameters; None: there is none."""
    records = results.outputs(item)
    record = records[0] if records else None
    if isinstance(record, TensorRecord):
        row = results.grad(item, 0)
        return gradient_of(record, row)[0] if awaits_gradient(record, row) else None
    if isinstance(record, ModuleRecord):
        rows = ((parameter, results.grad(item, 0, name)) for name, parameter in record.parameters.items())
        return min((gradient_of(*pair)[0] for pair in rows if awaits_gradient(*pair)), key=GRAVITY.index, default=None)
    return None


class States:
    """The state of each card's gradient, read once for each of its revisions."""

    def __init__(self) -> None:
        """Nothing was read."""
        self._known: dict[ItemId, tuple[int, GradState | None]] = {}

    def of(self, scene: Scene, items: Sequence[ItemId]) -> list[GradState | None]:
        """One state a card; None: nothing to be said."""
        found = []
        for item, revision in zip(items, scene.stack.revisions(items), strict=True):
            old = self._known.get(item)
            if old is None or old[0] != revision:
                old = self._known[item] = (revision, state_of(scene.results, item))
            found.append(old[1])
        return found


def has_sign(rect: QRectF) -> bool:
    """Whether a plate in view pixels has room for a sign."""
    return rect.width() >= LEAST_PLATE[0] and rect.height() >= LEAST_PLATE[1]


def paint_plate_state(painter: QPainter, style: CanvasStyle, plate: QRectF, state: GradState) -> None:
    """A sign, or a dot, in the lower right corner of a plate."""
    import numpy as np

    if not has_sign(plate):
        paint_dots(painter, style, np.array([[plate.x(), plate.y(), plate.width(), plate.height()]]), [state])
        return
    sign = QRectF(plate.right() - SIGN - 3, plate.bottom() - SIGN - 2.5, SIGN, SIGN)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(style.color("card_well"))
    painter.drawRoundedRect(sign.adjusted(-1.5, -1, 1.5, 1), 3, 3)
    paint_state(painter, style, sign, state)


def paint_dots(painter: QPainter, style: CanvasStyle, plates: Floats, states: Sequence[GradState | None]) -> None:
    """A dot on each plate (rows of x, y, width, height in view pixels), those of one state at once."""
    corners = plates[:, :2] + plates[:, 2:]
    large = (plates[:, 2] >= LEAST_DOTTED[0]) & (plates[:, 3] >= LEAST_DOTTED[1])
    groups: dict[GradState, list[int]] = {}
    for k, state in enumerate(states):
        if state is not None and large[k]:
            groups.setdefault(state, []).append(k)
    painter.setPen(Qt.PenStyle.NoPen)
    ground = style.color("card_well")
    for state, which in groups.items():
        role, parts, hollow = DOTS[state]
        color = style.gradient if role == GRADIENT else style.color(role)
        for x, y, width, height in parts:
            _fill(painter, corners[which], (x - 1, y - 1, width + 2, height + 2), ground)
        for x, y, width, height in parts:
            _fill(painter, corners[which], (x, y, width, height), color)
            if hollow:
                _fill(painter, corners[which], (x + 1, y + 1, width - 2, height - 2), ground)


def _fill(painter: QPainter, corners: Floats, part: tuple[float, float, float, float], color: QColor) -> None:
    import numpy as np

    x, y, width, height = part
    rects = np.empty((len(corners), 4))
    rects[:, :2] = corners + np.array([x, y])
    rects[:, 2:] = (width, height)
    painter.setBrush(color)
    draw_rects(painter, rects)
