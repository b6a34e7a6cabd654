"""Which ticks of a long run stay: semantics §17. No Qt, no torch."""

from typing import NamedTuple

from gradstudio.graph.model import ItemId
from gradstudio.protocol.timeline.model import Tick, Turns

FIRST_TURNS, LAST_TURNS = 16, 240
SPARE = 0.9
"""Of the limit, what is left when the oldest had to go, so that they do not go one by one."""


class Renumbering(NamedTuple):
    """What becomes of old ticks.

    Attributes:
        new: by old index, the new one of the tick that stays, or of the first behind it that does.
        stays: by old index, whether it stays.
    """

    new: list[int]
    stays: bytearray


def renumber(kept: list[int], count: int) -> Renumbering:
    """The renumbering of so many ticks of which those in `kept` stay; the tick to come counts, too."""
    stays = bytearray(count + 1)
    for index in kept:
        stays[index] = 1
    new = list[int]()
    place = 0
    for flag in stays:
        new.append(place)
        place += flag
    return Renumbering(new, stays)


def select_ticks(ticks: list[Tick], limit: int) -> list[int]:
    """Indices of the ticks that stay: the first and last turns of each loop, and no more than about `limit`.

    A backward stays or goes as a whole; in a loop it goes with its statement.
    """
    dropped = _middle_turns(ticks)
    over = len(ticks) - len(dropped)
    if over > limit:
        _oldest(ticks, dropped, over - int(limit * SPARE))
    return [tick.index for tick in ticks if tick.index not in dropped]


def _middle_turns(ticks: list[Tick]) -> set[int]:
    newest: dict[tuple[ItemId, int, Turns], int] = {}
    for tick in ticks:
        for depth, turn in enumerate(tick.turns if tick.row is not None else ()):
            key = (tick.node, tick.pass_number, tick.turns[:depth])
            newest[key] = max(newest.get(key, 0), turn)
    dropped: set[int] = set()
    waiting: list[int] = []
    for tick in ticks:
        if tick.row is None:
            waiting.append(tick.index)  # a backward comes before the row of its statement
            continue
        if any(
            FIRST_TURNS <= turn <= newest[tick.node, tick.pass_number, tick.turns[:depth]] - LAST_TURNS
            for depth, turn in enumerate(tick.turns)
        ):
            dropped.add(tick.index)
            dropped.update(waiting)
        waiting.clear()
    return dropped


def _oldest(ticks: list[Tick], dropped: set[int], count: int) -> None:
    last = None
    for tick in ticks:
        if count <= 0 and tick.backward != last:
            return
        last = tick.backward or None
        if tick.index not in dropped:
            dropped.add(tick.index)
            count -= 1
