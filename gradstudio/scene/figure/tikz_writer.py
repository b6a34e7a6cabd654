"""A figure as TikZ: a document of its own for LaTeX, with nodes, paths and mathematics to go on with. No Qt."""

import re
from itertools import groupby
from typing import Final

from gradstudio.scene.figure.drawing import Curve, Drawing, Formula, Frame, Mark, Run, Words
from gradstudio.scene.figure.figure_style import TEXT, FigureStyle
from gradstudio.scene.figure.math_symbols import GREEK

SIGNS: Final = {
    "·": r"\cdot ", "⊙": r"\odot ", "−": "-", "×": r"\times ", "÷": r"\div ", "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ",
    "←": r"\leftarrow ",
    "→": r"\to ", "∇": r"\nabla ", "∂": r"\partial ", "Σ": r"\textstyle\sum ", "Π": r"\textstyle\prod ",
    "√": r"\surd ", "‖": r"\Vert ", "|": r"\vert ", "∈": r"\in ", "∞": r"\infty ", "…": r"\dots ", "⊤": r"\top ",
    "∧": r"\wedge ", "∨": r"\vee ", "⌊": r"\lfloor ", "⌋": r"\rfloor ", "⌈": r"\lceil ", "⌉": r"\rceil ", "′": "'",
}  # fmt: skip
LETTERS: Final = {
    **{letter: rf"\{name} " for name, letter in GREEK.items() if name not in ("eps", "lam")},
    "ε": r"\varepsilon ",
    "φ": r"\varphi ",
}
"""Greek variables; a sum is no Sigma."""
ACCENTS: Final = {"\u0302": "hat", "\u0304": "bar", "\u0303": "tilde", "\u0307": "dot"}
ESCAPED: Final = {
    **{letter: f"\\{letter}" for letter in "#$%&_{}"},
    "\\": r"\backslash ",
    "~": r"\sim ",
    "^": r"\hat{}",
}
SPACE: Final = r"\;"
ANCHORS: Final = {"middle": "base", "start": "base west", "end": "base east"}
KNOWN: Final = {**LETTERS, **SIGNS, **ESCAPED}
_FOREIGN: Final = re.compile(f"[^\x00-\x7f{''.join(letter for letter in KNOWN if not letter.isascii())}]+")
"""Letters that mathematics mode has no font for (``ö``); text has."""
_BESIDE_WORD: Final = re.compile(r"(\d(?= (?:\\mathrm|-\\infty))|\\mathrm\{[^{}]+\}(?= -?\d)) ")
"""A space between a number and a word, which mathematics mode would leave out: ``4 NaN``, ``all 0.5``."""
_WORD: Final = re.compile(r"[A-Za-z]{2,}")


def tikz_text(drawing: Drawing, style: FigureStyle, title: str = "") -> str:
    """A standalone document; coordinates are points, y upward."""
    used = {role for mark in drawing.marks for role in _roles(mark) if role}
    lines = [
        f"% {_comment(title)}" if title else "%",
        r"\documentclass[tikz,border=2pt]{standalone}",
        r"\usepackage{amsmath,amssymb}",
        r"\usetikzlibrary{arrows.meta}",
        *(rf"\definecolor{{gs{_name(role)}}}{{HTML}}{{{style.ink(role)[1:].upper()}}}" for role in sorted(used)),
        r"\begin{document}",
        r"\begin{tikzpicture}[x=1pt,y=1pt,line cap=round,",
        r"  flow/.style={-{Stealth[length=5pt]}},back/.style={{Stealth[length=5pt]}-},",
        r"  dashes/.style={dash pattern=on 3pt off 2pt},word/.style={inner sep=1pt}]",
        *(_mark(mark, drawing) for mark in drawing.marks if not isinstance(mark, Words) or mark.formula),
        r"\end{tikzpicture}",
        r"\end{document}",
    ]
    return "\n".join(lines) + "\n"


