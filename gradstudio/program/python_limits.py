"""The limits of what Python itself makes, outside of tensors, and the words of a refusal."""

import ast
import math
from collections.abc import Iterable
from string import Formatter

from gradstudio.errors import GradStudioError
from gradstudio.graph.text.format_templates import is_wide

MOST_DIGITS, MOST_ITEMS = 100_000, 10**8
MOST_BITS = int(MOST_DIGITS * math.log2(10))


class TooBig(GradStudioError):
    """What Python would have to make is larger than the limits; the message says what."""


def refuse_bits(bits: float) -> None:
    """A whole number of so many bits.

    Raises:
        TooBig: it is beyond the limit.
    """
    if bits > MOST_BITS:
        digits = bits / math.log2(10)
        shown = f"{digits:,.0f}" if digits < 10**15 else "10**15 or more"
        raise TooBig(f"A whole number of about {shown} digits; Python's own numbers have at most {MOST_DIGITS:,} here.")


def refuse_count(count: float, what: str) -> None:
    """So many characters, bytes or elements.

    Raises:
        TooBig: it is beyond the limit.
    """
    if count > MOST_ITEMS:
        shown = f"{count:,.0f}" if count < 10**15 else "10**15 or more"
        kind = {"characters": "A text", "bytes": "Bytes"}.get(what, "A list")
        raise TooBig(f"{kind} of {shown} {what}; at most {MOST_ITEMS:,} are made outside of tensors.")


def refuse_sizes(values: Iterable[int | None]) -> None:
    """Sizes of a tensor.

    Raises:
        TooBig: it is beyond the limit.
    """
    if any(value is not None and value.bit_length() > 63 for value in values):
        raise TooBig("A size has at most 63 bits, which is 9,223,372,036,854,775,807; here one is larger.")


def refuse_formats(node: ast.Call, word: str, method: str) -> None:
    """A call that formats a text.

    Raises:
        TooBig: it is beyond the limit.
    """
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str() as text))) if method == "format":
            try:
                refuse_wide([spec or "" for _, _, spec, _ in Formatter().parse(text)])
            except ValueError:
                return  # Python refuses it in its own words
        case ast.Call(args=[_, ast.Constant(value=str() as text)]) if word == "format":
            refuse_wide([text])


def refuse_wide(specs: Iterable[str]) -> None:
    """Formats, as they stand behind a value.

    Raises:
        TooBig: it is beyond the limit.
    """
    for spec in specs:
        if is_wide(spec):
            raise TooBig("A format asks for a text that is wider than 10,000 characters.")


def bits_of_choice(word: str, values: list[int | None]) -> float:
    """About how many bits `factorial(n)`, `perm(n, k)` or `comb(n, k)` has; 0 where nothing is known."""
    n = values[0] if values else None
    k = values[1] if len(values) > 1 else n
    if n is None or k is None or not 0 <= k <= n or n < 2:
        return 0.0
    if n.bit_length() > 500:
        return float(n.bit_length()) * min(k, n - k if word == "comb" else k, 10**6)
    whole_, rest, chosen = (math.lgamma(float(part) + 1) for part in (n, n - k, k))
    return max(whole_ - rest - (chosen if word == "comb" else 0.0), 0.0) / math.log(2)
