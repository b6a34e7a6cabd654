"""What a plain run left behind, read off its namespace: who bound what, and states of gradients."""

from collections.abc import Iterator

from torch import Tensor

from gradstudio.engine.gradient.gradient_states import cut_here, inherit_cut
from gradstudio.engine.gradient.tensor_watch import Cut
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.script.compiled_steps import Head, Item, Step, flat_steps, heads
from gradstudio.engine.script.cursor import GRADLESS
from gradstudio.engine.value.tensor_summary import dtype_name
from gradstudio.engine.value.value_records import requires_grad
from gradstudio.graph.model import ItemId
from gradstudio.graph.text.code_records import CODE
from gradstudio.operators.catalogue import loader as catalogue


def adopt_results(live: Live, ran: int) -> None:
    """Note who bound what, as far as the names still tell it.

    Args:
        live: whose namespace was filled.
        ran: how many statements, in program order, were reached. Those behind it in the same loop may
            have run in an earlier turn.
    """
    steps = live.loaded.steps
    last_backward = max((i for i, step in enumerate(steps[:ran]) if step.statement.backward), default=-1)
    lineage = Lineage(live)
    parts = frozenset(name for step in steps for name in step.statement.drops)
    loops, end = _loops(live), _end_of_loop(live.loaded.items, ran, 0)
    for index, (step, block) in enumerate(_with_blocks(live.loaded.items, None)):
        if index > ran and index >= end:
            break
        for loop in loops.get(step, ()):
            if index <= ran or live.binder.keys().isdisjoint(loop.targets):
                _bind_loop_variables(live, loop)
        names = step.statement.names
        earlier_turn = index >= ran
        if earlier_turn and (not names or any(name in live.binder for name in names)):
            continue
        is_code = step.statement.operator == CODE and any(name in live.namespace for name in names)
        if is_code or _is_bound(live, names, parts):
            live.executed[step.id] = step
            live.binder.update({name: (step.id, k) for k, name in enumerate(names) if name in live.namespace})
            _enter(live, step, lineage.cut_of(step, block), before=index < last_backward)
        lineage.passed(step, block)
    if ran == len(steps):
        live.last_backward = live.loaded.backwards[-1] if live.loaded.backwards else None
        _note_setup(live)


class Lineage:
    """Which names require grad, and which do not because of a cut; parts are judged by their operator."""

    def __init__(self, live: Live) -> None:
        """Nothing is bound yet."""
        self._live = live
        self._requires: dict[str, bool] = {}
        self._cuts: dict[str, Cut | None] = {}

    def cut_of(self, step: Step, block: ItemId | None) -> Cut | None:
        """Why a result of the statement does not require grad, if it does not."""
        reads = step.source.reads
        if any(self._requires.get(name, False) for name in reads):
            tensor = next((v for v in self._values(step) if isinstance(v, Tensor)), None)
            differentiable = tensor is None or tensor.is_floating_point() or tensor.is_complex()
            dtype = "" if tensor is None else dtype_name(tensor.dtype)
            return cut_here(step.id, step.statement.operator, block, dtype, differentiable)
        return next((inherit_cut(cut) for name in reads if (cut := self._cuts.get(name)) is not None), None)

    def passed(self, step: Step, block: ItemId | None) -> None:
        """The statement has bound its names."""
        cut = self.cut_of(step, block)
        for name in step.statement.names:
            bound = not step.statement.is_part and name in self._live.namespace
            requires = requires_grad(self._live.namespace[name]) if bound else self._would_require(step, block)
            self._requires[name] = requires
            self._cuts[name] = None if requires else cut

    def _would_require(self, step: Step, block: ItemId | None) -> bool:
        operator = catalogue.load().get(step.statement.operator)
        cuts = block is not None or (operator is not None and operator.cuts)
        asked = "requires_grad=True" in step.statement.text
        return asked or (not cuts and any(self._requires.get(name, False) for name in step.source.reads))

    def _values(self, step: Step) -> list[object]:
        return [self._live.namespace.get(name) for name in step.statement.names]


def _is_bound(live: Live, names: tuple[str, ...], parts: frozenset[str]) -> bool:
    """Whether the names of a statement are bound, those aside that only a traced run has."""
    if any(name in parts for name in names):
        return any(name in live.namespace for name in names)
    return all(name in live.namespace for name in names)


def _enter(live: Live, step: Step, cut: Cut | None, before: bool) -> None:
    """Enter the values still bound; a non-leaf made before the last backward was not recorded."""
    outputs = [live.namespace.get(name) for name in step.statement.names]
    for value in live.gradients.made(step.id, (), outputs, lambda _: cut):
        value.recorded, value.told = False, None
        value.made_at = 0 if before else live.gradients.backwards


def _end_of_loop(items: tuple[Item, ...], index: int, start: int) -> int:
    """Index behind the outermost loop that holds the step of this index; 0 when none does."""
    for item in items:
        count = 1 if isinstance(item, Step) else len(flat_steps(item.body))
        if start <= index < start + count:
            if isinstance(item, Step):
                return 0
            return start + count if item.block.kind == "for" else _end_of_loop(item.body, index, start)
        start += count
    return 0


def _loops(live: Live) -> dict[Step, list[Head]]:
    """The loops that begin at a statement, outermost first."""
    found: dict[Step, list[Head]] = {}
    for head in heads(live.loaded.items):
        if head.targets and (inner := flat_steps(head.body)):
            found.setdefault(inner[0], []).append(head)
    return found


def _bind_loop_variables(live: Live, loop: Head) -> None:
    live.cursor.bound = [(loop.id, place, name) for place, name in enumerate(loop.targets) if name in live.namespace]
    for value in live.bind_loop_variables(()):
        value.recorded, value.made_at = False, 0


def _note_setup(live: Live) -> None:
    """What set-up made; when a name was bound again, or unbound, it is lost, and the next verb begins from nothing."""
    for step in live.loaded.steps:
        statement = step.statement
        if statement.repeated or statement.is_part:
            continue
        bound = [live.binder[name][0] for name in statement.names if name in live.binder]
        if any(binder != step.id for binder in bound) or not live.namespace.keys() >= set(statement.names):
            live.resumable = False
            return
        live.bind(step, tuple(live.namespace[name] for name in statement.names))


def _with_blocks(items: tuple[Item, ...], block: ItemId | None) -> Iterator[tuple[Step, ItemId | None]]:
    """Every step in program order, with the block around it that switches gradients off."""
    for item in items:
        if isinstance(item, Head):
            kind = item.block.kind
            if kind in GRADLESS:
                inner = item.id
            elif kind == "enable_grad":
                inner = None
            else:
                inner = block
            yield from _with_blocks(item.body, inner)
        else:
            yield item, block
