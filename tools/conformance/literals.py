"""Literals: a Python value of a sample as a person would type it."""

import math
from typing import Any

import torch

from gradstudio.operators.literals.tokens import quote


class NotWritable(Exception):
    """The value has no literal; the message says what it is."""


def literal(value: Any) -> str:
    """The text of a value.

    Raises:
        NotWritable: it is an object, a function, a generator.
    """
    if value is None or isinstance(value, bool) or value is Ellipsis:
        return "..." if value is Ellipsis else str(value)
    if isinstance(value, int | float | complex):
        return _number(value)
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, torch.dtype | torch.layout | torch.memory_format):
        return str(value)
    if isinstance(value, torch.device):
        return quote(str(value))
    if isinstance(value, tuple | list | range):
        inner = ", ".join(map(literal, value))
        if isinstance(value, tuple):
            return f"({inner},)" if len(value) == 1 else f"({inner})"
        return f"[{inner}]"
    if hasattr(value, "item") and hasattr(value, "dtype"):  # a number of numpy
        return literal(value.item())
    raise NotWritable(f"a {type(value).__name__}")


def _number(value: complex) -> str:
    if isinstance(value, complex):
        if math.isfinite(value.real) and math.isfinite(value.imag) and math.copysign(1, value.real) > 0:
            sign = "-" if math.copysign(1, value.imag) < 0 else "+"
            return f"{float(value.real)!r} {sign} {abs(value.imag)!r}j"
        return f"complex({_number(value.real)}, {_number(value.imag)})"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, float):
        return repr(float(value))
    return repr(int(value))
