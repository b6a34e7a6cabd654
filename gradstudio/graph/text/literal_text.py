"""Spelling: a literal as it is printed. Parsed, never evaluated; what is no literal is refused.

Numbers keep their form (`1e-3` stays), texts get double quotes, lists one space after a comma:
what is printed is what `ruff format` leaves as it is.
"""

import ast
import warnings
from functools import lru_cache

import msgspec

from gradstudio.graph.errors import GraphError
from gradstudio.late_pattern import late
from gradstudio.operators.literals.grammar import NUMPY_NAMES, REDUCTIONS

MAX_ELEMENTS = 10_000
MAX_NESTING = 100
MAX_DIGITS = 4_000

# Precedence of Python's expressions, loosest first.
TUPLE, CONDITIONAL, OR, AND, NOT, COMPARISON = range(6)
BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, UNARY, POWER, NUMBER, PRIMARY = range(6, 16)
"""`NUMBER` binds as a name does, but not before a dot: ``(2.0).sqrt()``."""

BINARY: dict[type[ast.operator], tuple[str, int]] = {
    ast.Add: ("+", SUM),
    ast.Sub: ("-", SUM),
    ast.Mult: ("*", PRODUCT),
    ast.Div: ("/", PRODUCT),
    ast.FloorDiv: ("//", PRODUCT),
    ast.Mod: ("%", PRODUCT),
    ast.Pow: ("**", POWER),
}
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}

DTYPES = frozenset(
    "float16 float32 float64 bfloat16 half float double int8 int16 int32 int64 uint8 uint16 uint32 uint64 short int "
    "long bool complex32 complex64 complex128 cfloat cdouble chalf float8_e4m3fn float8_e5m2 float8_e4m3fnuz "
    "float8_e5m2fnuz float8_e8m0fnu quint8 qint8 qint32".split()
)
CONSTANTS = {
    "torch": DTYPES
    | frozenset(
        "pi e inf nan strided sparse_coo sparse_csr sparse_csc sparse_bsr sparse_bsc jagged contiguous_format "
        "channels_last channels_last_3d preserve_format per_tensor_affine per_channel_affine Tensor __version__ "
        "FloatTensor DoubleTensor HalfTensor BFloat16Tensor LongTensor IntTensor ShortTensor CharTensor ByteTensor "
        "BoolTensor".split()
    )
    | REDUCTIONS,
    "math": frozenset("pi e tau inf nan".split()),
    "np": NUMPY_NAMES,
}
"""Names with dots that a literal may hold, by their module."""
CALLS = frozenset("float int bool complex slice range torch.device torch.Size".split())
TYPES = frozenset("float int bool complex str list tuple".split())


class LiteralText(msgspec.Struct, frozen=True):
    """A literal's text, how tightly it binds, and the modules it names (``torch``, ``math``).

    Attributes:
        elements: texts of its elements when it is a tuple or a list, else None.
    """

    text: str
    precedence: int
    modules: frozenset[str] = frozenset()
    elements: tuple[str, ...] | None = None


class NotALiteral(GraphError):
    """The text is no literal; the message says what was found."""


@lru_cache(maxsize=8192)
def spell(text: str) -> LiteralText:
    """How a literal is printed.

    Raises:
        NotALiteral: it is something else, too long or nested too deep.
    """
    if text.isascii() and text.isdigit() and (text[0] != "0" or text == "0") and len(text) < MAX_DIGITS:
        return LiteralText(text, NUMBER)
    return _spelled(text, _parse(text).body)


