"""Turns of a loop over a range that the text says, and the loop that trains."""

import msgspec

from gradstudio.graph.analysis.program_analysis import Analysis
from gradstudio.graph.model import ItemId
from gradstudio.operators.model import Effect
from gradstudio.program.forms.statement_units import Units
from gradstudio.program.forms.training.static_shapes import Shapes

_NUMBERS = 3
"""`range` takes no more."""


class Turns(msgspec.Struct, frozen=True):
    """How a loop counts: its variable in step k is ``start + stride * k``."""

    count: int
    start: int = 0
    stride: int = 1

    def place(self, step: str) -> str:
        """What the loop's variable is in a step that is called so."""
        text = step
        if self.stride != 1:
            text = f"{self.stride} * {step if step.isidentifier() else f'({step})'}"
        return f"{self.start} + {text}" if self.start else text


def turns_of(units: Units, loop: ItemId) -> Turns | None:
    """How a loop counts; None where the text does not tell, or it has no turn."""
    shapes = Shapes(units)
    count = units.graph.blocks[loop].lengths.get("range", 0)
    paths = [f"range.{k}" for k in range(count)] or ["range"]
    numbers = [n for path in paths if isinstance(n := shapes.number(loop, path), int)]
    if len(numbers) != len(paths) or len(numbers) > _NUMBERS or (len(numbers) == _NUMBERS and numbers[2] == 0):
        return None
    turns = range(*numbers)
    return Turns(len(turns), turns.start, turns.step) if len(turns) else None


def loop_that_trains(analysis: Analysis) -> ItemId | None:
    """The innermost loop with a backward in it."""
    graph = analysis.graph
    for item, operator in analysis.validity.operators.items():
        if Effect.BACKWARD in operator.effects:
            around = [ItemId(one) for one in graph.ancestors(item)]
            found = [one for one in around if one in graph.blocks and graph.blocks[one].kind == "for"]
            if found:
                return found[0]
    return None
