"""Reads a docstring: what stands above the text, then block after block."""

import re

from gradstudio.operators.docstrings.block_reader import BlockReader
from gradstudio.operators.docstrings.indentation import is_blank
from gradstudio.operators.docstrings.model import Docstring

_CALL = re.compile(r"^(?:[\w.]+\.)?[\w]+\s*\(")
_LINK = re.compile(r"^\s*\.\. _(?P<words>(?:\\:|[^:])+):\s*(?P<url>https?://\S+)?[ ]*$", re.MULTILINE)
_LINK_BELOW = re.compile(r"^\s*\.\. _(?P<words>(?:\\:|[^:\n])+):[ ]*\n\s+(?P<url>https?://\S+)", re.MULTILINE)
MAX_SIGNATURE_LINES = 24


def read(text: str) -> Docstring:
    """A docstring without common indentation; never refuses one."""
    lines = text.expandtabs(4).splitlines()
    signatures: list[str] = []
    while lines:
        while lines and is_blank(lines[0]):
            lines.pop(0)
        found = _signature(lines)
        if not found:
            break
        signatures.append(re.sub(r"\s*\n\s*", " ", "\n".join(lines[:found])).strip().rstrip("\\").strip())
        del lines[:found]
    targets = {re.sub(r"\s+", " ", m["words"].replace("\\:", ":").strip("`")).lower(): m["url"] for m in _links(text)}
    return Docstring(tuple(signatures), BlockReader(targets).read(lines))


def _links(text: str) -> list[re.Match[str]]:
    found = [*_LINK.finditer(text), *_LINK_BELOW.finditer(text)]
    return [match for match in found if match["url"]]


def _signature(lines: list[str]) -> int:
    """How many lines at the top are one signature: a call with nothing beside it but ``-> result``."""
    if not lines or not _CALL.match(lines[0]):
        return 0
    depth = 0
    for k, line in enumerate(lines[:MAX_SIGNATURE_LINES]):
        depth += sum(line.count(sign) for sign in "([{") - sum(line.count(sign) for sign in ")]}")
        if depth <= 0:
            rest = line[line.rfind(")") + 1 :] if "->" not in line else line.rpartition("->")[0].rpartition(")")[2]
            ends_so = not rest.strip(" \\:") or "->" in line[line.find(")") :]
            return k + 1 if ends_so else 0
        if is_blank(line):
            return 0
    return 0
