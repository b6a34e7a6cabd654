"""Warnings that a run gives again and again: each once, with how often."""

from collections import Counter
from collections.abc import Iterable

from gradstudio.protocol.messages.events import Warned


def told_once(warned: Iterable[Warned]) -> list[tuple[Warned, int]]:
    """Each warning of a node the first time it was given, and how often it was, in that order."""
    given = list(warned)
    counts = Counter((one.node, one.category, one.message) for one in given)
    firsts = {(one.node, one.category, one.message): one for one in reversed(given)}
    return [(firsts[key], times) for key, times in counts.items()]
