"""Where a pass stood between statements, kept for the next one: it begins at what was edited, and ends behind it.

Kept only of programs in which every statement runs once and nothing is written into after it was made, so that a state
is a few tables; all others are gone through from the beginning, with the memo.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from gradstudio.engine.infer.inference_memo import Memo
from gradstudio.engine.infer.inference_pass import InferencePass
from gradstudio.engine.infer.statement_inference import Way
from gradstudio.engine.memory.memory_estimate import MemoryEstimate
from gradstudio.engine.meta.inference_results import Ports, StatementResult
from gradstudio.engine.script.compiled_steps import Item, prepare, prepare_definition
from gradstudio.graph.model import ItemId
from gradstudio.program.model import BlockStatement, Program, Statement

MOST_CHECKPOINTS = 16
FEWEST_BETWEEN = 24
"""Statements: fewer are gone through as fast as a checkpoint is restored."""
Part = Statement | BlockStatement


class PassState(NamedTuple):
    """All that a pass knows before a statement."""

    ports: Ports
    used: Memo
    by_node: dict[ItemId, StatementResult]
    values: dict[str, Any]
    keys: dict[str, object]
    origins: dict[str, int]
    devices: dict[str, str]
    guessed: set[str]
    gradients: bool
    needs: MemoryEstimate


class KeptPass(NamedTuple):
    """A pass that is over.

    Attributes:
        around: what all of it depends on beside its statements.
        at: the states before some of the statements, by their places.
        end: the state behind the last one.
    """

    around: tuple[object, ...]
    statements: tuple[Part, ...]
    items: tuple[Item, ...]
    at: dict[int, PassState]
    end: PassState


class Checkpoints:
    """Goes through programs one after the other, each from where it differs from the last."""

    def __init__(self) -> None:
        """Nothing was gone through."""
        self._kept: KeptPass | None = None

    def forget(self) -> None:
        """Go through the next program from its beginning."""
        self._kept = None

    def follow(self, walk: InferencePass, program: Program, way: Way) -> tuple[Item, ...]:
        """Go through a program; its statements, ready to run."""
        kept, self._kept = self._kept, None
        around = _around(program, way)
        if not _runs_once(program):
            items = prepare(program, lines=False)
            walk.body(items)
            return items
        if kept is not None and kept.around != around:
            kept = None
        same, rest = _unchanged(kept, program.statements)
        items = _prepared(kept, program, same, rest)
        at = _walked(walk, items, kept, same, rest)
        if not walk.names.rewritten and not walk.missed:
            self._kept = KeptPass(around, program.statements, items, at, _state(walk))
        return items


def _walked(
    walk: InferencePass, items: tuple[Item, ...], kept: KeptPass | None, same: int, rest: int
) -> dict[int, PassState]:
    """Go through the statements between the first `same` and the last `rest`, and through those that follow from them.

    Returns:
        The states before some statements.
    """
    at: dict[int, PassState] = {}
    begin = 0
    if kept is not None:
        walk.earlier = kept.end.by_node
        at = {place: state for place, state in kept.at.items() if place <= same}
        begin = max(at, default=0)
        if begin:
            _restore(walk, at[begin])
    between = max(FEWEST_BETWEEN, len(items) // MOST_CHECKPOINTS)
    moved = len(items) - len(kept.items) if kept is not None else 0
    for place in range(begin, len(items)):
        if place and place % between == 0 and place not in at:
            at[place] = _state(walk)
        if kept is not None and len(items) - rest <= place and not walk.names.rewritten:
            old = kept.at.get(place - moved)
            if old is not None and _stands_as(walk, old):
                _finish(walk, old, kept.end)
                return at | {later: state for later, state in kept.at.items() if later > place and not moved}
        walk.body((items[place],))
    return at


def _around(program: Program, way: Way) -> tuple[object, ...]:
    return (program.prelude, program.device, "Lazy" in program.code, way)


def _runs_once(program: Program) -> bool:
    """Whether each statement runs once, and none changes what holds for all that follow."""
    settings = program.code.count("torch.set_") > program.prelude.count("torch.set_")
    return not (program.insides or settings or "Lazy" in program.code or _branches(program.statements))


def _branches(statements: Iterable[Part]) -> bool:
    blocks = [one for one in statements if isinstance(one, BlockStatement)]
    return any(block.kind in ("for", "if") or _branches(block.body) for block in blocks)


def _unchanged(kept: KeptPass | None, statements: tuple[Part, ...]) -> tuple[int, int]:
    """How many statements at the beginning are as they were, and how many of the others at the end."""
    if kept is None:
        return 0, 0
    least = min(len(kept.statements), len(statements))
    same = 0
    while same < least and kept.statements[same] == statements[same]:
        same += 1
    rest = 0
    while rest < least - same and kept.statements[-1 - rest] == statements[-1 - rest]:
        rest += 1
    return same, rest


def _prepared(kept: KeptPass | None, program: Program, same: int, rest: int) -> tuple[Item, ...]:
    """The statements ready to run; those that are as they were, and read what they read, are taken over."""
    statements = program.statements
    if kept is None or len(kept.statements) != len(statements):
        return prepare(program, lines=False)
    end = len(statements) - rest
    changed = range(same, end)
    if any(_binds(kept.statements[place]) != _binds(statements[place]) for place in changed):
        return prepare(program, lines=False)
    if any(isinstance(statements[place], BlockStatement) for place in changed):
        return prepare(program, lines=False)
    anew = prepare_definition(statements[same:end])
    return (*kept.items[:same], *anew, *kept.items[end:])


def _binds(one: Part) -> object:
    return (one.node, one.names) if isinstance(one, Statement) else None


def _state(walk: InferencePass) -> PassState:
    names = walk.names
    return PassState(
        walk.ports.copy(), walk.used.copy(), walk.by_node.copy(), names.values.copy(), names.keys.copy(),
        names.origins.copy(), names.devices.copy(), names.guessed.copy(),
        walk.gradients.are_there, walk.needs.copy(),
    )  # fmt: skip


def _restore(walk: InferencePass, state: PassState) -> None:
    """The pass goes on from there; the state itself stays as it is."""
    names = walk.names
    walk.ports, walk.used, walk.by_node = state.ports.copy(), state.used.copy(), state.by_node.copy()
    names.values, names.keys, names.origins = state.values.copy(), state.keys.copy(), state.origins.copy()
    names.devices, names.guessed = state.devices.copy(), state.guessed.copy()
    walk.gradients.are_there = state.gradients
    walk.needs = state.needs.copy()


def _stands_as(walk: InferencePass, old: PassState) -> bool:
    """Whether all that follows is as it was."""
    names = walk.names
    same = names.keys == old.keys and names.devices == old.devices and names.guessed == old.guessed
    same = same and walk.gradients.are_there == old.gradients
    return same and walk.ports == old.ports and names.origins == old.origins and walk.needs.agrees_with(old.needs)


def _finish(walk: InferencePass, old: PassState, end: PassState) -> None:
    """What the last pass found behind this place is found."""
    used = walk.used | {key: known for key, known in end.used.items() if key not in old.used}
    by_node = end.by_node | walk.by_node
    _restore(walk, end)
    walk.used, walk.by_node = used, by_node
