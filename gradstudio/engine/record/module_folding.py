"""Which calls of modules are drawn as one statement, so that a large step stays readable: decided when it is drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torch import Tensor

from gradstudio.engine.bring.forward_recorder import Call, Visit, tensors_in
from gradstudio.engine.record.call_facts import ModuleCall, parts_of
from gradstudio.engine.sketch.repeated_layers import stem_of
from gradstudio.graph.model import ItemId

MOST_STATEMENTS = 120
"""A step of more is drawn by calls of modules, as deep as there is room."""
ROW = 4
"""So many modules in a row that did the same are drawn as one card each, however few calls there are."""
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
        frames: by number of a call of a module that stands in a row of alike ones, the frame around the row.
    """

    visits: dict[int, int] = field(default_factory=dict)
    first: dict[int, int] = field(default_factory=dict)
    results: dict[tuple[ItemId, int], str] = field(default_factory=dict)
    inner: dict[ItemId, Inner] = field(default_factory=dict)
    frames: dict[int, Visit] = field(default_factory=dict)

    def members(self, visit: int) -> list[int]:
        """The calls that one stands for."""
        return [number for number, one in self.visits.items() if one == visit]


def fold(calls: Sequence[Call], visits: Mapping[int, ModuleCall], level: int | None) -> Folding:
    """Fold what is deeper than a level; None: rows of alike modules, and else as deep as there is room."""
    rows = rows_of_alike(calls, visits)
    alike = {visit for row in rows for visit in row} if level is None else set()
    depths = [next((k for k, one in enumerate(call.inside) if one.number in alike), len(call.inside)) for call in calls]
    if level is None:
        level = _level_with_room(calls, depths)
    folding = Folding()
    for number, call in enumerate(calls):
        depth = depths[number] if level is None else min(level, depths[number])
        if len(call.inside) > depth:
            folding.visits[number] = call.inside[depth].number
    unfit = {visit for number, visit in folding.visits.items() if not _is_fit(calls[number], visits.get(visit))}
    folding.visits = {number: visit for number, visit in folding.visits.items() if visit not in unfit}
    for number, visit in folding.visits.items():
        folding.first.setdefault(visit, number)
    _frame(folding, rows, visits)
    return folding


def _frame(folding: Folding, rows: Sequence[Sequence[int]], visits: Mapping[int, ModuleCall]) -> None:
    """Rows that were folded, with nothing in between, stand in a frame that says how many they are."""
    for row in rows:
        numbers = [number for visit in row for number in folding.members(visit)]
        if all(visit in folding.first for visit in row) and numbers == list(range(numbers[0], numbers[-1] + 1)):
            frame = Visit(-row[0], "", f"{len(row)} × {type(visits[row[0]].module).__name__}")
            folding.frames |= dict.fromkeys(row, frame)


def rows_of_alike(calls: Sequence[Call], visits: Mapping[int, ModuleCall]) -> list[list[int]]:
    """Calls of modules that differ in the number at the end of their path alone, and did the same, `ROW` or more."""
    inside: dict[int, list[tuple[int, Call]]] = {}
    families: dict[tuple[int, str, type], dict[int, None]] = {}
    for call in calls:
        for depth, visit in enumerate(call.inside):
            inside.setdefault(visit.number, []).append((depth, call))
            stem = stem_of(visit.path)
            if stem is not None and visit.number in visits:
                around = call.inside[depth - 1].number if depth else 0
                families.setdefault((around, stem, type(visits[visit.number].module)), {})[visit.number] = None
    found: list[list[int]] = []
    for family in families.values():
        alike: dict[tuple[object, ...], list[int]] = {}
        for number in family if len(family) >= ROW else ():
            alike.setdefault(tuple(_deed(call, depth) for depth, call in inside[number]), []).append(number)
        found += [row for row in alike.values() if len(row) >= ROW and len(inside[row[0]]) > 1]
    return found


def _deed(call: Call, depth: int) -> tuple[object, ...]:
    """What a call did within a module at that depth, but for whose it was."""
    shapes = tuple((tensor.shape, tensor.dtype) for tensor in tensors_in(call.result))
    return call.path, repr(call.layer), len(call.inside) - depth, call.around, shapes


def _level_with_room(calls: Sequence[Call], depths: Sequence[int]) -> int | None:
    if _statements(calls, depths) <= MOST_STATEMENTS:
        return None
    deepest = max(len(call.inside) for call in calls)
    for level in range(deepest - 1, FIRST_LEVEL, -1):
        if _statements(calls, [min(level, depth) for depth in depths]) <= MOST_STATEMENTS:
            return level
    return FIRST_LEVEL


def _statements(calls: Sequence[Call], depths: Sequence[int]) -> int:
    both = list(zip(calls, depths, strict=True))
    folded = {call.inside[depth].number for call, depth in both if len(call.inside) > depth}
    return len(folded) + sum(len(call.inside) <= depth for call, depth in both)


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
