"""A literal as mathematics: ``8**0.5`` is √8, ``float("-inf")`` is −∞, ``(4, 4)`` among arguments 4, 4. No Qt."""

import ast
from typing import Final, NamedTuple

from gradstudio.scene.figure.drawing import Formula, Run
from gradstudio.scene.figure.formula_table import ATOM, POWER, PRODUCT, SIGN, SUM
from gradstudio.scene.figure.math_symbols import number, raised


class Term(NamedTuple):
    """A formula and how tightly it holds together."""

    formula: Formula
    precedence: int = ATOM


LONGEST: Final = 60
"""Letters of a literal that is read; of a longer one nothing would be said."""
INFINITE: Final = frozenset({"inf", "+inf", "infinity", "+infinity"})
CONSTANTS: Final = {"inf": "∞", "pi": "π", "nan": "NaN", "e": "e"}
"""What modules name: ``math.pi``."""
ROOT: Final = (Run("0.5"),)
"""A power that is a root."""


def literal_term(text: str) -> Term | None:
    """What mathematics writes for a literal of Python; None where it has no other way to write it."""
    if len(text) > LONGEST:
        return None
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None
    return _term(tree, text)


def within(term: Term, precedence: int) -> Formula:
    """The term as an operand of something that binds so tightly: in brackets when it is looser."""
    if term.precedence >= precedence:
        return term.formula
    return Run("("), *term.formula, Run(")")


def power(one: Term, other: Formula) -> Term:
    """One to the power of another; to the half, a root."""
    if other == ROOT:
        return Term((Run("√"), *within(one, ATOM)), SIGN)
    return Term((*within(one, ATOM), *raised(other)), POWER)


def _term(tree: ast.expr, text: str) -> Term | None:
    match tree:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return Term(number(ast.get_source_segment(text, tree) or str(value)))
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return _negative(_term(inner, text))
        case ast.BinOp(left=left, op=sign, right=right):
            return _binary(_term(left, text), sign, _term(right, text))
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str() as word)]):
            return _named(word.strip().lower())
        case ast.Attribute(value=ast.Name(id="math" | "torch" | "np" | "numpy"), attr=word) if word in CONSTANTS:
            return Term((Run(CONSTANTS[word]),))
        case _:
            return None


def _named(word: str) -> Term | None:
    if word in INFINITE:
        return Term((Run("∞"),))
    if word.startswith("-") and word[1:] in INFINITE:
        return Term((Run("−∞"),), SIGN)
    return Term((Run("NaN"),)) if word == "nan" else None


def _negative(inner: Term | None) -> Term | None:
    return Term((Run("−"), *within(inner, PRODUCT)), SIGN) if inner is not None else None


def _binary(left: Term | None, sign: ast.operator, right: Term | None) -> Term | None:
    if left is None or right is None:
        return None
    match sign:
        case ast.Pow():
            return power(left, right.formula)
        case ast.Div():
            return Term((*within(left, PRODUCT), Run(" / "), *within(right, SIGN)), PRODUCT)
        case ast.Mult():
            return Term((*within(left, PRODUCT), Run(" · "), *within(right, PRODUCT)), PRODUCT)
        case ast.Add():
            return Term((*within(left, SUM), Run(" + "), *within(right, SUM)), SUM)
        case ast.Sub():
            return Term((*within(left, SUM), Run(" − "), *within(right, PRODUCT)), SUM)
        case _:
            return None
