"""The place of a run that a verb is to get to. Who stands there is told by `aims.py`."""

from collections.abc import Callable
from typing import NamedTuple

from gradstudio.engine.cursor import NOBODY, Cursor
from gradstudio.engine.source import Step
from gradstudio.graph.model import ItemId


class Aim(NamedTuple):
    """A place of a run from nothing: directly behind `node` in these turns of the loops around it.

    Attributes:
        at_end: the end of the program instead. With neither, before the first statement.
    """

    node: ItemId = NOBODY
    turns: tuple[int, ...] = ()
    at_end: bool = False

    def reached(self, cursor: Cursor) -> Callable[[Step], bool]:
        """Says directly behind a statement whether this is the place."""
        return lambda step: not self.at_end and step.id == self.node and cursor.turns == self.turns

    def precedes(self, _: Step) -> bool:
        """Says before a statement whether the place lies before all of them."""
        return not self.node and not self.at_end


END = Aim(at_end=True)


def never(_: Step) -> bool:
    """Stop at no statement."""
    return False


def at_backward(step: Step) -> bool:
    """Stop at a backward."""
    return step.statement.backward


ORDINARY = frozenset({never, at_backward})
"""What stops at no pure statement."""
