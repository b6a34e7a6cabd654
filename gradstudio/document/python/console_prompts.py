"""Text as it is copied from pages and consoles: prompts, fences and indentation come off, what was printed goes.

Lines keep their numbers: a line that is none of the code is left empty.
"""

import re
import textwrap

_FENCE = re.compile(r"\s*(```+|~~~+)\s*(\w*)")
_LANGUAGES = frozenset({"", "python", "py", "python3", "pycon", "ipython"})
_CONSOLE = re.compile(r"\s*(?:>>>|\.\.\.)(?: (.*)|$)")
_NOTEBOOK = re.compile(r"\s*(?:In ?\[[\d *]*\]:|\.\.\.+:)(?: (.*)|$)")


def strip_prompts(text: str) -> str:
    """The code in a text, without what stands around it on a page or in a console."""
    lines = _without_fences(text.split("\n"))
    for prompt, first in ((_CONSOLE, r"\s*>>>( |$)"), (_NOTEBOOK, r"\s*In ?\[[\d *]*\]:")):
        if any(re.match(first, line) for line in lines):
            lines = _behind(prompt, lines)
    return textwrap.dedent("\n".join(lines))


def has_prompts(text: str) -> bool:
    """Whether it is marked as code: by prompts or by a fence."""
    return any(re.match(r"\s*(>>>( |$)|In ?\[[\d *]*\]:|```+\s*(python|py)\b)", line) for line in text.split("\n"))


def _without_fences(lines: list[str]) -> list[str]:
    """What stands between fences that open with the name of Python or none; without fences, everything."""
    if not any(_FENCE.match(line) for line in lines):
        return lines
    kept: list[str] = []
    mark = ""
    takes = False
    for line in lines:
        found = _FENCE.match(line)
        if found is not None and (not mark or line.strip() == mark):
            mark, takes = ("", False) if mark else (found[1], found[2].lower() in _LANGUAGES)
            kept.append("")
        else:
            kept.append(line if takes else "")
    return kept


def _behind(prompt: re.Pattern[str], lines: list[str]) -> list[str]:
    found = (prompt.match(line) for line in lines)
    return ["" if match is None else match[1] or "" for match in found]
