"""How lists of operators write their rows: titles with the typed letters marked, and where an operator lives."""

from typing import Final

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter

from gradstudio.operators.model import Face, Operator
from gradstudio.operators.search.highlighting import Spans
from gradstudio.ui.state.library.user_groups import PUBLISHED, SHIPPED, is_own

_ALIGNED: Final = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_HOMES: Final = {PUBLISHED: "My groups", SHIPPED: "Data set"}
_NOWHERE: Final = ("operator", "python", "builtins")
_DEEPEST: Final = 2
_TAIL: Final = 0.4
"""Part of a shortened title that is left of its end."""
_SIGNS: Final = {Face.INFIX: "a {} b", Face.AUGMENTED: "a {} b", Face.PREFIX: "{}a"}


def home_of(operator: Operator) -> str:
    """Where an operator lives, shortly, to tell `relu` from `relu`: "torch", "nn.functional", "Tensor", "Group"."""
    if operator.face in _SIGNS:
        return _SIGNS[operator.face].format(operator.symbol)
    if is_own(operator.key):
        return next((home for start, home in _HOMES.items() if operator.key.startswith(start)), "Group")
    parts = operator.path.split(".")[:-1]
    if not parts or parts[-1] in _NOWHERE:
        return "Python"
    return ".".join(parts[1:] if len(parts) <= _DEEPEST + 1 else parts[-1:]) or parts[0]


def short_home_of(operator: Operator) -> str:
    """The same as people abbreviate it, where the title needs the room."""
    return home_of(operator).replace("nn.functional", "F")


def marked_font(font: QFont) -> QFont:
    """The font of letters that were typed."""
    bold = QFont(font)
    bold.setWeight(QFont.Weight.Bold)
    return bold


def draw_marked(painter: QPainter, place: QRect, text: str, spans: Spans, mark: QColor) -> int:
    """Draw a text with marked spans, shortened to its place; the pixels used are returned.

    The painter's font and pen are those of the letters between.
    """
    plain, ink = painter.font(), painter.pen()
    bold = marked_font(plain)
    text, spans = _shortened(text, spans, place.width(), plain, bold)
    left = place.left()
    for piece, lit in _pieces(text, spans):
        painter.setFont(bold if lit else plain)
        painter.setPen(mark if lit else ink.color())
        rest = QRect(left, place.top(), place.right() - left + 1, place.height())
        painter.drawText(rest, _ALIGNED | Qt.TextFlag.TextSingleLine, piece)
        left += painter.fontMetrics().horizontalAdvance(piece)
    painter.setFont(plain)
    painter.setPen(ink)
    return left - place.left()


def _shortened(text: str, spans: Spans, room: int, plain: QFont, bold: QFont) -> tuple[str, Spans]:
    """The text as far as there is room for it, cut in the middle: names differ at their ends; and its spans."""
    if _width(text, spans, plain, bold) <= room:
        return text, spans
    for kept in range(len(text) - 1, 1, -1):
        tail = int(kept * _TAIL)
        cut, rest = kept - tail, len(text) - tail
        short = f"{text[:cut]}…{text[rest:]}"
        inside = [(first, min(last, cut)) for first, last in spans if first < cut]
        behind = [(max(first, rest) - rest + cut + 1, last - rest + cut + 1) for first, last in spans if last > rest]
        if _width(short, (*inside, *behind), plain, bold) <= room:
            return short, (*inside, *behind)
    return "", ()


def _width(text: str, spans: Spans, plain: QFont, bold: QFont) -> int:
    metrics = {False: QFontMetrics(plain), True: QFontMetrics(bold)}
    return sum(metrics[lit].horizontalAdvance(piece) for piece, lit in _pieces(text, spans))


def _pieces(text: str, spans: Spans) -> list[tuple[str, bool]]:
    """The text cut at the edges of the spans."""
    pieces, at = [], 0
    for first, last in spans:
        pieces += [(text[at:first], False), (text[first:last], True)]
        at = last
    return [piece for piece in (*pieces, (text[at:], False)) if piece[0]]
