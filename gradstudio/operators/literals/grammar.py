"""The grammar of literals: text → tree of terms. Nothing is evaluated, Python's own parser is not used.

    literal    ::= sum ("," sum)*                       without brackets: several values
    sum        ::= product (("+" | "-") product)*
    atom       ::= number | text | word | call | "[" ... "]" | "(" ... ")"

A term carries its normal form, spelled as a formatter would: `[1.0, 2.0]`, `2 * math.pi`, `"mean"`.
"""

import re
from enum import StrEnum

import msgspec

from gradstudio.operators.errors import LiteralError
from gradstudio.operators.literals.tokens import Token, number_bits, number_form, quote, tokens, unquote

MAX_ELEMENTS = 10_000
MAX_NESTING = 100
MAX_OPERATIONS = 1_000
MAX_BITS = 10_000
"""Of the whole number that arithmetic on literals may give."""

CONSTANTS = frozenset({"pi", "e", "tau", "inf", "nan"})
_SHORT = {
    **dict.fromkeys(("inf", "Inf", "INF", "infinity", "Infinity", "np.inf", "numpy.inf"), 'float("inf")'),
    **dict.fromkeys(("nan", "NaN", "NAN", "np.nan", "numpy.nan"), 'float("nan")'),
    **dict.fromkeys(("pi", "π", "np.pi", "numpy.pi"), "math.pi"),
    **dict.fromkeys(("tau", "τ"), "math.tau"),
    **dict.fromkeys(("np.e", "numpy.e"), "math.e"),
    **dict.fromkeys(("true", "TRUE"), "True"),
    **dict.fromkeys(("false", "FALSE"), "False"),
    **dict.fromkeys(("none", "NONE", "null", "newaxis", "np.newaxis", "numpy.newaxis"), "None"),
}
NUMPY_NAMES = frozenset(
    "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool_ complex64 complex128 "
    "intp longlong half single double pi e inf nan newaxis ndarray floating integer __version__".split()
)
"""What a literal may name of numpy."""
REDUCTIONS = frozenset(
    f"distributed.ReduceOp.{word}" for word in ("SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR")
)
"""How tensors of several processes become one, as a literal may name it of torch."""
_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "//": 2, "%": 2, "**": 4}
_UNARY = 3


class Form(StrEnum):
    """What a term is."""

    INT = "int"
    FLOAT = "float"
    COMPLEX = "complex"
    BOOL = "bool"
    NONE = "none"
    TEXT = "text"
    NAME = "name"  # torch.float32, torch.strided
    DEVICE = "device"  # torch.device("cuda")
    ELLIPSIS = "ellipsis"
    SLICE = "slice"
    LIST = "list"
    TUPLE = "tuple"


NUMBERS = frozenset({Form.INT, Form.FLOAT, Form.COMPLEX})


class Term(msgspec.Struct, frozen=True):
    """One part of a literal.

    Attributes:
        text: its normal form.
        value: of a text: the text itself.
        items: of a list or tuple: its elements; of a slice: its three parts, empty ones have no text.
        bits: about how many bits a whole number needs.
        weight: how loosely the text binds (an operator's precedence); 9 for an atom.
        bare: a tuple written without parentheses.
    """

    form: Form
    text: str
    value: str = ""
    items: tuple["Term", ...] = ()
    bits: float = 0.0
    weight: int = 9
    bare: bool = False


def read(text: str, *, slices: bool = False) -> Term:
    """The tree of a literal; several values without brackets become a bare tuple.

    Args:
        text: what a person typed.
        slices: allow `1:3` among the values, as between [ and ].

    Raises:
        LiteralError: it is no literal, or too large; says what is wrong.
    """
    return _Reader(tokens(text), slices).whole()


