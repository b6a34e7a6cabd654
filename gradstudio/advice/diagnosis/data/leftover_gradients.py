"""Gradients that one optimizer's backward leaves in the leaves of another one, which then steps by them, too."""

from collections.abc import Iterator
from typing import NamedTuple

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.run_facts import Gap, LeafKey, RunFacts, is_zero, leaf_rows
from gradstudio.advice.diagnosis.training_steps import Role
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import BackwardTraced

LEAST = 2


class _Part(NamedTuple):
    """What one backward added; `is_done`: a step of another optimizer was what it was for."""

    statement: ItemId
    is_done: bool = False


class _Leftover(NamedTuple):
    """A step by what two backwards have added, the first of them for another optimizer."""

    optimizer: ItemId
    first: ItemId
    second: ItemId


class _Contents:
    """What is in each leaf's `.grad`, part by part; `found`: how often a step went by what was left over."""

    def __init__(self, facts: RunFacts, roles: dict[ItemId, Role]) -> None:
        self._facts, self._parts = facts, dict[LeafKey, list[_Part]]()
        self.found: dict[_Leftover, int] = {}
        self.leaves: dict[_Leftover, LeafKey] = {}
        for event in facts.course:
            if isinstance(event, BackwardTraced):
                self._add(event)
            elif isinstance(event, Gap):
                self._parts.clear()
            elif (role := roles.get(event.node)) is not None:
                self._act(role)

    def _add(self, traced: BackwardTraced) -> None:
        for key, row in leaf_rows(traced):
            parts = self._parts.setdefault(key, [])
            if row.before is None or is_zero(row.before):
                parts.clear()
            parts.append(_Part(traced.statement))

    def _act(self, role: Role) -> None:
        held = set(self._facts.held.get(role.of, ())) or self._facts.module_storages(role.of)
        own = [key for key in self._parts if self._facts.storages(key) & held]
        if role.act == "zero":
            for key in own:
                self._parts[key].clear()
        elif role.act == "step":
            self._step(role.of, own)

    def _step(self, optimizer: ItemId, own: list[LeafKey]) -> None:
        seen = set[_Leftover]()
        for key in own:
            done = [part.statement for part in self._parts[key] if part.is_done]
            new = [part.statement for part in self._parts[key] if not part.is_done]
            if done and new and done[0] != new[-1]:
                leftover = _Leftover(optimizer, done[0], new[-1])
                self.leaves.setdefault(leftover, key)
                seen.add(leftover)
        for leftover in seen:
            self.found[leftover] = self.found.get(leftover, 0) + 1
        served = {part.statement for key in own for part in self._parts[key] if not part.is_done}
        for key, parts in self._parts.items():
            if key not in own:
                parts[:] = [one._replace(is_done=True) if one.statement in served else one for one in parts]


def leftover_gradients(view: ProgramView, facts: RunFacts, roles: dict[ItemId, Role]) -> Iterator[Finding]:
    """Steps of an optimizer that go by a backward which was for another one."""
    if len(facts.held) < LEAST:
        return
    contents = _Contents(facts, roles)
    for leftover, times in contents.found.items():
        if times < LEAST:
            continue
        optimizer, name = view.name(leftover.optimizer), facts.leaf_name(view, contents.leaves[leftover])
        first, second = (_loss(view, one) for one in leftover[1:])
        yield Finding(
            "no_zero_grad",
            "warning",
            leftover.second,
            f"{optimizer} steps by the gradients of {first}, too: what its backward left in {name} is not zeroed "
            f"before the backward of {second}",
            "A backward adds to every leaf that it reaches, those of other optimizers, too. Put "
            f"{optimizer}.zero_grad() between the two, right before the backward of {second}; or detach what {first} "
            "is not to reach.",
            leftover[::-1],
        )


def _loss(view: ProgramView, backward: ItemId) -> str:
    source = view.source(backward, ("self",))
    return view.source_name(source) if source is not None else view.name(backward)