@lru_cache(maxsize=1024)
def spell_index(text: str) -> LiteralText:
    """How a literal between [ and ] is printed: also a slice, or several with commas.

    Raises:
        NotALiteral: it is something else.
    """
    body = _parse(f"_[{text}]").body
    if not (isinstance(body, ast.Subscript) and isinstance(body.value, ast.Name) and body.value.id == "_"):
        raise NotALiteral(f"{_quoted(text)} is not an index.")
    inner = body.slice
    end = body.end_col_offset or 0
    if isinstance(inner, ast.Tuple) and inner.elts and inner.end_col_offset == end - 1:
        speller = _Speller(f"_[{text}]")
        parts = [speller.index(element) for element in inner.elts]
        joined = ", ".join(parts) + ("," if len(parts) == 1 else "")
        return LiteralText(joined, TUPLE, frozenset(speller.modules))
    speller = _Speller(f"_[{text}]")
    return LiteralText(speller.index(inner), TUPLE, frozenset(speller.modules))


def quote(text: str) -> str:
    """A Python string literal, double-quoted where that needs no more escapes."""
    mark = "'" if text.count('"') > text.count("'") else '"'
    return mark + "".join(_escaped(character, mark) for character in text) + mark


def slice_text(start: str, stop: str, step: str | None, simple: bool) -> str:
    """``a:b:c`` as ruff spaces it: around the colons when a bound is more than a name or number."""
    if simple:
        return f"{start}:{stop}" + (f":{step}" if step is not None else "")
    text = (f"{start} :" if start else ":") + (f" {stop}" if stop else "")
    if step is not None:
        text += (" :" if stop else ":") + (f" {step}" if step else "")
    return text


def _parse(text: str) -> ast.Expression:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an unknown escape in a text is not our reader's trouble
            return ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotALiteral(f"{_quoted(text)} is not a Python literal.") from error


def _spelled(text: str, body: ast.expr) -> LiteralText:
    speller = _Speller(text.strip())
    printed, precedence = speller.expression(body)
    elements = None
    if isinstance(body, ast.Tuple | ast.List):
        elements = tuple(speller.expression(element)[0] for element in body.elts)
    return LiteralText(printed, precedence, frozenset(speller.modules), elements)


def _quoted(text: str) -> str:
    return f"'{text[:60]}…'" if len(text) > 60 else f"'{text}'"


def _escaped(character: str, mark: str) -> str:
    if character == mark or character == "\\":
        return "\\" + character
    if character.isprintable():
        return character
    return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(character) or ascii(character)[1:-1]


