"""Reads lines as blocks: sections, directives, lists, examples, paragraphs."""

import re
from itertools import pairwise

from gradstudio.operators.docstrings import directives, rst_tables
from gradstudio.operators.docstrings.argument_fields import read_fields, read_param
from gradstudio.operators.docstrings.indentation import Lines, dedent, indent_of, indented_end, is_blank
from gradstudio.operators.docstrings.inline_markup import Targets, spans
from gradstudio.operators.docstrings.model import (
    Block,
    Box,
    Code,
    Definition,
    Fields,
    Heading,
    Listing,
    Paragraph,
    Quote,
)

FIELD_SECTIONS = {
    "args": "Arguments", "arg": "Arguments", "arguments": "Arguments", "parameters": "Arguments", "params": "Arguments",
    "keyword args": "Keyword arguments", "keyword arguments": "Keyword arguments", "kwargs": "Keyword arguments",
    "keyword arg": "Keyword arguments", "other parameters": "Keyword arguments", "attributes": "Attributes",
    "variables": "Attributes", "raises": "Raises", "inputs": "Inputs", "outputs": "Outputs", "members": "Members",
    "returns": "Returns", "return": "Returns", "yields": "Yields",
}  # fmt: skip
"""Sections of entries: as they are written, as they are shown."""
SECTIONS = frozenset(
    "shape shapes example examples references reference usage inputs outputs see note equation".split()
)
_SECTION = re.compile(r"^(?P<title>[A-Z][\w /-]*?)\s?(?P<colons>:{1,2})\s*$")
_TITLED = re.compile(r"^(?P<title>Inputs|Outputs|Returns?|Shape)\s?:\s+(?P<rest>\S.*)$")
_BOXED = re.compile(
    r"^(?:\.\. )?(?P<kind>Note|Notes|Warning|Warnings|Tip|Important|NOTE|WARNING)\s?:{1,2}\s*(?P<rest>.*)$"
)
_BULLET = re.compile(r"^(?P<mark>[-*+•]|\(?\d{1,2}[.)]|\(?[a-z]\)|#\.)\s+(?=\S)")
_PLAIN_BULLET = re.compile(r"^[-*•]\s+(?=\S)")
_UNDERLINE = re.compile(r"^([=\-~^\"#*+])\1{2,}\s*$")
_DIRECTIVE = re.compile(r"^\.\. ")
_GRID = re.compile(r"^\s*\+[-=+]{3,}\+\s*$")
_PROSE = re.compile(r"^[A-Z][a-z]+,? [a-z]")
_FENCE = re.compile(r"^\s*(```|~~~)")
LONGEST_TERM = 70


