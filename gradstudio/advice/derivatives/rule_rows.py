"""What a row of the tables is, and how it is written shortly."""

from typing import NamedTuple

COMPOSITION = ""
"""Source of a rule that PyTorch has no entry for: it is made of others that have one."""
BROADCAST = ", summed over broadcast dimensions"
SPREAD = ", for every element"
WHERE = " where "


class Part(NamedTuple):
    """How the result depends on one argument.

    In the texts ``$a``, ``$b``, … are the operator's parameters by place, ``$name`` is one by name, ``y`` the result.

    Attributes:
        parameter: "$a".
        formula: the right side of ∂y/∂a.
        vjp: the right side of the gradient that leaves, over ``grad``, the one that arrives.
        python: `formula` of one element for one element, as Python over a, b, … and y; "" when it is not elementwise.
    """

    parameter: str
    formula: str
    vjp: str
    python: str = ""


class TableRow(NamedTuple):
    """The rule of one operator under all its names.

    Attributes:
        keys: of the catalogue; a bare word is the function, the method, its in-place form and torch.nn.functional's.
        forward: what is computed, "y = …".
        source: the entry of PyTorch's derivatives.yaml, or COMPOSITION.
    """

    keys: str
    forward: str
    source: str
    parts: tuple[Part, ...]


def elementwise(keys: str, forward: str, source: str, *parts: tuple[str, str]) -> TableRow:
    """An operator on elements: (formula, Python) for its first, second, … argument."""
    several = BROADCAST if len(parts) > 1 else ""
    made = (
        Part(f"${name}", formula, times_grad(formula) + (several if formula != "0" else ""), python)
        for name, (formula, python) in zip("abcd", parts, strict=False)
    )
    return TableRow(keys, f"y = {forward}", source, tuple(made))


def general(keys: str, forward: str, source: str, *parts: tuple[str, str, str] | tuple[str, str, str, str]) -> TableRow:
    """Any operator: (parameter, formula, gradient that leaves) of each argument that gets one."""
    return TableRow(keys, f"y = {forward}", source, tuple(Part(f"${part[0]}", *part[1:]) for part in parts))


def times_grad(formula: str) -> str:
    """``grad · formula``, with brackets where they are needed."""
    match formula:
        case "0":
            return "0"
        case "1":
            return "grad"
        case "−1":
            return "−grad"
        case _:
            return f"grad · ({formula})" if _is_sum(formula) else f"grad · {formula}"


def _is_sum(formula: str) -> bool:
    """Whether something outside all brackets binds less than a product."""
    depth = 0
    for place, letter in enumerate(formula):
        depth += (letter == "(") - (letter == ")")
        loose = letter in "+−" or formula.startswith(WHERE, place)
        if loose and not depth and not _is_exponent(formula, place):
            return True
    return False


def _is_exponent(formula: str, place: int) -> bool:
    return place > 0 and formula[place - 1] in "^⁻"
