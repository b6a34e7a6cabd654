"""What a tooltip needs of a docstring: its first sentence, and what is said of one argument."""

import re
from collections.abc import Iterator

from gradstudio.operators.docstrings.model import (
    Block,
    Box,
    Definition,
    Docstring,
    Field,
    Fields,
    Formula,
    Listing,
    Paragraph,
    Quote,
    plain_text,
)

MAX_CHARACTERS = 260
ARGUMENT_SECTIONS = frozenset({"Arguments", "Keyword arguments", "Inputs", "Members"})
_SENTENCE = re.compile(r"(?<![ (]e\.g)(?<![ (]i\.e)(?<!etc)(?<! vs)[.!?](?=\s+[A-Z(]|\s*$)")
_POINTER = re.compile(r"^(?:See|Alias|In-?place version|Out-of-place version)\b", re.IGNORECASE)


def first_sentence(docstring: Docstring) -> str:
    """The first sentence of running text; "" where there is none, or where it only points elsewhere."""
    first = next((block for block in docstring.blocks if isinstance(block, Paragraph)), None)
    if first is None:
        return ""
    words = sentence(plain_text(first.spans))
    return "" if _POINTER.match(words) else words


def sentence(words: str) -> str:
    """The first sentence of some words."""
    end = _SENTENCE.search(words)
    return shorten(words[: end.end()] if end is not None else words)


def shorten(words: str) -> str:
    """Words that fit into a tooltip, cut between two of them."""
    words = words.strip()
    return words if len(words) <= MAX_CHARACTERS else words[:MAX_CHARACTERS].rsplit(" ", 1)[0].rstrip(",;:") + " …"


def fields(blocks: tuple[Block, ...]) -> Iterator[Field]:
    """Every argument that is described somewhere in the blocks, in their order."""
    for block in blocks:
        if isinstance(block, Fields) and block.title.split(":")[0] in ARGUMENT_SECTIONS:
            yield from block.fields
        elif isinstance(block, Quote | Box | Definition):
            yield from fields(block.blocks)


def argument_words(docstring: Docstring, name: str) -> str:
    """What the docstring says of an argument, shortly; "" when it says nothing."""
    for field in fields(docstring.blocks):
        if name in field.names:
            return shorten(_running(field.blocks))
    return ""


def _running(blocks: tuple[Block, ...]) -> str:
    """Blocks as one run of words, without code."""
    parts: list[str] = []
    for block in blocks:
        if isinstance(block, Paragraph):
            parts.append(plain_text(block.spans))
        elif isinstance(block, Formula):
            parts += [plain_text(line) for line in block.lines]
        elif isinstance(block, Listing):
            parts += [_running(item) for item in block.items]
        elif isinstance(block, Quote):
            parts.append(_running(block.blocks))
    return " ".join(part for part in parts if part)
