"""Checkpoints of a run: what all was at the end of some turns, as many as memory allows."""

import time
from typing import Final, NamedTuple

import torch

from gradstudio.engine.device_memory import free_bytes
from gradstudio.engine.live.live_state import Binding, Live
from gradstudio.engine.memory.allocation_guard import spelled_bytes
from gradstudio.engine.script.generator_states import GeneratorStates
from gradstudio.engine.turns.checkpoints.gradient_marks import GradientMarks
from gradstudio.engine.turns.checkpoints.loop_places import Place, place_of
from gradstudio.engine.turns.checkpoints.name_flow import NameFlow, names_in_definitions
from gradstudio.engine.turns.checkpoints.object_states import ObjectStates, TooLarge, UnknownState
from gradstudio.graph.model import ItemId

EVERY_S: Final = 0.5
"""So often one is taken, and so seldom that it takes no more than `SHARE` of the time."""
SHARE: Final = 0.03
MOST: Final = 96
"""When there are more, the one goes whose neighbours lie closest."""
MEMORY_SHARE: Final = 8
"""They may hold an eighth of the memory that is free."""
LEAST_BYTES: Final = 1 << 26
"""So much they may hold in any case."""
ANOTHER_RUN: Final = (
    "No checkpoint leads to before the change in mid-run: the program was run again from nothing, with the numbers "
    "that stand in it now."
)
TOO_LARGE: Final = (
    "What this run holds is more than a checkpoint may copy ({size}), so the program was run again from nothing."
)
NO_TURN: Final = "The run did not come to this turn."
Turns = tuple[int, ...]
Loops = tuple[ItemId, ...]


class Checkpoint(NamedTuple):
    """A run at the end of a turn.

    Attributes:
        loops: the loops that it stands in, outermost first; `turns` which turn of each.
        places: of each frame.
        counts: how many turns of each loop there were since the start from nothing.
        step_count: statements that had run.
    """

    loops: Loops
    turns: Turns
    places: tuple[Place, ...]
    names: dict[str, object]
    binder: dict[str, Binding]
    objects: ObjectStates
    generators: GeneratorStates
    gradients: GradientMarks
    counts: dict[ItemId, int]
    step_count: int

    def is_before(self, loops: Loops, turns: Turns) -> bool:
        """Whether it lies before the beginning of a turn."""
        shared = 0
        for mine, other in zip(self.loops, loops, strict=False):
            if mine != other:
                break
            shared += 1
        return shared > 0 and self.turns[:shared] < turns[:shared]

    def restore(self, live: Live) -> None:
        """Put the run there; what was told of it since is not untold."""
        live.leave_calls()
        live.cursor.close()
        live.namespace.clear()
        live.namespace.update(self.names)
        live.binder.clear()
        live.binder.update(self.binder)
        self.objects.restore()
        live.cursor.frames = [place.frame(live.namespace) for place in self.places]
        self.objects.restore_generators()
        self.generators.restore()
        self.gradients.restore(live.gradients)
        live.step_count = self.step_count
        live.failed = live.paused = False


def change_words(live: Live | None) -> str:
    """Why a run from nothing is another than the one that ran; "" when it is the same."""
    return ANOTHER_RUN if live is not None and live.changed_by_hand else ""


class Checkpoints:
    """Those of one run from nothing.

    Attributes:
        why_none: what keeps the run from having any; "" when nothing does.
        size_words: what to say of that when a turn is gone to, where it is the size of the run; "" else.
    """

    def __init__(self) -> None:
        """There is none."""
        self.why_none = self.size_words = ""
        self._kept: list[Checkpoint] = []
        self._due_s = 0.0
        self._budget = 0

    def clear(self) -> None:
        """A start from nothing, or the run is another than it was."""
        self.why_none = self.size_words = ""
        self._kept, self._due_s, self._budget = [], 0.0, 0

    @property
    def is_due(self) -> bool:
        """Whether it is time for one, of a run that can have any."""
        return not self.why_none and time.perf_counter() >= self._due_s

    def look(self, live: Live, counts: dict[ItemId, int]) -> None:
        """The run stands at the end of a turn: keep what it is, when it is time for that."""
        if not self.is_due:
            return
        began_s = time.thread_time()  # what it costs: where the machine is busy, it takes longer by the clock
        try:
            self._take(live, counts)
        except UnknownState as error:
            self.clear()
            self.why_none = str(error)
        except TooLarge:
            words = TOO_LARGE.format(size=spelled_bytes(self._budget))
            self.clear()
            self.why_none = self.size_words = words
        self._due_s = time.perf_counter() + max(EVERY_S, (time.thread_time() - began_s) / SHARE)

    def before(self, loops: Loops, turns: Turns) -> Checkpoint | None:
        """The last one before the beginning of a turn."""
        fitting = [one for one in self._kept if one.is_before(loops, turns)]
        return max(fitting, key=lambda one: one.step_count, default=None)

    def _take(self, live: Live, counts: dict[ItemId, int]) -> None:
        frames = live.cursor.frames
        loops = tuple(frame.head.id for frame in frames if frame.iterator is not None and frame.head is not None)
        if any((one.loops, one.turns) == (loops, live.cursor.turns) for one in self._kept):
            return
        if live.loaded.program.codes:
            raise UnknownState("Python that is not drawn")
        places = tuple(map(place_of, frames))
        head = frames[-1].head
        assert head is not None
        flow = NameFlow(head.body, names_in_definitions(live.loaded.program.code))
        names = {name: value for name, value in live.namespace.items() if name not in flow.dropped}
        binder = {name: binding for name, binding in live.binder.items() if name in names}
        held = (place.held + place.pending for place in places)
        roots = [*(names[name] for name in binder if name not in flow.bound), *held]
        if not self._budget:
            self._budget = max((free_bytes(torch.device("cpu")) or 0) // MEMORY_SHARE, LEAST_BYTES)
        objects = ObjectStates(roots, self._kept[-1].objects if self._kept else None, self._budget)
        one = Checkpoint(
            loops=loops,
            turns=live.cursor.turns,
            places=places,
            names=names,
            binder=binder,
            objects=objects,
            generators=GeneratorStates(),
            gradients=GradientMarks(live.gradients),
            counts=dict(counts),
            step_count=live.step_count,
        )
        self._keep(one)

    def _keep(self, one: Checkpoint) -> None:
        self._kept.append(one)
        self._kept.sort(key=lambda one: one.step_count)
        while len(self._kept) > MOST or (len(self._kept) > 1 and self._held() > self._budget):
            del self._kept[self._least_missed(one)]

    def _least_missed(self, newest: Checkpoint) -> int:
        """Number of the one whose neighbours lie closest: what is kept stays spread over all of a run.

        The first stays where another can go: a turn before it is gone to from nothing, and with that all are lost.
        """
        places = [0, *(each.step_count for each in self._kept), self._kept[-1].step_count]
        gaps = [(later - earlier, k) for k, (earlier, later) in enumerate(zip(places, places[2:], strict=False))]
        return next((k for _, k in sorted(gaps) if k and self._kept[k] is not newest), 0)

    def _held(self) -> int:
        return sum(one.objects.bytes_kept for one in self._kept)
