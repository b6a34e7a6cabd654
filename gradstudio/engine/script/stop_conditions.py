"""The place of a run that a verb is to get to. Who stands there is told by `run_targets`."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from gradstudio.engine.script.compiled_steps import Step
from gradstudio.engine.script.cursor import NOBODY
from gradstudio.graph.model import ItemId


class Aim(NamedTuple):
    """A place of a run from nothing: directly behind `node` in these turns of the loops around it.

    Attributes:
        at_end: the end of the program instead. With neither, before the first statement.
    """

    node: ItemId = NOBODY
    turns: tuple[int, ...] = ()
    at_end: bool = False

    def reached(self, turns: Callable[[], tuple[int, ...]]) -> Callable[[Step], bool]:
        """Says directly behind a statement whether this is the place; `turns` tells those of the loops around."""
        return lambda step: not self.at_end and step.id == self.node and turns() == self.turns

    def goal(self, turns: Callable[[], tuple[int, ...]]) -> "Goal":
        """Stop there; `turns` tells those of the loops around."""
        return Goal(self.precedes, self.reached(turns), node=self.node, turns=self.turns)

    def precedes(self, _: Step) -> bool:
        """Says before a statement whether the place lies before all of them."""
        return not self.node and not self.at_end


def never(_: Step) -> bool:
    """Stop at no statement."""
    return False


def always(_: Step) -> bool:
    """Stop at every statement."""
    return True


def at_backward(step: Step) -> bool:
    """Stop at a backward."""
    return step.statement.backward


ORDINARY = frozenset({never, at_backward})
"""What stops at no pure statement."""


class Goal(NamedTuple):
    """How far a run is to go.

    Attributes:
        before, after: whether to stop directly before, directly behind a statement.
        behind: a block, to stop directly behind.
        depth: how many calls may be around a statement that these are asked of; None: any number.
        node: no other statement than this one is stopped at; "": it may be any.
        turns: and only in these turns of the loops around it; None: in any.
        loop: a loop, to stop at the end of the turn that `turns` says.
    """

    before: Callable[[Step], bool] = never
    after: Callable[[Step], bool] = never
    behind: ItemId = NOBODY
    depth: int | None = None
    node: ItemId = NOBODY
    turns: tuple[int, ...] | None = None
    loop: ItemId = NOBODY

    def asks(self, depth: int) -> bool:
        """Whether a statement with so many calls around it is asked of."""
        return self.depth is None or depth <= self.depth


def goes_by(goal: Goal, steps: Iterable[Step]) -> bool:
    """Whether a goal lies at no statement of a loop."""
    conditions = {goal.before, goal.after} - {never}
    if conditions == {at_backward}:
        return not any(step.statement.backward for step in steps)
    if not conditions or (goal.node and goal.turns is not None):
        return True
    return bool(goal.node) and all(step.id != goal.node for step in steps)


END = Aim(at_end=True)
