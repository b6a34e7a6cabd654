"""The numbers that a slider goes through: a range around a literal, round steps, text as a person writes it."""

import math
import re
from typing import NamedTuple

NUMBER = re.compile(r"[+-]?(\d[\d_]*)(\.\d*)?([eE][+-]?\d+)?|[+-]?\.\d+([eE][+-]?\d+)?")
STEPS = 200
"""About so many steps from one end to the other; ten times as many with Shift."""
INT_REACH, FLOAT_REACH = 10, 1.0
"""How far a slider goes to either side of a number near zero."""


class NumberRange(NamedTuple):
    """From low to high, in steps.

    Attributes:
        whole: only whole numbers.
    """

    low: float
    high: float
    step: float
    whole: bool

    def place(self, value: float) -> float:
        """Where a value lies, 0 at the low end, 1 at the high one."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)

    def text(self, value: float, fine: bool = False) -> str:
        """The nearest step as a literal of the same kind: an int stays an int, a float has a point."""
        value = min(max(value, self.low), self.high)
        if self.whole:
            return str(round(value))
        step = self.step / 10 if fine else self.step
        decimals = max(0, -math.floor(math.log10(step) + 1e-9))
        text = f"{round(value / step) * step:.{decimals}f}"
        text = text.rstrip("0") if "." in text else f"{text}."
        text = f"{text}0" if text.endswith(".") else text
        return "0.0" if float(text) == 0 else text


def parse_number(literal: str) -> float | int | None:
    """The number that a literal is; None when it is anything else."""
    text = literal.strip()
    if NUMBER.fullmatch(text) is None:
        return None
    bare = text.replace("_", "")
    return int(bare) if re.fullmatch(r"[+-]?\d+", bare) else float(bare)


def range_around(value: float) -> NumberRange:
    """A range with the value in its middle: twice its size to either side, and never nothing."""
    if isinstance(value, int):
        reach: float = max(INT_REACH, 2 * abs(value))
        return NumberRange(value - reach, value + reach, 1.0, True)
    reach = 2 * abs(value) if abs(value) > 1e-12 else FLOAT_REACH
    return NumberRange(value - reach, value + reach, 10.0 ** math.floor(math.log10(2 * reach / STEPS)), False)
