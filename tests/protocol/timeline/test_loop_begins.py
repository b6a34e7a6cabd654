"""When a loop was entered: as a list of all would say, and in a row where it is even."""

from bisect import bisect_right

from hypothesis import given
from hypothesis import strategies as st

from gradstudio.protocol.messages.progress import Begin
from gradstudio.protocol.timeline.loop_begins import LoopBegins
from gradstudio.protocol.timeline.model import Turns

EACH = st.lists(st.integers(0, 3), max_size=12)


class Listed:
    """All of them."""

    def __init__(self) -> None:
        self.rows: list[Begin] = []

    def add(self, begins: list[Begin]) -> None:
        for begin in begins:
            if self.rows and begin.number < self.rows[-1].number:
                continue
            if self.rows and begin.number == self.rows[-1].number:
                self.rows.pop()
            self.rows.append(begin)

    def cut(self, turns: int) -> None:
        self.rows = [one for one in self.rows if one.number <= turns]

    def at(self, number: int) -> Begin | None:
        place = bisect_right([one.number for one in self.rows], number) - 1
        return self.rows[place] if place >= 0 else None

    def behind(self, number: int) -> Begin | None:
        return next((one for one in self.rows if one.number > number), None)

    def number_in(self, around: Turns) -> int | None:
        return next((one.number for one in reversed(self.rows) if one.around == around), None)


def told(lengths: list[list[int]], start: int = 0) -> list[Begin]:
    """Of a loop in two others, whose turns have so many turns of its own."""
    begins, number = list[Begin](), start
    for outer, row in enumerate(lengths):
        for inner, length in enumerate(row):
            begins.append(Begin(around=(outer, inner), number=number))
            number += length
    return begins


def check(begins: LoopBegins, listed: Listed) -> None:
    most = listed.rows[-1].number + 3 if listed.rows else 3
    for number in range(-1, most):
        assert begins.at(number) == listed.at(number)
        assert begins.behind(number) == listed.behind(number)
    for around in {one.around for one in listed.rows} | {(0, 0), (1, 3), (9, 9), ()}:
        assert begins.number_in(around) == listed.number_in(around)


@given(st.lists(EACH, max_size=4), st.lists(EACH, max_size=4), st.integers(0, 40), st.integers(0, 10))
def test_what_is_told_is_known_also_in_another_pass_when_told_again_and_when_cut(
    first: list[list[int]], second: list[list[int]], cut: int, again: int
) -> None:
    begins, listed = LoopBegins(), Listed()
    passes = told(first)
    passes += told(second, passes[-1].number + 1 if passes else 0)
    for rows in (passes, passes[-again:]):
        begins.add(rows)
        listed.add(rows)
        check(begins, listed)
    begins.cut(cut)
    listed.cut(cut)
    check(begins, listed)
    begins.add(rows := [one for one in passes if one.number >= cut])
    listed.add(rows)
    check(begins, listed)


def test_a_loop_that_is_entered_evenly_takes_one_row() -> None:
    begins = LoopBegins()
    for epoch in range(100_000):
        begins.add([Begin(around=(epoch,), number=4 * epoch)])
    assert len(begins.stretches) == 1
    assert begins.at(4 * 77_777 + 2) == Begin(around=(77_777,), number=4 * 77_777)
    assert begins.number_in((99_999,)) == 399_996 and begins.number_in((100_000,)) is None