def latex(formula: Formula) -> str:
    """A formula in mathematics mode, without its dollars."""
    found = []
    for level, runs in groupby(formula, key=lambda run: run.level):
        letters = "".join(_letters(run) for run in runs)
        if level:
            sign = "^" if level > 0 else "_"
            letters = f"{sign}{{{letters.strip()}}}"
        found.append(letters)
    text = " ".join("".join(found).split())
    return _BESIDE_WORD.sub(lambda found: f"{found[1]}{SPACE}", text)


def _letters(run: Run) -> str:
    if run.is_italic:
        base = "".join(letter for letter in run.text if letter not in ACCENTS)
        accents = [ACCENTS[letter] for letter in run.text if letter in ACCENTS]
        text = LETTERS.get(base) or _signs(base)
        if _FOREIGN.search(base):
            text = rf"\textit{{{''.join(ESCAPED.get(letter, letter) for letter in base)}}}"
        elif len(base) > 1 and _WORD.match(base):
            text = rf"\mathit{{{text}}}"
        for accent in accents:
            text = rf"\{accent}{{{text}}}"
        return text
    parts = re.split(r"([A-Za-z][A-Za-z ]*[A-Za-z]|[A-Za-z])", run.text)
    return "".join(rf"\mathrm{{{part.replace(' ', SPACE)}}}" if k % 2 else _signs(part) for k, part in enumerate(parts))


def _signs(text: str) -> str:
    """Letters and signs as mathematics mode takes them; a space alone between variables is a thin one."""
    if text == " ":
        return r"\,"
    return _FOREIGN.sub(r"\\text{\g<0>}", "".join(KNOWN.get(letter, letter) for letter in text))


def _mark(mark: Mark, drawing: Drawing) -> str:
    match mark:
        case Frame():
            return _frame(mark, drawing)
        case Curve():
            return _curve(mark, drawing)
        case Words():
            return _words(mark, drawing)


def _frame(frame: Frame, drawing: Drawing) -> str:
    box = frame.box
    options = [f"draw=gs{_name(frame.stroke)}", f"line width={frame.width:g}pt"] if frame.stroke else ["draw=none"]
    options += [f"fill=gs{_name(frame.fill)}"] if frame.fill else []
    options += ["dashes"] if frame.is_dashed else []
    options += [f"rounded corners={frame.radius:g}pt"] if frame.radius else []
    corners = f"{_point(box.x, box.bottom, drawing)} rectangle {_point(box.right, box.y, drawing)}"
    return rf"\path[{','.join(options)}] {corners};"


def _curve(curve: Curve, drawing: Drawing) -> str:
    arrow = {"none": "", "forward": "flow,", "back": "back,"}[curve.arrow]
    dashes = "dashes," if curve.is_dashed else ""
    way = _point(*curve.start, drawing)
    for one, two, end in curve.segments:
        handles = f"{_point(*one, drawing)} and {_point(*two, drawing)}"
        way += f" .. controls {handles} .. {_point(*end, drawing)}"
    return rf"\draw[{arrow}{dashes}draw=gs{_name(curve.stroke)},line width={curve.width:g}pt] {way};"


def _words(words: Words, drawing: Drawing) -> str:
    ground = ",fill=gsground" if words.has_ground and drawing.is_filled else ""
    size = "" if words.size >= TEXT else r",font=\footnotesize"
    options = f"word,anchor={ANCHORS[words.anchor]},text=gs{_name(words.role)}{size}{ground}"
    return rf"\node[{options}] at {_point(words.x, words.y, drawing)} {{${latex(words.formula)}$}};"


def _roles(mark: Mark) -> tuple[str, ...]:
    match mark:
        case Frame():
            return mark.stroke, mark.fill
        case Curve():
            return (mark.stroke,)
        case Words():
            return (mark.role, "ground") if mark.has_ground else (mark.role,)


def _point(x: float, y: float, drawing: Drawing) -> str:
    return f"({x:.2f},{drawing.height - y:.2f})"


def _name(role: str) -> str:
    return role.replace("_", "")


def _comment(text: str) -> str:
    return " ".join(text.split())
