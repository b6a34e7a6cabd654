"""Every step of a run as one HTML page: a slider and the arrow keys go through it; it asks no other file. No Qt."""

import json
from collections.abc import Sequence
from html import escape
from typing import Final

from gradstudio import paths
from gradstudio.scene.figure.drawing import Drawing, Mark
from gradstudio.scene.figure.figure_style import FigureStyle, figure_style
from gradstudio.scene.figure.svg_writer import mark_text, svg_element

POINT_PX: Final = 1.75
"""Pixels a point where the page has room."""
LEAST_PX: Final = 0.9
"""Below so many a point letters cannot be read: then the page is scrolled."""


def page_text(drawings: Sequence[Drawing], captions: Sequence[str], title: str, note: str = "") -> str:
    """The page; it is light or dark as the reader's system is.

    Args:
        drawings: the steps, all of one layout, and so with the same keys.
        captions: a sentence for each.
        title: of the page.
        note: what stands below, such as steps that are left out.
    """
    light, dark = figure_style("paper"), figure_style("night")
    first = drawings[0]
    parts = {
        "title": escape(title),
        "light": _inks(light),
        "dark": _inks(dark),
        "width": str(round(first.width * POINT_PX)),
        "least": str(round(first.width * LEAST_PX)),
        "figure": svg_element(first, light, _variable, title),
        "last": str(len(drawings) - 1),
        "note": escape(note),
        "steps": _script_text(_steps(drawings, captions)),
    }
    text = (paths.resources() / "figures" / "stepping.html").read_text(encoding="utf-8")
    head, *pieces = text.split("{{")
    for piece in pieces:
        name, _, rest = piece.partition("}}")
        head += parts[name] + rest
    return head


def _steps(drawings: Sequence[Drawing], captions: Sequence[str]) -> list[dict[str, object]]:
    """For each step its sentence, and those marks that differ from the step before."""
    found: list[dict[str, object]] = []
    before: dict[str, Mark] = {}
    for drawing, words in zip(drawings, captions, strict=True):
        marks = {mark.key: mark for mark in drawing.marks if mark.key}
        new = (mark for key, mark in marks.items() if before.get(key) != mark)
        found.append(
            {"caption": words, "marks": {one.key: mark_text(one, _variable, drawing.is_filled) for one in new}}
        )
        before = marks
    return found


def _script_text(data: object) -> str:
    """JSON that ends no script, whatever is in it."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _variable(role: str) -> str:
    return f"var(--{role})"


def _inks(style: FigureStyle) -> str:
    return " ".join(f"--{role}: {ink};" for role, ink in style.inks.items())
