"""What overlays paint between the cards, a row each; what they say on cards is in `scene.card`."""

from collections.abc import Callable, Collection, Mapping
from typing import Final

import msgspec
from PySide6.QtGui import QPainter

from gradstudio.scene.camera import Camera
from gradstudio.scene.geometry import Box
from gradstudio.scene.scene import Scene
from gradstudio.scene.wire.wire_labels import WireLabels
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.canvas.paint.wire_label_painter import paint_labels


class BetweenCards(msgspec.Struct, frozen=True):
    """Where an overlay is painted: over wires, under cards.

    Attributes:
        seen: the part of the scene that shows.
        without: items that are painted elsewhere now, with their wires.
    """

    painter: QPainter
    style: CanvasStyle
    scene: Scene
    camera: Camera
    seen: Box
    labels: WireLabels
    without: Collection[str] = frozenset()


def paint_overlays(between: BetweenCards) -> None:
    """Those that are on."""
    for overlay, paint in PAINTERS.items():
        if getattr(between.scene.state.shown, overlay):
            paint(between)


def _storage(between: BetweenCards) -> None:
    from gradstudio.ui.canvas.paint.storage_link_painter import paint_storage

    paint_storage(between.painter, between.style, between.scene, between.camera, between.seen, between.labels)


def _wire_gradients(between: BetweenCards) -> None:
    """What came back along the wires, where it can be read."""
    if between.scene.wiring.view.shown != "all":
        return
    shown = []
    for wire, label in between.labels.near(between.seen, between.camera.zoom):
        if wire.source not in between.without and wire.target not in between.without:
            shown.append((wire, label))
    stale = bool(shown) and between.scene.results.stale(shown[0][0].target)
    paint_labels(between.painter, between.style, between.camera, [label for _, label in shown], stale=stale)


PAINTERS: Final[Mapping[str, Callable[[BetweenCards], None]]] = {
    "storage": _storage,
    "wire_gradients": _wire_gradients,
}
"""By overlay, in the order in which they are painted over one another."""
