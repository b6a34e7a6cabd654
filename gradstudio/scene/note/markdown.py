"""The part of Markdown that notes show: headings, bold, italic, code, lists, links. Words only, no Qt.

Nothing is fetched and nothing is HTML; what is not understood stands as it was typed. One line of the comment is one
line of the note.
"""

from typing import Final
from typing import Literal as OneOf

import msgspec

from gradstudio.late_pattern import late

Style = OneOf["", "bold", "italic", "bold_italic", "code", "link", "head", "head_2"]
BULLET: Final = "•"
INDENT: Final = 12.0
"""Scene pixels of a step of a list."""
MOST_SHOWN: Final = 20_000
"""Characters of a note that a canvas shows: laying words out takes its time."""
_INLINE: Final = late(
    r"`(?P<code>[^`]+)`"
    r"|\[(?P<text>[^\]\n]+)\]\((?P<url>https?://[^\s)]+)\)"
    r"|(?P<bare>https?://[^\s<>\"')\]]*[^\s<>\"')\].,;:!?])"
    r"|(?<!\*)\*\*\*(?P<both>\S(?:[^*]*\S)?)\*\*\*(?!\*)"
    r"|(?<!\*)\*\*(?P<bold>\S(?:[^*]*\S)?)\*\*(?!\*)"
    r"|(?<![\w*])\*(?P<italic>[^\s*](?:[^*]*[^\s*])?)\*(?![\w*])"
    r"|(?<!\w)_(?P<slanted>[^\s_](?:[^_]*[^\s_])?)_(?!\w)"
)
RULE: Final = 10
"""Signs that are shown of a line that only rules off: it takes one line of a note, and no more."""
_RULE: Final = late(r" *([#=*~_-])\1{9,} *$")
_HEAD: Final = late(r"(#{1,6}) +(.+?) *#*$")
_ITEM: Final = late(r"( *)(?:[-*+]|(\d{1,3})[.)]) +(.+)$")
_NAMED: Final[dict[str, Style]] = {
    "code": "code", "both": "bold_italic", "bold": "bold", "italic": "italic", "slanted": "italic",
}  # fmt: skip


class Run(msgspec.Struct, frozen=True):
    """Words of one style; `url` of a link."""

    text: str
    style: Style = ""
    url: str = ""


class Line(msgspec.Struct, frozen=True):
    """One line of a comment: what stands before it, how far it is moved in, its words."""

    runs: tuple[Run, ...]
    indent: float = 0.0
    bullet: str = ""


def parse(text: str) -> tuple[Line, ...]:
    """The lines of a note; between two fences (```) everything is code.

    Of a very long note they are its beginning, and a line that says how much more there is.
    """
    lines, fenced = [], False
    rest = len(text) - MOST_SHOWN
    if rest > 0:
        text = text[:MOST_SHOWN]
    for line in text.splitlines() or [""]:
        if line.strip().startswith("```"):
            fenced = not fenced
        elif fenced:
            lines.append(Line((Run(line, "code"),), INDENT))
        else:
            lines.append(_line(line))
    if rest > 0:
        lines.append(Line((Run(f"… and {rest:,} more characters", "italic"),)))
    return tuple(lines)


def without_markup(text: str) -> str:
    """The same words without their signs."""
    rows = (f"{line.bullet} " * bool(line.bullet) + "".join(run.text for run in line.runs) for line in parse(text))
    return "\n".join(rows)


def _line(text: str) -> Line:
    if (rule := _RULE.match(text)) is not None:
        return Line((Run(rule[1] * RULE),))
    if (head := _HEAD.match(text)) is not None:
        style: Style = "head" if len(head[1]) == 1 else "head_2"
        return Line(tuple(Run(run.text, style, run.url) for run in _runs(head[2])))
    if (item := _ITEM.match(text)) is not None:
        depth = min(len(item[1]) // 2, 6)
        return Line(_runs(item[3]), INDENT * (depth + 1), f"{item[2]}." if item[2] else BULLET)
    return Line(_runs(text))


def _runs(text: str) -> tuple[Run, ...]:
    runs, at = [], 0
    for found in _INLINE.finditer(text):
        if found.start() > at:
            runs.append(Run(text[at : found.start()]))
        at = found.end()
        kind = found.lastgroup or ""
        if kind in ("url", "bare"):
            runs.append(Run(found["text"] or found["bare"], "link", found["url"] or found["bare"]))
        else:
            runs.append(Run(found[kind], _NAMED[kind]))
    if at < len(text) or not runs:
        runs.append(Run(text[at:]))
    return tuple(runs)
