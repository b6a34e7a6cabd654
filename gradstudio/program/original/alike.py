"""Where two sequences are alike, in bounded time: a text may have one line a thousand times."""

from collections import Counter
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher
from typing import Final
from typing import Literal as OneOf

MOST_PAIRS: Final = 1 << 16
"""Of equal elements, each of one with each of the other: `difflib` looks at all of them again and again."""
Opcode = tuple[OneOf["replace", "delete", "insert", "equal"], int, int, int, int]


def opcodes_of(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[Opcode]:
    """What makes the second sequence of the first, as `difflib` says it; the middle is one piece where that is long."""
    if _pairs(one, other) <= MOST_PAIRS:
        return SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    head = _common(one, other)
    tail = _common(one[head:][::-1], other[head:][::-1])
    end, other_end = len(one) - tail, len(other) - tail
    middle, wanted = one[head:end], other[head:other_end]
    if _pairs(middle, wanted) <= MOST_PAIRS:
        inner: list[Opcode] = SequenceMatcher(None, middle, wanted, autojunk=False).get_opcodes()
    else:
        inner = [("replace", 0, len(middle), 0, len(wanted))]
    moved = [(tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in inner]
    before: list[Opcode] = [("equal", 0, head, 0, head)] if head else []
    behind: list[Opcode] = [("equal", end, len(one), other_end, len(other))] if tail else []
    return [*before, *moved, *behind]


def _pairs(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    there = Counter(other)
    return sum(count * there[element] for element, count in Counter(one).items())


def _common(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """How many elements at the beginning are the same."""
    return next((k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
