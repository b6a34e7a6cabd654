"""Sections of arguments: ``name (type, optional): words``, an entry each."""

import re
from collections.abc import Callable

from gradstudio.operators.docstrings.indentation import Lines, dedent, indent_of, is_blank
from gradstudio.operators.docstrings.inline_markup import Targets, spans
from gradstudio.operators.docstrings.model import Block, Field, Fields

ReadBlocks = Callable[[Lines], tuple[Block, ...]]
_NAME = r"\*{0,2}`{0,2}[^\W\d][\w.\[\]\\|-]*`{0,2}\*{0,2}"
_NAMES = re.compile(
    rf"^(?:[-*]\s+)?(?P<names>{_NAME}(?:\s*(?:,|and|/|or)\s*\*{{0,2}}[^\W\d][\w.\[\]]*)*(?:\s*,?\s*\.\.\.)?)\s*"
)
_PARAM = re.compile(
    r"^:(?:param|parameter|arg|argument|keyword)\s+(?:(?P<takes>[^:]+?)\s+)?(?P<name>\*{0,2}\w+):\s*(?P<words>.*)$"
)


def entry(line: str) -> tuple[tuple[str, ...], str, str] | None:
    """Names, type and first words of a line that begins an argument; None when it does not."""
    found = _NAMES.match(line)
    if found is None:
        return None
    rest, takes = line[found.end() :], ""
    if rest.startswith("("):
        end = _closing(rest)
        takes = rest[1:end]
        rest = rest[end + 1 :].lstrip()
        if rest.startswith(("–", "- ")):
            rest = ":" + rest[1:]
    if not rest.startswith(":") or rest.startswith(("::", ":`")) or re.match(r":\w+:`", rest):
        return None
    names = tuple(re.sub(r"[*`\\]", "", name).strip() for name in re.split(r",|\band\b|/|\bor\b", found["names"]))
    return tuple(name for name in names if name and name != "..."), takes.strip(), rest[1:].strip()


def read_fields(title: str, lines: Lines, read: ReadBlocks, targets: Targets) -> Fields | None:
    """The section's entries; None when its first line begins none."""
    body = dedent(lines)
    if not body or entry(body[0]) is None:
        return None
    fields: list[Field] = []
    at = 0
    while at < len(body):
        begun = entry(body[at])
        if begun is None:  # a line that belongs to the last one, by its words if not by its place
            return None if not fields else _with_rest(title, fields, read(body[at:]))
        names, takes, first = begun
        at += 1
        start = at
        while at < len(body) and (is_blank(body[at]) or indent_of(body[at]) > 0 or _goes_on(body, at)):
            at += 1
        rest = dedent(_evened(body[start:at]))
        words = [first, *rest] if first and rest and body[start].strip() else [first, "", *rest]
        fields.append(Field(names, spans(takes, targets), read(words)))
    return Fields(title, tuple(fields))


def _with_rest(title: str, fields: list[Field], rest: tuple[Block, ...]) -> Fields:
    last = fields[-1]
    return Fields(title, (*fields[:-1], Field(last.names, last.takes, (*last.blocks, *rest))))


def _goes_on(body: Lines, at: int) -> bool:
    """Whether a line at the left edge goes on with the entry above it."""
    return not is_blank(body[at - 1]) and entry(body[at]) is None


def _evened(lines: Lines) -> Lines:
    """Lines at the left edge that go on with an entry stand in like the others."""
    least = min((indent_of(line) for line in lines if not is_blank(line) and indent_of(line)), default=0)
    return [line if is_blank(line) or indent_of(line) else " " * least + line for line in lines]


def read_param(lines: Lines, read: ReadBlocks, targets: Targets) -> Field | None:
    """An entry in Sphinx's own way: ``:param int dim: words``."""
    found = _PARAM.match(lines[0])
    if found is None:
        return None
    takes = spans(found["takes"] or "", targets)
    return Field((found["name"].lstrip("*"),), takes, read([found["words"], *dedent(lines[1:])]))


def _closing(text: str) -> int:
    depth = 0
    for k, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0:
            return k
    return len(text)