class _Reader:
    """Precedence climbing over tokens; every way in is counted against `MAX_NESTING`."""

    def __init__(self, stream: list[Token], slices: bool) -> None:
        self._tokens, self._at = stream, 0
        self._slices = slices
        self._depth = self._elements = self._operations = 0

    def whole(self) -> Term:
        items, comma = self._items("")
        if self._peek().text:
            raise LiteralError(f"Did not expect '{self._peek().shown}' here.")
        if not items:
            raise LiteralError("There is nothing here.")
        return items[0] if len(items) == 1 and not comma else _several(items, bare=True)

    def _peek(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._tokens[self._at]
        self._at += bool(token.text)
        return token

    def _items(self, end: str) -> tuple[list[Term], bool]:
        """Elements up to the closing bracket, and whether a comma followed the last."""
        items: list[Term] = []
        comma = False
        while self._peek().text not in (end, ""):
            items.append(self._slice() if self._slices and not end else self._expression(0))
            self._elements += not items[-1].items
            if self._elements > MAX_ELEMENTS:
                raise LiteralError(f"More than {MAX_ELEMENTS:,} elements. Keep data of this size in a stored tensor.")
            comma = self._peek().text == ","
            if not comma:
                break
            self._take()
        return items, comma

    def _slice(self) -> Term:
        parts: list[Term | None] = [self._slice_part()]
        while self._peek().text == ":" and len(parts) < 3:
            self._take()
            parts.append(self._slice_part())
        if len(parts) == 1 and parts[0] is not None:
            return parts[0]
        if len(parts) == 1:
            raise LiteralError(f"Did not expect '{self._peek().shown}' here.")
        return _slice_term(parts)

    def _slice_part(self) -> Term | None:
        return None if self._peek().text in (":", ",", "") else self._expression(0)

    def _expression(self, floor: int) -> Term:
        self._enter()
        left = self._operand()
        while (weight := _PRECEDENCE.get(self._peek().text, -1)) >= max(floor, 1):
            symbol = self._take().text
            self._operations += 1
            if self._operations > MAX_OPERATIONS:
                raise LiteralError(f"More than {MAX_OPERATIONS:,} operations in one literal.")
            right = self._expression(weight if symbol == "**" else weight + 1)
            left = _arithmetic(symbol, left, right)
        self._depth -= 1
        return left

    def _operand(self) -> Term:
        token = self._take()
        if token.text in ("+", "-"):
            return _signed(token.text, self._expression(_UNARY))
        if token.kind == "number":
            return _number(token.text)
        if token.kind == "text":
            value = unquote(token.text)
            return Term(Form.TEXT, quote(value), value)
        if token.kind == "word":
            return self._word(token.text)
        if token.text in ("[", "("):
            return self._bracket(token.text)
        if token.text == "...":
            return Term(Form.ELLIPSIS, "...")
        raise LiteralError(
            f"Did not expect '{token.shown}' here." if token.text else "Something is missing at the end."
        )

    def _bracket(self, opening: str) -> Term:
        closing = "]" if opening == "[" else ")"
        items, comma = self._items(closing)
        if self._take().text != closing:
            raise LiteralError(f"A '{closing}' is missing.")
        if opening == "[":
            return Term(Form.LIST, f"[{', '.join(item.text for item in items)}]", items=tuple(items))
        if len(items) == 1 and not comma:
            inner = items[0]
            return inner if inner.weight == 9 else msgspec.structs.replace(inner, text=f"({inner.text})", weight=9)
        return _several(items, bare=False)

    def _word(self, word: str) -> Term:
        word = _SHORT.get(word, word)
        if word in ("True", "False"):
            return Term(Form.BOOL, word)
        if word == "None":
            return Term(Form.NONE, word)
        if word == "Ellipsis":
            return Term(Form.ELLIPSIS, "...")
        if word.startswith("float("):
            return Term(Form.FLOAT, word)
        home, _, name = word.partition(".")
        if home in ("math", "torch") and name in CONSTANTS:
            return Term(Form.FLOAT, word, bits=2.0)
        if word in ("float", "torch.device") and self._peek().text == "(":
            return self._call(word)
        is_torchs = home == "torch" and name.isidentifier() and (name == "__version__" or not name.startswith("_"))
        is_torchs = is_torchs or (home == "torch" and name in REDUCTIONS)
        if is_torchs or (home == "np" and name in NUMPY_NAMES):
            return Term(Form.NAME, word)
        if self._peek().text == "(":
            raise LiteralError(f"'{word[:40]}(...)' is not a value but a call: use a node for it, and wire its result.")
        raise LiteralError(f"'{word[:40]}' is not a value. Write a value here, or wire the node that has that name.")

    def _call(self, word: str) -> Term:
        """`float("inf")` and `torch.device("cuda:0")`: the two calls that are literals."""
        self._take()
        argument, closing = self._take(), self._take()
        if argument.kind != "text" or closing.text != ")":
            raise LiteralError(f"'{word}' takes one quoted text here, such as {_CALL_EXAMPLES[word]}.")
        value = unquote(argument.text)
        if word == "torch.device":
            return Term(Form.DEVICE, f"torch.device({quote(value)})", value)
        if value.strip().lower() not in ("inf", "-inf", "+inf", "nan", "infinity", "-infinity"):
            raise LiteralError('float takes "inf", "-inf" or "nan" here; write other numbers plainly.')
        return Term(Form.FLOAT, f"float({quote(value)})")

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise LiteralError(f"Nested more than {MAX_NESTING} deep.")


_CALL_EXAMPLES = {"float": 'float("-inf")', "torch.device": 'torch.device("cpu")'}


def _several(items: list[Term], *, bare: bool) -> Term:
    inner = ", ".join(item.text for item in items) + ("," if len(items) == 1 else "")
    return Term(Form.TUPLE, inner if bare else f"({inner})", items=tuple(items), bare=bare)


def _number(text: str) -> Term:
    form = number_form(text)
    return Term(Form(form.kind), form.text, bits=number_bits(form.text) if form.kind == "int" else 0.0)


def _signed(sign: str, operand: Term) -> Term:
    if operand.form not in NUMBERS:
        raise LiteralError(f"'{sign}' goes before a number.")
    if operand.text == 'float("inf")':
        return Term(Form.FLOAT, f'float("{sign}inf")' if sign == "-" else operand.text)
    return Term(operand.form, sign + operand.text, bits=operand.bits, weight=_UNARY)


def _arithmetic(symbol: str, left: Term, right: Term) -> Term:
    """Two numbers combined; kept as written, but for the spaces."""
    if left.form not in NUMBERS or right.form not in NUMBERS:
        raise LiteralError(f"'{symbol}' combines numbers only. Use a node for anything else.")
    form = max(left.form, right.form, key=(Form.INT, Form.FLOAT, Form.COMPLEX).index)
    if form is Form.INT and (symbol == "/" or (symbol == "**" and right.text.startswith("-"))):
        form = Form.FLOAT
    bits = _bits(symbol, left, right) if form is Form.INT else 0.0
    if bits > MAX_BITS:
        raise LiteralError("This number is too large to compute.")
    hug = symbol == "**" and _is_plain(left) and _is_plain(right)
    text = f"{left.text}{symbol}{right.text}" if hug else f"{left.text} {symbol} {right.text}"
    return Term(form, text, bits=bits, weight=_PRECEDENCE[symbol])


def _bits(symbol: str, left: Term, right: Term) -> float:
    match symbol:
        case "*":
            return left.bits + right.bits
        case "**":
            return MAX_BITS + 1 if right.bits > 14 else max(left.bits, 1.0) * 2.0**right.bits
        case "//" | "%":
            return max(left.bits, right.bits)
        case _:
            return max(left.bits, right.bits) + 1


def _is_plain(term: Term) -> bool:
    return re.fullmatch(r"-?[\w.]+", term.text) is not None


def _slice_term(parts: list[Term | None]) -> Term:
    for part in parts:
        if part is not None and part.form not in (Form.INT, Form.NONE):
            raise LiteralError(f"A slice takes whole numbers, not {part.text[:40]}.")
    spaced = any(part is not None and part.weight < _UNARY for part in parts)
    texts = [part.text if part is not None else "" for part in parts]
    if len(texts) == 3 and not texts[2]:
        texts.pop()
    joined = " : ".join(texts) if spaced else ":".join(texts)
    items = tuple(part if part is not None else Term(Form.NONE, "") for part in parts)
    return Term(Form.SLICE, joined.strip(), items=items)
