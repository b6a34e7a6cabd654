"""Two sequences that are alike in too many ways are compared all the same, and in pieces that make one of the other."""

import random
from difflib import SequenceMatcher

import pytest

from gradstudio.program.original.alike import MOST_PAIRS, opcodes_of


def rebuilt(one: list[str], other: list[str]) -> list[str]:
    """The second sequence, of pieces of the first where they are the same."""
    found: list[str] = []
    at = (0, 0)
    for tag, a, b, c, d in opcodes_of(one, other):
        assert at == (a, c)
        assert (tag == "equal") == (one[a:b] == other[c:d])
        found += one[a:b] if tag == "equal" else other[c:d]
        at = b, d
    assert at == (len(one), len(other))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_of_few_it_says_what_difflib_says(seed: int) -> None:
    by = random.Random(seed)
    one, other = ([by.choice("abcdef") for _ in range(by.randrange(40))] for _ in range(2))
    assert opcodes_of(one, other) == SequenceMatcher(None, one, other, autojunk=False).get_opcodes()


@pytest.mark.parametrize("count", [2_000, 100_000])
def test_a_line_a_thousand_times(count: int) -> None:
    one = ["a", *["x"] * count, "b"]
    other = ["c", *["x", "y"] * count, "b"]
    assert count * count > MOST_PAIRS and rebuilt(one, other) == other


def test_what_is_edited_among_many_alike_is_found() -> None:
    one = ["x"] * 5_000
    other = [*one[:700], "y", *one[701:]]
    assert opcodes_of(one, other) == [
        ("equal", 0, 700, 0, 700), ("replace", 700, 701, 700, 701), ("equal", 701, 5_000, 701, 5_000)
    ]  # fmt: skip
    assert opcodes_of(one, one) == [("equal", 0, 5_000, 0, 5_000)]
