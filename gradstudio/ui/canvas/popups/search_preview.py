"""What stands beside the quick search: the card that the current row would become, and what the operator does."""

from html import escape
from typing import Final

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from gradstudio.operators.catalogue import descriptions
from gradstudio.operators.model import Operator
from gradstudio.ui.canvas.paint.card_picture import CardPictures
from gradstudio.ui.canvas.popups.search_row_delegate import WIDTH as SEARCH_WIDTH
from gradstudio.ui.theme import Theme, ui_font
from gradstudio.ui.widgets.operator_signature import summary_html

WIDTH: Final = 292
EDGE: Final = 12
GAP: Final = 8
PICTURE: Final = QSize(WIDTH - 2 * EDGE, 190)
LEAST_SCALE: Final = 0.62
MOST_ARGUMENTS: Final = 7
BESIDE: Final = 6
"""Pixels between the search and this."""


class SearchPreview(QFrame):
    """A card and a few lines, for one operator at a time; it never takes the focus."""

    def __init__(self, parent: QWidget, theme: Theme, pictures: CardPictures) -> None:
        """Hidden until an operator is shown."""
        super().__init__(parent)
        self._theme, self._pictures = theme, pictures
        self.setObjectName("search_preview")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.picture, self.words = QLabel(self), QLabel(self)
        self.picture.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter)
        self.words.setTextFormat(Qt.TextFormat.RichText)
        self.words.setWordWrap(True)
        self.words.setFont(ui_font(12))
        self.words.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.words.setFixedWidth(WIDTH - 2 * EDGE)
        column = QVBoxLayout(self)
        column.setContentsMargins(EDGE, EDGE, EDGE, EDGE)
        column.setSpacing(GAP)
        column.addWidget(self.picture)
        column.addWidget(self.words)
        self.setStyleSheet(
            f"QFrame#search_preview {{ background: {theme.surface}; border: 1px solid {theme.card_edge};"
            " border-radius: 9px; }"
        )
        self.key = ""
        self.hide()

    def show_operator(self, operator: Operator | None, said: str = "") -> None:
        """Show an operator, with torch's first sentence where it is known; nothing for None."""
        self.key = operator.key if operator is not None else ""
        if operator is None:
            self.hide()
            return
        picture = self._picture(operator.key)
        self.picture.setPixmap(picture)
        height = round(picture.height() / picture.devicePixelRatio())
        self.picture.setFixedHeight(height)
        self.words.ensurePolished()
        self.words.setText(about(operator, said, self._theme))
        self.words.setMinimumHeight(0)  # else what was shown before counts
        wanted = self.words.heightForWidth(WIDTH - 2 * EDGE)
        self.words.setFixedHeight(wanted)
        self.setFixedSize(WIDTH, 2 * EDGE + height + GAP + wanted)

    def stand_beside(self, popup: QRect, room: QRect) -> None:
        """Right of the search where there is room, else left of it; wholly inside of the room."""
        if not self.key:
            return
        right, left = popup.right() + 1 + BESIDE, popup.left() - BESIDE - WIDTH
        fits_right, fits_left = right + WIDTH <= room.right() - BESIDE, left >= room.left() + BESIDE
        if not (fits_right or fits_left) or self.height() > room.height():
            self.hide()
            return
        top = max(room.top() + BESIDE, min(popup.top(), room.bottom() - BESIDE - self.height()))
        self.move(right if fits_right else left, top)
        self.show()
        self.raise_()

    def _picture(self, key: str) -> QPixmap:
        """The card, smaller where it is large, cut at the bottom where it would be too small to read."""
        ratio = self.devicePixelRatioF()
        found = self._pictures.of(key, self._theme, 1.0, ratio)
        width, height = (found.pixmap.width() / ratio, found.pixmap.height() / ratio)
        scale = min(1.0, PICTURE.width() / width, max(PICTURE.height() / height, LEAST_SCALE))
        if scale < 1.0:
            found = self._pictures.of(key, self._theme, scale, ratio)
        most = round(PICTURE.height() * ratio)
        return found.pixmap if found.pixmap.height() <= most else found.pixmap.copy(0, 0, found.pixmap.width(), most)


def with_room_beside(left: int, room_px: int) -> int:
    """Where the search stands so that this has room right or left of it, where the window is wide enough."""
    needed = SEARCH_WIDTH + WIDTH + 2 * BESIDE
    fits = left + needed <= room_px or left - BESIDE - WIDTH >= BESIDE
    return left if fits or room_px < needed + BESIDE else room_px - needed - 1


def about(operator: Operator, said: str, theme: Theme) -> str:
    """What an operator does, what one has to know of it, its arguments and what comes out, as rich text."""
    parts = [f"<p style='margin:0 0 6px 0'>{summary_html(said or operator.summary)}</p>"]
    told = descriptions.badges(operator)
    if told:
        marks = " · ".join(f"<b>{escape(word)}</b>" for word, _ in told)
        parts.append(f"<p style='margin:0 0 6px 0; color:{theme.warning}'>{marks}</p>")
    shown = operator.parameters[:MOST_ARGUMENTS]
    lines = [_argument(p.name, descriptions.parameter_text(p), p.default, theme) for p in shown]
    if len(operator.parameters) > len(shown):
        lines.append(f"<span style='color:{theme.text_dim}'>… {len(operator.parameters) - len(shown)} more</span>")
    if lines:
        parts.append(f"<p style='margin:0 0 6px 0'>{'<br>'.join(lines)}</p>")
    parts.append(f"<p style='margin:0; color:{theme.text_dim}'>gives {escape(descriptions.results(operator))}</p>")
    return "".join(parts)


def _argument(name: str, takes: str, default: str | None, theme: Theme) -> str:
    value = f" = {escape(default)}" if default is not None else ""
    short = takes if len(takes) <= 48 else f"{takes[:47]}…"
    return f"<code>{escape(name)}{value}</code> <span style='color:{theme.text_dim}'>{escape(short)}</span>"
