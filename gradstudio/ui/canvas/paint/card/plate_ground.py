"""The ground of a plate, a card seen from afar: edge, header, title and ports, which stay while values change."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from gradstudio.graph.model import ItemId
from gradstudio.operators.model import Family
from gradstudio.scene.card.card_layout import HEADER, CardLayout
from gradstudio.scene.card.frame_titles import shorten_title
from gradstudio.scene.hit_test import LEGIBLE_WIDTH, PLATE_HEAD
from gradstudio.scene.results import current_failure
from gradstudio.scene.scene import Scene
from gradstudio.scene.text_measure import TextMeasure
from gradstudio.ui.canvas.paint.card.card_background import half_rounded_path
from gradstudio.ui.canvas.paint.card.header_colours import HeaderColour, header_colour
from gradstudio.ui.canvas.paint.card.text_fitting import first_role
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle

LEAST_PORT_ZOOM = 0.25
SIGN_ROOM = 18.0
"""At the right end of a head, for a sign: no letter is under it."""
ASSIGNMENT = "="
"""The title of what only gives a name to something."""
Align = Qt.AlignmentFlag


def ground_key(style: CanvasStyle, scene: Scene, item: ItemId) -> tuple[object, ...]:
    """Equal for two grounds that look the same at one size and zoom."""
    card = scene.stack.cards[item]
    is_left_out = item in scene.numbers.left_out
    signs = (is_left_out, has_failed(scene, item), has_sign(scene, item), header_colour(scene, style, item))
    looks = scene.looks
    outputs = tuple([looks.look_of(output.owner, output.index) for output in card.layout.outputs])
    return card.layout, *signs, looks.input_looks(item), outputs


def has_sign(scene: Scene, item: ItemId) -> bool:
    """Whether a sign stands at the right end of the head of what did not fail: a warning, or what gradcheck said."""
    results = scene.results
    return bool(scene.stack.cards[item].extras.check is not None or results.alarm(item) or results.warnings(item))


def has_failed(scene: Scene, item: ItemId) -> bool:
    """Whether a node failed, or the module on its card."""
    if not scene.results.failures:
        return False
    return any(current_failure(scene.results, one) is not None for one in scene.state.card_groups.whole((item,)))


def head_height(rect: QRectF, zoom: float) -> float:
    """How high the header is, view pixels."""
    return min(rect.height(), max(HEADER * zoom, PLATE_HEAD if rect.width() >= LEGIBLE_WIDTH else 4.0))


def paint_plate_ground(
    painter: QPainter, style: CanvasStyle, scene: Scene, item: ItemId, rect: QRectF, zoom: float
) -> None:
    """The ground in a rectangle of view pixels."""
    layout, failed = scene.stack.cards[item].layout, has_failed(scene, item)
    radius, head = max(2.0, 8.0 * zoom), head_height(rect, zoom)
    painter.setPen(QPen(style.color("danger") if failed else style.color("card_edge"), 2.0 if failed else 1.0))
    painter.setBrush(style.color("canvas" if item in scene.numbers.left_out else "card_well"))
    painter.drawRoundedRect(rect, radius, radius)
    header = QRectF(rect.x() + 0.5, rect.y() + 0.5, rect.width() - 1, head - 0.5)
    colored = header_colour(scene, style, item)
    painter.fillPath(
        half_rounded_path(header, radius), colored.ground if colored is not None else style.category(layout.category)
    )
    if rect.width() >= LEGIBLE_WIDTH:
        room = header.adjusted(6, 0, -SIGN_ROOM if failed or has_sign(scene, item) else -4, 0)
        _paint_title(painter, style, layout, room, colored)
    if not layout.bypassed:
        paint_plate_ports(painter, style, scene, layout, rect, zoom)


def paint_plate_ports(
    painter: QPainter, style: CanvasStyle, scene: Scene, layout: CardLayout, rect: QRectF, zoom: float
) -> None:
    """Dots where the ports are, in the colour of what flows; none where they would be too small."""
    if zoom < LEAST_PORT_ZOOM:
        return
    wired = dict(scene.looks.input_looks(layout.item))
    radius = max(2.0, 5.0 * zoom)
    for row in layout.inputs:
        known = wired.get(row.path)
        given = row.state == "literal"
        color = style.color("unknown_value")
        if known is not None and known.known:
            color = style.family(known.family, known.dtype)
        elif given:
            color = style.family(row.family)
        filled = known is not None or given
        painter.setBrush(color if filled else style.color("card_well"))
        painter.setPen(QPen(style.color("canvas") if filled else color, 1.0 if filled else 1.4))
        painter.drawEllipse(QPointF(rect.x() + row.x * zoom, rect.y() + row.y * zoom), radius, radius)
    for output in layout.outputs:
        known = scene.looks.look_of(output.owner, output.index)
        color = style.family(known.family, known.dtype) if known.known else style.color("unknown_value")
        at = QPointF(rect.x() + output.x * zoom, rect.y() + output.y * zoom)
        filled = known.requires_grad or known.family is not Family.TENSOR
        painter.setBrush(color if filled else style.color("card_well"))
        painter.setPen(QPen(style.color("canvas") if filled else color, 1.0 if filled else 1.5))
        painter.drawEllipse(at, radius, radius)


def _paint_title(
    painter: QPainter, style: CanvasStyle, layout: CardLayout, room: QRectF, colored: HeaderColour | None
) -> None:
    """The name, then the operator's title; with the figure that colours the card in its place."""
    ink = colored.ink if colored is not None else style.color("header_text")
    name, fonts = layout.names or layout.title, ("plate", "badge", "badge_note", "plate_small")
    role = first_role(style, name, fonts, room.width()) or fonts[-1]
    name = plate_name(style.meter, layout, role, room.width())
    painter.setFont(style.meter.font(role))
    painter.setPen(ink)
    painter.drawText(room, Align.AlignVCenter, name)
    rest = room.adjusted(style.meter.width(name, role) + 6, 0, 0, 0)
    if colored is not None:
        if style.meter.width(colored.text, "badge_note") <= rest.width():
            painter.setFont(style.meter.font("badge_note"))
            painter.drawText(rest, Align.AlignVCenter | Align.AlignRight, colored.text)
    elif layout.subtitle and rest.width() > 24:
        painter.setFont(style.meter.font("badge_note"))
        painter.setPen(style.faded("header_text", 0.75))
        texts = (layout.subtitle, layout.subtitle.partition(" (")[0])
        whole = (text for text in texts if style.meter.width(text, "badge_note") <= rest.width())
        painter.drawText(rest, Align.AlignVCenter, next(whole, ""))


def plate_name(meter: TextMeasure, layout: CardLayout, role: str, width: float) -> str:
    """What stands for a card in that width: its name, long enough to be told from others, or its operator's title.

    Where neither has room the first letters of the name do, also in place of a sign that says no more than that it has
    one.
    """
    name = layout.names or layout.title
    found = shorten_title(meter, name, role, width)
    if found:
        return found
    is_sign = layout.title == ASSIGNMENT and meter.elided(name, role, width).strip("…")
    if not is_sign and meter.width(layout.title, role) <= width:
        return layout.title
    return meter.elided(name, role, width)
