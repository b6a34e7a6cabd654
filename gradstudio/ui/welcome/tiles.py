"""What can be chosen on the welcome page: an example with its picture, a recent file; reached by mouse and keys."""

from typing import Final

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QImage, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from gradstudio.ui.theme import Theme, ui_font
from gradstudio.ui.theme.model import scale_px
from gradstudio.ui.welcome.thumbnails import HEIGHT_PX, WIDTH_PX

PAD_PX: Final = 10
RECENT_PICTURE_PX: Final = QSize(76, 46)
LINES: Final = 3
Weight = QFont.Weight


class Place(QAbstractButton):
    """A button that paints a picture and words."""

    def __init__(self, title: str, words: str, theme: Theme, parent: QWidget | None = None) -> None:
        """Show a title and words below it; the picture comes later."""
        super().__init__(parent)
        self._title, self._words, self._theme = title, words, theme
        self._image = QImage()
        self.setText(title)
        self.setAccessibleName(title)
        self.setAccessibleDescription(words)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme; the picture of the other one goes."""
        self._theme, self._image = theme, QImage()
        self.updateGeometry()
        self.update()

    def show_picture(self, image: QImage) -> None:
        """The picture is there."""
        self._image = image
        self.update()

    # ------------------------------------------------------------------ painting

    @property
    def _is_lit(self) -> bool:
        return self.hasFocus() or self.underMouse()

    def _paint_ground(self, painter: QPainter, role: str) -> None:
        theme = self._theme
        if self.hasFocus():
            pen = QPen(theme.color("focus"), 2)
        else:
            pen = QPen(theme.color("accent" if self.underMouse() else "line"), 1)
        inset = 1
        painter.setPen(pen)
        painter.setBrush(theme.color(role))
        painter.drawRoundedRect(
            self.rect().adjusted(inset, inset, -inset - 1, -inset - 1), theme.CARD_RADIUS, theme.CARD_RADIUS
        )

    def _paint_picture(self, painter: QPainter, place: QRect) -> None:
        """The picture in the middle of its place, on the ground of the canvas."""
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("canvas"))
        painter.drawRoundedRect(place, 5, 5)
        if self._image.isNull():
            return
        ratio = self._image.devicePixelRatio()
        wanted = QSize(round(self._image.width() / ratio), round(self._image.height() / ratio))
        wanted.scale(place.size(), Qt.AspectRatioMode.KeepAspectRatio)
        if wanted.width() > self._image.width() / ratio:
            wanted = QSize(round(self._image.width() / ratio), round(self._image.height() / ratio))
        target = QRect(QPoint(0, 0), wanted)
        target.moveCenter(place.center())
        painter.drawImage(target, self._image)


class ExamplePlace(Place):
    """An example: its picture above, a title and a sentence below."""

    def __init__(self, title: str, words: str, theme: Theme, parent: QWidget | None = None) -> None:
        """As wide as its column."""
        super().__init__(title, words, theme, parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        title, words = QFontMetrics(_title_font()), QFontMetrics(_words_font())
        text = title.height() + 2 + LINES * words.lineSpacing()
        return QSize(WIDTH_PX + 2 * PAD_PX, PAD_PX + HEIGHT_PX + 8 + text + PAD_PX)

    def minimumSizeHint(self) -> QSize:
        return QSize(scale_px(170), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        self._paint_ground(painter, "surface_raised")
        inner = self.rect().adjusted(PAD_PX, PAD_PX, -PAD_PX, -PAD_PX)
        self._paint_picture(painter, QRect(inner.left(), inner.top(), inner.width(), HEIGHT_PX))
        below = inner.adjusted(2, HEIGHT_PX + 8, -2, 0)
        painter.setFont(_title_font())
        painter.setPen(self._theme.color("text"))
        height = QFontMetrics(_title_font()).height()
        title = shorten(self._title, QFontMetrics(_title_font()), below.width())
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, title)
        painter.setFont(_words_font())
        painter.setPen(self._theme.color("text_dim"))
        metrics = QFontMetrics(_words_font())
        top = below.top() + height + 2 + metrics.ascent()
        for number, line in enumerate(wrap_words(self._words, metrics, below.width(), LINES)):
            painter.drawText(below.left(), top + number * metrics.lineSpacing(), line)
        painter.end()


class RecentPlace(Place):
    """A recent file: a small picture, its name, and where and when."""

    def __init__(self, title: str, words: str, theme: Theme, parent: QWidget | None = None) -> None:
        """As wide as the column."""
        super().__init__(title, words, theme, parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        text = QFontMetrics(_title_font()).height() + 2 * QFontMetrics(_words_font()).lineSpacing()
        return QSize(260, max(RECENT_PICTURE_PX.height(), text) + 12)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        if self._is_lit:
            self._paint_ground(painter, "surface_raised")
        inner = self.rect().adjusted(6, 6, -6, -6)
        picture = QRect(inner.topLeft(), RECENT_PICTURE_PX)
        picture.moveTop(inner.center().y() - RECENT_PICTURE_PX.height() // 2)
        self._paint_picture(painter, picture)
        left = picture.right() + 10
        width, top = inner.right() - left, inner.top()
        for number, text in enumerate((self._title, *self._words.split("\n"))):
            font = _title_font() if number == 0 else _words_font()
            metrics = QFontMetrics(font)
            painter.setFont(font)
            painter.setPen(self._theme.color("text" if number == 0 else "text_dim"))
            mode = Qt.TextElideMode.ElideRight if number != 1 else Qt.TextElideMode.ElideMiddle
            painter.drawText(left, top + metrics.ascent(), shorten(text, metrics, width, mode))
            top += metrics.lineSpacing()
        painter.end()


def _title_font() -> QFont:
    return ui_font(13, Weight.DemiBold)


def _words_font() -> QFont:
    return ui_font(12)


def wrap_words(words: str, metrics: QFontMetrics, width_px: int, most: int) -> list[str]:
    """Words in lines of that width, so many at most; the last one ends in … where there is more."""
    lines: list[str] = [""]
    for word in words.split():
        longer = f"{lines[-1]} {word}".strip()
        if metrics.horizontalAdvance(longer) <= width_px or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) > most:
        rest = " ".join(lines[most - 1 :])
        lines = [*lines[: most - 1], rest]
    return [shorten(line, metrics, width_px) for line in lines]


def shorten(
    text: str, metrics: QFontMetrics, width_px: int, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight
) -> str:
    """The text, with … where it is wider.

    WORKAROUND(`elidedText` cuts a text that is as wide as its room to the pixel): what has room is left as it is.
    """
    return text if metrics.horizontalAdvance(text) <= width_px else metrics.elidedText(text, mode, width_px)
