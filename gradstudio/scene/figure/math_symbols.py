"""Names of variables as mathematics writes them: ``W1`` with a lowered 1, ``y_hat`` as ŷ, ``alpha`` as α. No Qt."""

import re
from typing import Final

from gradstudio.scene.figure.drawing import Formula, Run

_GREEK_NAMES: Final = (
    "alpha beta gamma delta epsilon eps zeta eta theta kappa lambda lam mu nu xi pi rho sigma tau phi chi psi omega",
    "Gamma Delta Theta Lambda Sigma Phi Psi Omega",
)
GREEK: Final = dict(zip(" ".join(_GREEK_NAMES).split(), "αβγδεεζηθκλλμνξπρστφχψωΓΔΘΛΣΦΨΩ", strict=True))
ACCENTS: Final = {"hat": "\u0302", "bar": "\u0304", "tilde": "\u0303", "dot": "\u0307", "prime": "′"}
SHORT: Final = 2
"""A name of so few letters has what follows its underscore lowered: ``x_train``."""
_NUMBERED: Final = re.compile(r"([^\W\d_]+)_?(\d+)")


def symbol(name: str) -> Formula:
    """A variable's name; a dotted one (``fc.weight``) is written as it is."""
    if "." in name:
        return (Run(name, is_italic=True),)
    base, _, rest = name.strip("_").partition("_")
    if rest in ACCENTS and (len(base) == 1 or base in GREEK):
        return (Run(_letter(base) + ACCENTS[rest], is_italic=True),)
    numbered = _NUMBERED.fullmatch(name)
    if numbered is not None:
        return Run(_letter(numbered[1]), is_italic=True), Run(numbered[2], level=-1)
    if rest and (len(base) <= SHORT or base in GREEK):
        return Run(_letter(base), is_italic=True), Run(_letter(rest), is_italic=len(rest) == 1, level=-1)
    return (Run(_letter(name), is_italic=True),)


def number(text: str) -> Formula:
    """A literal number: with a true minus, and powers of ten raised."""
    mantissa, mark, exponent = text.lower().partition("e")
    if mark and re.fullmatch(r"-?[\d.]+", mantissa) and re.fullmatch(r"[+-]?\d+", exponent):
        power = Run(str(int(exponent)).replace("-", "−"), level=1)
        base = "" if mantissa in ("1", "1.0") else mantissa.replace("-", "−") + " · "
        return Run(f"{base}10"), power
    return (Run(text.replace("-", "−")),)


def raised(formula: Formula) -> Formula:
    """All of it above the line."""
    return tuple(run._replace(level=1) for run in formula)


def lowered(formula: Formula) -> Formula:
    """All of it below the line."""
    return tuple(run._replace(level=-1) for run in formula)


def _letter(name: str) -> str:
    return GREEK.get(name, name)
