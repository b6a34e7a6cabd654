"""Paints the scene in batches: grid, frames, notes, wires as flat segments, cards as kept pixmaps.

Nothing here knows of the mouse; what changes with it is painted on top by `interaction_painter`.
"""

from collections.abc import Collection, Sequence
from math import floor
from typing import Final, NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPixmap

from gradstudio.graph.model import ItemId
from gradstudio.scene import geometry
from gradstudio.scene.camera import Camera
from gradstudio.scene.card.card_layout import HEADER, CardLayout
from gradstudio.scene.card.result_sections import ResultSections
from gradstudio.scene.geometry import UPWARDS, Box
from gradstudio.scene.scene import Scene
from gradstudio.scene.wire.wire_labels import WireLabels
from gradstudio.ui.canvas.paint import level_of_detail
from gradstudio.ui.canvas.paint.card.card_background import Grounds, ground_of
from gradstudio.ui.canvas.paint.card.card_painter import paint_lower, paint_upper, upper_of
from gradstudio.ui.canvas.paint.card.card_state import CardState
from gradstudio.ui.canvas.paint.card.header_colours import header_colour
from gradstudio.ui.canvas.paint.kept_ground import KeptGround, View
from gradstudio.ui.canvas.paint.level_of_detail import DISTANT
from gradstudio.ui.canvas.paint.note_painter import paint_note
from gradstudio.ui.canvas.paint.overlay_painters import BetweenCards, paint_overlays
from gradstudio.ui.canvas.paint.pending_painter import paint_pending
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.canvas.paint.primitives.card_shadows import MARGIN
from gradstudio.ui.canvas.paint.wire_painter import paint_dots, paint_few_wires, paint_wires

GRID_STEP: Final = 24.0
GRID_DOT: Final = 1.5
MAXIMUM_PIXMAPS: Final = 600
MAXIMUM_OF_CARD: Final = 4
"""So many pictures of a card are kept: a person who goes to and fro in a run sees the same ones again."""
MAXIMUM_UPPERS: Final = 200
"""So many cards are kept without their values."""
LEAP: Final = 12
"""More cards than these that were never painted before are a leap: a hurried picture leaves some of them."""
FRESH: Final = 4
"""So many of them are painted in the first picture after a leap, `LEAP` in each that follows."""
NOTHING: Final[frozenset[str]] = frozenset()


class Kept(NamedTuple):
    """A card as it was painted: which revision at which zoom and pixel ratio, what stands on it, the picture."""

    revision: int
    scale: tuple[float, float]
    shown: tuple[CardLayout, ResultSections, CardState]
    pixmap: QPixmap


class Upper(NamedTuple):
    """A card without its values as it was painted last: new values are painted on a copy."""

    decided_by: tuple[object, ...]
    scale: tuple[float, float]
    pixmap: QPixmap


