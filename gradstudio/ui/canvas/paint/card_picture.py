"""The card that an operator fresh from the library will have, as a picture: previews, and what hangs at the cursor."""

from collections.abc import Callable
from typing import Final, NamedTuple

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QPainter, QPixmap

from gradstudio.graph import recipes
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Definition, Graph
from gradstudio.graph.operator_rows import GROUP
from gradstudio.scene.camera import Camera
from gradstudio.scene.geometry import Box
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.results import NoResults
from gradstudio.scene.scene import Scene
from gradstudio.ui.canvas.paint.card.card_painter import paint_card
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.canvas.paint.primitives.card_shadows import paint_shadow
from gradstudio.ui.canvas.paint.scene_painter import card_state
from gradstudio.ui.theme import Theme

EDGE: Final = 10.0
"""Scene pixels around a card, for its shadow and its ports."""
KEPT: Final = 48
BARE: Final = Shown(
    values=False, shapes=False, dtype_device=False, grad_fn=False, gradients=False, wire_gradients=False
)
"""Nothing of a run: nothing has run."""


class CardPicture(NamedTuple):
    """A picture of a card and the pixels from its corner to the card's."""

    pixmap: QPixmap
    edge: float
    width: float
    height: float


class CardPictures:
    """Keeps the pictures that were asked for last."""

    def __init__(self) -> None:
        """None yet; `definition_of` gives those of groups, whose cards are painted anew each time."""
        self.definition_of: Callable[[str], Definition | None] = lambda _: None
        self._kept: dict[tuple[str, str, float, float], CardPicture] = {}

    def of(self, key: str, theme: Theme, zoom: float = 1.0, ratio: float = 1.0) -> CardPicture:
        """The picture of an operator's card at a zoom."""
        if (definition := self.definition_of(key)) is not None:
            return card_picture(key, theme, zoom, ratio, definition)
        wanted = key, theme.name, round(zoom, 3), ratio
        found = self._kept.pop(wanted, None) or card_picture(key, theme, zoom, ratio)
        self._kept[wanted] = found
        if len(self._kept) > KEPT:
            del self._kept[next(iter(self._kept))]
        return found


def as_rich_text(picture: CardPicture) -> str:
    """A picture within a tooltip."""
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture.pixmap.save(buffer, "PNG")
    width = round(picture.pixmap.width() / picture.pixmap.devicePixelRatio())
    return f"<p><img width='{width}' src='data:image/png;base64,{data.toBase64().toStdString()}'></p>"


def card_picture(
    key: str, theme: Theme, zoom: float = 1.0, ratio: float = 1.0, definition: Definition | None = None
) -> CardPicture:
    """An operator's card at a zoom, a block's frame, or a group's card; sizes are pixels of the view."""
    from gradstudio.graph.recipes.fragments import STORED
    from gradstudio.ui.state.library.user_groups import DIGITS

    graph = Graph()
    if definition is not None:
        graph.definitions[definition.name], key = definition, GROUP + definition.name
    edits, _ = recipes.add_operator(graph, STORED if key == DIGITS else key, 0, 0)
    apply_all(graph, edits)
    style = CanvasStyle(theme)
    scene = Scene(graph, NoResults(), BARE, style.meter)
    extent = scene.placement.extent() or Box(0, 0, 200, 60)
    box = extent.grown(EDGE)
    size = QSize(round(box.width * zoom * ratio), round(box.height * zoom * ratio))
    pixmap = QPixmap(size)
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
    _paint(painter, scene, style, Camera(zoom, box.x, box.y))
    painter.end()
    return CardPicture(pixmap, EDGE * zoom, extent.width * zoom, extent.height * zoom)


def _paint(painter: QPainter, scene: Scene, style: CanvasStyle, camera: Camera) -> None:
    """Frame and cards, one by one, without the canvas's ground."""
    from gradstudio.ui.canvas.paint.frame_painter import paint_frame

    for frame in scene.placement.frames.values():
        painter.save()
        painter.translate(*camera.to_view(frame.box.x, frame.box.y))
        painter.scale(camera.zoom, camera.zoom)
        paint_frame(painter, style, frame, scene, camera.zoom)
        painter.restore()
    paint_cards(painter, scene, style, camera)


def paint_cards(painter: QPainter, scene: Scene, style: CanvasStyle, camera: Camera) -> None:
    """Every card with its shadow, as vectors."""
    for item, card in scene.stack.cards.items():
        place = scene.placement.box(item)
        if place is None:
            continue
        painter.save()
        painter.translate(*camera.to_view(place.x, place.y))
        painter.scale(camera.zoom, camera.zoom)
        paint_shadow(painter, style, card.layout.width, card.drawn_height)
        paint_card(painter, style, card.layout, scene.updates.well(item), card_state(scene, style, item))
        painter.restore()
