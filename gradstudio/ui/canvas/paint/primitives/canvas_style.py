"""The canvas's fonts, pens and measures, made once from a theme."""

import math
import re
from functools import cached_property
from typing import Final

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QLinearGradient, QPainter, QPen

from gradstudio.scene.camera import LEAST_READABLE
from gradstudio.scene.card.section_heights import LINE
from gradstudio.ui.canvas.paint.primitives.glow_cache import GlowCache
from gradstudio.ui.theme import Theme, scene_font

_SIZES: Final[dict[str, tuple[str, int, QFont.Weight, bool]]] = {
    "title": ("ui", 13, QFont.Weight.DemiBold, False),
    "subtitle": ("ui", 12, QFont.Weight.Normal, False),
    "label": ("ui", 12, QFont.Weight.Normal, False),
    "small": ("ui", 11, QFont.Weight.Normal, False),
    "small_italic": ("ui", 11, QFont.Weight.Normal, True),
    "badge": ("ui", 11, QFont.Weight.DemiBold, False),
    "mono": ("mono", 11, QFont.Weight.Normal, False),
    "mono_italic": ("mono", 11, QFont.Weight.Normal, True),
    "mono_small": ("mono", 11, QFont.Weight.Normal, False),
    "mono_label": ("mono", 11, QFont.Weight.DemiBold, False),
    "number": ("mono", 16, QFont.Weight.DemiBold, False),
    "number_small": ("mono", 14, QFont.Weight.DemiBold, False),
    "gradient": ("mono", 14, QFont.Weight.DemiBold, False),
    "badge_note": ("ui", 11, QFont.Weight.Normal, False),
    "plate_small": ("ui", 11, QFont.Weight.Normal, False),
    "plate": ("ui", 11, QFont.Weight.DemiBold, False),
    "note": ("ui", 15, QFont.Weight.Normal, False),
    "note_bold": ("ui", 15, QFont.Weight.Bold, False),
    "note_italic": ("ui", 15, QFont.Weight.Normal, True),
    "note_bold_italic": ("ui", 15, QFont.Weight.Bold, True),
    "note_code": ("mono", 14, QFont.Weight.Normal, False),
    "note_head": ("ui", 18, QFont.Weight.Bold, False),
    "note_head_2": ("ui", 16, QFont.Weight.Bold, False),
    "block": ("mono", 12, QFont.Weight.DemiBold, False),
}
HEADER_SHADE: Final = 118
STALE_OPACITY: Final = 0.42
"""Of pictures that belong to an older program than the canvas shows."""
STALE_ROLES: Final = {"text": "unknown_value", "text_dim": "unknown_value", "danger": "unknown_value"}
SEAM: Final = re.compile(r"[a-z](?=[A-Z])|[._:/,(=-]")
"""The last letter of a part of a long word, behind which it may be broken: ``Runtime`` of ``RuntimeError``."""
MAX_WIDTHS: Final = 16_384
"""So many widths of texts are kept."""
LEAST_PX: Final = 11.0
"""No letter on a card is smaller on the screen, as long as cards are drawn with their rows."""
LARGER: Final = {"number": 1.3, "number_small": 1.15, "gradient": 1.15, "title": 1.05}
"""So much larger than the least are the letters of what is read first."""
ZOOM_STEPS: Final = (0.9, 0.8, 0.7, LEAST_READABLE)
"""Below 100 % letters keep their size on the screen, in steps: fonts are made for each of these."""
COMPACT: Final = 0.8
"""Below this zoom a card leaves out what the inspector says as well."""
ROUNDING: Final = 1e-6


