"""Directives: ``.. note::``, ``.. math::``, ``.. code-block::`` and those that leave no trace on a page."""

import re

from gradstudio.operators.docstrings import latex, rst_tables
from gradstudio.operators.docstrings.argument_fields import ReadBlocks
from gradstudio.operators.docstrings.indentation import Lines, dedent, indent_of, is_blank
from gradstudio.operators.docstrings.inline_markup import Targets, spans
from gradstudio.operators.docstrings.model import Block, Box, Code, Formula, Heading, Signature

_NAME = re.compile(r"^\.\. (?P<name>[A-Za-z][\w:-]*?):{0,2}(?:\s+(?P<words>.*))?$")
BOXES = {
    "note": ("note", "Note"), "warning": ("warning", "Warning"), "seealso": ("note", "See also"),
    "tip": ("note", "Tip"), "hint": ("note", "Hint"), "important": ("warning", "Important"),
    "caution": ("warning", "Caution"), "attention": ("warning", "Attention"), "danger": ("warning", "Danger"),
    "admonition": ("note", ""), "todo": ("note", "To do"), "deprecated": ("warning", "Deprecated since"),
    "versionadded": ("note", "New in"), "versionchanged": ("note", "Changed in"),
}  # fmt: skip
"""By directive: the kind of box, and its title."""
CODE = frozenset("code code-block sourcecode doctest testcode highlight parsed-literal literalinclude".split())
CALLS = frozenset({"function", "method", "class", "py:function", "py:method", "py:class", "attribute"})
_OPTION = re.compile(r"^\s*:[\w-]+:")


def read(lines: Lines, blocks: ReadBlocks, targets: Targets) -> tuple[Block, ...]:
    """The blocks of a directive: its first line and those that stand in below it."""
    found = _NAME.match(lines[0].rstrip())
    if found is None:
        return ()
    name = found["name"].lower().rstrip(":")
    words = (found["words"] or "").strip()
    body = dedent(lines[1:])
    if name in BOXES:
        return _box(name, words, lines[1:], blocks)
    if name == "math":
        return _formula(words, body)
    if name in CODE:
        return (Code("\n".join(dedent(_without_options(body))), words not in ("c++", "bash", "text", "none", "sh")),)
    if name in CALLS:
        rest = blocks(dedent(_without_options(body)))
        return (Signature(re.sub(r"\s*\\$", "", words)), *rest)
    if name == "list-table":
        table = rst_tables.read_list_table(body, targets)
        if table is None:
            return ()
        return (Heading(spans(words, targets)), table) if words else (table,)
    if name == "rubric":
        return (Heading(spans(words, targets)),)
    return ()


def _box(name: str, words: str, lines: Lines, blocks: ReadBlocks) -> tuple[Block, ...]:
    kind, title = BOXES[name]
    if name == "admonition":
        title, words = words, ""
    if name.startswith(("version", "deprecated")):
        version, _, words = words.partition(" ")
        title = f"{title} {version}"
    rest = _without_options(dedent(lines))
    inner = blocks([words, *rest] if words else rest)
    return (Box(kind, title, inner),) if inner or title else ()


def _formula(words: str, body: Lines) -> tuple[Block, ...]:
    told: list[Block] = []
    text = "\n".join([words, *_without_options(body)])
    for part in re.split(r"\n\s*\n", text) if "\\begin" not in text else [text]:
        lines = latex.display(part) if part.strip() else ()
        if lines:
            told.append(Formula(lines))
    return tuple(told)


def _without_options(lines: Lines) -> Lines:
    at = 0
    while at < len(lines) and (_OPTION.match(lines[at]) or (at and is_blank(lines[at]) and indent_of(lines[at]) == 0)):
        at += 1
    return lines[at:]