class ScenePainter:
    """Paints a scene in a style; keeps a pixmap of each card per revision, scale and pixel ratio.

    Attributes:
        hurried: the next picture follows soon: what is new in view may be left for it.
        unfinished: something was left.
    """

    def __init__(self, scene: Scene, style: CanvasStyle) -> None:
        """Paint this scene in this style."""
        self.scene, self.style = scene, style
        self.labels = WireLabels(scene)
        self.hurried = self.unfinished = False
        self._pixmaps: dict[ItemId, list[Kept]] = {}
        self._uppers: dict[ItemId, Upper] = {}
        self._count = 0
        self._tints = level_of_detail.Tints()
        self._below = KeptGround(self._paint_below)
        self._grounds = Grounds()
        self._grid: tuple[tuple[float, float, str], QPixmap] | None = None

    def set_style(self, style: CanvasStyle) -> None:
        """Another theme: all that was kept is painted anew."""
        self.style = style
        self._pixmaps.clear()
        self._uppers.clear()
        self._tints.pictures.forget()
        self._below.forget()
        self._count = 0
        self._grid = None

    def paint(
        self, painter: QPainter, camera: Camera, area: Box, ratio: float, without: Collection[str] = NOTHING,
        *, is_whole: bool = True,
    ) -> None:  # fmt: skip
        """All that shows in `area` (view pixels) but `without` and its wires; `ratio` is device per view pixel.

        `is_whole`: the area is all of the view; what lies below is kept then.
        """
        painter.setClipRect(QRectF(area.x, area.y, area.width, area.height))
        seen = camera.box_to_scene(area)
        cards = self._cards_in(seen, without)
        drafts = self._drafts(cards, (camera.zoom, ratio))
        self.unfinished = self.labels.paused = bool(drafts)
        wires = self.scene.routes.wires_in(seen)
        self.scene.looks.read_wires(wires)
        if is_whole and not without:
            self._paint_kept_below(painter, camera, area, ratio, wires)
        else:
            self._paint_below(painter, camera, area, ratio, without)
        self.paint_overlays(painter, camera, seen, without)
        self._paint_cards(painter, camera, ratio, cards, drafts)
        paint_pending(painter, self.style, self.scene, camera, seen)
        painter.setClipping(False)

    def _paint_below(
        self, painter: QPainter, camera: Camera, area: Box, ratio: float, without: Collection[str] = NOTHING
    ) -> None:
        """Everything under labels and cards."""
        seen = camera.box_to_scene(area)
        painter.fillRect(QRectF(area.x, area.y, area.width, area.height), self.style.color(self.ground))
        self.paint_grid(painter, camera, area, ratio)
        self._paint_frames(painter, camera, seen, without)
        self._paint_notes(painter, camera, seen, without)
        self._paint_wires(painter, camera, seen, without, None)

    def _paint_kept_below(
        self, painter: QPainter, camera: Camera, area: Box, ratio: float, wires: Sequence[int]
    ) -> None:
        """The same, without anything left out; from a picture where it is as it was."""
        scene = self.scene
        ports = tuple(
            (scene.looks.input_looks(item), tuple(scene.looks.look_of(item, row.index) for row in frame.layout.outputs))
            for item, frame in scene.placement.frames.items()
        )
        # An edit that moves nothing, such as a slider's, changes none of it but what the ports and the wires say.
        key = (scene.state.geometry_revision, scene.wiring.view, self.style, self.ground, ports)
        self._below.paint(painter, View(camera, area, ratio, key, wires, scene.looks.code_list))

    def paint_ground(self, painter: QPainter, camera: Camera, area: Box, filled: bool = True) -> None:
        """All but the cards and the grid: for pictures that paint cards as vectors; `filled`: on its colour."""
        if filled:
            painter.fillRect(QRectF(area.x, area.y, area.width, area.height), self.style.color("canvas"))
        seen = camera.box_to_scene(area)
        self._paint_frames(painter, camera, seen, NOTHING)
        self._paint_notes(painter, camera, seen, NOTHING)
        self._paint_wires(painter, camera, seen, NOTHING, None)

    def paint_some(self, painter: QPainter, camera: Camera, area: Box, ratio: float, items: Collection[str]) -> None:
        """Only these items, notes ("note:<item>") and their wires: what is dragged over a snapshot of the rest."""
        seen, scene = camera.box_to_scene(area), self.scene
        self._paint_frames(
            painter, camera, seen, frozenset(item for item in scene.placement.frames if item not in items)
        )
        still = frozenset(item for item in scene.placement.notes if f"note:{item}" not in items)
        self._paint_notes(painter, camera, seen, still)
        self._paint_wires(painter, camera, seen, NOTHING, items)
        chosen = sorted({k for item in items if (k := scene.stack.index.get(ItemId(item))) is not None})
        self._paint_cards(painter, camera, ratio, chosen)

    @property
    def ground(self) -> str:
        """The role of the canvas's colour: another one while the person looks back."""
        return "past" if self.scene.results.moment is not None else "canvas"

    # -------------------------------------------------------------- ground

    def paint_grid(self, painter: QPainter, camera: Camera, area: Box, ratio: float) -> None:
        """Dots that move and grow with the scene."""
        step = GRID_STEP * camera.zoom
        while step < 14:
            step *= 2
        tile = self._tile(step, ratio)
        step = round(step * ratio) / ratio
        origin_x, origin_y = camera.to_view(0.0, 0.0)
        offset = QPointF((area.x - origin_x) % step, (area.y - origin_y) % step)
        painter.drawTiledPixmap(QRectF(area.x, area.y, area.width, area.height), tile, offset)

    def _tile(self, step: float, ratio: float) -> QPixmap:
        role = "past_grid" if self.ground == "past" else "grid"
        key = (round(step * ratio) / ratio, ratio, role)
        if self._grid is None or self._grid[0] != key:
            side = round(step * ratio)
            count = max(1, 256 // side)
            tile = QPixmap(side * count, side * count)
            tile.setDevicePixelRatio(ratio)
            tile.fill(Qt.GlobalColor.transparent)
            painter = QPainter(tile)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.style.color(role))
            for i in range(count):
                for j in range(count):
                    painter.drawEllipse(
                        QPointF((i + 0.5) * side / ratio, (j + 0.5) * side / ratio),
                        GRID_DOT / 2 + 0.2,
                        GRID_DOT / 2 + 0.2,
                    )
            painter.end()
            self._grid = (key, tile)
        return self._grid[1]

    def _paint_frames(self, painter: QPainter, camera: Camera, seen: Box, without: Collection[str]) -> None:
        from gradstudio.ui.canvas.paint.frame_painter import paint_frame

        for item, frame in self.scene.placement.frames.items():
            if item not in without and frame.box.meets(seen):
                self._into(painter, camera, frame.box)
                paint_frame(painter, self.style.at(camera.zoom), frame, self.scene, camera.zoom)
                painter.restore()

    def _paint_notes(self, painter: QPainter, camera: Camera, seen: Box, without: Collection[str]) -> None:
        for item, note in self.scene.placement.notes.items():
            if item not in without and f"note:{item}" not in without and note.box.meets(seen):
                self._into(painter, camera, note.box)
                paint_note(painter, self.style, note, camera.zoom)
                painter.restore()

    def _into(self, painter: QPainter, camera: Camera, box: Box) -> None:
        """Scene pixels from the box's top left corner; `restore` afterwards."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        x, y = camera.to_view(box.x, box.y)
        painter.translate(x, y)
        painter.scale(camera.zoom, camera.zoom)

    # -------------------------------------------------------------- wires

    def _paint_wires(
        self, painter: QPainter, camera: Camera, seen: Box, without: Collection[str], only: Collection[str] | None
    ) -> None:
        scene = self.scene
        if not scene.wiring.wires or scene.wiring.view.shown != "all":
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if only is None and not without and paint_few_wires(painter, self.style, scene, camera, seen):
            return
        chosen = geometry.visible(scene.routes.bounds, seen)
        if only is not None:
            chosen &= scene.wiring.touching(frozenset(only))
        elif without:
            chosen &= ~scene.wiring.touching(frozenset(without))
        paint_wires(painter, self.style, scene, camera, seen, chosen)
        paint_dots(painter, self.style, scene, camera, seen, chosen)

    def paint_overlays(self, painter: QPainter, camera: Camera, seen: Box, without: Collection[str] = NOTHING) -> None:
        """What lies between cards; they are painted over it."""
        paint_overlays(BetweenCards(painter, self.style, self.scene, camera, seen, self.labels, without))

    # -------------------------------------------------------------- cards

    def paint_cards(self, painter: QPainter, camera: Camera, ratio: float, seen: Box, items: Collection[str]) -> None:
        """Only the cards of these items that show."""
        inside, index = set(self.scene.placement.cards_in(seen, MARGIN)), self.scene.stack.index
        chosen = sorted({k for item in items if (k := index.get(ItemId(item))) is not None and k in inside})
        self._paint_cards(painter, camera, ratio, chosen)

    def _cards_in(self, seen: Box, without: Collection[str]) -> list[int]:
        inside, index = self.scene.placement.cards_in(seen, MARGIN), self.scene.stack.index
        left_out = {index.get(ItemId(item)) for item in without}
        return [k for k in inside if k not in left_out] if left_out else inside

    def _drafts(self, which: Sequence[int], scale: tuple[float, float]) -> frozenset[ItemId]:
        """The cards that a hurried picture leaves for the next one: those that were never painted, but for a few."""
        if not self.hurried or scale[0] < DISTANT:
            return frozenset()
        items = (self.scene.stack.ids[k] for k in which)
        fresh = [item for item in items if all(one.scale != scale for one in self._pixmaps.get(item, ()))]
        if len(fresh) <= LEAP:
            return frozenset()
        return frozenset(fresh[LEAP if self.unfinished else FRESH :])

    def _paint_draft(self, painter: QPainter, camera: Camera, item: ItemId) -> None:
        """A card without its words."""
        box, card, style = self.scene.placement.box(item), self.scene.stack.cards[item], self.style
        assert box is not None
        rect = camera.box_to_view(box)
        painter.fillRect(QRectF(rect.x, rect.y, rect.width, rect.height), style.color("card"))
        painter.fillRect(QRectF(rect.x, rect.y, rect.width, HEADER * camera.zoom), style.category(card.layout.category))

    def _paint_cards(
        self, painter: QPainter, camera: Camera, ratio: float, which: Sequence[int],
        drafts: Collection[ItemId] = frozenset(),
    ) -> None:  # fmt: skip
        if not len(which):
            return
        if camera.zoom < DISTANT:
            level_of_detail.paint_plates(painter, self.style, self.scene, camera, which, self._tints)
            return
        for k in which:
            x, y, _, _ = self.scene.placement.corners[k]
            if self.scene.stack.ids[k] in drafts:
                self._paint_draft(painter, camera, self.scene.stack.ids[k])
                continue
            pixmap = self.card_pixmap(self.scene.stack.ids[k], camera.zoom, ratio)
            at_x, at_y = camera.to_view(x - MARGIN, y - MARGIN)
            left, top = floor(at_x * ratio + UPWARDS) / ratio, floor(at_y * ratio + UPWARDS) / ratio
            painter.drawPixmap(QPointF(left, top), pixmap)

    def card_pixmap(self, item: ItemId, zoom: float, ratio: float) -> QPixmap:
        """The card with its shadow, kept while nothing of it changes, and for when it is as it was before."""
        card, kept = self.scene.stack.read(item), self._pixmaps.get(item, [])
        scale = (zoom, ratio)
        if kept and (kept[0].revision, kept[0].scale) == (card.revision, scale):
            return kept[0].pixmap
        shown = (card.layout, self.scene.updates.well(item), card_state(self.scene, self.style, item))
        same = next((k for k, one in enumerate(kept) if one.scale == scale and one.shown == shown), None)
        if same is not None:
            kept.insert(0, kept.pop(same)._replace(revision=card.revision))
        else:
            self._keep(item, Kept(card.revision, scale, shown, self._render(item, shown, scale)))
        return self._pixmaps[item][0].pixmap

    def _keep(self, item: ItemId, made: Kept) -> None:
        """Keep a picture, with the card's latest others of that scale."""
        if self._count >= MAXIMUM_PIXMAPS:
            self._pixmaps.clear()
            self._count = 0
        old = self._pixmaps.get(item, [])
        new = [made, *(one for one in old if one.scale == made.scale)][:MAXIMUM_OF_CARD]
        self._count += len(new) - len(old)
        self._pixmaps[item] = new

    def _render(
        self, item: ItemId, shown: tuple[CardLayout, ResultSections, CardState], scale: tuple[float, float]
    ) -> QPixmap:
        style = self.style.at(scale[0])
        decided_by, upper = upper_of(*shown), self._uppers.get(item)
        if upper is None or upper.scale != scale or upper.decided_by != decided_by:
            if len(self._uppers) >= MAXIMUM_UPPERS:
                self._uppers.clear()
            pixmap = self._grounds.picture(self.style, ground_of(*shown), *scale)
            painter = _painter_on(pixmap, scale[0])
            paint_upper(painter, style, *shown)
            painter.end()
            upper = self._uppers[item] = Upper(decided_by, scale, pixmap)
        pixmap = QPixmap(upper.pixmap)  # shared until it is painted on
        painter = _painter_on(pixmap, scale[0])
        paint_lower(painter, style, *shown)
        painter.end()
        return pixmap


def _painter_on(pixmap: QPixmap, zoom: float) -> QPainter:
    """A painter whose origin is the top left corner of the card in a picture."""
    painter = QPainter(pixmap)
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
    painter.scale(zoom, zoom)
    painter.translate(MARGIN, MARGIN)
    return painter


def card_state(scene: Scene, style: CanvasStyle, item: ItemId) -> CardState:
    """What a card shows beside its layout and its well."""
    card = scene.stack.cards[item]
    outputs = tuple(scene.looks.look_of(row.owner, row.index) for row in card.layout.outputs)
    inputs = scene.looks.input_looks(item)
    numbers = scene.numbers
    return CardState(
        numbers.order(item),
        numbers.is_set_up(item),
        item in numbers.left_out,
        outputs,
        inputs,
        header_colour(scene, style, item),
        card.extras,
    )
