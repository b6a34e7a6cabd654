"""Steps, clips and backwards in the wrong order: before the gradients are there, behind their end, for an old loss."""

from collections.abc import Iterator
from typing import NamedTuple

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.optimizer_mistakes import makes_optimizer
from gradstudio.advice.diagnosis.mistakes.remade_models import repeating_around
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.run_facts import Gap, RunFacts, is_zero, leaf_rows
from gradstudio.advice.diagnosis.training_steps import GRADIENT, LEAST_IDLE, Role, sets_gradients
from gradstudio.graph.analysis.call_paths import prefix_of
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import TensorRecord

NEAR = 12
"""So many steps an update may be away from the gradient that it goes by."""
REMAINDERS = frozenset({"mod", "remainder"})
Turns = tuple[int, ...]


class _Held(NamedTuple):
    """What a leaf's `.grad` holds: of which backward, whether a step went by it since, whether it is more than 0."""

    by: BackwardTraced
    used: bool
    some: bool


class _Write(NamedTuple):
    """When a leaf was last changed by a step, and by what: an optimizer, or an update that the program writes."""

    at: int
    by: ItemId


class _Old(NamedTuple):
    """A backward through what was computed before the weights were changed."""

    item: ItemId
    by: ItemId
    is_before_the_loop: bool


class StepOrder:
    """A run gone through event by event.

    Attributes:
        late: by optimizer, the statement of the backward that came behind its steps, in how many turns.
        clips: by statement that clips, per execution the backward whose gradients a step had used before; None: none.
        old: by statement of a backward, what it went through that was computed before a step.
        wiped: by optimizer, how often gradients were zeroed that no step had used.
        in_vain: by update, how often it went by a gradient that was zeroed after the backward.
        steps: by optimizer, the rows of its steps; by update, its own.
        judged: by optimizer, how many of its steps stand in a turn of which nothing is missing before them.
    """

    def __init__(self, view: ProgramView, facts: RunFacts, roles: dict[ItemId, Role]) -> None:
        """Go through it."""
        self._facts, self._roles = facts, roles
        self._reads = {item: _gradient_of(view, item, role) for item, role in roles.items() if role.act == "write"}
        self.late: dict[ItemId, list[BackwardTraced]] = {}
        self.clips: dict[ItemId, list[_Held | None]] = {}
        self.old: dict[ItemId, _Old] = {}
        self.wiped: dict[ItemId, list[BackwardTraced]] = {}
        self.in_vain: dict[ItemId, int] = {}
        self.steps: dict[ItemId, list[Row]] = {}
        self.judged: dict[ItemId, int] = {}
        self._gap: Gap | None = None
        self._early: dict[ItemId, Turns] = {}
        self._held: dict[int, _Held] = {}
        self._empty: set[int] = set()
        self._written: dict[int, _Write] = {}
        self._ran: dict[tuple[ItemId, Turns], int] = {}
        self._latest: dict[ItemId, Row] = {}
        for at, event in enumerate(facts.course):
            if isinstance(event, BackwardTraced):
                self._backward(event)
                continue
            if isinstance(event, Gap):
                self._lose_track(event)
                continue
            self._ran[event.node, event.turns] = at
            self._latest[event.node] = event
            if event.node in roles:
                self._act(at, event, roles[event.node])

    def _lose_track(self, gap: Gap) -> None:
        """What was written, computed and sent back before a gap may not be what there is behind it."""
        self._gap = gap
        for known in (self._early, self._held, self._empty, self._written, self._ran, self._latest):
            known.clear()

    def _backward(self, traced: BackwardTraced) -> None:
        reached: dict[int, set[int]] = {}
        for key, row in leaf_rows(traced):
            storages = self._facts.storages(key)
            reached[row.id] = storages
            held = _Held(traced, False, not is_zero(row.after))
            self._held.update(dict.fromkeys(storages, held))
            self._empty -= storages
        everything = {storage for storages in reached.values() for storage in storages}
        for optimizer, turns in self._early.items():
            if turns == traced.turns and everything & self._facts.held.get(optimizer, {}).keys():
                self.late.setdefault(optimizer, []).append(traced)
        if traced.statement not in self.old and everything & self._written.keys():
            self._find_old(traced, reached)

    def _find_old(self, traced: BackwardTraced, reached: dict[int, set[int]]) -> None:
        """Whether it goes through an execution that is older than a step which changed the weights it used."""
        for row in traced.rows:
            if row.order != 1 or not row.node:
                continue
            leaves = [storage for next_id, _ in row.next for storage in reached.get(next_id, ())]
            ran = self._ran.get((row.node, row.turns))
            write = max((self._written[one] for one in leaves if one in self._written), default=None)
            if ran is None or write is None or ran > write.at:
                continue
            item, turns = self._oldest(traced, row, write.at)
            self.old[traced.statement] = _Old(item, write.by, len(turns) < len(traced.turns))
            return

    def _oldest(self, traced: BackwardTraced, row: AutogradRow, before: int) -> tuple[ItemId, Turns]:
        """The value that the backward begins from, where that is old itself; else what used the weights."""
        root = next((value for value in traced.rows[0].values), None)
        if root is not None and self._ran.get((root.node, root.turns), before) < before:
            return root.node, root.turns
        return row.node, row.turns

    def _act(self, at: int, row: Row, role: Role) -> None:
        match role.act:
            case "step":
                self._step(at, row, role.of)
            case "zero":
                self._zero(set(self._facts.held.get(role.of, ())) or self._facts.module_storages(role.of))
            case "clip":
                storages = set(self._facts.held.get(role.of, ())) or self._facts.module_storages(role.of)
                held = [self._held[storage] for storage in storages if storage in self._held]
                newest = next((one for one in held if not one.used), held[0] if held else None)
                if newest is not None or self._gap is None or (storages and storages <= self._empty):
                    self.clips.setdefault(row.node, []).append(newest)
            case "write":
                self._update(at, row, role.of)

    def _step(self, at: int, row: Row, optimizer: ItemId) -> None:
        storages = self._facts.held.get(optimizer, {})
        self.steps.setdefault(optimizer, []).append(row)
        backwards = [self._held[storage].by for storage in storages if storage in self._held]
        self._early.pop(optimizer, None)
        if not self._is_cut(row.turns):
            self.judged[optimizer] = self.judged.get(optimizer, 0) + 1
            if row.turns and not any(traced.turns == row.turns for traced in backwards):
                self._early[optimizer] = row.turns
        self._use(set(storages), _Write(at, optimizer))

    def _is_cut(self, turns: Turns) -> bool:
        """Whether the beginning of these turns may lie in a gap."""
        after = self._gap.after if self._gap is not None else None
        return after is not None and after.turns[: len(turns)] == turns

    def _use(self, storages: set[int], write: _Write) -> None:
        for storage in storages & self._held.keys():
            self._held[storage] = self._held[storage]._replace(used=True)
            self._written[storage] = write

    def _zero(self, storages: set[int]) -> None:
        gone = {storage: self._held.pop(storage) for storage in storages & self._held.keys()}
        self._empty |= storages
        for optimizer, held in self._facts.held.items():
            unused = [gone[storage].by for storage in held if storage in gone and not gone[storage].used]
            if unused:
                self.wiped.setdefault(optimizer, []).append(unused[0])

    def _update(self, at: int, row: Row, leaf: ItemId) -> None:
        source = self._reads.get(row.node)
        read = self._latest.get(source) if source is not None else None
        record = read.outputs[0] if read is not None and read.outputs else None
        storages = self._facts.storages((leaf, ""))
        if not isinstance(record, TensorRecord):
            return
        self.steps.setdefault(row.node, []).append(row)
        if is_zero(record.summary) and any(self._held[one].some for one in storages if one in self._held):
            self.in_vain[row.node] = self.in_vain.get(row.node, 0) + 1
        self._use(storages, _Write(at, row.node))


