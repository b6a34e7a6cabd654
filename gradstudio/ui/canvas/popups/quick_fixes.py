"""What stands at a node that torch refuses: the button of its first fix, and at its inputs the sizes that clash.

It is painted over the scene, in view pixels, for the few nodes that have a problem; a click on the button is one undo
step. The words in full stand in the `ProblemPopup`, which a click on the card opens.
"""

from typing import TYPE_CHECKING, Final, NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QWidget

from gradstudio.graph.model import ItemId
from gradstudio.scene.geometry import Box
from gradstudio.scene.items import PortRef
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.popups.problem_popup import ProblemPopup
from gradstudio.ui.state.results.latest_value import latest_values
from gradstudio.ui.state.run.problem_store import Problem, ProblemStore
from gradstudio.ui.theme import mono_font, ui_font

if TYPE_CHECKING:
    from gradstudio.advice.diagnosis.size_conflicts import Operand
    from gradstudio.advice.model import Fix

LEAST_ZOOM: Final = 0.45
HEIGHT = 24.0
GAP = 5.0
SIDE = 10.0
ICON = 18.0
LABEL_HEIGHT, LABEL_GAP, ROW = 18.0, 11.0, 22.0
EDGE: Final = 6.0
MAX_SHOWN: Final = 40


class Pill(NamedTuple):
    """The button below a card: where it is (view pixels), and what it does."""

    rect: QRectF
    problem: Problem
    fix: "Fix"


