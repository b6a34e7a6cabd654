"""Signs of breakpoints and watches: at the heads of cards, and on wires."""

from collections.abc import Iterable
from typing import Final, Protocol

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from gradstudio.graph.model import ItemId, Wire
from gradstudio.protocol.messages.debugging import Breakpoint, Hit
from gradstudio.scene.camera import Camera
from gradstudio.scene.geometry import Box
from gradstudio.scene.scene import Scene
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.canvas.paint.primitives.glyphs import paint_arrow

DOT: Final = 7.5
WIRE_DOT: Final = 4.6
ON_WIRE: Final = 6
"""The point of a path that carries its breakpoint: nearer to the source, away from the gradient's label."""
STEP: Final = 18.0


class Breakpoints(Protocol):
    """What the canvas asks of breakpoints; `ui.state.DebugStore` answers."""

    @property
    def breakpoints(self) -> tuple[Breakpoint, ...]:
        """All of them."""

    def enabled(self, breakpoint_id: str, /) -> bool:
        """Whether it is switched on."""

    def at(self, node: ItemId, /) -> tuple[Breakpoint, ...]:
        """Those of a node, and of the wires that begin at it."""

    def on_wire(self, source: ItemId, output: int, target: ItemId, port: str, /) -> tuple[Breakpoint, ...]:
        """Those of one wire."""

    def last(self, breakpoint_id: str, /) -> Hit | None:
        """Where it was met last."""


def paint_breakpoints(
    painter: QPainter, style: CanvasStyle, scene: Scene, camera: Camera, seen: Box, store: Breakpoints, hit: str
) -> None:
    """All that can be seen; a ring around the one that was just hit (`hit` is its id)."""
    size = max(0.55, min(1.2, camera.zoom))
    for node, found in _by_node(store.breakpoints).items():
        box = scene.placement.box(node)
        if box is None or not box.grown(20).meets(seen):
            continue
        x, y = camera.to_view(box.x, box.y)
        for number, each in enumerate(found):
            at = QPointF(x + (1 + STEP * number) * size, y + 1 * size)
            paint_dot(painter, style, at, DOT * size, each, enabled=store.enabled(each.id))
            if each.id == hit:
                _ring(painter, style, at, DOT * size)
    for each in store.breakpoints:
        wire = scene.graph.wire_into(each.target, each.port) if each.target else None
        k = scene.wiring.place_of(wire) if wire is not None else None
        if k is not None:
            at = QPointF(*camera.to_view(*scene.routes.paths[k][ON_WIRE].tolist()))
            paint_dot(painter, style, at, WIRE_DOT * size, each, enabled=store.enabled(each.id))
            if each.id == hit:
                _ring(painter, style, at, WIRE_DOT * size)


def on_wire(store: Breakpoints, wire: Wire) -> tuple[Breakpoint, ...]:
    """The breakpoints of a wire."""
    return store.on_wire(wire.source, wire.output, wire.target, wire.port)


def on_node(store: Breakpoints, node: ItemId) -> tuple[Breakpoint, ...]:
    """The breakpoints of a node itself."""
    return tuple(each for each in store.at(node) if not each.target)


def _by_node(breakpoints: Iterable[Breakpoint]) -> dict[ItemId, list[Breakpoint]]:
    found: dict[ItemId, list[Breakpoint]] = {}
    for each in breakpoints:
        if not each.target:
            found.setdefault(each.node, []).append(each)
    return found


def paint_dot(
    painter: QPainter, style: CanvasStyle, at: QPointF, size: float, each: Breakpoint, *, enabled: bool
) -> None:
    """Filled when on, a ring when off; half for a watch; a diamond with a condition; an arrow in it for a backward."""
    color, ground = style.color("danger"), style.color("canvas")
    painter.setPen(QPen(ground, 2.0))
    painter.setBrush(ground)
    painter.drawEllipse(at, size + 1.5, size + 1.5)
    painter.setPen(QPen(color, 1.6))
    painter.setBrush(QColor(color) if enabled and each.stops else ground)
    if each.condition.kind != "always":
        painter.drawPolygon(_diamond(at, size + 0.6))
    else:
        painter.drawEllipse(at, size, size)
    if enabled and not each.stops:
        painter.setBrush(color)
        painter.drawPie(QRectF(at.x() - size, at.y() - size, 2 * size, 2 * size), 90 * 16, 180 * 16)
    if each.phase == "backward" and size > 4:
        ink = ground if enabled and each.stops else color
        paint_arrow(painter, ink, at, size * 0.45, back=True)
    elif each.place == "after" and not each.target and size > 4:
        painter.setPen(QPen(ground if enabled and each.stops else color, 1.6, Qt.PenStyle.SolidLine))
        painter.drawLine(at + QPointF(-size * 0.45, 0), at + QPointF(size * 0.45, 0))


def _diamond(at: QPointF, size: float) -> QPolygonF:
    return QPolygonF(
        [at + QPointF(0, -size), at + QPointF(size, 0), at + QPointF(0, size), at + QPointF(-size, 0)]
    )  # fmt: skip


def _ring(painter: QPainter, style: CanvasStyle, at: QPointF, size: float) -> None:
    """A still ring: it needs no animation to be seen."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(style.faded("danger", 0.45), 4.0))
    painter.drawEllipse(at, size + 6, size + 6)
    painter.setPen(QPen(style.color("danger"), 1.6))
    painter.drawEllipse(at, size + 4, size + 4)