def order_findings(view: ProgramView, facts: RunFacts, roles: dict[ItemId, Role]) -> Iterator[Finding]:
    """All that stands in the wrong order."""
    if not roles:
        return
    order = StepOrder(view, facts, roles)
    yield from _late(view, facts, order)
    yield from _behind_the_loop(view, facts, order, roles)
    if not sets_gradients(view):
        yield from _clips(view, order)
    yield from _thrown_away(view, order, roles)
    yield from _old(view, order)
    yield from _in_vain(view, order, roles)


def _late(view: ProgramView, facts: RunFacts, order: StepOrder) -> Iterator[Finding]:
    """Steps that stand before the backward of their turn."""
    for optimizer, backwards in order.late.items():
        rows = order.steps[optimizer]
        if len(backwards) < max(LEAST_IDLE, order.judged[optimizer]):
            continue
        name, is_empty = view.name(optimizer), optimizer in order.wiped
        if is_empty:
            title = f"{name} steps without gradients: the step stands before the backward, and zero_grad before both"
            why = "What a backward computes is zeroed in the next turn, before a step uses it. "
        else:
            title = f"{name} steps before the backward: each step goes by the gradients of the turn before"
            why = "The first step has none, and those of the last backward are never used. "
        more = f"{why}The order is zero_grad, backward, step."
        path = (rows[-1].node, backwards[-1].statement, optimizer)
        yield Finding("late_step", "warning", rows[-1].node, title, more, path)


def _behind_the_loop(
    view: ProgramView, facts: RunFacts, order: StepOrder, roles: dict[ItemId, Role]
) -> Iterator[Finding]:
    """A step behind the loop whose turns zero the gradients."""
    for optimizer, backwards in order.wiped.items():
        rows = order.steps.get(optimizer, [])
        known = {row.node for row in facts.rows if roles.get(row.node) == Role("step", optimizer)}
        statements = {traced.statement for traced in backwards}
        is_outside = bool(rows) and all(_is_behind(view, step, one) for step in known for one in statements)
        if len(backwards) < LEAST_IDLE or not is_outside or _reads_gradients(view):
            continue
        step = rows[-1].node
        yield Finding(
            "step_behind_loop",
            "warning",
            step,
            f"{view.name(optimizer)} steps behind the loop only: the gradients of {len(backwards)} backwards are "
            "zeroed before a step uses them",
            "A step belongs into the loop, behind the backward, so that every turn learns from its gradients.",
            (step, backwards[-1].statement, optimizer),
        )


