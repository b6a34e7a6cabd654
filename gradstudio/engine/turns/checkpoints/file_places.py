"""Where a run stands in its loops, as a file says it: turns of the loop that trains, and of those within."""

from collections.abc import Mapping
from typing import Any, Final

from torch import Tensor

from gradstudio.engine import access
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.script.compiled_steps import Head
from gradstudio.engine.script.cursor import Frame
from gradstudio.engine.script.generator_states import GeneratorStates, generators_of
from gradstudio.engine.turns.checkpoints.loop_places import place_of
from gradstudio.engine.turns.loop_length import turns_of

BEGAN: Final = "began"
"""Before the names of the states that generators had when a loop over a loader began."""
NO_TURN: Final = -1
"""In place of a turn of a block that is no loop."""
Places = list[list[int]]
"""For the loop that trains and each block within that the run stands in: the index in the body around, the turn, and
whether the element of the next turn was fetched."""


def pack_places(frames: list[Frame], tensors: dict[str, Tensor]) -> Places:
    """Where these frames stand, that of the loop that trains before all; what generators were goes to `tensors`.

    Raises:
        UnknownState: some iterator cannot be begun again.
    """
    found: Places = []
    for depth, frame in enumerate(frames):
        place_of(frame)
        index = frames[depth - 1].index if depth else 0
        found.append([index, NO_TURN if frame.iterator is None else frame.turn, int(frame.has_ahead)])
        if depth and frame.began is not None:
            kept = frame.began.as_tensors()
            tensors.update((f"{BEGAN}.{depth}.{name}", value) for name, value in kept.items())
    return found


def below(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names begin so, without that beginning."""
    return {name.removeprefix(prefix): one for name, one in tensors.items() if name.startswith(prefix)}


def has_next_turn(frame: Frame) -> bool:
    """Whether a loop is known to have a further turn."""
    total = turns_of(frame)
    return total is not None and frame.turn + 1 < total


def stand(live: Live, outer: Head, places: Places, tensors: dict[str, Tensor]) -> None:
    """Stand at the end of a turn; what the loops within go over is begun anew, as the generators were then.

    Raises:
        ValueError: the program has no such place.
    """
    cursor = live.cursor
    for depth, (index, turn, is_ahead) in enumerate(places):
        if not depth:
            cursor.stand_behind_turn(outer.id, turn)
        else:
            _begin(live, index, below(f"{BEGAN}.{depth}.", tensors))
            cursor.stand_inside(index, turn)
        frame = cursor.frames[-1]
        if frame.iterator is not None and (frame.turn != turn or (is_ahead and not frame.has_next_turn())):
            raise ValueError("a loop has fewer turns")


def _begin(live: Live, index: int, kept: dict[str, Tensor]) -> None:
    """Let the generators be as they were when a loop began, and make the `enumerate` that it goes over."""
    items = live.cursor.frames[-1].items
    head: Any = items[index] if index < len(items) else None
    maker = head.maker if isinstance(head, Head) else None
    name = head.loader if isinstance(head, Head) else ""
    loader = live.namespace.get(maker.counts if maker is not None else name)
    if kept:
        GeneratorStates(generators_of(loader) if loader is not None else ()).with_tensors(kept).restore()
    if maker is not None:
        live.cursor.note_begin(maker)
        access.execute(maker.source.code, live.namespace)
