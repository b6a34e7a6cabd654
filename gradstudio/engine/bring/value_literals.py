"""Python values as the text of a literal that the reader reads."""

import math

import torch
from torch import Tensor

LARGEST_LITERAL = 16
"""Elements; a tensor of more becomes a stored one, unless all are the same."""


class NotWritable(Exception):
    """A value that no literal stands for."""


def literal(value: object) -> str:
    """The text of a plain value.

    Raises:
        NotWritable: it is none.
    """
    match value:
        case None | bool() | str():
            return _quoted(value) if isinstance(value, str) else repr(value)
        case int():
            return repr(int(value))
        case float():
            return number(value)
        case complex():
            return repr(complex(value))
        case slice():
            return _slice(value)
        case tuple():
            inside = [literal(item) for item in value]
            return f"({inside[0]},)" if len(inside) == 1 else f"({', '.join(inside)})"
        case list():
            return f"[{', '.join(literal(item) for item in value)}]"
        case _:
            return _named(value)


def number(value: float) -> str:
    """A float, NaN and infinities too."""
    return repr(float(value)) if math.isfinite(value) else f'float("{float(value)}")'


def _quoted(text: str) -> str:
    return '"' + repr(text)[1:-1].replace('"', '\\"') + '"' if '"' not in text else repr(text)


def _slice(value: slice) -> str:
    parts = ["" if part is None else literal(part) for part in (value.start, value.stop, value.step)]
    return ":".join(parts if parts[2] else parts[:2])


def _named(value: object) -> str:
    """What torch has names for."""
    if value is Ellipsis:
        return "..."
    if isinstance(value, torch.dtype | torch.memory_format | torch.layout):
        return str(value)
    if isinstance(value, torch.device):
        return f'"{value}"'
    if type(value).__module__ == "numpy" and hasattr(value, "item") and getattr(value, "shape", None) == ():
        return literal(value.item())
    raise NotWritable(f"a value of class {type(value).__name__}")


def small_tensor(value: Tensor) -> str | None:
    """An expression that makes a tensor with these very values; None when it is too large for one."""
    plain = value.detach()
    dtype = "" if plain.dtype in (torch.get_default_dtype(), torch.bool) else f", dtype={plain.dtype}"
    if plain.dtype == torch.int64:
        dtype = ""
    shape = tuple(plain.shape)
    if plain.numel() > 1 and not plain.is_complex() and bool((plain == plain.reshape(-1)[0]).all()):
        return _filled(plain.reshape(-1)[0].item(), shape, plain.dtype, _bits_of_zero(plain))
    if plain.numel() == 0 or plain.numel() > LARGEST_LITERAL or plain.is_complex() or plain.is_quantized:
        return None
    return f"torch.tensor({literal(_shortest(plain))}{dtype})"


def _shortest(plain: Tensor) -> object:
    """The values as nested lists, of float32 in as few digits as tell them apart."""
    if plain.dtype != torch.float32:
        return plain.tolist()
    if plain.ndim == 0:
        return float(str(plain.numpy()[()]))
    return [_shortest(row) for row in plain]


def _bits_of_zero(plain: Tensor) -> bool:
    """Whether it is full of positive zeros: ``-0.0 == 0.0``, but not bit for bit."""
    return not bool(torch.signbit(plain).any()) if plain.dtype != torch.bool else True


def _filled(value: object, shape: tuple[int, ...], dtype: torch.dtype, positive: bool) -> str | None:
    default = dtype == torch.get_default_dtype()
    said = "" if default else f", dtype={dtype}"
    size = ", ".join(map(str, shape))
    if not positive and value == 0:
        return None
    if value in (0, 1) and dtype != torch.bool:
        return f"torch.{'ones' if value else 'zeros'}({size}{said})"
    said = "" if dtype in (torch.get_default_dtype(), torch.int64, torch.bool) else said
    return f"torch.full({literal(shape)}, {literal(value)}{said})"
