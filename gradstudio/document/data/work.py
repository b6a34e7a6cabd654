"""Carries out pieces of work (`model.Work`): to what can be shown first, or as a part of another."""

from typing import TypeVar

from gradstudio.document.data.model import Source, Work

Result = TypeVar("Result")


def until_first(work: Work[Source]) -> tuple[Source, Work[Source] | None]:
    """What can be shown first, and the work that is left; None where that was all.

    Raises:
        BadData: as the work does.
    """
    while True:
        try:
            progress = next(work)
        except StopIteration as end:
            return end.value, None
        if progress.first is not None:
            return progress.first, work


def part_of(work: Work[Result], done: int, total: int) -> Work[Result]:
    """The work as a part of a larger one, of which so much is done before it.

    Raises:
        BadData: as the work does.
    """
    while True:
        try:
            progress = next(work)
        except StopIteration as end:
            found: Result = end.value
            return found
        yield progress._replace(done=done + progress.done, total=total)
