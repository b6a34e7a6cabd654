"""A ledger: names at the left, numbers at the right in one column, pictures of tensors between; kept and refilled."""

from typing import Literal as OneOf
from typing import NamedTuple

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFont, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QSizePolicy, QWidget

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import Summary
from gradstudio.scene import value_format
from gradstudio.ui.canvas.paint.primitives import tensor_image
from gradstudio.ui.docks.inspector.display_names import in_a_line, is_written_out
from gradstudio.ui.state.document.attention import Attention
from gradstudio.ui.theme import Theme, mono_font
from gradstudio.ui.widgets.form_layout import label

STRIP_WIDTH_PX, STRIP_HEIGHT_PX = 56, 14
LONG = 21
"""Numbers of more characters stand below their name, over the whole width."""

NEVER_BESIDE_PX = 1_000_000
"""Wider than any dock."""


class Line(NamedTuple):
    """A line of a ledger.

    Attributes:
        kind: "value": name, picture, number; "sum": the same with a line above; "words": `text` over the whole width;
            "formula": the same in the fixed-width font; "heading": dim words above what follows.
        name: at the left; `link` is the node it leads to, if any.
        text: at the right, or all of the line; "" of a value says what `summary` holds.
        note: in faint words below.
        role: of the style sheet ("danger"), for the text.
    """

    name: str = ""
    text: str = ""
    summary: Summary | None = None
    link: ItemId | None = None
    note: str = ""
    kind: OneOf["value", "sum", "words", "formula", "heading"] = "value"
    role: str = ""


class Ledger(QWidget):
    """Lines under one another."""

    def __init__(self, attention: Attention, theme: Theme, parent: QWidget | None = None) -> None:
        """No lines yet."""
        super().__init__(parent)
        self._attention, self._theme = attention, theme
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(theme.GAP_SMALL)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(0, 1)
        self._rows: list[_Row] = []
        self.lines: tuple[Line, ...] = ()

    def show_lines(self, lines: tuple[Line, ...]) -> None:
        """Show exactly these; hidden when there are none."""
        if lines != self.lines:
            self.lines = lines
            for _ in range(len(self._rows), len(lines)):
                self._rows.append(_Row(self, self._grid, 3 * len(self._rows), self._theme))
            for k, row in enumerate(self._rows):
                line = lines[k] if k < len(lines) else None
                if line != row.line:
                    row.show_line(line)
            self._place_numbers()
        self.setVisible(bool(lines))

    def set_theme(self, theme: Theme) -> None:
        """Colour the pictures anew."""
        self._theme = theme
        for row in self._rows:
            row.strip.set_theme(theme)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A number that stood beside its name may have no room there any more, or have it again."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._place_numbers()

    def _place_numbers(self) -> None:
        """Numbers stand in one column where that leaves room for all names; one without room stands below its name."""
        width = self.width()
        rows = [row for row in self._rows[: len(self.lines)] if row.is_value]
        column_px = max([0, *[row.number_px for row in rows if row.name_px + row.number_px <= width]])
        for row in rows:
            below = row.number_px > column_px or row.name_px + column_px > width
            if below != row.is_below:
                row.place_number(below=below)

    def words(self) -> list[str]:
        """What is shown, a text a line: for tests and screen readers."""
        return [row.words() for row in self._rows[: len(self.lines)]]

    def follow(self, link: ItemId) -> None:
        """Show the node that a line leads to."""
        self._attention.reveal(link)