class QuickFixes:
    """Buttons and sizes over one canvas; they are laid out anew at each frame, being few."""

    def __init__(self, canvas: CanvasContext, trouble: ProblemPopup | None) -> None:
        """Of the canvas's session, if it has problems; `trouble` shows their words."""
        self._canvas, self._trouble = canvas, trouble
        self._problems: ProblemStore | None = getattr(canvas.session, "problems", None)
        self._operands: dict[ItemId, tuple[Operand, ...]] = {}
        self._font = ui_font(12)

    def refresh(self) -> None:
        """The problems are others: what is not wrong any more is told no longer."""
        self._operands.clear()
        if self._problems is not None and self._trouble is not None:
            self._trouble.keep_only(self._problems.problems)
        self._canvas.viewport().update()

    def pills(self) -> tuple[Pill, ...]:
        """The buttons in view; what floats over the canvas covers none, where that can be."""
        canvas, found = self._canvas, list[Pill]()
        widgets = canvas.viewport().findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
        floating = [QRectF(one.geometry()) for one in widgets if one.isVisible()]
        for problem in self._shown():
            fix = next((fix for fix in problem.fixes if fix.edits is not None), None)
            box = canvas.scene.placement.box(problem.node)
            if (
                fix is None
                or box is None
                or self._is_told(problem)
                or any(pill.problem.node == problem.node for pill in found)
            ):
                continue
            wanted = QFontMetricsF(self._font).horizontalAdvance(fix.title) + 2 * SIDE + ICON
            found.append(Pill(self._place(box, wanted, [*floating, *(pill.rect for pill in found)]), problem, fix))
        return tuple(found)

    def hit(self, view_x: float, view_y: float) -> Pill | None:
        """The button at a point of the view."""
        return next((pill for pill in self.pills() if pill.rect.contains(view_x, view_y)), None)

    def apply(self, pill: Pill) -> None:
        """Carry out what a button offers."""
        if self._problems is not None:
            self._problems.apply(pill.problem, pill.fix)

    def paint(self, painter: QPainter) -> None:
        """Buttons below cards, sizes at their inputs."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for problem in self._shown():
            if problem.kind in ("refusal", "failure"):
                self._paint_operands(painter, problem)
        for pill in self.pills():
            self._paint_pill(painter, pill)

    # -------------------------------------------------------------- helpers

    def _place(self, box: Box, wanted: float, taken: list[QRectF]) -> QRectF:
        """Below the card, else above or beside it: in view, and over no other card or button where that can be."""
        canvas, port = self._canvas, self._canvas.viewport()
        card = canvas.camera.box_to_view(box)
        width = min(wanted, max(port.width() - 2 * EDGE, HEIGHT))
        below, above = card.bottom + GAP, card.y - GAP - HEIGHT
        corners = [(x, y) for y in (below, above) for x in (card.x, card.right - width)]
        corners += [(x, card.bottom - HEIGHT) for x in (card.right + GAP, card.x - GAP - width)]
        at_card = card.right >= 0 and card.x <= port.width() and card.bottom >= 0 and card.y <= port.height()
        places = [QRectF(x, y, width, HEIGHT) for x, y in corners]
        if not at_card:
            return places[0]
        view = QRectF(EDGE, EDGE, port.width() - 2 * EDGE, port.height() - 2 * EDGE)
        inside = [place.translated(*_into(place, view)) for place in places]
        free = (place for place in inside if not self._covers(place, taken))
        return next(free, inside[0])

    def _covers(self, place: QRectF, taken: list[QRectF]) -> bool:
        scene, camera = self._canvas.scene, self._canvas.camera
        if any(place.intersects(other) for other in taken):
            return True
        left, top = camera.to_scene(place.left(), place.top())
        right, bottom = camera.to_scene(place.right(), place.bottom())
        return bool(scene.placement.cards_in(Box(left, top, right - left, bottom - top), 0.0))

    def _shown(self) -> list[Problem]:
        """Problems of cards in view, near enough to be read; none while looking back or while something is moved."""
        canvas = self._canvas
        if self._problems is None or canvas.camera.zoom < LEAST_ZOOM or canvas.scene.results.moment is not None:
            return []
        seen = canvas.camera.seen(canvas.viewport().width(), canvas.viewport().height())
        scene = canvas.scene
        near = [
            p
            for p in self._problems.problems
            if (box := scene.placement.box(p.node)) is not None and box.grown(40).meets(seen)
        ]
        return near[:MAX_SHOWN]

    def _is_told(self, problem: Problem) -> bool:
        """Whether its words are shown over the canvas, with all its buttons."""
        trouble = self._trouble
        return trouble is not None and trouble.isVisible() and trouble.node == problem.node

    def _operands_of(self, problem: Problem) -> "tuple[Operand, ...]":
        from gradstudio.advice.diagnosis.size_conflicts import conflicting_operands, operands_of

        found = self._operands.get(problem.node)
        if found is None:
            graph, results = self._canvas.scene.graph, self._canvas.session.results
            failure = results.failure(problem.node)
            if failure is not None:
                found = conflicting_operands(graph, problem.node, failure.what, failure.failed.operands)
            else:
                found = operands_of(graph, problem.node, problem.words, latest_values(results))
            self._operands[problem.node] = found
        return found

    def _paint_operands(self, painter: QPainter, problem: Problem) -> None:
        """The shape at each wired input, the sizes that clash in the colour of trouble."""
        canvas, scene = self._canvas, self._canvas.scene
        layout = scene.placement.layout(problem.node)
        for operand in self._operands_of(problem):
            if layout is None or layout.input(operand.port) is None:
                continue
            x, y = canvas.camera.to_view(*scene.placement.anchor(PortRef(problem.node, "input", operand.port)))
            self._paint_shape(painter, operand, x, y, "danger" if problem.severity == "error" else "warning")

    def _paint_shape(self, painter: QPainter, operand: "Operand", x: float, y: float, role: str) -> None:
        style, zoom = self._canvas.canvas_style, self._canvas.camera.zoom
        height = min(LABEL_HEIGHT, ROW * zoom - 1)  # ports stand a row apart
        font = mono_font(11 if height > 15 else 9)
        metrics = QFontMetricsF(font)
        parts = [("[", False)]
        for k, size in enumerate(operand.shape):
            parts += [(", ", False)] if k else []
            parts.append((str(size), k in operand.clashing))
        parts.append(("]", False))
        width = sum(metrics.horizontalAdvance(text) for text, _ in parts) + 8
        plate = QRectF(x - LABEL_GAP - width, y - height / 2, width, height)
        painter.setPen(QPen(style.color(role), 1.0))
        painter.setBrush(style.color("canvas"))
        painter.drawRoundedRect(plate, 4, 4)
        painter.setFont(font)
        at = plate.x() + 4
        for text, clashes in parts:
            painter.setPen(style.color(role if clashes else "text_dim"))
            line = QRectF(at, plate.y(), metrics.horizontalAdvance(text) + 2, plate.height())
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, text)
            if clashes:
                painter.drawLine(
                    QPointF(at, plate.bottom() - 2.5), QPointF(at + line.width() - 2, plate.bottom() - 2.5)
                )
            at += metrics.horizontalAdvance(text)

    def _paint_pill(self, painter: QPainter, pill: Pill) -> None:
        style = self._canvas.canvas_style
        at = self._canvas.input_dispatcher.pointer
        is_hot = (
            at is not None
            and self._canvas.input_dispatcher.gesture is None
            and pill.rect.contains(at.view_x, at.view_y)
        )
        if pill.problem.severity == "error":
            role = "danger"
        elif pill.problem.severity == "warning":
            role = "warning"
        else:
            role = "info"
        painter.setPen(QPen(style.color(role), 1.4))
        painter.setBrush(style.color(role) if is_hot else style.color("card"))
        painter.drawRoundedRect(pill.rect, HEIGHT / 2, HEIGHT / 2)
        ink = style.color("canvas" if is_hot else "text")
        self._paint_sign(painter, pill.rect, style.color("canvas" if is_hot else role))
        painter.setFont(self._font)
        painter.setPen(ink)
        room = pill.rect.adjusted(SIDE + ICON, 0, -SIDE + 4, 0)
        text = QFontMetricsF(self._font).elidedText(pill.fix.title, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_sign(self, painter: QPainter, rect: QRectF, color: QColor) -> None:
        """A tick: it will be right."""
        painter.setPen(QPen(color, 2.0, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
        x, y = rect.x() + SIDE + 1, rect.center().y()
        painter.drawPolyline([QPointF(x, y), QPointF(x + 3.6, y + 3.8), QPointF(x + 10, y - 4.2)])


def _into(place: QRectF, view: QRectF) -> tuple[float, float]:
    """How far a place has to move to lie in view."""
    dx = max(min(0.0, view.right() - place.right()), view.left() - place.left())
    dy = max(min(0.0, view.bottom() - place.bottom()), view.top() - place.top())
    return dx, dy
