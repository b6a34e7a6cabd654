"""The one live state: a namespace, where the program stands in it, and what was recorded."""

import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from torch import Tensor

from gradstudio.engine.code.program_end import has_ended_well
from gradstudio.engine.gradient.gradient_registry import Gradients
from gradstudio.engine.gradient.inplace_writes import Before, Writes
from gradstudio.engine.gradient.leaf_writes import LeafWrite, leaf_writes
from gradstudio.engine.gradient.module_watch import ModuleWatch
from gradstudio.engine.gradient.parameter_swaps import may_swap, take_up_swaps
from gradstudio.engine.gradient.tensor_watch import Value
from gradstudio.engine.live.call_frames import Entered, Standing
from gradstudio.engine.live.recent_rows import MAX_ROWS, RecentRows
from gradstudio.engine.script.compiled_steps import Head, Item, Step, flat_steps, prepare
from gradstudio.engine.script.cursor import NOBODY, Cursor
from gradstudio.engine.script.source_map import SourceMap
from gradstudio.engine.script.stop_conditions import Aim
from gradstudio.engine.value.view_state import is_leaf
from gradstudio.graph.groups.call_ids import OUTPUTS, call_item_id
from gradstudio.graph.model import ItemId
from gradstudio.program.model import Program
from gradstudio.protocol.messages.backward_trace import AutogradRow
from gradstudio.protocol.messages.events import LiteralChange, ModeState, Row
from gradstudio.protocol.messages.records import Record

Binding = tuple[ItemId, int]


class Loaded:
    """A program as the window last sent it; made ready when a verb, or a live state to compare it with, needs it."""

    def __init__(self, document: str, revision: int, program: Program) -> None:
        """Hold the parts."""
        self.document, self.revision, self.program = document, revision, program
        self._is_free = False

    def prepare_anew(self, is_free: bool) -> None:
        """Make the statements ready again where they were for another kind of run: with walls, or without."""
        if self._is_free != is_free:
            self._is_free = is_free
            for kept in ("items", "steps", "backwards", "has_repeated", "names"):
                self.__dict__.pop(kept, None)

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The program's statements prepared."""
        return prepare(self.program)

    @cached_property
    def places(self) -> SourceMap:
        """From a place in the script to what stands there."""
        return SourceMap(self.program)

    @cached_property
    def steps(self) -> list[Step]:
        """Every statement, those in blocks among them."""
        return flat_steps(self.items)

    @cached_property
    def backwards(self) -> list[Step]:
        """The backward statements."""
        return [step for step in self.steps if step.statement.backward]

    @cached_property
    def has_repeated(self) -> bool:
        """Whether anything belongs to the repeated part."""
        return any(_repeated(item) for item in self.items)

    @cached_property
    def setup(self) -> list[tuple[Step, frozenset[ItemId]]]:
        """The statements of set-up in order, each with those that bound what it reads."""
        found: list[tuple[Step, frozenset[ItemId]]] = []
        scope: dict[str, ItemId] = {}
        for step in self.steps:
            if not step.statement.repeated:
                found.append((step, frozenset([scope[name] for name in step.source.reads if name in scope])))
            for name in step.statement.names:
                scope[name] = step.id
        return found

    @cached_property
    def names(self) -> frozenset[str]:
        """All names that are bound."""
        return frozenset(name for step in self.steps for name in step.statement.names)


