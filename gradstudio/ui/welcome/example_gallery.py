"""Which examples there are, in groups, with a sentence each: read from the README beside them. No Qt."""

import re
from pathlib import Path
from typing import Final, NamedTuple

OTHERS: Final = "More"
"""Group of the examples that the README does not mention."""
SPELLINGS: Final = {"nan": "NaN"}
_HEADING: Final = re.compile(r"^## (?P<title>.+)$")
_ROW: Final = re.compile(r"^\| `(?P<name>[^`|]+\.gsg)` \| (?P<words>.+) \|$")


class Example(NamedTuple):
    """One example: its file, its title and what to see in it, a sentence of plain text."""

    path: Path
    title: str
    sentence: str


class Group(NamedTuple):
    """Examples of one subject."""

    title: str
    examples: tuple[Example, ...]


def groups(folder: Path) -> tuple[Group, ...]:
    """The examples of a folder, grouped as its README groups them; those it does not name come last."""
    files = {path.name: path for path in sorted(folder.glob("*.gsg"))}
    found: dict[str, list[Example]] = {}
    title = ""
    for line in _lines(folder / "README.md"):
        if heading := _HEADING.match(line):
            title = heading["title"]
        elif (row := _ROW.match(line)) and (path := files.pop(row["name"], None)) is not None:
            found.setdefault(title, []).append(Example(path, words_of(path), _sentence(row["words"])))
    if files:
        found[OTHERS] = [Example(path, words_of(path), "") for path in files.values()]
    return tuple(Group(name, tuple(examples)) for name, examples in found.items())


def words_of(path: Path) -> str:
    """``Linear regression`` for ``03_linear_regression.gsg``."""
    words = path.stem.lstrip("0123456789").replace("_", " ").strip() or path.stem
    spelt = " ".join(SPELLINGS.get(word, word) for word in words.split(" "))
    return spelt[:1].upper() + spelt[1:]


def _sentence(words: str) -> str:
    """A cell of a table as a sentence, without marks of Markdown."""
    plain = words.replace("`", "").strip()
    if plain[1:2] != " " or plain.startswith("a "):  # no capital for a variable
        plain = plain[:1].upper() + plain[1:]
    return f"{plain}."


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
