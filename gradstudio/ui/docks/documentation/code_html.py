"""Code as rich text: prompts dim, Python coloured, what an example prints in plain."""

import re
from html import escape

from gradstudio.ui.theme import Theme
from gradstudio.ui.widgets.python_highlighter import shares

PROMPTS = (">>> ", "... ", ">>>", "...")


def code_html(text: str, theme: Theme, *, python: bool = True) -> str:
    """The lines of some code."""
    if not python:
        return escape(text)
    if not text.lstrip().startswith(">>>"):
        return "\n".join(_coloured(line, theme) for line in text.splitlines())
    return "\n".join(_session_line(line, theme) for line in text.splitlines())


def without_prompts(text: str) -> str:
    """What a person would type: the lines behind the prompts; all of it where there are none."""
    lines = text.splitlines()
    typed = [_split(line)[1] for line in lines if _split(line)[0]]
    typed = [line for line in typed if not re.match(r"\s*# xdoctest:", line)]
    return "\n".join(typed or lines) + "\n"


def without_directions(text: str) -> str:
    """Without lines that only torch's test runner reads."""
    return "\n".join(line for line in text.splitlines() if not re.match(r"\s*(>>> )?# xdoctest:", line))


def _split(line: str) -> tuple[str, str]:
    """The prompt of a line, and what stands behind it."""
    bare = line.lstrip()
    prompt = next((each for each in PROMPTS if bare.startswith(each)), "")
    return (prompt, bare[len(prompt) :]) if prompt else ("", line)


def _session_line(line: str, theme: Theme) -> str:
    prompt, rest = _split(line)
    if not prompt:
        return f'<span style="color:{theme.text_dim}">{escape(line)}</span>'
    return f'<span style="color:{theme.text_dim}">{escape(prompt)}</span>{_coloured(rest, theme)}'


def _coloured(line: str, theme: Theme) -> str:
    """A line of Python; one that is no whole statement keeps what was understood of it."""
    parts: list[str] = []
    at = 0
    for column, length, role in shares(line).get(0, ()):
        color = getattr(theme.syntax, role)
        parts.append(escape(line[at:column]))
        parts.append(f'<span style="color:{color}">{escape(line[column : column + length])}</span>')
        at = column + length
    return "".join(parts) + escape(line[at:])
