"""What a theme is: colours by role, spacing and fonts, read from `resources/themes`.

No other module of the window names a colour.
"""

import functools
from typing import ClassVar, Final, Protocol, runtime_checkable
from typing import Literal as OneOf
from zlib import crc32

import msgspec
from PySide6.QtGui import QColor, QFont

from gradstudio import paths

ThemeName = OneOf["dark", "light", "high_contrast"]
"""The themes that travel with the program."""
UI_FAMILIES: Final = ("Inter", "SF Pro Text", "Segoe UI", "Noto Sans", "Cantarell", "DejaVu Sans")
MONO_FAMILIES: Final = ("JetBrains Mono", "SF Mono", "Cascadia Mono", "Noto Sans Mono", "DejaVu Sans Mono")
UI_SIZE_PX: Final = 13
MONO_SIZE_PX: Final = 12


class Syntax(msgspec.Struct, frozen=True):
    """Colours of the Code dock: kinds of token, and grounds of marked lines."""

    keyword: str
    string: str
    number: str
    comment: str
    name: str
    operator: str
    call: str
    line_number: str
    running: str
    failing: str
    selected: str


class Hue(msgspec.Struct, frozen=True, array_like=True):
    """One colour of a category: `header` under a card's title, `mark` in lists."""

    header: str
    mark: str


class Theme(msgspec.Struct, frozen=True):
    """Colours by role, as "#rrggbb" or "#aarrggbb".

    Attributes:
        window, surface, surface_raised, field: grounds: between panels, of panels, of buttons and
            menus, of places to type in.
        card_well: ground of the values on a card; block, block_edge: of `with` and `for`.
        unknown_value: text of what is not computed yet.
        families: ports and wires by kind and dtype family.
        hues, categories: a category's name -> hue -> colours; themes of ours share the first of the two steps.
        heat_negative, heat_zero, heat_positive: signed values, zero in the middle.
        heat_ramp: evenly spaced stops for values that are not around zero, low to high.
        heat_mark: NaN and infinity marks in a heat map.
        scale: evenly spaced stops for figures, low to high, of rising lightness (viridis).
        scale_zero: a figure of zero, unlike every colour of `scale` and unlike no figure.
        kinds: colours that stand for words, told apart by the colour-blind (Okabe and Ito).
        past, past_grid: the canvas while an earlier moment is looked at.
        forward, backward: the two ways of a run, on the timeline.
        plot: curves in the order they appear.
    """

    name: str
    dark: bool
    window: str
    surface: str
    surface_raised: str
    field: str
    line: str
    canvas: str
    grid: str
    card: str
    card_edge: str
    card_well: str
    card_shadow: str
    block: str
    block_edge: str
    note: str
    note_text: str
    text: str
    text_dim: str
    header_text: str
    accent: str
    accent_text: str
    accent_soft: str
    danger: str
    warning: str
    ok: str
    info: str
    selection: str
    selection_text: str
    focus: str
    unknown_value: str
    families: dict[str, str]
    hues: dict[str, Hue]
    categories: dict[str, str]
    default_hue: str
    heat_negative: str
    heat_zero: str
    heat_positive: str
    heat_ramp: tuple[str, ...]
    heat_mark: str
    syntax: Syntax
    scale: tuple[str, ...]
    scale_zero: str
    kinds: tuple[str, ...]
    past: str
    past_grid: str
    forward: str
    backward: str
    plot: tuple[str, ...]

    # Spacing in pixels, the same in every theme.
    GAP_TIGHT: ClassVar[int] = 4
    GAP_SMALL: ClassVar[int] = 6
    GAP: ClassVar[int] = 8
    GAP_LARGE: ClassVar[int] = 12
    RADIUS: ClassVar[int] = 6
    CARD_RADIUS: ClassVar[int] = 8
    ROW_HEIGHT: ClassVar[int] = 26

    def color(self, role: str) -> QColor:
        """The colour of a role, e.g. ``theme.color("card_edge")``."""
        value = getattr(self, role)
        if not isinstance(value, str):
            raise AttributeError(f"'{role}' is not a single colour")
        return QColor(value)

    def family_color(self, family: str, dtype: str = "") -> QColor:
        """Colour of a port or wire; for tensors by the dtype's family (semantics §2)."""
        key = dtype_family(dtype) if family == "tensor" else family
        return QColor(self.families.get(key, self.families["unknown"]))

    def category_color(self, category: str) -> QColor:
        """Ground of a card's header; `header_text` is readable on it."""
        return QColor(self._hue(category).header)

    def category_mark(self, category: str) -> QColor:
        """The brighter colour of a category's mark in lists, on `surface`."""
        return QColor(self._hue(category).mark)

    def _hue(self, category: str) -> Hue:
        name = self.categories.get(category)
        if name is None:
            names = sorted(self.hues)
            name = names[crc32(category.encode()) % len(names)] if category else self.default_hue
        return self.hues[name]


def dtype_family(dtype: str) -> str:
    """The dtype family that colours a tensor; a dtype not known yet counts as floating."""
    bare = dtype.removeprefix("torch.")
    if bare == "bool":
        return "bool"
    if bare.startswith("complex"):
        return "complex"
    return "integer" if bare.startswith(("int", "uint", "qint", "quint", "bits")) else "floating"


@functools.cache
def theme(name: ThemeName) -> Theme:
    """The theme of that name, read from `resources/themes`."""
    values = msgspec.json.decode((paths.resources() / "themes" / f"{name}.json").read_bytes())
    return msgspec.convert({"categories": category_hues(), **values}, Theme)


def category_hues() -> dict[str, str]:
    """The hue of every category of the catalogue, the same in every theme of ours: `resources/categories.json`."""
    return msgspec.json.decode((paths.resources() / "categories.json").read_bytes(), type=dict[str, str])


@runtime_checkable
class ThemedWidget(Protocol):
    """What can take up another theme."""

    def set_theme(self, theme: Theme) -> None:
        """Take up the theme."""


class TextScale:
    """How large the text of the window is beside its usual size; one for the whole program."""

    factor: ClassVar[float] = 1.0


def scale_px(size_px: float) -> int:
    """A length that goes with the text of the window, in pixels."""
    return round(size_px * TextScale.factor)


def ui_font(size_px: int = UI_SIZE_PX, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """Inter where it is installed, else the system's sans; as large as the person wants the window's text."""
    return _font(UI_FAMILIES, QFont.StyleHint.SansSerif, scale_px(size_px), weight)


def mono_font(size_px: int = MONO_SIZE_PX, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """JetBrains Mono where it is installed, else the system's fixed-width font; as large as `ui_font`."""
    return _font(MONO_FAMILIES, QFont.StyleHint.Monospace, scale_px(size_px), weight)


def scene_font(family: str, size_px: int, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """A font of the canvas, "ui" or "mono", in scene pixels: zoom makes it larger, not the window's text."""
    if family == "mono":
        return _font(MONO_FAMILIES, QFont.StyleHint.Monospace, size_px, weight)
    return _font(UI_FAMILIES, QFont.StyleHint.SansSerif, size_px, weight)


def _font(families: tuple[str, ...], hint: QFont.StyleHint, size_px: int, weight: QFont.Weight) -> QFont:
    font = QFont()
    font.setFamilies(list(families))
    font.setStyleHint(hint)
    font.setPixelSize(size_px)
    font.setWeight(weight)
    return font
