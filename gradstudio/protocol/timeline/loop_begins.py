"""When a loop within another was entered, over all of a run; a loader that gives as many each time takes one row."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gradstudio.protocol.messages.progress import Begin
from gradstudio.protocol.timeline.model import Turns


class Stretch(NamedTuple):
    """Consecutive turns of the loop around, in each of which the loop had as many turns.

    Attributes:
        number: so many turns of its own were behind the first.
        around: the turns of the loops around in the first; the last of them is one more each time.
        each: so many turns it had in each; 0 while there is one.
        times: how often it was entered.
    """

    number: int
    around: Turns
    each: int = 0
    times: int = 1

    def begin(self, place: int) -> Begin:
        """That it was entered for the `place`-th time, from 0."""
        around = (*self.around[:-1], self.around[-1] + place) if place else self.around
        return Begin(around=around, number=self.number + place * self.each)

    @property
    def last(self) -> Begin:
        """The newest."""
        return self.begin(self.times - 1)

    def longer(self, begin: Begin) -> "Stretch | None":
        """With one more behind it, where that fits."""
        each = begin.number - self.last.number
        is_next = bool(self.around) and begin.around == self.begin(self.times).around
        fits = is_next and (self.times == 1 or each == self.each)
        return self._replace(each=each, times=self.times + 1) if fits else None

    def shorter(self, times: int) -> "Stretch":
        """With just so many."""
        return self._replace(each=self.each if times > 1 else 0, times=times)


class LoopBegins:
    """With how many turns of its own behind it a loop was entered, in which turns of the loops around."""

    def __init__(self) -> None:
        """It was not entered."""
        self.stretches: list[Stretch] = []
        self._passes: list[int] = []

    def add(self, begins: Iterable[Begin]) -> None:
        """It was entered; what a run that went back tells once more is known."""
        for begin in begins:
            newest = self.stretches[-1].last if self.stretches else None
            if newest is not None and begin.number < newest.number:
                continue
            if newest is not None and begin.number == newest.number:
                self._keep(self.stretches[-1].times - 1)  # it had no turn
            self._append(begin)

    def cut(self, turns: int) -> None:
        """Only so many turns of its own stay."""
        while self.stretches and self.stretches[-1].number > turns:
            self._keep(0)
        if self.stretches:
            last = self.stretches[-1]
            self._keep(min((turns - last.number) // last.each + 1 if last.each else 1, last.times))

    def at(self, number: int) -> Begin | None:
        """The newest that had at most so many turns behind it."""
        index = bisect_right(self.stretches, number, key=lambda one: one.number) - 1
        if index < 0:
            return None
        found = self.stretches[index]
        return found.begin(min((number - found.number) // found.each if found.each else 0, found.times - 1))

    def behind(self, number: int) -> Begin | None:
        """The first that had more turns behind it."""
        known = self.at(number)
        index = bisect_right(self.stretches, number, key=lambda one: one.number)
        if known is not None and known.number != self.stretches[index - 1].last.number:
            stretch = self.stretches[index - 1]
            return stretch.begin((known.number - stretch.number) // stretch.each + 1)
        return self.stretches[index].begin(0) if index < len(self.stretches) else None

    def number_in(self, around: Turns) -> int | None:
        """How many turns were behind it when it was entered in these turns, in the newest pass; None: it was not."""
        end = len(self.stretches)
        for start in reversed(self._passes):
            index = bisect_right(self.stretches, around, start, end, key=lambda one: one.around) - 1
            found = self.stretches[index] if index >= start else None
            place = around[-1] - found.around[-1] if found is not None and found.around and around else 0
            if found is not None and place < found.times and found.begin(place).around == around:
                return found.begin(place).number
            end = start
        return None

    def corners(self) -> Iterator[Begin]:
        """Between which it is entered evenly."""
        for stretch in self.stretches:
            yield stretch.begin(0)
            if stretch.times > 1:
                yield stretch.last

    def _append(self, begin: Begin) -> None:
        longer = self.stretches[-1].longer(begin) if self.stretches else None
        if longer is not None:
            self.stretches[-1] = longer
            return
        if not self.stretches or begin.around < self.stretches[-1].last.around:
            self._passes.append(len(self.stretches))
        self.stretches.append(Stretch(begin.number, begin.around))

    def _keep(self, times: int) -> None:
        """Only so many of the newest stretch stay."""
        if times:
            self.stretches[-1] = self.stretches[-1].shorter(times)
            return
        self.stretches.pop()
        del self._passes[bisect_left(self._passes, len(self.stretches)) :]
