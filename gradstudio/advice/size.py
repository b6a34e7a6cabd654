"""A program that needs more memory than its device has, in words."""

import math
import re

from gradstudio.program.model import Program, flat
from gradstudio.protocol.inference import Need

LOOK_ABOVE = 1 << 22
"""Elements that the literals of one statement name; programs of smaller ones fit anywhere."""
_NUMBER = re.compile(r"(?<![\w.])(\d+)(?:\s*\*\*\s*(\d{1,3}))?(?![\w.])")
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def size_title(need: Need) -> str:
    """In one line: what is needed, what there is."""
    return f"This needs about {in_words(need.bytes)} on {need.device}; {in_words(need.free_bytes)} are free."


def size_explanation(need: Need) -> str:
    """What the figure is made of, and what can be done."""
    return (
        f"From here on, what the program holds at once exceeds the free memory of {need.device}. The figure is a lower "
        "bound: values that have a name, gradients of the leaves, and what the optimizer keeps; what operators need "
        "inside comes on top. Smaller batches or sizes, a narrower dtype, or binding a name anew make it less."
    )


def may_be_large(program: Program) -> bool:
    """Whether its literals name sizes that are worth asking inference about before a run."""
    return any(math.prod(_numbers(statement.text)) >= LOOK_ABOVE for statement in flat(program.statements))


def in_words(count: float) -> str:
    """``41 GiB``, ``1.5 GiB``."""
    unit = 0
    while count >= 1024 and unit < len(_UNITS) - 1:
        count, unit = count / 1024, unit + 1
    return f"{count:.1f} {_UNITS[unit]}" if unit and count < 10 else f"{count:.0f} {_UNITS[unit]}"


def _numbers(text: str) -> list[int]:
    found = [(int(base), int(power or 1)) for base, power in _NUMBER.findall(text[:10_000])]
    return [base**power or 1 for base, power in found]
