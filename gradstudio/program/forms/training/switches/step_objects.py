"""What stands beside the steps of a training that is added: names that are free, and what steps."""

from typing import NamedTuple

import msgspec


class FreeNames(msgspec.Struct):
    """Names that are not taken yet."""

    taken: set[str]

    def fresh(self, wish: str) -> str:
        """The wish, or with a number behind it."""
        name, number = wish, 2
        while name in self.taken:
            name, number = f"{wish}_{number}", number + 1
        self.taken.add(name)
        return name


class StepObjects(NamedTuple):
    """The names of what steps; `schedules` at most one, `scaler` "" for none."""

    optimizer: str
    schedules: tuple[str, ...]
    scaler: str

    def backward(self, loss: str) -> str:
        """The backward of a loss, scaled where there is a scaler."""
        inner = loss.removeprefix("(").removesuffix(")") if self.scaler else loss
        return f"{self.scaler}.scale({inner}).backward()" if self.scaler else f"{loss}.backward()"