class _Speller:
    """Prints one literal from its syntax tree, and refuses whatever is none."""

    def __init__(self, source: str) -> None:
        self.lines = source.encode(errors="surrogatepass").split(b"\n")
        self.modules: set[str] = set()
        self.depth = 0
        self.count = 0

    def expression(self, node: ast.expr) -> tuple[str, int]:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise NotALiteral(f"a literal can be nested at most {MAX_NESTING} deep.")
        result = self._expression(node)
        self.depth -= 1
        return result

    def index(self, node: ast.expr) -> str:
        if not isinstance(node, ast.Slice):
            return self.expression(node)[0]
        start = self._bound(node.lower)
        stop = self._bound(node.upper)
        step = self._bound(node.step) if node.step is not None else None
        simple = all(is_simple_bound(bound) for bound in (node.lower, node.upper, node.step))
        return slice_text(start, stop, step, simple)

    def _expression(self, node: ast.expr) -> tuple[str, int]:
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Tuple(elts=elements):
                inner = ", ".join(self._item(element) for element in elements)
                return (f"({inner},)" if len(elements) == 1 else f"({inner})"), PRIMARY
            case ast.List(elts=elements):
                return f"[{', '.join(self._item(element) for element in elements)}]", PRIMARY
            case ast.UnaryOp(op=operator, operand=operand) if type(operator) in _UNARY:
                floor = UNARY if not _is_power(operand) else NUMBER
                return _UNARY[type(operator)] + self._operand(operand, floor), UNARY
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in BINARY:
                return self._binary(left, operator, right)
            case ast.Attribute(value=ast.Name(id=module), attr=name) if name in CONSTANTS.get(module, ()):
                self.modules.add(module)
                return f"{module}.{name}", PRIMARY
            case ast.Attribute(value=ast.Attribute()) if (path := ast.unparse(node)).removeprefix(
                "torch."
            ) in REDUCTIONS:
                self.modules.add("torch")
                return path, PRIMARY
            case ast.Name(id=name) if name in TYPES:
                return name, PRIMARY
            case ast.Call(func=function, args=arguments, keywords=[]):
                return self._call(function, arguments), PRIMARY
            case _:
                raise NotALiteral(f"'{ast.unparse(node)[:60]}' is not a literal.")

    def _item(self, node: ast.expr) -> str:
        return self.expression(node)[0]

    def _bound(self, node: ast.expr | None) -> str:
        return self.expression(node)[0] if node is not None else ""

    def _operand(self, node: ast.expr, floor: int) -> str:
        text, precedence = self.expression(node)
        return text if precedence >= floor else f"({text})"

    def _binary(self, left: ast.expr, operator: ast.operator, right: ast.expr) -> tuple[str, int]:
        symbol, precedence = BINARY[type(operator)]
        if precedence == POWER:
            first = self._operand(left, NUMBER)
            second = self._operand(right, UNARY)
            gap = "" if is_simple_power(first) and is_simple_power(first_operand(second)) else " "
            return f"{first}{gap}**{gap}{second}", POWER
        first = self._operand(left, precedence)
        second = self._operand(right, precedence + 1)
        return f"{first} {symbol} {second}", precedence

    def _call(self, function: ast.expr, arguments: list[ast.expr]) -> str:
        name = ast.unparse(function)
        if name not in CALLS:
            raise NotALiteral(f"'{name[:60]}(…)' is not a literal.")
        if name.startswith("torch."):
            self.modules.add("torch")
        return f"{name}({', '.join(self._item(argument) for argument in arguments)})"

    def _constant(self, node: ast.Constant) -> tuple[str, int]:
        self.count += 1
        if self.count > MAX_ELEMENTS:
            raise NotALiteral(f"a literal can have at most {MAX_ELEMENTS} elements; store larger data as a tensor.")
        match node.value:
            case bool() | None:
                return str(node.value), PRIMARY
            case int() | float() | complex():
                return self._number(node), NUMBER
            case str():
                return quote(node.value), PRIMARY
            case x if x is ...:
                return "...", PRIMARY
            case _:
                raise NotALiteral("bytes are not a literal here.")

    def _number(self, node: ast.Constant) -> str:
        line = self.lines[node.lineno - 1]
        text = line[node.col_offset : node.end_col_offset].decode().lower()
        if len(text) > MAX_DIGITS:
            raise NotALiteral(f"a number can have at most {MAX_DIGITS} digits.")
        if text.startswith("0x"):
            return "0x" + text[2:].upper()
        if text.startswith(("0b", "0o")):
            return text
        return _decimal(text)


def _decimal(text: str) -> str:
    """`.5` -> `0.5`, `1.` -> `1.0`, `1e+5` -> `1e5`; the rest as written."""
    digits, exponent, power = text.partition("e")
    suffix = "j" if digits.endswith("j") else ""
    digits = digits.removesuffix("j")
    if digits.startswith("."):
        digits = "0" + digits
    if digits.endswith("."):
        digits += "0"
    return digits + suffix + exponent + power.removeprefix("+")


_SIMPLE_POWER = late(r"[-+~]*(?:\d[\w.]*|[^\W\d]\w*(?:\.[^\W\d]\w*)*)(?:e-\d+)?")


def is_simple_power(text: str) -> bool:
    """Whether an operand of ``**`` is simple enough for no spaces around it: ``x**2``."""
    return _SIMPLE_POWER.fullmatch(text) is not None


def first_operand(text: str) -> str:
    """What stands before the first ``**``."""
    return text.partition("**")[0].rstrip()


def is_simple_bound(node: ast.expr | None) -> bool:
    """Whether a slice with this bound has no spaces around its colons."""
    if isinstance(node, ast.UnaryOp):
        return is_simple_bound(node.operand)
    return node is None or isinstance(node, ast.Constant | ast.Name)


def _is_power(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)
