"""Trace: what feeds the selection and what follows from it is lit with the sockets between, all else is faded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from gradstudio.graph.model import ItemId
from gradstudio.graph.rules import ancestors_of, descendants_of
from gradstudio.scene.camera import Camera
from gradstudio.scene.items import PortRef
from gradstudio.scene.scene import Scene
from gradstudio.ui.canvas.paint.interaction_painter import ring
from gradstudio.ui.canvas.paint.scene_painter import ScenePainter
from gradstudio.ui.canvas.paint.wire_painter import paint_wires

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FADED: Final = 0.74
"""Share of the canvas's colour over what is not lit."""
LEGIBLE: Final = 0.4
"""Below this zoom sockets have no rings."""
MOST_RINGS: Final = 400


class Trace(msgspec.Struct, frozen=True):
    """What is lit: items, and which of the drawn wires."""

    items: frozenset[ItemId]
    wires: NDArray[np.bool_]


def upstream_of(scene: Scene, items: frozenset[ItemId]) -> frozenset[ItemId]:
    """Every item whose value flows into one of these, with the other halves of their cards."""
    found = set[ItemId]().union(*(ancestors_of(scene.graph, item) for item in scene.state.card_groups.whole(items)))
    return scene.state.card_groups.whole(found) - items


def downstream_of(scene: Scene, items: frozenset[ItemId]) -> frozenset[ItemId]:
    """Every item into which a value of one of these flows, with the other halves of their cards."""
    found = set[ItemId]().union(*(descendants_of(scene.graph, item) for item in scene.state.card_groups.whole(items)))
    return scene.state.card_groups.whole(found) - items


def trace(scene: Scene, selection: frozenset[ItemId]) -> Trace:
    """What feeds the selection and what follows, and the wires on the way there."""
    import numpy as np

    chosen = scene.state.card_groups.whole(selection)
    before = (
        scene.state.card_groups.whole(set[ItemId]().union(*(ancestors_of(scene.graph, item) for item in chosen)))
        | chosen
    )
    after = (
        scene.state.card_groups.whole(set[ItemId]().union(*(descendants_of(scene.graph, item) for item in chosen)))
        | chosen
    )
    lit = (
        (wire.source in before and wire.target in before) or (wire.source in after and wire.target in after)
        for wire in scene.wiring.wires
    )
    return Trace(before | after, np.fromiter(lit, dtype=np.bool_, count=len(scene.wiring.wires)))


def paint_trace(
    painter: QPainter, layer: ScenePainter, camera: Camera, width: float, height: float, found: Trace
) -> None:
    """A veil over everything, and above it what is lit, in view pixels."""
    scene, style, seen = layer.scene, layer.style, camera.seen(width, height)
    painter.fillRect(QRectF(0, 0, width, height), style.faded(layer.ground, FADED))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    paint_wires(painter, style, scene, camera, seen, found.wires, 3.2)
    layer.paint_cards(painter, camera, painter.device().devicePixelRatioF(), seen, found.items)
    if camera.zoom >= LEGIBLE:
        _paint_sockets(painter, layer, camera, width, height, found)


def _paint_sockets(
    painter: QPainter, layer: ScenePainter, camera: Camera, width: float, height: float, found: Trace
) -> None:
    """A ring around each socket that a lit wire leaves or enters."""
    scene = layer.scene
    wires = [scene.wiring.wires[k] for k in found.wires.nonzero()[0].tolist()]
    ends = {PortRef(wire.source, "output", "", wire.output) for wire in wires}
    ends |= {PortRef(wire.target, "input", wire.port) for wire in wires}
    points = [camera.to_view(*scene.placement.anchor(end)) for end in ends]
    shown = [(x, y) for x, y in points if -20 < x < width + 20 and -20 < y < height + 20]
    for x, y in shown[:MOST_RINGS]:
        ring(painter, layer.style.color("accent"), x, y, 7.0 * max(camera.zoom, 0.7))
