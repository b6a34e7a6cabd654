"""Which ticks of a long run stay: semantics §17. No Qt, no torch."""

from itertools import accumulate
from typing import NamedTuple

from gradstudio.graph.model import ItemId
from gradstudio.protocol.timeline.model import Tick, Turns

FIRST_TURNS, LAST_TURNS = 16, 240
MIDDLE_TURNS, LAST_SAMPLES = 64, 32
"""Of a loop that is recorded by sample: turns kept in between, as far apart as they have to be, and of the last."""
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
    return Renumbering(list(accumulate(stays[:-1], initial=0)), stays)


def count_until(ticks: list[Tick], step: int) -> int:
    """How many ticks there are up to a step; a backward belongs to its statement, which comes behind it."""
    count = len(ticks)
    while count and ((row := ticks[count - 1].row) is None or row.step > step):
        count -= 1
    return count


def select_ticks(
    ticks: list[Tick], limit: int, is_sampled: bool = False, wanted: frozenset[Turns] = frozenset()
) -> list[int]:
    """Indices of the ticks that stay: the first and last turns of each loop, and no more than about `limit`.

    A backward stays or goes as a whole; in a loop it goes with its statement. Of turns that are a sample already some
    in between stay, too, evenly spread.
    """
    dropped = _turns_between(ticks, wanted) if is_sampled else _middle_turns(ticks)
    over = len(ticks) - len(dropped)
    if over > limit:
        _oldest(ticks, dropped, over - int(limit * SPARE))
    return [index for index in range(len(ticks)) if index not in dropped]


def _middle_turns(ticks: list[Tick]) -> set[int]:
    """Ticks of the turns of each loop that are neither among its first nor among its last."""
    ran: dict[tuple[ItemId, int, Turns], list[int]] = {}
    for index, _, _, node, turns, pass_number, _, _, row, _ in ticks:
        if row is not None and turns:
            key = node, pass_number, turns[:-1]
            if key in ran:
                ran[key].append(index)
            else:
                ran[key] = [index]
    innermost = {key: [ticks[place].turns[-1] for place in places] for key, places in ran.items()}
    newest: dict[tuple[ItemId, int, Turns], int] = {}
    for (node, pass_number, around), within in innermost.items():
        for depth, turn in enumerate((*around, max(within))):
            key = node, pass_number, around[:depth]
            newest[key] = max(turn, newest.get(key, -1))
    dropped: set[int] = set()
    for key, places in ran.items():
        node, pass_number, around = key
        if any(
            FIRST_TURNS <= turn <= newest[node, pass_number, around[:depth]] - LAST_TURNS
            for depth, turn in enumerate(around)
        ):
            dropped.update(places)
            continue
        last = newest[key] - LAST_TURNS
        pairs = zip(innermost[key], places, strict=True) if last >= FIRST_TURNS else ()
        dropped.update([place for turn, place in pairs if FIRST_TURNS <= turn <= last])
    return dropped.union(*(_backward_before(ticks, place) for place in dropped))


def _backward_before(ticks: list[Tick], place: int) -> range:
    """The backward that comes before the row of its statement."""
    begin = place
    while begin and ticks[begin - 1].row is None:
        begin -= 1
    return range(begin, place)


def _turns_between(ticks: list[Tick], wanted: frozenset[Turns]) -> set[int]:
    """Ticks of the turns that are too many; those that are wanted never are."""
    turns_of = _turns_by_loop(ticks)
    stay = {key: _spread(sorted(turns)) for key, turns in turns_of.items()}
    asked = {turns[: depth + 1] for turns in wanted for depth in range(len(turns))}
    dropped: set[int] = set()
    waiting: list[int] = []
    for index, _, _, node, turns, pass_number, _, _, row, _ in ticks:
        if row is None:
            waiting.append(index)  # a backward comes before the row of its statement
            continue
        if any(
            turn not in stay[node, pass_number, turns[:depth]] and turns[: depth + 1] not in asked
            for depth, turn in enumerate(turns)
        ):
            dropped.add(index)
            dropped.update(waiting)
        waiting.clear()
    return dropped


def _turns_by_loop(ticks: list[Tick]) -> dict[tuple[ItemId, int, Turns], set[int]]:
    """By node, pass and the turns of the loops around a loop, the turns of that loop that are there."""
    found: dict[tuple[ItemId, int, Turns], set[int]] = {}
    for _, _, _, node, turns, pass_number, _, _, row, _ in ticks:
        if row is not None:
            for depth, turn in enumerate(turns):
                found.setdefault((node, pass_number, turns[:depth]), set()).add(turn)
    return found


def _spread(turns: list[int]) -> set[int]:
    """The first, the last, and in between one of each stretch; stretches double, so what stayed once can stay again."""
    middle = turns[FIRST_TURNS : max(len(turns) - LAST_SAMPLES, FIRST_TURNS)]
    stretch = 1
    while len({turn // stretch for turn in middle}) > MIDDLE_TURNS:
        stretch *= 2
    kept = {turn // stretch: turn for turn in reversed(middle)}
    return {*turns[:FIRST_TURNS], *turns[len(turns) - LAST_SAMPLES :], *kept.values()}


def _oldest(ticks: list[Tick], dropped: set[int], count: int) -> None:
    last = None
    for tick in ticks:
        if count <= 0 and tick.backward != last:
            return
        last = tick.backward or None
        if tick.index not in dropped:
            dropped.add(tick.index)
            count -= 1
