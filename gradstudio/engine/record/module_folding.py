"""Which calls of modules are drawn as one statement, so that a large step stays readable: decided when it is drawn."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from torch import Tensor, nn

from gradstudio.engine.bring.forward_recorder import Call, Visit, plain_words, tensors_in
from gradstudio.engine.record.call_facts import ModuleCall, parts_of
from gradstudio.engine.sketch.repeated_layers import stem_of
from gradstudio.graph.model import ItemId

MOST_STATEMENTS = 120
"""A step of more is drawn by calls of modules, as deep as there is room."""
ROW = 4
"""So many alike modules are drawn as one card each, however few calls there are."""
FIRST_LEVEL = 1
"""The outermost module is a frame, what it calls are statements in it."""
NUMBER = re.compile(r"\d+")
Deed = tuple[str, tuple[object, ...]]
"""What a call did inside of a module: the name of the module's child that did it, "" its own forward; and what."""


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
        members: by number of such a call of a module, those of the calls that it stands for, in order.
        results: by id and place of what an inner call gave, the name that the module's result has.
        inner: by id of a layer or leaf.
        frames: by number of a call of a module that stands in a row of alike ones, the frames around it.
    """

    visits: dict[int, int] = field(default_factory=dict)
    members: dict[int, list[int]] = field(default_factory=dict)
    results: dict[tuple[ItemId, int], str] = field(default_factory=dict)
    inner: dict[ItemId, Inner] = field(default_factory=dict)
    frames: dict[int, tuple[Visit, ...]] = field(default_factory=dict)


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
        folding.members.setdefault(visit, []).append(number)
    _frame(folding, rows, calls, visits)
    return folding


def _frame(
    folding: Folding, rows: Sequence[Sequence[int]], calls: Sequence[Call], visits: Mapping[int, ModuleCall]
) -> None:
    """Those of a row within one module, with nothing in between, stand in a frame that says whose and how many."""
    for row in rows:
        runs: dict[tuple[Visit, ...], list[int]] = {}
        for visit in row:
            if visit in folding.members:
                inside = calls[folding.members[visit][0]].inside
                runs.setdefault(inside[: [one.number for one in inside].index(visit)], []).append(visit)
        for around, run in runs.items():
            numbers = [number for visit in run for number in folding.members[visit]]
            if len(run) < 2 or numbers != list(range(numbers[0], numbers[-1] + 1)):
                continue
            frame = Visit(-run[0], "", _title([visits[visit] for visit in run]))
            is_all = bool(around) and sum(around[-1] in call.inside for call in calls) == len(numbers)
            is_container = is_all and stem_of(visits[run[0]].path) == f"{around[-1].path}."
            folding.frames |= dict.fromkeys(run, (*(around[:-1] if is_container else around), frame))


def _title(run: Sequence[ModuleCall]) -> str:
    """``layer1 (2 × BasicBlock)``, or ``block0 … block3 (4 × Block)`` where no list holds them."""
    first, last = run[0].path, run[-1].path
    stem = stem_of(first) or ""
    count = f"{len(run)} × {type(run[0].module).__name__}"
    name = stem.removesuffix(".") if stem.endswith(".") or not stem else f"{first} … {last}"
    return f"{plain_words(name)} ({count})" if name else count


def rows_of_alike(calls: Sequence[Call], visits: Mapping[int, ModuleCall]) -> list[list[int]]:
    """Calls of modules whose paths differ in numbers alone and that did alike, `ROW` or more within one model."""
    inside: dict[int, list[tuple[Call, int]]] = {}
    families: dict[tuple[int, int, str, type], dict[int, None]] = {}
    for call in calls:
        for depth, visit in enumerate(call.inside):
            inside.setdefault(visit.number, []).append((call, depth))
            if stem_of(visit.path) is not None and visit.number in visits:
                model = call.inside[0].number if depth else 0
                kind = model, depth, NUMBER.sub("#", visit.path), type(visits[visit.number].module)
                families.setdefault(kind, {})[visit.number] = None
    found: list[list[int]] = []
    for family in families.values():
        if len(family) < ROW:
            continue
        alike: list[tuple[list[Deed], list[int]]] = []
        for number in sorted(family, key=lambda one: len(inside[one])):
            deeds = [_deed(call, depth) for call, depth in inside[number]]
            row = next((row for few, row in alike if _did_alike(few, deeds)), None)
            if row is None:
                row = []
                alike.append((deeds, row))
            row.append(number)
        found += [sorted(row) for deeds, row in alike if len(row) >= ROW and len(deeds) > 1]
    return found


def _deed(call: Call, depth: int) -> Deed:
    """What a call did within a module at that depth, but for whose it was and for sizes; by which of its children."""
    outer, *inner = [*(visit.path for visit in call.inside[depth:]), *([call.layer_path] if call.layer else [])]
    child = inner[0].removeprefix(f"{outer}.").partition(".")[0] if inner else ""
    layer = NUMBER.sub("#", repr(call.layer))
    dtypes = tuple(tensor.dtype for tensor in tensors_in(call.result))
    return child, (call.path, layer, len(call.inside) - depth, call.around, dtypes)


def _did_alike(few: Sequence[Deed], many: Sequence[Deed]) -> bool:
    """Whether it is the same but for children that the one has more, as some blocks have a `downsample`."""
    if few == many:
        return True
    known = {child for child, _ in few}
    return len(known) > 1 and [deed for deed in many if deed[0] in known] == list(few)


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


def place_inner(
    folding: Folding,
    module: nn.Module,
    name: str,
    things: Iterable[tuple[ItemId, nn.Module | Tensor]],
    names: Mapping[ItemId, str],
) -> None:
    """Say of layers and leaves without a statement of their own that a folded module of that name has them."""
    paths = {id(part): f"{path}." for path, part in module.named_modules() if path}
    paths |= {id(leaf): path for path, leaf in (*module.named_parameters(), *module.named_buffers())}
    for node, thing in things:
        if id(thing) in paths and node not in names:
            inner = Inner(name, type(module).__name__, paths[id(thing)])
            folding.inner.setdefault(node, inner)
