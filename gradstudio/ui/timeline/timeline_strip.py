"""The strip itself: cells of a run, the playhead, and the hand on them."""

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.groups.call_ids import is_call_item, outermost
from gradstudio.graph.model import ItemId
from gradstudio.ui.state.results.timeline_cursor import loops_around
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme, ui_font
from gradstudio.ui.timeline import time_scale as scales
from gradstudio.ui.timeline.band_layout import Bands, bands
from gradstudio.ui.timeline.moment_words import Names
from gradstudio.ui.timeline.strip_painter import Painter, Picture
from gradstudio.ui.timeline.tick_arrays import BACKWARD, Cells, TickArrays
from gradstudio.ui.timeline.time_scale import Scale

EMPTY = "Run (F5) or Step (F10) fills the timeline"
LOWEST_PX, USUAL_PX = 42, 66
PAN_PX = 80.0
STEP_KEYS = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End)


class TimelineStrip(QWidget):
    """Shows the recorded run and the moment; a press or a drag looks at a moment, the wheel zooms.

    Signals:
        node_chosen(object): a cell was clicked twice; the node.
    """

    node_chosen = Signal(object)

    def __init__(self, session: Session, names: Names, theme: Theme, parent: QWidget | None = None) -> None:
        """Show a session's timeline; `names` is read anew each time."""
        super().__init__(parent)
        self._session, self._names = session, names
        self._attention, self._results = session.attention, session.results
        self.recording = TickArrays(self._loops_of)
        self.scale, self._fits = Scale(), True
        self._painter = Painter(theme)
        self._kept: tuple[tuple[object, ...], QPixmap] | None = None
        self._kept_names, self._words = names, dict[int, str]()
        self._scrubs = False
        self.setAccessibleName("Timeline")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumHeight(LOWEST_PX)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self._attention.selection_changed.connect(self.update)
        self._attention.hover_changed.connect(self.update)
        self._attention.moment_changed.connect(self._on_attention_moment_changed)
        session.debug.changed.connect(self._on_debug_changed)

    # ------------------------------------------------------------------ what is shown

    @property
    def cells(self) -> Cells:
        """What is drawn, folded or not."""
        return self.recording.cells(self._attention.unfolded)

    @property
    def bands(self) -> Bands:
        """Where the lanes lie."""
        return bands(float(self.height()), len(self.recording.turns))

    def follow(self) -> None:
        """Take in what is new; where everything was in view, or the end was, it stays so."""
        count, room = len(self.cells), self.width() - scales.TAIL_PX
        at_end = self.scale.x(count) <= room + 1
        if self.recording.follow(self._results.timeline):
            if self._fits or len(self.cells) < count:
                self.fit()
            elif at_end:
                self._move(scales.reveal(self.scale, len(self.cells) - 1, len(self.cells), self.width()))
        self.update()

    def fit(self) -> None:
        """Everything in view."""
        self._fits = True
        self.scale = scales.fit_all(len(self.cells), self.width())
        self.update()

    def graph_changed(self, names: Names) -> None:
        """The program is another: names and loops may be."""
        self._names = names
        self.recording.forget_loops()
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._painter, self._kept = Painter(theme), None
        self.update()

    def position(self) -> float | None:
        """The playhead, in cells: behind the tick that is looked at; None: now."""
        moment, cells = self._attention.moment, self.cells
        if moment is None or not 0 <= moment < cells.ticks:
            return None
        cell = cells.at(moment)
        start = int(cells.starts[cell])
        return cell + (moment + 1 - start) / (cells.last_tick(cell) + 1 - start)

    def cell_at(self, x: float) -> int | None:
        """The cell at a place; None beside them."""
        cell = int(self.scale.cell(x)) if x >= 0 else -1
        return cell if 0 <= cell < len(self.cells) else None

    def node_at(self, x: float) -> ItemId | None:
        """The node of the cell at a place; None where there is none, or it belongs to no node."""
        cell = self.cell_at(x)
        node = self.recording.nodes[int(self.cells.codes[cell])] if cell is not None else ItemId("")
        return outermost(self._results.ids.shown(node)) or None

    def look_at_x(self, x: float) -> None:
        """Look at the moment behind the cell at a place; behind the last cell it is now."""
        cells = self.cells
        if not len(cells):
            return
        cell = max(int(self.scale.cell(x)), 0)
        node = self.node_at(x)
        if node is not None and self._attention.selection:
            self._attention.select((node,))  # the inspector goes along with a click, whatever was chosen before
        self._attention.look_at(cells.last_tick(cell) if cell < len(cells) else None)

    # ------------------------------------------------------------------ inner workings

    def _loops_of(self, node: ItemId) -> tuple[ItemId, ...]:
        return loops_around(self._session.graph_store.graph, node)

    def _move(self, scale: Scale) -> None:
        self.scale = scale
        self._fits = scales.is_fitted(scale, len(self.cells), self.width())
        self.update()

    def _numbers(self, items: frozenset[ItemId]) -> tuple[int, ...]:
        """The recorded nodes among these; a module and the call on its card belong together."""
        number, whole = self.recording.number, card_groups(self._session.graph_store.graph).whole(items)
        return tuple(sorted(number[item] for item in whole if item in number))

    def _hits(self) -> tuple[int, ...]:
        cells, recording = self.cells, self.recording
        ticks = (recording.tick_of(hit.step, hit.backward, hit.place) for hit in self._session.debug.all_hits())
        return tuple(sorted({cells.at(tick) for tick in ticks if tick is not None}))

    def _picture(self) -> Picture:
        failures = self._results.failures
        return Picture(
            self.recording,
            self.cells,
            self.scale,
            self.bands,
            float(self.width()),
            self._numbers(self._attention.selection),
            self._hits(),
            self._noted_name,
            self._names.name(failures[-1].failed.node) if failures else "",
            self._attention.backward,
        )

    def _name(self, cell: int) -> str:
        """What stands in a cell: its node; unfolded, its autograd node."""
        cells, recording = self.cells, self.recording
        autograd = recording.autograd_of(int(cells.starts[cell])) if self._attention.unfolded else ""
        node = recording.nodes[int(cells.codes[cell])]
        if self._is_under_way(cell):
            return f"in {self._names.name(outermost(node))}"
        return autograd or self._names.name(node)

    def _noted_name(self, cell: int) -> str:
        """The name of a cell that is painted: a picture is kept as long as its words are the same."""
        name = self._words[cell] = self._name(cell)
        return name

    def _is_kept(self, key: tuple[object, ...]) -> bool:
        """Whether the picture of what stands still is right: the same is to be shown, by the same names."""
        if self._kept is None or self._kept[0] != key:
            return False
        if self._kept_names is not self._names:
            self._kept_names = self._names
            return self._words == {cell: self._name(cell) for cell in self._words}
        return True

    def _is_under_way(self, cell: int) -> bool:
        """Whether a cell is of a call that was begun and not left: what it holds may be no step yet."""
        cells = self.cells
        inner = is_call_item(self.recording.nodes[int(cells.codes[cell])])
        return inner and not self._attention.unfolded and not int(cells.marks[cell]) & BACKWARD

    def _empty_words(self) -> str:
        run = self._session.run.state
        if run.waiting:
            return "The engine is starting, then it runs"
        return "Running; what ran is shown as it comes" if run.busy else EMPTY

    @property
    def _ground(self) -> str:
        """The role of the ground: another while the past is looked at."""
        return "surface" if self._attention.moment is None else "past"

    def _still(self, picture: Picture) -> QPixmap:
        """What stands still, painted once."""
        ratio = self.devicePixelRatioF()
        key = (
            self.recording.revision, self._attention.unfolded, self.scale, self.width(), self.height(), ratio,
            picture.lit, picture.hits, picture.failed, picture.alone, self._ground,
        )  # fmt: skip
        if self._kept is None or not self._is_kept(key):
            self._words.clear()
            pixmap = QPixmap(self.size() * ratio)
            pixmap.setDevicePixelRatio(ratio)
            pixmap.fill(self._painter.theme.color(self._ground))
            painter = QPainter(pixmap)
            self._painter.paint(painter, picture)
            painter.end()
            self._kept, self._kept_names = (key, pixmap), self._names
        return self._kept[1]

    def _on_attention_moment_changed(self) -> None:
        at = self.position()
        if self._fits:
            self.scale = scales.fit_all(len(self.cells), self.width())
        elif at is not None and not self._scrubs:
            self._move(scales.reveal(self.scale, max(at - 1, 0.0), len(self.cells), self.width()))
        self.update()

    def _on_debug_changed(self) -> None:
        self.update()

    def _step(self, key: Qt.Key) -> None:
        attention, timeline = self._attention, self._results.timeline
        if not timeline.ticks:
            return
        moment, last = attention.moment, len(timeline.ticks) - 1
        match key:
            case Qt.Key.Key_Left:
                before = timeline.previous(last if moment is None else moment, attention.unfolded)
                attention.look_at(moment if before is None else before)
            case Qt.Key.Key_Right:
                attention.look_at(None if moment is None else timeline.next(moment, attention.unfolded))
            case Qt.Key.Key_Home:
                attention.look_at(self.cells.last_tick(0))
            case _:
                attention.look_at(None)

    # ------------------------------------------------------------------ Qt overrides

    def sizeHint(self) -> QSize:
        return QSize(400, USUAL_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = self._painter.theme
        if not len(self.cells):
            painter.fillRect(self.rect(), theme.color("surface"))
            painter.setFont(ui_font(12))
            painter.setPen(theme.color("text_dim"))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self._empty_words())
            return
        picture = self._picture()
        painter.drawPixmap(0, 0, self._still(picture))
        at, hovered = self.position(), self._attention.hovered
        cell = self.cells.at(self._attention.moment) if at is not None and self._attention.moment is not None else None
        codes = self._numbers(frozenset((hovered,))) if hovered is not None else ()
        self._painter.paint_moment(painter, picture, at, cell, codes)
        if self.hasFocus():
            painter.setPen(theme.color("focus"))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        count = len(self.cells)
        self.scale = (
            scales.fit_all(count, self.width()) if self._fits else scales.clamp(self.scale, count, self.width())
        )

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._scrubs = True
            self.look_at_x(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        x = event.position().x()
        if self._scrubs:
            self.look_at_x(x)
        self._attention.hover(self.node_at(x))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._scrubs = False

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        node = self.node_at(event.position().x())
        if node is not None and event.button() == Qt.MouseButton.LeftButton:
            self.node_chosen.emit(node)

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned, count = event.angleDelta(), len(self.cells)
        keys = event.modifiers()
        sideways = keys & Qt.KeyboardModifier.ShiftModifier or abs(turned.x()) > abs(turned.y())
        notches = (turned.y() or turned.x()) / 120
        if count and sideways:
            notches = (turned.x() or turned.y()) / 120
            self._move(scales.pan_by(self.scale, -notches * PAN_PX, count, self.width()))
        elif count:
            self._move(scales.zoom_at(self.scale, notches, event.position().x(), count, self.width()))
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._attention.hover(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if _is_step(event):
            self._step(Qt.Key(event.key()))
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._scrubs = False
        self.update()

    def event(self, event: QEvent) -> bool:
        """Home is this strip's while it has the focus; a card for the cell under the pointer."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and _is_step(event):
            event.accept()
            return True
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            self._show_card(event.pos(), event.globalPos())
            return True
        return super().event(event)

    def _show_card(self, at: QPoint, global_pos: QPoint) -> None:
        cell = self.cell_at(QPointF(at).x())
        if cell is None:
            QToolTip.hideText()
            return
        cells = self.cells
        places = range(int(cells.starts[cell]), cells.last_tick(cell) + 1)
        left, right = round(self.scale.x(cell)), round(self.scale.x(cell + 1))
        area = QRect(left, 0, max(right - left, 1), self.height())
        from gradstudio.ui.timeline.moment_card import card

        words = card(self._results.timeline, places, self._names, under_way=self._is_under_way(cell))
        QToolTip.showText(global_pos, words, self, area)


def _is_step(event: QKeyEvent) -> bool:
    return event.key() in STEP_KEYS and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
