"""How wide words are in a serif of Times' proportions, so that a figure is the same on every machine. No Qt.

The widths are those of Adobe's font metrics for Times Roman, in thousandths of the size.
"""

from typing import Final

from gradstudio.scene.figure.drawing import Formula, Words
from gradstudio.scene.geometry import Box

SCRIPT: Final = 0.68
"""Size of raised and lowered letters."""
PATCH: Final = 1.5
"""Ground beside letters that stand on a wire, points."""
_GROUPS: Final = {
    250: " .,·",
    278: "ijlt/:;’",
    333: "()[]-‘!|Irsf",
    400: "‖°",
    444: "aceéz{}?",
    500: "bdghknopquvxyJ0123456789$*#_σταβγδεηκλμνξπρχ«»",
    556: "PSFφψω",
    564: "+−=<>≤≥≠×÷→←≈±¬∧∨∈ℝ⊙∂",
    611: "ELTZ",
    667: "ABCRVXYÄ",
    722: "DGHKNOQUw∇ΔΣΩ",
    778: "m√",
    889: "M%",
    944: "W",
    1000: "…—∞",
}
_WIDTHS: Final = {letter: width for width, letters in _GROUPS.items() for letter in letters}
_USUAL: Final = 560
_COMBINING: Final = range(0x300, 0x370)


def text_width(text: str, size: float) -> float:
    """Of upright or italic letters, points."""
    return sum(0 if ord(letter) in _COMBINING else _WIDTHS.get(letter, _USUAL) for letter in text) * size / 1000


def formula_width(formula: Formula, size: float) -> float:
    """Of a line, points."""
    return sum(text_width(run.text, size * (SCRIPT if run.level else 1.0)) for run in formula)


def left_of(words: Words) -> float:
    """Where a line begins."""
    width = formula_width(words.formula, words.size)
    return words.x - {"start": 0.0, "middle": width / 2, "end": width}[words.anchor]


def ground_patch(words: Words) -> Box:
    """The ground behind letters that stand on a wire."""
    width = formula_width(words.formula, words.size)
    return Box(left_of(words) - PATCH, words.y - words.size * 0.8, width + 2 * PATCH, words.size)
