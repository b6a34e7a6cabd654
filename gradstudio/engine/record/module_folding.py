"""Which calls of modules are drawn as one statement, so that a large step stays readable: decided when it is drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torch import Tensor

from gradstudio.engine.bring.forward_recorder import Call, tensors_in
from gradstudio.engine.record.call_facts import ModuleCall, parts_of
from gradstudio.graph.model import ItemId

MOST_STATEMENTS = 120
"""A step of more is drawn by calls of modules, as deep as there is room."""
FIRST_LEVEL = 1
"""The outermost module is a frame, what it calls are statements in it."""


@dataclass(frozen=True)
class Inner:
    """What stands for a layer or leaf that is inside of a folded module: the module's name and class, and the path."""

    name: str
    class_name: str
    path: str


@dataclass
class Folding:
    """What was folded.

    Attributes:
        visits: by number of a call, that of the call of a module which stands for it.
        first: by number of such a call of a module, that of the first call inside.
        results: by id and place of what an inner call gave, the name that the module's result has.
        inner: by id of a layer or leaf.
    """

    visits: dict[int, int] = field(default_factory=dict)
    first: dict[int, int] = field(default_factory=dict)
    results: dict[tuple[ItemId, int], str] = field(default_factory=dict)
    inner: dict[ItemId, Inner] = field(default_factory=dict)

    def members(self, visit: int) -> list[int]:
        """The calls that one stands for."""
        return [number for number, one in self.visits.items() if one == visit]


def fold(calls: Sequence[Call], visits: Mapping[int, ModuleCall], level: int | None) -> Folding:
    """Fold what is deeper than a level; None: as deep as there is room, and nothing where all has."""
    if level is None:
        level = _level_with_room(calls)
    folding = Folding()
    for number, call in enumerate(calls):
        if level is not None and len(call.inside) > level:
            folding.visits[number] = call.inside[level].number
    unfit = {visit for number, visit in folding.visits.items() if not _is_fit(calls[number], visits.get(visit))}
    folding.visits = {number: visit for number, visit in folding.visits.items() if visit not in unfit}
    for number, visit in folding.visits.items():
        folding.first.setdefault(visit, number)
    return folding


def _level_with_room(calls: Sequence[Call]) -> int | None:
    if len(calls) <= MOST_STATEMENTS:
        return None
    deepest = max(len(call.inside) for call in calls)
    for level in range(deepest - 1, FIRST_LEVEL, -1):
        if _statements(calls, level) <= MOST_STATEMENTS:
            return level
    return FIRST_LEVEL


def _statements(calls: Sequence[Call], level: int) -> int:
    folded = {call.inside[level].number for call in calls if len(call.inside) > level}
    return len(folded) + sum(len(call.inside) <= level for call in calls)


def _is_fit(call: Call, visit: ModuleCall | None) -> bool:
    """Whether the module has ended, gave tensors, and did nothing in between that is no part of a forward."""
    return visit is not None and bool(parts_of(visit.result)) and bool(tensors_in(call.result))


def producer(calls: Sequence[Call], members: Sequence[int], tensor: Tensor) -> tuple[ItemId, int] | None:
    """Which of the calls gave a tensor last, and at which place."""
    for number in reversed(members):
        for place, part in enumerate(parts_of(calls[number].result)):
            if part is tensor:
                return ItemId(str(number)), place
    return None