def _is_behind(view: ProgramView, step: ItemId, backward: ItemId) -> bool:
    """Whether a step stands outside of a loop that a backward is in; a condition is none."""
    return repeating_around(view, step) < repeating_around(view, backward)


def _clips(view: ProgramView, order: StepOrder) -> Iterator[Finding]:
    """Clips that find no gradients, or those that a step has used."""
    for item, found in order.clips.items():
        if any(one is not None and not one.used for one in found):
            continue
        is_behind = found[0] is not None
        word = view.word(item)
        cause = "it stands behind the step, which has used them" if is_behind else "it stands before the backward"
        backward = next((one.by.statement for one in reversed(found) if one is not None), None)
        yield Finding(
            "idle_clip",
            "warning",
            item,
            f"{word} clips gradients that no step uses: {cause}",
            "It changes what is in .grad at this moment. The order is backward, clip, step.",
            (item, backward) if backward is not None else (item,),
        )


def _thrown_away(view: ProgramView, order: StepOrder, roles: dict[ItemId, Role]) -> Iterator[Finding]:
    """Gradients of several turns that are to add up for one step, and that each turn zeroes."""
    for optimizer, wiped in order.wiped.items():
        rows = order.steps.get(optimizer, [])
        if len(wiped) < max(LEAST_IDLE, len(rows)) or not rows:
            continue
        step, backward = rows[-1].node, wiped[-1].statement
        used = {traced.statement for traced in wiped}
        counted = _counts_turns(view, step)
        zero = next((item for item, role in roles.items() if role == Role("zero", optimizer)), None)
        if used != {backward} or not counted or zero is None or _counts_turns(view, zero):
            continue
        yield Finding(
            "wiped_gradients",
            "warning",
            zero,
            f"{view.name(optimizer)} steps now and then, but its gradients are zeroed in every turn: those of "
            f"{len(wiped)} backwards are thrown away before a step uses them",
            "The gradients of the turns between two steps are to add up. Put zero_grad behind the step, under the "
            "same condition.",
            (zero, step, backward),
        )


def _counts_turns(view: ProgramView, item: ItemId) -> bool:
    """Whether an item stands under a condition that asks for the remainder of a count: ``if (k + 1) % 4 == 0``."""
    place = view.place(item)
    for body in place.graph.ancestors(place.item) if place is not None else ():
        block = ItemId(prefix_of(item) + body)
        condition = view.source(block, ("range.0", "condition"))
        if condition is not None and any(
            view.word(at) in REMAINDERS for at in (condition.item, *view.behind(condition.item, NEAR))
        ):
            return True
    return False


def _old(view: ProgramView, order: StepOrder) -> Iterator[Finding]:
    """Backwards from what was computed before a step."""
    for statement, (item, by, is_before) in order.old.items():
        name = view.name(view.statement(item))
        if is_before:
            title = f"{name} is computed once, before the loop: each backward gives the gradient of the first weights"
        else:
            title = f"{name} was computed before {_step_words(view, by)}: its gradient is that of the old weights"
        why = "A step changes weights in place; what was computed from them before does not follow. Compute it anew "
        why += "in each turn, from the inputs on." if is_before else "behind the step, or send both back before it."
        yield Finding("old_loss", "warning", statement, title, why, (statement, view.statement(item), by))


def _step_words(view: ProgramView, by: ItemId) -> str:
    node = view.node(by)
    is_optimizer = node is not None and makes_optimizer(node.operator)
    return f"{view.name(by)} stepped" if is_optimizer else "the update of the weights"


def _in_vain(view: ProgramView, order: StepOrder, roles: dict[ItemId, Role]) -> Iterator[Finding]:
    """Updates by hand between the zeroing and the next backward."""
    for update, times in order.in_vain.items():
        if times < len(order.steps[update]):
            continue
        name = view.name(roles[update].of)
        yield Finding(
            "idle_step",
            "warning",
            update,
            f"The updates of {name} go by gradients of 0: {name}.grad is zeroed between the backward and the update",
            f"What the backward computed is gone before it is used. Zero {name}.grad behind the update.",
            (update, roles[update].of),
        )


def _gradient_of(view: ProgramView, update: ItemId, role: Role) -> ItemId | None:
    """The statement that reads the gradient by which an update goes."""
    todo, seen = [update], {update}
    while todo and len(seen) < NEAR:
        for source in view.sources(todo.pop(0)):
            node = view.node(source.item)
            if source.item in seen or node is None:
                continue
            if node.operator == GRADIENT:
                return source.item
            seen.add(source.item)
            todo.append(source.item)
    return None


def _reads_gradients(view: ProgramView) -> bool:
    """Whether a program looks at gradients itself: then they may be all it wants."""
    return any(graph.nodes[item].operator == GRADIENT for _, graph, item in view.insides() if item in graph.nodes)