class BlockReader:
    """Reads blocks; blocks within blocks in the same way."""

    def __init__(self, targets: Targets) -> None:
        """`targets`: web addresses of names that the docstring gives at its end."""
        self.targets = targets

    def read(self, lines: Lines) -> tuple[Block, ...]:
        """All blocks of some lines."""
        body = dedent(lines) if lines and not is_blank(lines[0]) and indent_of(lines[0]) else [*lines]
        blocks: list[Block] = []
        at = 0
        while at < len(body):
            if is_blank(body[at]):
                at += 1
                continue
            end, found = self._block(body, at)
            at = max(end, at + 1)
            _add(blocks, found)
        return tuple(blocks)

    def _block(self, lines: Lines, at: int) -> tuple[int, tuple[Block, ...]]:
        """The block that begins there, and where it ends."""
        line = lines[at]
        if indent_of(line):
            end = indented_end(lines, at)
            return end, self._inset(lines[at:end])
        for read in (
            *(self._example, self._fence, self._directive, self._boxed, self._section, self._table, self._underlined),
            *(self._listing, self._param, self._definition),
        ):
            found = read(lines, at)
            if found is not None:
                return found
        return self._paragraph(lines, at)

    def _inset(self, lines: Lines) -> tuple[Block, ...]:
        inner = self.read(dedent(lines))
        if inner and isinstance(inner[0], Code | Fields):
            return inner
        if inner:
            return (Quote(inner),)
        return ()

    # ------------------------------------------------------------------ kinds of blocks

    def _example(self, lines: Lines, at: int) -> tuple[int, tuple[Block, ...]] | None:
        if not lines[at].startswith(">>>"):
            return None
        end = at
        while end < len(lines) and not is_blank(lines[end]):
            end += 1
        return end, (Code("\n".join(lines[at:end])),)

    def _fence(self, lines: Lines, at: int) -> tuple[int, tuple[Block, ...]] | None:
        if not _FENCE.match(lines[at]):
            return None
        end = at + 1
        while end < len(lines) and not _FENCE.match(lines[end]):
            end += 1
        return end + 1, (Code("\n".join(dedent(lines[at + 1 : end]))),)

    def _directive(self, lines: Lines, at: int) -> tuple[int, tuple[Block, ...]] | None:
        if not _DIRECTIVE.match(lines[at]) and lines[at].rstrip() != "..":
            return None
        end = indented_end(lines, at + 1)
        return end, directives.read(lines[at:end], self.read, self.targets)

    def _boxed(self, lines: Lines, at: int) -> tuple[int, tuple[Block, ...]] | None:
        found = _BOXED.match(lines[at])
        if found is None:
            return None
        end = indented_end(lines, at + 1) if not found["rest"] or _is_followed(lines, at) else at + 1
        if found["rest"] and end == at + 1:
            while end < len(lines) and not is_blank(lines[end]):
                end += 1
        kind = "warning" if found["kind"].lower().startswith("warn") else "note"
        body = self.read([found["rest"], *dedent(lines[at + 1 : end])])
        return (end, (Box(kind, found["kind"].capitalize(), body),)) if body else None

    def _section(self, lines: Lines, at: int) -> tuple[int, tuple[Block, ...]] | None:
        titled = _TITLED.match(lines[at])
        found = titled or _SECTION.match(lines[at])
        if found is None:
            return None
        title = found["title"].strip()
        known = title.lower() in SECTIONS or title.lower() in FIELD_SECTIONS or _names_examples(title)
        if not known or (titled is not None and not _is_followed(lines, at)):
            return None
        end = self._end_of_section(lines, at)
        shown = FIELD_SECTIONS.get(title.lower(), title)
        shown = f"{shown}: {titled['rest']}" if titled is not None else shown
        body = lines[at + 1 : end]
        if not any(line.strip() for line in body):
            return at + 1, (Heading(spans(shown)),)
        if title.lower() in FIELD_SECTIONS:
            fields = read_fields(shown, body, self.read, self.targets)
            if fields is not None:
                return end, (fields,)
        if _names_examples(title) or (titled is None and found["colons"] == "::" and title.lower() not in SECTIONS):
            return end, (Heading(spans(shown)), *_code(body, self))
        return end, (Heading(spans(shown)), *self.read(dedent(body)))

    def _end_of_section(self, lines: Lines, at: int) -> int:
        """Its lines stand in; in some docstrings they stand below, up to the next blank line."""
        following = at + 1
        while following < len(lines) and is_blank(lines[following]):
            following += 1
        if following < len(lines) and indent_of(lines[following]):
            return indented_end(lines, at + 1)
        if following == at + 1 and following < len(lines) and not _SECTION.match(lines[following]):
            while following < len(lines) and not is_blank(lines[following]):
                following += 1
            return following
        return at + 1

    def _table(self, lines: Lines, at: int) -> tuple[int, tuple[Block, ...]] | None:
        if rst_tables.RULE.match(lines[at]):
            end = rst_tables.simple_end(lines, at)
            return (end, (rst_tables.read_simple_table(lines[at:end], self.targets),)) if end > at else None
        if not (_GRID.match(lines[at]) or lines[at].startswith("|")):
            return None
        end = at
        while end < len(lines) and not is_blank(lines[end]):
            end += 1
        return end, (Code("\n".join(lines[at:end]), python=False),)

    def _underlined(self, lines: Lines, at: int) -> tuple[int, tuple[Block, ...]] | None:
        if at + 1 < len(lines) and _UNDERLINE.match(lines[at + 1]) and not is_blank(lines[at]):
            return at + 2, (Heading(spans(lines[at].strip(), self.targets)),)
        return (at + 1, ()) if _UNDERLINE.match(lines[at]) else None

    def _listing(self, lines: Lines, at: int) -> tuple[int, tuple[Block, ...]] | None:
        first = _BULLET.match(lines[at])
        if first is None:
            return None
        items: list[tuple[Block, ...]] = []
        numbered = first["mark"][-1] in ".)"
        while at < len(lines):
            begun = _BULLET.match(lines[at])
            if begun is None or (begun["mark"][-1] in ".)") != numbered:
                break
            end = at + 1
            while end < len(lines) and (is_blank(lines[end]) or indent_of(lines[end]) or _wraps(lines, end)):
                end += 1
            item = [lines[at][begun.end() :], *_hung(lines[at + 1 : end])]
            items.append(self.read(item))
            at = end
        return at, (Listing(tuple(items), numbered),)

    def _param(self, lines: Lines, at: int) -> tuple[int, tuple[Block, ...]] | None:
        if not lines[at].startswith(":"):
            return None
        end = indented_end(lines, at + 1)
        field = read_param(lines[at:end], self.read, self.targets)
        if field is not None:
            return end, (Fields("Arguments", (field,)),)
        if found := re.match(r"^:(returns?|raises?[^:]*|yields?):\s*(.*)$", lines[at]):
            words = self.read([found[2], *dedent(lines[at + 1 : end])])
            return end, (Heading(spans(found[1].capitalize())), *words)
        return (end, ()) if re.match(r"^:(rtype|type|noindex|nosignatures|orphan)\b", lines[at]) else None

    def _definition(self, lines: Lines, at: int) -> tuple[int, tuple[Block, ...]] | None:
        """A short line with more of it directly below, further in."""
        line = lines[at].rstrip()
        if not _is_followed(lines, at) or line.endswith("::"):
            return None
        if len(line) > LONGEST_TERM or line.endswith((",", "-")) or not line.endswith((":", ")", "`", "*")):
            return None
        end = indented_end(lines, at + 1)
        body = self.read(dedent(lines[at + 1 : end]))
        return end, (Definition(spans(line.removesuffix(":"), self.targets), body),)

    def _paragraph(self, lines: Lines, at: int) -> tuple[int, tuple[Block, ...]]:
        end = at + 1
        while end < len(lines) and not is_blank(lines[end]) and not self._breaks(lines, end):
            end += 1
        text = " ".join(line.strip() for line in lines[at:end])
        if not text.endswith("::"):
            return end, (Paragraph(spans(text, self.targets)),) if text else ()
        words = text[:-1] if text != "::" else ""
        told: tuple[Block, ...] = (Paragraph(spans(words.replace(" :", ":"), self.targets)),) if words else ()
        below = indented_end(lines, end)
        return below, (*told, *_code(lines[end:below], self))

    def _breaks(self, lines: Lines, at: int) -> bool:
        """Whether another block begins there without a blank line."""
        line = lines[at]
        if lines[at - 1].rstrip().endswith(":") and (indent_of(line) or _BULLET.match(line)):
            return True
        section = _SECTION.match(line)
        known = section is not None and (
            section["title"].lower() in FIELD_SECTIONS or _names_examples(section["title"])
        )
        return bool(
            known or _PLAIN_BULLET.match(line) or _DIRECTIVE.match(line) or line.lstrip().startswith(">>>")
            or rst_tables.RULE.match(line) or _FENCE.match(line) or line.startswith(":param ")
        )  # fmt: skip