class Meter:
    """Widths of texts, from tables of single letters: quick enough for thousands of cards."""

    def __init__(self, least: float = LEAST_PX) -> None:
        """Fonts are read when they are first asked for, none smaller than `least`; needs a QGuiApplication by then."""
        self.least = least
        self._fonts: dict[str, QFont] = {}
        self._metrics: dict[str, QFontMetricsF] = {}
        self._letters: dict[str, dict[str, float]] = {}
        self._drops: dict[str, float] = {}
        self._widths: dict[tuple[str, str], float] = {}

    def font(self, role: str) -> QFont:
        """The font of a role such as "title" or "mono"."""
        found = self._fonts.get(role)
        if found is None:
            family, size, weight, italic = _SIZES[role]
            found = scene_font(family, max(size, math.ceil(self.least * LARGER.get(role, 1.0) - ROUNDING)), weight)
            found.setItalic(italic)
            found.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
            self._fonts[role] = found
        return found

    def metrics(self, role: str) -> QFontMetricsF:
        """Metrics of a role's font."""
        found = self._metrics.get(role)
        if found is None:
            found = self._metrics[role] = QFontMetricsF(self.font(role))
        return found

    def drop(self, role: str) -> float:
        """How far the baseline of a line lies below its middle, scene pixels."""
        found = self._drops.get(role)
        if found is None:
            metrics = self.metrics(role)
            found = self._drops[role] = (metrics.ascent() - metrics.descent()) / 2
        return found

    def write(self, painter: QPainter, role: str, text: str, x: float, y: float, height: float) -> None:
        """Write one line from the left, in the middle of a band of that height; quicker than in a rectangle."""
        painter.setFont(self.font(role))
        painter.drawText(QPointF(x, y + height / 2 + self.drop(role)), text)

    def width(self, text: str, role: str) -> float:
        """Width of one line, scene pixels."""
        known = self._widths.get((text, role))
        if known is not None:
            return known
        letters = self._letters.setdefault(role, {})
        total = 0.0
        for letter in text:
            advance = letters.get(letter)
            if advance is None:
                advance = letters[letter] = self.metrics(role).horizontalAdvance(letter)
            total += advance
        if len(self._widths) >= MAX_WIDTHS:
            self._widths.clear()
        self._widths[text, role] = total
        return total

    def elided(self, text: str, role: str, width: float) -> str:
        """The text, shortened by "…" to fit."""
        if self.width(text, role) <= width:
            return text
        return self.metrics(role).elidedText(text, Qt.TextElideMode.ElideRight, max(0.0, width))

    def wrapped(self, text: str, role: str, width: float) -> list[str]:
        """The lines of a text that is at most `width` wide; long words are broken, between their parts if any."""
        lines: list[str] = []
        for paragraph in text.splitlines() or [""]:
            lines.extend(self._wrap_paragraph(paragraph, role, width))
        return lines

    def _wrap_paragraph(self, paragraph: str, role: str, width: float) -> list[str]:
        lines, line = [], ""
        for word in paragraph.split(" "):
            longer = f"{line} {word}" if line else word
            if not line or self.width(longer, role) <= width:
                line = longer
            else:
                lines.append(line)
                line = word
            while self.width(line, role) > width and len(line) > 1:
                cut = next((k for k in range(1, len(line)) if self.width(line[: k + 1], role) > width), 1)
                cut = next((k for k in range(cut, cut // 3, -1) if SEAM.match(line, k - 1)), cut)
                lines.append(line[:cut])
                line = line[cut:]
        return [*lines, line]


class WholeWords(Meter):
    """Of a picture that nobody can zoom: a text that has no room is left out, for a letter and "…" tell nothing."""

    def elided(self, text: str, role: str, width: float) -> str:
        return text if self.width(text, role) <= width else ""


class CanvasStyle:
    """A theme as ready-made colours, pens and fonts of the canvas."""

    picture_opacity = 1.0

    def __init__(self, theme: Theme, meter: Meter | None = None) -> None:
        """Read the theme's roles once."""
        self.theme = theme
        self.meter = meter if meter is not None else Meter()
        self._colors: dict[str, QColor] = {}
        self._families: dict[tuple[str, str], QColor] = {}
        self._category_rgbs: dict[str, int] = {}
        self._headers: dict[tuple[str, float], QLinearGradient] = {}
        self.outlines = GlowCache()
        self._nearer: dict[float, CanvasStyle] = {}

    def at(self, zoom: float) -> "CanvasStyle":
        """This style with letters that are large enough at that zoom; below the steps letters are in view pixels."""
        step = next((each for each in ZOOM_STEPS if zoom >= each - ROUNDING), None)
        if step is None or zoom >= 1.0 - ROUNDING:
            return self
        found = self._nearer.get(step)
        if found is None:
            found = self._nearer[step] = CanvasStyle(self.theme, Meter(LEAST_PX / step))
        return found

    @property
    def is_compact(self) -> bool:
        """Whether letters are so large that a card leaves out what the inspector says as well."""
        return self.meter.least > LEAST_PX / COMPACT + ROUNDING

    @cached_property
    def line(self) -> float:
        """Height of a line of small letters, scene pixels."""
        return max(LINE, 1.15 * self.meter.least)

    def color(self, role: str) -> QColor:
        """The colour of a theme's role."""
        found = self._colors.get(role)
        if found is None:
            found = self._colors[role] = self.theme.color(role)
        return found

    def faded(self, role: str, alpha: float) -> QColor:
        """The colour of a role, partly see-through."""
        key = f"{role}@{alpha}"
        found = self._colors.get(key)
        if found is None:
            found = QColor(self.color(role))
            found.setAlphaF(found.alphaF() * alpha)
            self._colors[key] = found
        return found

    def family(self, family: str, dtype: str = "") -> QColor:
        """Colour of ports and wires."""
        found = self._families.get((family, dtype))
        if found is None:
            found = self._families[family, dtype] = self.theme.family_color(family, dtype)
        return found

    def category(self, category: str) -> QColor:
        """The flat ground of a header."""
        key = f"category {category}"
        found = self._colors.get(key)
        if found is None:
            found = self._colors[key] = self.theme.category_color(category)
        return found

    def category_rgb(self, category: str) -> int:
        """The same as 0xffrrggbb."""
        found = self._category_rgbs.get(category)
        if found is None:
            found = self._category_rgbs[category] = self.category(category).rgb()
        return found

    def header(self, category: str, width: float) -> QLinearGradient:
        """The ground of a header: the category's colour, a little deeper to the right."""
        found = self._headers.get((category, width))
        if found is None:
            color = self.theme.category_color(category)
            found = QLinearGradient(0.0, 0.0, width, 0.0)
            found.setColorAt(0.0, color)
            found.setColorAt(1.0, color.darker(HEADER_SHADE) if self.theme.dark else color.lighter(104))
            self._headers[category, width] = found
        return found

    @cached_property
    def gradient(self) -> QColor:
        """Colour of gradients wherever they are written."""
        return self.theme.category_mark("Autograd")

    @cached_property
    def stale(self) -> "CanvasStyle":
        """The look of what an older program left: grey letters that can be read, pale pictures."""
        return _StaleStyle(self.theme, self.meter)

    @cached_property
    def edge(self) -> QPen:
        """A card's outline."""
        return QPen(self.color("card_edge"), 1.0)


class _StaleStyle(CanvasStyle):
    """Words in the grey of what is not known; only pictures are see-through, since letters would not be read."""

    picture_opacity = STALE_OPACITY

    def color(self, role: str) -> QColor:
        return super().color(STALE_ROLES.get(role, role))

    @cached_property
    def gradient(self) -> QColor:
        """Half grey."""
        own, grey = self.theme.category_mark("Autograd"), self.theme.color("unknown_value")
        pairs = ((own.red(), grey.red()), (own.green(), grey.green()), (own.blue(), grey.blue()))
        return QColor(*((one + other) // 2 for one, other in pairs))
