"""What-if: the program run silently as it is and with one change, and all that came out otherwise (semantics §6)."""

import math

import msgspec
import torch
from torch import Tensor

from gradstudio.engine.errors import CannotTry
from gradstudio.engine.experiment.rerun import End, Outputs, Place, Rerun, World, isolate
from gradstudio.engine.experiment.run_record import KeptValue, RunRecord, ValueTrace
from gradstudio.engine.experiment.value_override import hook_on_gradient, override_value
from gradstudio.engine.live.initial_state import budget_bytes
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.engine.value.tensor_summary import summarise
from gradstudio.graph.groups.call_ids import SEPARATOR, is_call_item
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.debugging import Change, Difference, WhatIf, WhatIfAnswered
from gradstudio.protocol.messages.records import Summary


def answer(world: World, request: WhatIf, until: Place | None) -> WhatIfAnswered:
    """Run twice and compare.

    Args:
        until: where both runs end; None: at the end of the program.
    """
    answered = WhatIfAnswered(request=request.request, change=request.change)
    try:
        changed = _Changed(request.change, _called(world, request.change), request.max_values)
        before, end_before = _run(world, RunRecord(budget_bytes() // 2, request.max_values), until)
        if end_before.outcome == "stopped":
            return msgspec.structs.replace(answered, error=end_before.words)
        after, end = _run(world, changed, until)
        if end.outcome == "stopped":
            return msgspec.structs.replace(answered, error=end.words)
        why = changed.why_nothing()
        if why:
            raise CannotTry(why)
    except CannotTry as reason:
        return msgspec.structs.replace(answered, error=str(reason))
    whole = end_before.outcome == end.outcome == "done"
    with isolate(world.settings), torch.no_grad():
        differences = differences_of(before, after, whole)
    return msgspec.structs.replace(
        answered, differences=differences, error=_how_it_ended(world, end_before, end), failed=end.node
    )


def differences_of(before: RunRecord, after: RunRecord, whole: bool) -> tuple[Difference, ...]:
    """Values in the order they were made, then gradients in that order.

    Args:
        whole: both runs came to their end, so what only one of them made counts.
    """
    values: list[Difference] = []
    grads: list[Difference] = []
    nothing = ValueTrace(None)
    for when in [*after.births, *(when for when in before.births if when not in after.births)]:
        old, new = before.births.get(when, {}), after.births.get(when, {})
        if not whole and (not old or not new):
            continue
        for where in [*new, *(where for where in old if where not in new)]:
            first, second = old.get(where, nothing), new.get(where, nothing)
            value = _difference(first.value, second.value, after.max_values)
            if value is None:
                value = _difference(_at_end(first), _at_end(second), after.max_values)
            grad = _difference(first.grad, second.grad, after.max_values)
            (node, turns), (output, path) = when, where
            place = Difference(node=node, output=output, path=path, turns=turns)
            if value is not None:
                values.append(_filled(place, value, grad=False))
            if grad is not None:
                grads.append(_filled(place, grad, grad=True))
    return (*values, *grads)


class _Changed(RunRecord):
    """The run with the change."""

    def __init__(self, change: Change, called: str, max_values: int) -> None:
        super().__init__(budget_bytes() // 2, max_values)
        self._change, self._called = change, called
        self._met, self._arrivals = False, 0
        self._other_turns: set[tuple[int, ...]] = set()

    def after(self, run: Rerun, step: Step, outputs: Outputs) -> None:
        """Change what it gave, if it is the one."""
        change, leaf = self._change, None
        if self._is_met(step.id, run.turns):
            if change.output >= len(outputs):
                raise CannotTry(f"{self._called} gives no result that could be changed.")
            value = outputs[change.output]
            leaf = value if step.statement.names and self._is_known(value) else None
            other = self._apply(value, alias=leaf is not None)
            if other is not value:
                _rebind(run, step, change.output, value, other, self._called)
                outputs = (*outputs[: change.output], other, *outputs[change.output + 1 :])
        super().after(run, step, outputs)
        if isinstance(leaf, Tensor):  # its gradient is the leaf's, as without the change
            birth = self.births[step.id, run.turns][change.output, ""]
            birth.standing, birth.version = leaf, leaf._version

    def bound(self, run: Rerun, block: ItemId, place: int, name: str) -> None:
        """Change the loop variable, if it is the one."""
        if place == self._change.output and self._is_met(block, run.turns):
            run.namespace[name] = self._apply(run.namespace[name])
        super().bound(run, block, place, name)

    def why_nothing(self) -> str:
        """Why the change had no occasion; "" when it had."""
        turns = self._change.turns
        if not self._met and self._other_turns and not turns:
            return f"{self._called} stands in a loop: say in which turn it is to be changed."
        if not self._met:
            # counted from 1 as everywhere that a person reads; of loops in loops the inner one first
            turn = f" in turn {' in '.join(str(turn + 1) for turn in reversed(turns))}" if turns else ""
            return f"{self._called} was not run{turn} before the place where the program stands."
        if self._change.grad and not self._arrivals:
            return f"No gradient arrived at {self._called}, so there was nothing to change."
        return ""

    def _is_met(self, node: ItemId, turns: tuple[int, ...]) -> bool:
        if node != self._change.node:
            return False
        if turns != self._change.turns:
            self._other_turns.add(turns)
            return False
        self._met = True
        return True

    def _is_known(self, value: object) -> bool:
        """Whether an earlier statement gave this leaf."""
        return any(birth.standing is value for births in self.births.values() for birth in births.values())

    def _apply(self, value: object, alias: bool = False) -> object:
        if not self._change.grad:
            return override_value(value, self._change, self._called, alias)
        hook_on_gradient(value, self._change, self._called, self._count)
        return value

    def _count(self) -> None:
        self._arrivals += 1


def _run(world: World, trail: RunRecord, until: Place | None) -> tuple[RunRecord, End]:
    with isolate(world.settings):
        run = Rerun(world)
        try:
            end = run.go(trail, until)
            trail.conclude()
        finally:
            run.let_go()
    return trail, end


def _rebind(run: Rerun, step: Step, output: int, value: object, other: object, called: str) -> None:
    """Let the statement's name hold the other value; of an in-place statement, every name of the object."""
    names = step.statement.names
    if names:
        run.namespace[names[output]] = other
        return
    holders = [name for name, held in run.namespace.items() if held is value]
    lists = list[list[object]]()
    for held in run.namespace.values():
        if type(held) is list and any(item is value for item in held):
            lists.append(held)
    if not holders and not lists:
        raise CannotTry(f"{called} is held where it cannot be replaced.")
    run.namespace.update(dict.fromkeys(holders, other))
    for held in lists:
        held[:] = [other if item is value else item for item in held]


def _called(world: World, change: Change) -> str:
    """How words call what is changed: its address, and the path in it.

    Raises:
        CannotTry: the program does not have it.
    """
    places = world.loaded.places
    statement, address = places.known(change.node), places.address(change.node)
    if not address and not is_call_item(change.node):
        raise CannotTry("It is not a part of the program that was loaded, so it cannot be changed.")
    name = address or "the inputs of the group"
    if statement is not None and change.output < len(statement.names):
        name = SEPARATOR.join([*address.split(SEPARATOR)[:-1], statement.names[change.output]])
    elif (block := places.blocks.get(change.node)) is not None:
        name = block.variable or name
    return f"`{name}.{change.path}`" if change.path else f"`{name}`"


def _how_it_ended(world: World, before: End, after: End) -> str:
    if after.outcome == "failed" and before == after:
        return f"With and without the change the program fails at {_address(world, after.node)}: {after.words}"
    if after.outcome == "failed":
        return f"With the change the program fails at {_address(world, after.node)}: {after.words}"
    if before.outcome == "failed":
        return f"Without the change the program fails at {_address(world, before.node)}: {before.words}"
    return ""


def _address(world: World, node: ItemId) -> str:
    address = world.loaded.places.address(node)
    return f"`{address}`" if address else "its head"


# ------------------------------------------------------------------ comparing


def _at_end(birth: ValueTrace) -> KeptValue:
    return birth.ended if birth.ended is not None else birth.value


def _filled(place: Difference, found: tuple[Summary | None, Summary | None, float | None], grad: bool) -> Difference:
    before, after, largest = found
    return msgspec.structs.replace(place, grad=grad, before=before, after=after, largest=largest)


def _difference(
    before: KeptValue, after: KeptValue, max_values: int
) -> tuple[Summary | None, Summary | None, float | None] | None:
    """(before, after, largest |difference|); None when they are the same, NaN counting as NaN."""
    if _same(before, after):
        return None
    return _summary(before, max_values), _summary(after, max_values), _largest(before, after)


def _same(before: KeptValue, after: KeptValue) -> bool:
    if isinstance(before, Tensor) and isinstance(after, Tensor):
        if before.shape != after.shape or before.dtype != after.dtype or before.device != after.device:
            return False
        before, after = _dense(before), _dense(after)
        return torch.equal(before, after) or bool(((before == after) | ((before != before) & (after != after))).all())
    if isinstance(before, Summary) and isinstance(after, Tensor):
        return before == summarise(after)
    if isinstance(before, Tensor) and isinstance(after, Summary):
        return summarise(before) == after
    return type(before) is type(after) and (before == after or (before != before and after != after))


def _largest(before: KeptValue, after: KeptValue) -> float | None:
    if isinstance(before, bool | int | float | complex) and isinstance(after, bool | int | float | complex):
        return _told(float(abs(after - before)))
    if not isinstance(before, Tensor) or not isinstance(after, Tensor) or before.shape != after.shape:
        return None
    old, new = _wide(before), _wide(after.to(before.device))
    unequal = ~((old == new) | ((old != old) & (new != new)))
    return _told((new[unequal] - old[unequal]).abs().max().item()) if bool(unequal.any()) else 0.0


def _told(number: float) -> float | None:
    return None if math.isnan(number) else number


def _wide(tensor: Tensor) -> Tensor:
    tensor = _dense(tensor).cpu()
    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)


def _dense(tensor: Tensor) -> Tensor:
    return tensor if tensor.layout is torch.strided else tensor.to_dense()


def _summary(told: KeptValue, max_values: int) -> Summary | None:
    if told is None or isinstance(told, Summary):
        return told
    if isinstance(told, Tensor):
        return summarise(told, max_values)
    kind = type(told).__name__
    if isinstance(told, complex):
        return msgspec.structs.replace(summarise(torch.tensor(told)), dtype=kind)
    if not math.isfinite(told):
        return msgspec.structs.replace(summarise(torch.tensor(told, dtype=torch.float64)), dtype=kind)
    number = float(told)
    return Summary(dtype=kind, shape=(), minimum=told, maximum=told, mean=number, rms=abs(number), value=told)