def _code(lines: Lines, reader: BlockReader) -> tuple[Block, ...]:
    """Lines that keep their places; what stands between examples as words stays words."""
    body = dedent(lines)
    if not body:
        return ()
    if any(line.lstrip().startswith(">>>") for line in body) and not body[0].lstrip().startswith(">>>"):
        return reader.read(body)
    if any(
        line.startswith(".. ") or (is_blank(former) and _PROSE.match(line)) for former, line in pairwise(["x", *body])
    ):
        return reader.read(body)
    return (Code("\n".join(body)),)


def _names_examples(title: str) -> bool:
    words = title.lower().split()
    return words[0] in ("example", "examples", "usage") or words[-1] in ("example", "examples")


def _is_followed(lines: Lines, at: int) -> bool:
    """Whether the next line stands further in."""
    return at + 1 < len(lines) and not is_blank(lines[at + 1]) and indent_of(lines[at + 1]) > 0


def _wraps(lines: Lines, at: int) -> bool:
    """Whether a line at the left edge goes on with the item above it."""
    return not is_blank(lines[at - 1]) and _BULLET.match(lines[at]) is None and not _SECTION.match(lines[at])


def _hung(lines: Lines) -> Lines:
    """The further lines of an item, at the left edge; those that wrap stand there already."""
    least = min((indent_of(line) for line in lines if not is_blank(line) and indent_of(line)), default=0)
    return [line[min(least, indent_of(line)) :] for line in lines]


def _add(blocks: list[Block], found: tuple[Block, ...]) -> None:
    """Add blocks; examples that follow one another stand in one, with a line between them."""
    for block in found:
        last = blocks[-1] if blocks else None
        if isinstance(block, Code) and isinstance(last, Code) and block.is_session and last.is_session:
            blocks[-1] = Code(f"{last.text}\n\n{block.text}")
        elif isinstance(block, Fields) and isinstance(last, Fields) and block.title == last.title:
            blocks[-1] = Fields(last.title, (*last.fields, *block.fields))
        else:
            blocks.append(block)
