"""Icons of our own drawing, tinted with the theme's colours."""

import functools

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPainter, QPixmap, QPixmapCache
from PySide6.QtSvg import QSvgRenderer

from gradstudio import paths
from gradstudio.ui.theme.model import Theme

SIZE_PX = 18
FADED = 0.45
"""Opacity of what is disabled."""
MOST = 512
"""So many icons are kept."""


def icon(name: str, theme: Theme, role: str = "text") -> QIcon:
    """The icon `resources/icons/<name>.svg` in the colour of a role, faded when disabled."""
    application = QGuiApplication.instance()
    ratio = application.devicePixelRatio() if isinstance(application, QGuiApplication) else 1.0  # the highest there is
    return _icon(name, theme.color(role).rgba(), theme.color("text_dim").rgba(), ratio)


@functools.lru_cache(maxsize=MOST)
def _icon(name: str, color: int, dim: int, ratio: float) -> QIcon:
    made, faded = QIcon(), QColor.fromRgba(dim)
    faded.setAlphaF(FADED)
    normal = icon_pixmap(name, QColor.fromRgba(color), SIZE_PX, ratio)
    made.addPixmap(normal, QIcon.Mode.Normal)
    made.addPixmap(_filled(normal, faded), QIcon.Mode.Disabled)
    return made


def _filled(pixmap: QPixmap, color: QColor) -> QPixmap:
    """The same shape in another colour."""
    made = QPixmap(pixmap)
    painter = QPainter(made)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
    painter.fillRect(made.rect(), color)
    painter.end()
    return made


def icon_pixmap(name: str, color: QColor, size_px: int = SIZE_PX, ratio: float = 1.0) -> QPixmap:
    """A picture of the icon, `size_px` wide at the given device pixel ratio; drawn once."""
    key, pixmap = f"{name} {color.rgba():08x} {size_px} {ratio}", QPixmap()
    if QPixmapCache.find(key, pixmap):
        return pixmap
    pixmap = QPixmap(round(size_px * ratio), round(size_px * ratio))
    pixmap.fill(Qt.GlobalColor.transparent)
    text = _source(name).replace("currentColor", color.name())
    renderer = QSvgRenderer(QByteArray(text.encode()))
    painter = QPainter(pixmap)
    painter.setOpacity(color.alphaF())
    renderer.render(painter, QRectF(pixmap.rect()))
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    QPixmapCache.insert(key, pixmap)
    return pixmap


@functools.cache
def _source(name: str) -> str:
    return (paths.resources() / "icons" / f"{name}.svg").read_text(encoding="utf-8")
