"""Ways to write the same computation: ``x + y``, ``torch.add(x, y)`` and ``x.add(y)`` (semantics §1)."""

from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Face, Operator

_HOMES = ("operator.", "torch.", "torch.Tensor.", "torch.nn.functional.")
_WORDS = {
    "truediv": "div",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "and_": "bitwise_and",
    "or_": "bitwise_or",
    "xor": "bitwise_xor",
    "invert": "bitwise_not",
    "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
    "pos": "positive",
}
_SYMBOLS = {function: symbol for symbol, function in _WORDS.items()}


def spellings(operator: Operator) -> tuple[Operator, ...]:
    """The other operators that compute the same from the same operands; none of them writes into one."""
    if operator.writes or operator.face not in (Face.FUNCTION, Face.METHOD, Face.INFIX, Face.PREFIX):
        return ()
    key, colon, row = operator.key.partition(":")
    home, _, word = key.rpartition(".")
    if f"{home}." not in _HOMES:
        return ()
    words = {word, _WORDS.get(word, word), _SYMBOLS.get(word, word)}
    found = (load().get(f"{other}{name}{colon}{row}") for other in _HOMES for name in sorted(words))
    known = (other for other in found if other is not None and other.key != operator.key)
    return tuple(other for other in known if not other.writes and other.results == operator.results)


def as_written(operator: Operator) -> str:
    """How a call of the operator looks: ``a + b``, ``x.add(…)``, ``torch.add(…)``."""
    match operator.face:
        case Face.INFIX:
            return f"a {operator.symbol} b"
        case Face.PREFIX:
            return f"{operator.symbol}a"
        case Face.METHOD:
            return f"x.{operator.word}(…)"
        case _:
            return f"{operator.path.replace('torch.nn.functional.', 'F.')}(…)"
