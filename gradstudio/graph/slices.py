"""Slices: long work as a generator that stops where it may be left for a moment, and returns what it has made."""

from collections.abc import Callable, Generator, Iterator, Sequence, Sized
from typing import Final, TypeVar

T = TypeVar("T")
Slices = Generator[None, None, T]
"""Each `next` does a few milliseconds of the work; what is not many never stops before its end."""
AT_ONCE: Final = 1000
"""So many small things are done between two stops."""


def work_through(slices: Generator[object, None, T]) -> T:
    """All of it at once, whatever it says at its stops; what it returns."""
    while True:
        try:
            next(slices)
        except StopIteration as end:
            result: T = end.value
            return result


def while_it_holds(slices: Slices[T], holds: Callable[[], bool]) -> Slices[T | None]:
    """The same work; given up, with nothing made, where behind a stop what it began with does not hold any more."""
    while True:
        try:
            next(slices)
        except StopIteration as end:
            made: T = end.value
            return made
        yield
        if not holds():
            slices.close()
            return None


def portions(things: Sequence[T]) -> Iterator[Sequence[T]]:
    """So many of them at a time that are done at once; the last are fewer."""
    return (things[start : start + AT_ONCE] for start in range(0, len(things), AT_ONCE))


def stop_if(many: Sized) -> Slices[None]:
    """A stop between two steps, where what they walk through is more than is done at once."""
    if len(many) > AT_ONCE:
        yield


def is_stop(number: int) -> bool:
    """Whether there is a stop before the thing of that number, from 1."""
    return not number % AT_ONCE
