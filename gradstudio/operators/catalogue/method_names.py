"""Names that give something to call when they are read from a value; a file may not read them (semantics §1).

A module's own attributes (`weight`, `in_features`) are read freely. A method is called by its own
row of the catalogue or not at all: else a document could reach whatever a value can do, such as
an array's `tofile`.
"""

from functools import cache

from gradstudio.paths import resources


@cache
def methods() -> frozenset[str]:
    """Every public method of the types whose values a program may hold, and the doors out of them."""
    return frozenset((resources() / "catalogue" / "methods.txt").read_text(encoding="utf-8").split())
