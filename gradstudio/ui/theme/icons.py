"""Icons of our own drawing, tinted with the theme's colours."""

import functools

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from gradstudio import paths
from gradstudio.ui.theme.model import Theme

SIZE_PX = 18
RATIOS = (1.0, 2.0)


def icon(name: str, theme: Theme, role: str = "text") -> QIcon:
    """The icon `resources/icons/<name>.svg` in the colour of a role, faded when disabled."""
    made = QIcon()
    normal, disabled = theme.color(role), theme.color("text_dim")
    disabled.setAlphaF(0.45)
    for ratio in RATIOS:
        made.addPixmap(tinted(name, normal, SIZE_PX, ratio), QIcon.Mode.Normal)
        made.addPixmap(tinted(name, disabled, SIZE_PX, ratio), QIcon.Mode.Disabled)
    return made


def tinted(name: str, color: QColor, size_px: int = SIZE_PX, ratio: float = 1.0) -> QPixmap:
    """A picture of the icon, `size_px` wide at the given device pixel ratio."""
    pixmap = QPixmap(round(size_px * ratio), round(size_px * ratio))
    pixmap.fill(Qt.GlobalColor.transparent)
    text = _source(name).replace("currentColor", color.name())
    renderer = QSvgRenderer(QByteArray(text.encode()))
    painter = QPainter(pixmap)
    painter.setOpacity(color.alphaF())
    renderer.render(painter, QRectF(pixmap.rect()))
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


@functools.cache
def _source(name: str) -> str:
    return (paths.resources() / "icons" / f"{name}.svg").read_text(encoding="utf-8")
