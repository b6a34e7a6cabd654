"""Where a list differs from what it was is the shortest run of places, whatever was done to it."""

from hypothesis import given
from hypothesis import strategies as st

from gradstudio.graph.list_change import list_change

LISTS = st.lists(st.integers(0, 3), max_size=12)


@given(LISTS, LISTS)
def test_what_stands_around_the_run_stayed_and_its_ends_did_not(old: list[int], new: list[int]) -> None:
    start, old_end, new_end = list_change(old, new)
    assert old[:start] == new[:start]
    assert old[old_end:] == new[new_end:]
    assert [*old[:start], *new[start:new_end], *old[old_end:]] == new
    if start < old_end and start < new_end:
        assert old[start] != new[start]
        assert old[old_end - 1] != new[new_end - 1]