class _Row:
    """The widgets of one line; those that it does not need are hidden."""

    def __init__(self, ledger: Ledger, grid: QGridLayout, place: int, theme: Theme) -> None:
        self._link: ItemId | None = None
        self.line: Line | None = None
        self._grid, self._place, self._columns = grid, place, 1
        self.is_value = False
        self.is_below: bool | None = None  # of the line that is shown: not placed yet
        self.name_px = self.number_px = 0
        self._gaps_px = 3 * theme.GAP_SMALL
        self.name = label("", "dim")
        self.button = QPushButton("", ledger)
        self.button.setObjectName("link")
        self.button.setCursor(Qt.CursorShape.PointingHandCursor)
        self.button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.button.setStyleSheet("padding: 0;")
        self.button.clicked.connect(lambda: self._link is not None and ledger.follow(self._link))
        self.name.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.strip = Strip(theme, ledger)
        self.number, self.wide, self.note = label("", ""), label("", "", wrap=True), label("", "dim", wrap=True)
        self.below = label("", "", wrap=True)
        for part in (self.number, self.below, self.wide, self.note):
            part.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.number.setFont(mono_font())
        self.below.setFont(mono_font())
        self._is_bold = False
        self._role = ""
        self.name.setFont(mono_font())
        self.button.setFont(mono_font())
        self.note.setFont(mono_font(11))
        self.number.setContentsMargins(theme.GAP_SMALL, 0, 0, 0)
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        grid.addWidget(self.name, place, 0)
        grid.addWidget(self.button, place, 0)
        grid.addWidget(self.strip, place, 1)
        grid.addWidget(self.number, place, 2, right)
        grid.addWidget(self.wide, place, 0, 1, 3)
        grid.addWidget(self.below, place + 1, 0, 1, 3)
        grid.addWidget(self.note, place + 2, 0, 1, 3)

    def show_line(self, line: Line | None) -> None:
        """Show a line, or nothing."""
        self.line = line
        self.is_value = is_value = line is not None and line.kind in ("value", "sum")
        self.is_below = None
        self._link = line.link if line is not None else None
        self.name.setVisible(is_value and self._link is None)
        self.button.setVisible(is_value and self._link is not None)
        if not is_value:  # where it is one, it stands where it stood: what is shown anew lays out the whole window
            self.number.setVisible(False)
            self.below.setVisible(False)
        self.wide.setVisible(line is not None and not is_value)
        self.note.setVisible(line is not None and bool(line.note))
        pictured = is_value and line is not None and line.summary is not None and not is_written_out(line.summary)
        self.strip.setVisible(pictured)
        if line is None:
            return
        if pictured:
            self.strip.show_summary(line.summary)
        self.note.setText(line.note)
        if is_value:
            self._show_value(line)
        else:
            self.wide.setText(line.text)
            _give_role(self.wide, line.role or ("dim" if line.kind == "heading" else ""))
            # WORKAROUND(the first polish gives a label back the font that it had): the font comes last
            self.wide.setFont(mono_font() if line.kind == "formula" else QLabel().font())

    def place_number(self, *, below: bool) -> None:
        """Show the number right of its name, or below it."""
        self.is_below = below
        self.below.setVisible(below)
        self.number.setVisible(not below)
        columns = 3 if below and self.strip.isHidden() else 1
        if columns != self._columns:
            self._columns = columns
            for widget in (self.name, self.button):
                self._grid.addWidget(widget, self._place, 0, 1, columns)

    def words(self) -> str:
        """The line as text."""
        parts: tuple[QLabel | QPushButton, ...] = (
            *(self.button, self.name, self.number, self.below, self.wide, self.note),
        )
        return "  ".join(part.text() for part in parts if not part.isHidden() and part.text())

    def _show_value(self, line: Line) -> None:
        self.name.setText(line.name)
        self.button.setText(line.name)
        self.button.setToolTip(f"Show {line.name.rpartition(' ')[2]}")
        text = line.text or in_a_line(line.summary, grad=True)
        self.number.setText(text)
        self.below.setText(text.replace(" → ", "\n→ ") if len(text) > LONG else text)
        role, is_sum = line.role or _role_of(line), line.kind == "sum"
        if is_sum is not self._is_bold:
            self._is_bold = is_sum
            font = mono_font(weight=QFont.Weight.Bold if is_sum else QFont.Weight.Normal)
            for number in (self.number, self.below):
                number.setFont(font)
        if role != self._role:
            self._role = role
            for number in (self.number, self.below):
                _give_role(number, role)
        strip_px = STRIP_WIDTH_PX if not self.strip.isHidden() else 0
        self.name_px = self.name.fontMetrics().horizontalAdvance(line.name) + strip_px + self._gaps_px
        is_long = len(text) > LONG
        self.number_px = NEVER_BESIDE_PX if is_long else self.number.fontMetrics().horizontalAdvance(text)


def _role_of(line: Line) -> str:
    """Numbers that are not finite stand out; where there is nothing, that is dim."""
    if line.summary is not None:
        return "danger" if value_format.oddities(line.summary) else ""
    return "" if line.text else "dim"


class Strip(QWidget):
    """A small picture of a tensor's numbers."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Empty."""
        super().__init__(parent)
        self._theme = theme
        self._summary: Summary | None = None
        self.setFixedSize(QSize(STRIP_WIDTH_PX, STRIP_HEIGHT_PX))

    def set_theme(self, theme: Theme) -> None:
        """Colour it anew."""
        self._theme = theme
        self.update()

    def show_summary(self, summary: Summary | None) -> None:
        """Show a tensor's preview."""
        self._summary = summary
        if summary is not None:
            from gradstudio.scene.words.shard_words import shape_words  # there is a result

            self.setToolTip(f"{shape_words(summary)}  {value_format.extent(summary)}")
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        picture = tensor_image.image(self._summary, self._theme) if self._summary is not None else None
        if picture is not None:
            painter.drawImage(QRectF(self.rect()), picture)
        else:
            painter.setPen(self._theme.color("line"))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()


def _give_role(widget: QWidget, role: str) -> None:
    if widget.property("role") != role:
        widget.setProperty("role", role)
        widget.style().polish(widget)
