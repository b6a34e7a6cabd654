"""Lines of a loop: how far they stand in, and what a loop over batches binds."""

from collections.abc import Iterable, Iterator
from typing import Final

INDENT: Final = "    "


def indented(lines: Iterable[str], depth: int = 1) -> Iterator[str]:
    """Each line so many steps further in."""
    return (f"{INDENT * depth}{line}" for line in lines)


def loop_target(names: dict[str, str]) -> str:
    """What a loop over batches binds: a loader gives a list, also of one."""
    one = len(names) == 1
    return f"({', '.join(names.values())},)" if one else ", ".join(names.values())


def without_blank_end(lines: list[str]) -> list[str]:
    """The lines up to the last that says something."""
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines
