"""The hand-written part of the catalogue: `selection/*.txt`, one operator a line.

    # Reductions
    torch.max:dim | Largest elements along `dim` and where they are | maximum, highest | with dim

key | one-line summary | search words | directives, told apart by ";". A line that begins with two
spaces continues the one above. `//` begins a remark. What the directives do is said in `build`.
"""

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "selection"


@dataclass(frozen=True)
class Row:
    """One line of the selection."""

    key: str
    summary: str
    words: tuple[str, ...]
    directives: tuple[tuple[str, str], ...]
    category: str
    where: str

    @property
    def target(self) -> str:
        """The Python path: the key without what tells rows of one path apart."""
        return self.key.partition(":")[0]

    def all(self, verb: str) -> list[str]:
        """What follows each directive of that name."""
        return [rest for name, rest in self.directives if name == verb]

    def first(self, verb: str) -> str | None:
        """What follows the first directive of that name, or None."""
        return next(iter(self.all(verb)), None)


def read() -> list[Row]:
    """Every row of every file, in order.

    Raises:
        ValueError: a line is not `key | summary | words | directives`, or a key comes twice.
    """
    rows = [row for path in sorted(FOLDER.glob("*.txt")) for row in _read_file(path)]
    keys = [row.key for row in rows]
    if twice := sorted({key for key in keys if keys.count(key) > 1}):
        raise ValueError(f"more than once: {', '.join(twice)}")
    return rows


def _read_file(path: Path) -> list[Row]:
    rows, category = [], ""
    for number, line in _lines(path):
        if line.startswith("# "):
            category = line[2:].strip()
            continue
        fields = [part.strip() for part in re.split(r" \|(?= |$)", line, maxsplit=3)]
        if len(fields) not in (3, 4):
            raise ValueError(f"{path.name}:{number}: expected 'key | summary | words | directives'")
        words = tuple(word.strip() for word in fields[2].split(",") if word.strip())
        verbs = directives(fields[3]) if len(fields) == 4 else ()
        rows.append(Row(fields[0], fields[1], words, verbs, category, f"{path.name}:{number}"))
    return rows


def _lines(path: Path) -> list[tuple[int, str]]:
    joined: list[tuple[int, str]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("//"):
            continue
        if line.startswith("  ") and joined:
            joined[-1] = (joined[-1][0], f"{joined[-1][1]} {line.strip()}")
        else:
            joined.append((number, line.rstrip()))
    return joined


def directives(text: str) -> tuple[tuple[str, str], ...]:
    """The directives of a line: verb and what follows it."""
    found = []
    for part in text.split(";"):
        verb, _, rest = part.strip().partition(" ")
        if verb:
            found.append((verb, rest.strip().replace("\\x7c", "|")))
    return tuple(found)
