"""What stands at a node that torch refuses: the button of its first fix, and at its inputs the sizes that clash.

It is painted over the scene, in view pixels, for the few nodes that have a problem; a click on the button is one undo
step. The words in full stand in the `ProblemPopup`, which a click on the card opens.
"""

from typing import TYPE_CHECKING, Final, NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen
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
"""From here on the sizes that clash stand at their inputs, too."""
MAX_AFAR, MAX_CARDS_AFAR = 6, 200
"""Farther away only these many buttons are shown, among so many cards at most: beside more each would name none."""
HEIGHT = 24.0
SHORT: Final = "Fix"
"""Stands on a button where there is no room for its title."""
SIDE = 10.0
ICON = 18.0
LABEL_HEIGHT, LABEL_GAP, ROW = 18.0, 11.0, 22.0
EDGE: Final = 6.0
MAX_SHOWN: Final = 40
NEAR: Final = 40.0
"""Scene pixels around what is in view in which a card still counts as seen."""


class Pill(NamedTuple):
    """The button at a card: where it is (view pixels), what it does, and its words."""

    rect: QRectF
    problem: Problem
    fix: "Fix"
    words: str


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
        """The buttons in view; one that finds no free place is not there: a click on its card tells of the fix."""
        canvas, found = self._canvas, list[Pill]()
        shown = self._shown()
        if not shown:
            return ()
        from gradstudio.scene.wire.label_placement import place_button

        taken, metrics = self._taken(shown), QFontMetricsF(self._font)
        view = Box(0.0, 0.0, canvas.viewport().width(), canvas.viewport().height()).grown(-EDGE)
        for problem in shown:
            fix = next((fix for fix in problem.fixes if fix.edits is not None), None)
            box = canvas.scene.placement.box(problem.node)
            if (
                fix is None
                or box is None
                or self._is_told(problem)
                or any(pill.problem.node == problem.node for pill in found)
            ):
                continue
            widths = {text: metrics.horizontalAdvance(text) + 2 * SIDE + ICON for text in (fix.title, SHORT)}
            place = place_button(canvas.camera.box_to_view(box), widths.values(), HEIGHT, taken, view)
            if place is None:
                continue
            words = fix.title if place.width == widths[fix.title] else SHORT
            found.append(Pill(QRectF(place.x, place.y, place.width, place.height), problem, fix, words))
            taken.append(place)
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
            for operand, place in self._plates(problem):
                self._paint_shape(painter, operand, place, "danger" if problem.severity == "error" else "warning")
        for pill in self.pills():
            self._paint_pill(painter, pill)

    # -------------------------------------------------------------- helpers

    def _taken(self, shown: list[Problem]) -> list[Box]:
        """What no button may cover, view pixels: what is drawn, the sizes at inputs, what floats over the canvas."""
        from gradstudio.scene.wire.label_placement import occupied
        from gradstudio.ui.canvas.paint.storage_link_painter import edge_words

        canvas, port = self._canvas, self._canvas.viewport()
        seen = canvas.camera.seen(port.width(), port.height())
        about = canvas.scene, canvas.camera, seen, canvas.layer.labels
        boxes = occupied(*about)
        boxes += [place for _, _, place in edge_words(canvas.canvas_style, *about) if place is not None]
        for problem in shown:
            plates = (place for _, place in self._plates(problem))
            boxes += [Box(plate.x(), plate.y(), plate.width(), plate.height()) for plate in plates]
        for floating in port.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
            if floating.isVisible():
                at = floating.geometry()
                boxes.append(Box(at.x(), at.y(), at.width(), at.height()))
        return boxes

    def _shown(self) -> list[Problem]:
        """Problems of cards in view, the first of them where cards are small; none while looking back."""
        canvas, scene = self._canvas, self._canvas.scene
        if self._problems is None or not self._problems.problems or scene.results.moment is not None:
            return []
        seen = canvas.camera.seen(canvas.viewport().width(), canvas.viewport().height())
        placement, index = scene.placement, scene.stack.index
        is_afar = canvas.camera.zoom < LEAST_ZOOM
        if is_afar and len(placement.cards_in(seen)) > MAX_CARDS_AFAR:
            return []
        visible = {*placement.cards_in(seen, NEAR), None}  # thousands may be wrong, and a few are in view
        near = [
            problem
            for problem in self._problems.problems
            if index.get(problem.node) in visible
            and (box := placement.box(problem.node)) is not None
            and box.grown(NEAR).meets(seen)
        ]
        return near[: MAX_AFAR if is_afar else MAX_SHOWN]

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

    def _plates(self, problem: Problem) -> "list[tuple[Operand, QRectF]]":
        """The shape at each wired input of what torch refuses, and where it stands."""
        if problem.kind not in ("refusal", "failure") or self._canvas.camera.zoom < LEAST_ZOOM:
            return []
        canvas, scene, found = self._canvas, self._canvas.scene, []
        layout = scene.placement.layout(problem.node)
        height = min(LABEL_HEIGHT, ROW * canvas.camera.zoom - 1)  # ports stand a row apart
        metrics = QFontMetricsF(_shape_font(height))
        for operand in self._operands_of(problem):
            if layout is None or layout.input(operand.port) is None:
                continue
            x, y = canvas.camera.to_view(*scene.placement.anchor(PortRef(problem.node, "input", operand.port)))
            width = sum(metrics.horizontalAdvance(text) for text, _ in _shape_parts(operand)) + 8
            found.append((operand, QRectF(x - LABEL_GAP - width, y - height / 2, width, height)))
        return found

    def _paint_shape(self, painter: QPainter, operand: "Operand", plate: QRectF, role: str) -> None:
        """The sizes that clash in the colour of trouble."""
        style, font = self._canvas.canvas_style, _shape_font(plate.height())
        metrics = QFontMetricsF(font)
        painter.setPen(QPen(style.color(role), 1.0))
        painter.setBrush(style.color("canvas"))
        painter.drawRoundedRect(plate, 4, 4)
        painter.setFont(font)
        at = plate.x() + 4
        for text, clashes in _shape_parts(operand):
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
        painter.drawText(pill.rect.adjusted(SIDE + ICON, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, pill.words)

    def _paint_sign(self, painter: QPainter, rect: QRectF, color: QColor) -> None:
        """A tick: it will be right."""
        painter.setPen(QPen(color, 2.0, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
        x, y = rect.x() + SIDE + 1, rect.center().y()
        painter.drawPolyline([QPointF(x, y), QPointF(x + 3.6, y + 3.8), QPointF(x + 10, y - 4.2)])


def _shape_font(height: float) -> QFont:
    """Of a shape on a plate so high."""
    return mono_font(11 if height > 15 else 9)


def _shape_parts(operand: "Operand") -> list[tuple[str, bool]]:
    """The pieces of a shape as it is written, and whether each clashes."""
    parts = [("[", False)]
    for k, size in enumerate(operand.shape):
        parts += [(", ", False)] if k else []
        parts.append((str(size), k in operand.clashing))
    return [*parts, ("]", False)]
