"""Why no gradient reached a value: others wrote into its memory, a cut lies in front of it, or nothing came of it."""

from collections.abc import Iterator
from functools import cached_property

from gradstudio.engine.gradient.inplace_writes import storage_of
from gradstudio.engine.gradient.tensor_watch import Overwritten, Value
from gradstudio.engine.gradient.wire_edges import marks_of
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.engine.value.view_state import grad_fn_of
from gradstudio.graph.model import ItemId
from gradstudio.operators.catalogue import loader as catalogue

NOBODY = ItemId("")
UNUSED = "Nothing that the backward began from was computed from it."
PASSED_BY = "None reached it itself: what it wrote was read through another view of the same memory."
Reason = tuple[str, ItemId]


def note_writes(live: Live) -> None:
    """Before a backward: which values are past because their memory was written into and their edge was rebuilt."""
    for value in live.gradients.values.values() if live.writes.has_any else ():
        tensor = value.tensor
        if tensor is None or value.was_leaf or not value.requires_grad or value.version == tensor._version:
            continue
        node = grad_fn_of(tensor)
        if node is None or value.version is None:
            continue
        own = any(mark[:2] == (value.key, value.serial) for mark in marks_of(node).values)
        wrote = (
            ()
            if own and not value.after_write
            else live.writes.into(storage_of(tensor), value.version, tensor._version)
        )
        if wrote:
            first, last = (_spelled(live, write.node) for write in (wrote[0], wrote[-1]))
            value.written, value.told = Overwritten(first, last), None
            live.gradients.has_overwritten = True


def explain_missing(live: Live) -> None:
    """Behind a backward: give every value that none reached its reason, as far as it is known."""
    values = live.gradients.values.values()
    missed = [value for value in values if value.summary is None and value.requires_grad and not value.was_leaf]
    live.gradients.missed = []
    if not missed:
        return
    program = _Program(live)
    readers = {value.written.last[0]: value.key[0] for value in values if value.after_write and value.written}
    for value in missed:
        value.unreached, value.told = _reason(value, program, readers), None
        if value.unreached is not None:
            live.gradients.missed.append(value)


def _reason(value: Value, program: "_Program", readers: dict[ItemId, ItemId]) -> Reason | None:
    if value.written is not None:
        writer, word = value.written.first
        words = f"Its memory was written to by {word} since; the gradient went to the value after the write."
        return words, writer
    node = value.key[0]
    if node in readers:
        return PASSED_BY, readers[node]
    return program.why_not(node)


class _Program:
    """Who reads whom in the loaded program, by its wires and names."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def why_not(self, node: ItemId) -> Reason | None:
        """The cut between a node and the backward, or that the backward began from nothing made of it; else None."""
        behind = _reached(node, self._readers)
        if not behind & self._roots:
            writes = any(self._steps[each].statement.writes for each in behind if each in self._steps)
            return None if writes else (UNUSED, NOBODY)
        for each in behind:
            if each in self._cuts and _reached(each, self._readers) & self._roots:
                return self._cuts[each].replace("Cut here:", "The way back to it is cut:"), each
        return None

    @cached_property
    def _steps(self) -> dict[ItemId, Step]:
        return {step.id: step for step in self._live.loaded.steps}

    @cached_property
    def _roots(self) -> frozenset[ItemId]:
        """The backward statements that have run."""
        return frozenset(step.id for step in self._live.loaded.backwards if step.id in self._ran)

    @cached_property
    def _ran(self) -> set[ItemId]:
        last = self._live.last_backward
        return {*self._live.executed, *(() if last is None else (last.id,))}

    @cached_property
    def _cuts(self) -> dict[ItemId, str]:
        values = self._live.gradients.values.values()
        return {value.key[0]: value.cut.reason for value in values if value.cut is not None and value.cut.here}

    @cached_property
    def _readers(self) -> dict[ItemId, list[ItemId]]:
        bind: dict[str, list[ItemId]] = {}
        for step in self._steps.values():
            for name in step.statement.names:
                bind.setdefault(name, []).append(step.id)
        readers: dict[ItemId, list[ItemId]] = {}
        for step in self._steps.values():
            for source in _sources(step, bind):
                readers.setdefault(source, []).append(step.id)
        return readers


def _sources(step: Step, bind: dict[str, list[ItemId]]) -> Iterator[ItemId]:
    for _, name, source in step.wires:
        if source is not None:
            yield source[0]
        else:
            yield from bind.get(name, ())


def _reached(node: ItemId, following: dict[ItemId, list[ItemId]]) -> set[ItemId]:
    """Everything behind a node."""
    found: set[ItemId] = set()
    todo = [node]
    while todo:
        for each in following.get(todo.pop(), ()):
            if each not in found:
                found.add(each)
                todo.append(each)
    return found


def _spelled(live: Live, node: ItemId) -> tuple[ItemId, str]:
    """The node, and its operator as its card writes it."""
    statement = live.loaded.places.statements.get(node)
    key = statement.operator if statement is not None else ""
    operator = catalogue.load().get(key)
    word = key.rpartition(".")[2] if operator is None else operator.symbol or operator.word
    return node, word
