"""A figure as SVG: its text is text, its fonts are named, its colours are written out or left to a page. No Qt."""

from collections.abc import Callable
from html import escape

from gradstudio.scene.figure.drawing import (
    DASHES,
    LOWERED,
    RAISED,
    Curve,
    Drawing,
    Formula,
    Frame,
    Mark,
    Words,
    arrow_head,
)
from gradstudio.scene.figure.figure_style import FigureStyle
from gradstudio.scene.figure.font_widths import SCRIPT, ground_patch

Ink = Callable[[str], str]
"""The colour of a role, as an attribute has it."""


def svg_text(drawing: Drawing, style: FigureStyle, title: str = "") -> str:
    """A whole SVG document, in points."""
    size = f'width="{_n(drawing.width)}pt" height="{_n(drawing.height)}pt"'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{svg_element(drawing, style, style.ink, title, size)}\n'


def svg_element(drawing: Drawing, style: FigureStyle, ink: Ink, title: str = "", size: str = "") -> str:
    """The drawing as an `svg` element; each mark that has a key has it as its id."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {_n(drawing.width)} {_n(drawing.height)}"'
    families = escape(", ".join(_family(name) for name in style.families), quote=False)
    lines = [f'{head} font-family="{families}" role="img">']
    if title:
        lines.append(f"<title>{escape(title)}</title>")
    lines += [mark_text(mark, ink, drawing.is_filled) for mark in drawing.marks]
    return "\n".join([*lines, "</svg>"])


def spans(formula: Formula, size: float) -> str:
    """The letters of a formula, raised and lowered ones moved from the line and back."""
    found, level = [], 0
    for run in formula:
        shift = _shift(run.level, size) - _shift(level, size)
        level = run.level
        attributes = [f'dy="{_n(shift)}"'] if shift else []
        attributes += [f'font-size="{_n(size * SCRIPT)}"'] if run.level else []
        attributes += ['font-style="italic"'] if run.is_italic else []
        text = escape(run.text, quote=False)
        found.append(f"<tspan {' '.join(attributes)}>{text}</tspan>" if attributes else text)
    return "".join(found)


def mark_text(mark: Mark, ink: Ink, is_filled: bool) -> str:
    """One mark as an element; "" for words that say nothing and never will."""
    match mark:
        case Frame():
            return _frame(mark, ink)
        case Curve():
            return _curve(mark, ink)
        case Words():
            return _words(mark, ink, is_filled)


def _frame(frame: Frame, ink: Ink) -> str:
    box = frame.box
    place = f'x="{_n(box.x)}" y="{_n(box.y)}" width="{_n(box.width)}" height="{_n(box.height)}"'
    fill = ink(frame.fill) if frame.fill else "none"
    line = f'stroke="{ink(frame.stroke)}" stroke-width="{_n(frame.width)}"' if frame.stroke else 'stroke="none"'
    rounded = f' rx="{_n(frame.radius)}"' if frame.radius else ""
    return f'<rect{_id(frame.key)} {place}{rounded} fill="{fill}" {line}{_dashes(frame.is_dashed)}/>'


def _curve(curve: Curve, ink: Ink) -> str:
    color = ink(curve.stroke)
    way = f"M{_point(curve.start)}" + "".join(f"C{' '.join(map(_point, segment))}" for segment in curve.segments)
    line = f'fill="none" stroke="{color}" stroke-width="{_n(curve.width)}"{_dashes(curve.is_dashed)}'
    head = arrow_head(curve)
    tip = f'<path d="M{"L".join(map(_point, head))}Z" fill="{color}"/>' if head is not None else ""
    return f'<g{_id(curve.key)}><path d="{way}" {line}/>{tip}</g>'


def _words(words: Words, ink: Ink, is_filled: bool) -> str:
    if not words.formula and not words.key:
        return ""
    place = f'x="{_n(words.x)}" y="{_n(words.y)}" font-size="{_n(words.size)}" text-anchor="{words.anchor}"'
    letters = spans(words.formula, words.size)
    text = f'<text{_id(words.key)} {place} fill="{ink(words.role)}" xml:space="preserve">{letters}</text>'
    if not words.has_ground:
        return text
    text = text.replace(_id(words.key), "", 1)
    return f"<g{_id(words.key)}>{_patch(words, ink) if is_filled and words.formula else ''}{text}</g>"


def _patch(words: Words, ink: Ink) -> str:
    """The ground behind letters that stand on a wire."""
    box = ground_patch(words)
    place = f'x="{_n(box.x)}" y="{_n(box.y)}" width="{_n(box.width)}" height="{_n(box.height)}"'
    return f'<rect {place} fill="{ink("ground")}"/>'


def _shift(level: int, size: float) -> float:
    return (0.0, -RAISED * size, LOWERED * size)[level]


def _family(name: str) -> str:
    return f"'{name}'" if " " in name else name


def _dashes(is_dashed: bool) -> str:
    return f' stroke-dasharray="{" ".join(map(_n, DASHES))}"' if is_dashed else ""


def _id(key: str) -> str:
    return f' id="{key}"' if key else ""


def _point(point: tuple[float, float]) -> str:
    return f"{_n(point[0])} {_n(point[1])}"


def _n(value: float) -> str:
    """A number with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
