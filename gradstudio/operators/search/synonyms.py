"""Everyday words for operators, and which operators are used every day: data of `resources/search`. No torch here."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec

from gradstudio import paths
from gradstudio.operators.errors import BrokenCatalogue


class Synonyms(msgspec.Struct, frozen=True):
    """What people call operators.

    Attributes:
        phrases: a word or several -> Python paths, the likeliest first.
        everyday: Python paths, the most used first.
        meant: phrases that mean their operators even where another one has that very name.
    """

    phrases: dict[str, tuple[str, ...]]
    everyday: tuple[str, ...]
    meant: frozenset[str] = frozenset()


NONE = Synonyms({}, ())


@cache
def load() -> Synonyms:
    """The words that travel with the program; read once.

    Raises:
        BrokenCatalogue: a file is missing, or a line of it is not `phrase, !phrase: path path`.
    """
    return read(paths.resources() / "search")


def read(folder: Path) -> Synonyms:
    """The words in `synonyms.txt` and `everyday.txt` of a folder.

    Raises:
        BrokenCatalogue: see `load`.
    """
    try:
        phrases: dict[str, tuple[str, ...]] = {}
        meant: set[str] = set()
        for line in _lines(folder / "synonyms.txt"):
            names, colon, targets = line.partition(": ")
            if not colon:
                raise BrokenCatalogue(f"The words for operators cannot be read: '{line}' names no operator.")
            for written in names.split(","):
                name = written.strip().removeprefix("!")
                phrases[name] = (*phrases.get(name, ()), *targets.split())
                meant |= {name} if written.strip() != name else set()
        everyday = tuple(" ".join(_lines(folder / "everyday.txt")).split())
        return Synonyms(phrases, everyday, frozenset(meant))
    except (OSError, UnicodeDecodeError) as error:
        raise BrokenCatalogue(f"The words for operators cannot be read: {error}") from error


def _lines(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.strip()
