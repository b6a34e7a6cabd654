"""Statements that run in one go: one code object for several, each followed by a note of when it was over.

Only statements that ran before with operands of the same sizes, whose results were tensors, small enough
for the guard, whose sizes follow from those of their operands, and that are pure. A segment is short in
statements and in time, for Stop is asked between segments.
"""

import ast
import time
from collections.abc import Callable
from types import CodeType
from typing import Any, NamedTuple

from torch import Tensor

from gradstudio.engine import access
from gradstudio.engine.access import FILENAME
from gradstudio.engine.memory.allocation_guard import LOOK_ABOVE
from gradstudio.engine.memory.memory_sampler import allocated_bytes, has_accelerator
from gradstudio.engine.script.compiled_steps import Item, Step

AT_MOST = 64
BUDGET_S = 0.03
NOTE, CLOCK = "<note>", "<clock>"
"""Names in the program's namespace while a segment runs; no program can spell them."""
_DATA_DEPENDENT = frozenset(
    "nonzero argwhere where masked_select unique unique_consecutive repeat_interleave bincount getitem index "
    "combinations histc segment_reduce nested_tensor to_sparse coalesce".split()
)
_MAX_ITEMS = 16


class StatementSizes(NamedTuple):
    """What a statement was when it last ran: sizes of what it took and gave, and how long it took."""

    inputs: tuple[tuple[str, object], ...]
    outputs: tuple[object, ...]
    seconds: float


class Segment(NamedTuple):
    """Several statements as one code object.

    Attributes:
        entering: names that are read before they are bound, and the size of each.
        fresh: ids of those among the statements that are set-up.
    """

    steps: tuple[Step, ...]
    code: CodeType
    entering: tuple[tuple[str, object], ...]
    fresh: frozenset[str]


class SegmentRun(NamedTuple):
    """How a segment went: a note for each statement that was executed, and why the next was not."""

    started: float
    notes: list[Any]
    before: dict[str, Any]
    error: Exception | None


class Segments:
    """The segments of one loaded program, made as it runs."""

    def __init__(self) -> None:
        """Nothing has run."""
        self._facts: dict[Step, StatementSizes] = {}
        self._made: dict[Step, Segment] = {}
        self._running: tuple[Segment, list[Any]] | None = None

    @property
    def current(self) -> Step | None:
        """The statement at work; None when no segment runs."""
        if self._running is None:
            return None
        segment, notes = self._running
        return segment.steps[min(len(notes), len(segment.steps) - 1)]

    def learn(self, step: Step, operands: list[object], outputs: tuple[object, ...], seconds: float) -> None:
        """A statement has run alone."""
        self._made.pop(step, None)
        known = self._facts.pop(step, None)
        if _may_join(step) and all(isinstance(value, Tensor) and _is_small(value) for value in outputs):
            inputs = tuple(zip(step.source.operands, map(size_of, operands), strict=True))
            best = seconds if known is None else min(seconds, known.seconds)
            self._facts[step] = StatementSizes(inputs, tuple(map(size_of, outputs)), best)

    def at(self, items: tuple[Item, ...], index: int, namespace: dict[str, Any]) -> Segment | None:
        """The segment that begins with a statement; None when it is to run alone."""
        first = items[index]
        assert isinstance(first, Step)
        segment = self._made.get(first)
        if segment is None:
            if first not in self._facts:
                return None
            segment = self._make(items, index, namespace)
            if segment is None:
                return None
            self._made[first] = segment
        get = namespace.get
        for name, size in segment.entering:
            value = get(name)
            if (value.shape if isinstance(value, Tensor) else size_of(value)) != size:
                del self._made[first]
                return None
        return segment

    def run(self, segment: Segment, namespace: dict[str, Any]) -> SegmentRun:
        """Execute it as far as it goes."""
        notes: list[Any] = []
        before = {name: namespace.get(name) for name, _ in segment.entering}
        namespace[NOTE], namespace[CLOCK] = notes.append, _clock()
        self._running, error = (segment, notes), None
        started = time.perf_counter()
        try:
            access.execute(segment.code, namespace)
        except Exception as raised:  # noqa: BLE001 - the step boundary, for several
            error = raised
        finally:
            self._running = None
            del namespace[NOTE], namespace[CLOCK]
        return SegmentRun(started, notes, before, error)

    def _make(self, items: tuple[Item, ...], index: int, namespace: dict[str, Any]) -> Segment | None:
        scope: dict[str, object] = {}
        entering: dict[str, object] = {}
        steps: list[Step] = []
        seconds = 0.0
        for item in items[index : index + AT_MOST]:
            fact = self._facts.get(item) if isinstance(item, Step) else None
            if fact is None or not isinstance(item, Step):
                break
            seconds += fact.seconds
            news = {name: size_of(namespace.get(name)) for name, _ in fact.inputs if name not in scope}
            if seconds > BUDGET_S or any(
                (news[name] if name in news else scope[name]) != size for name, size in fact.inputs
            ):
                break
            entering.update(news)
            scope.update(news)
            scope.update(zip(item.statement.names, fact.outputs, strict=True))
            steps.append(item)
            if item.statement.drops:
                break
        if len(steps) < 2:
            return None
        fresh = frozenset(step.id for step in steps if not step.statement.repeated)
        return Segment(tuple(steps), _compiled(steps), tuple(entering.items()), fresh)


def _is_small(tensor: Tensor) -> bool:
    return not tensor.is_nested and tensor.numel() < LOOK_ABOVE


def _may_join(step: Step) -> bool:
    statement = step.statement
    return step.pure and bool(statement.names) and statement.operator.rpartition(".")[2] not in _DATA_DEPENDENT


def size_of(value: object) -> object:
    """What the sizes of results may depend on."""
    if isinstance(value, Tensor):
        return value.shape
    if isinstance(value, float | complex):
        return type(value)
    if isinstance(value, int | str):
        return type(value), value
    if isinstance(value, tuple | list):
        return tuple(map(size_of, value)) if len(value) <= _MAX_ITEMS else object()
    return type(value)


def _compiled(steps: list[Step]) -> CodeType:
    body: list[ast.stmt] = []
    for step in steps:
        statement = step.statement
        tree = access.guarded(ast.parse(statement.text, FILENAME))
        names = [f"{name}" for name in statement.names]
        noted = ", ".join(names) + ("," if len(names) > 1 else "")
        note = ast.parse(f"note((clock(), {f'({noted})' if len(names) > 1 else noted}))", FILENAME)
        for name in ast.walk(note):
            if isinstance(name, ast.Name) and name.id in ("note", "clock") and name.id not in names:
                name.id = NOTE if name.id == "note" else CLOCK
        lines = statement.text.count("\n")
        ast.increment_lineno(tree, statement.line - 1)
        ast.increment_lineno(note, statement.line - 1 + lines)
        body += [*tree.body, *note.body]
    return access.compiled(ast.Module(body, []))


def _clock() -> Callable[[], Any]:
    """Tells seconds; where there is an accelerator also what its allocator has handed out."""
    return _clock_and_bytes if has_accelerator() else time.perf_counter


def _clock_and_bytes() -> tuple[float, tuple[int, ...]]:
    return time.perf_counter(), allocated_bytes()