@dataclass(slots=True, eq=False)
class Live:
    """What is left of the last start from nothing.

    Attributes:
        loaded: the program the namespace belongs to.
        binder: which node bound a name last.
        setup: what each set-up statement that ran has bound, in order of its names.
        lists: the set-up lists and what they held when set-up left them.
        anew: set-up statements that this pass must run again.
        executed: statements that have run since the start from nothing.
        interrupted: paused by Step or Stop, so Run goes on.
        ended_at: the line in which the program has ended itself; "": it has not.
        traced: it was not a plain run; `prepared`: imports and header were executed.
        resumable: False when a plain run ended in the middle: nobody knows where it stands.
        backward_parts: what the parts of the last backward statement gave, by the names they had.
        last_rows: the latest record of each node, whatever was dropped.
        paused: a verb has ended in this pass, so what is next was shown.
        behind: the statement that ran last in this pass, and the turns of the loops around it.
        aim: where the verb was to end that did not get there; a repeat goes as far.
        writes: who wrote into what in place; `modules` whose mode and buffers are watched.
        calls: the calls that are being carried out, the outermost first; `inside` where the innermost stands while
            no verb is at work (since `suspended_at`): then names, binder and cursor are the program's.
        groups: the group that each call is of that was ever entered.
        changes: literals that the program that was loaded last has changed beside it.
    """

    loaded: Loaded
    namespace: dict[str, Any]
    cursor: Cursor
    gradients: Gradients
    seed: int | None
    binder: dict[str, Binding] = field(default_factory=dict)
    setup: dict[ItemId, tuple[Any, ...]] = field(default_factory=dict)
    lists: dict[int, tuple[list[Any], tuple[int, ...]]] = field(default_factory=dict)
    anew: set[ItemId] = field(default_factory=set)
    executed: dict[ItemId, Step] = field(default_factory=dict)
    pass_number: int = 1
    step_count: int = 0
    changed_by_hand: bool = False
    interrupted: bool = False
    failed: bool = False
    ended_at: str = ""
    resumable: bool = True
    traced: bool = True
    prepared: bool = False
    last_backward: Step | None = None
    backward_parts: dict[str, Any] = field(default_factory=dict)
    rows: RecentRows = field(default_factory=RecentRows)
    last_rows: dict[ItemId, Row] = field(default_factory=dict)
    paused: bool = False
    behind: tuple[ItemId, tuple[int, ...]] | None = None
    aim: Aim | None = None
    writes: Writes = field(default_factory=Writes)
    modules: ModuleWatch = field(default_factory=ModuleWatch)
    calls: list[Entered] = field(default_factory=list)
    inside: Standing | None = None
    suspended_at: float = 0.0
    groups: dict[ItemId, str] = field(default_factory=dict)
    changes: tuple[LiteralChange, ...] = ()
    autograd_rows: deque[AutogradRow] = field(default_factory=lambda: deque(maxlen=MAX_ROWS))

    @property
    def place(self) -> Cursor:
        """The innermost cursor: in the program, or inside a call."""
        return self.inside.cursor if self.inside is not None else self.cursor

    @property
    def next_node(self) -> ItemId:
        """What is next: a statement, a block to be entered, the outputs of a call, or "" at the end."""
        upcoming = self.place.upcoming()
        if upcoming is not None:
            return upcoming.id
        if not self.calls:
            return NOBODY
        last = self.calls[-1]
        return last.execution.step.id if last.setup else call_item_id(last.execution.step.id, OUTPUTS)

    def standing(self) -> Standing:
        """The names and the place that are used now."""
        return Standing(self.namespace, self.binder, self.cursor, self.last_backward, self.backward_parts)

    def take(self, standing: Standing) -> None:
        """Use other names, and another place."""
        self.namespace, self.binder, self.cursor, self.last_backward, self.backward_parts = standing

    def resume(self) -> None:
        """A verb begins: stand in the innermost call again."""
        if self.inside is not None:
            self.take(self.inside)
            self.inside = None
            for one in self.calls:
                one.execution.started += time.perf_counter() - self.suspended_at

    def suspend(self) -> None:
        """A verb ends: the names are the program's, and what is inside waits."""
        if self.calls:
            self.inside, self.suspended_at = self.standing(), time.perf_counter()
            self.take(self.calls[0].around)

    def has_ended(self, error: Exception) -> bool:
        """Whether what was raised is the end of the program that it chose itself, which is noted."""
        if has_ended_well(error):
            self.ended_at = self.loaded.places.line_of_traceback(error.__traceback__) or "exit()"
        return bool(self.ended_at)

    def end(self) -> str:
        """The program has ended itself, and all went well: it stands at its end, "done"."""
        self.leave_calls()
        self.cursor.close()
        self.cursor.skip_to_end()
        return "done"

    def note_writes(
        self, step: Step, before: list[Before], outputs: tuple[Any, ...]
    ) -> tuple[tuple[LeafWrite, ...], tuple[ModeState, ...]]:
        """A statement has run that may have written into what was so before it.

        Returns:
            the leaves and buffers that it wrote into, and the modules that it switched.
        """
        self.writes.note(step, self.cursor.turns, before)
        swaps = take_up_swaps(self.gradients, self.modules) if may_swap(step, self.namespace) else ()
        leaves = leaf_writes(self.gradients.leaves.values(), before, outputs)
        if not self.modules.places:
            return leaves, ()
        return (*swaps, *leaves, *self.modules.writes()), self.modules.modes()

    def leave_calls(self) -> None:
        """Give up every call that is being carried out: the place is before the outermost again."""
        self.resume()
        while self.calls:
            self.cursor.close()
            self.take(self.calls.pop().around)

    def close(self) -> None:
        """Leave every call and block, innermost first."""
        self.leave_calls()
        self.cursor.close()

    def let_go(self) -> None:
        """Nobody goes on with it: every block is left, and no value is held, whoever still holds this."""
        self.close()
        for held in (self.namespace, self.binder, self.setup, self.lists, self.backward_parts):
            held.clear()
        self.gradients.let_go()
        self.modules.new_pass(lambda _: False)

    def bind(self, step: Step, values: tuple[Any, ...]) -> None:
        """Note who bound the statement's names, and what set-up has made."""
        statement = step.statement
        for index, name in enumerate(statement.names):
            self.binder[name] = (statement.node, index)
        self.executed[statement.node] = step
        if not statement.repeated:
            self.setup[statement.node] = values
            self._see_lists((*values, *(self.namespace.get(name) for name in step.source.reads)))

    def bind_loop_variables(self, turns: tuple[int, ...]) -> list[Value]:
        """Note who bound the loop variables that the cursor has bound since this was last called."""
        bound, self.cursor.bound = self.cursor.bound, []
        made: list[Value] = []
        for block, place, name in bound:
            self.binder[name] = (block, place)
            made += self.gradients.made(block, turns, (self.namespace.get(name),), lambda _: None, first=place)
        return made

    def rebind(self, step: Step) -> None:
        """Give the names of a set-up statement the objects it made."""
        for index, (name, value) in enumerate(zip(step.statement.names, self.setup[step.id], strict=False)):
            self.namespace[name] = value
            self.binder[name] = (step.id, index)

    def forget(self, names: Iterable[str]) -> None:
        """Unbind names."""
        for name in names:
            self.namespace.pop(name, None)
            self.binder.pop(name, None)

    def kept(self, node: ItemId, output: int) -> object:
        """What a statement gave although no name holds it any more; None when it was not kept."""
        if node in self.setup:
            return self.setup[node][output]
        value = self.gradients.values.get((node, output, ""))
        return value.tensor if value is not None else None

    def ran_in_this_pass(self, node: ItemId) -> bool:
        """Whether a statement that was executed was so in this pass, as far as it is known."""
        row = self.last_rows.get(node)
        return row is None or row.pass_number == self.pass_number

    def record(self, row: Row) -> None:
        """Keep a row for the report."""
        self.last_rows[row.node] = row
        self.rows.add(row)

    def outputs_of(self, node: ItemId) -> tuple[Record, ...]:
        """The latest records of a node; empty when there are none."""
        row = self.last_rows.get(node)
        return row.outputs if row is not None else ()

    def must_be_made_anew(self) -> set[ItemId]:
        """Set-up that acquired a `grad_fn` or was appended to, with what set-up made from it (semantics §5)."""
        anew: set[ItemId] = set()
        for step, sources in self.loaded.setup:
            if step.id in self.setup:
                spoilt = any(map(self._is_spoilt, self.setup[step.id]))
                if spoilt or not anew.isdisjoint(sources):
                    anew.add(step.id)
        return anew

    def _see_lists(self, values: tuple[Any, ...]) -> None:
        for value in values:
            if type(value) is list:
                self.lists[id(value)] = (value, tuple(map(id, value)))

    def _is_spoilt(self, value: object) -> bool:
        if isinstance(value, Tensor):
            return not is_leaf(value)
        if type(value) is list and id(value) in self.lists:
            return tuple(map(id, value)) != self.lists[id(value)][1] or any(map(self._is_spoilt, value))
        return isinstance(value, list | tuple) and any(map(self._is_spoilt, value))


def _repeated(item: Item) -> bool:
    if isinstance(item, Head):
        return item.block.repeated or any(map(_repeated, item.body))
    return item.statement.repeated
