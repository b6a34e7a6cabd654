"""Words, numbers and quoted texts of literals: cut apart, checked, and brought to their normal form."""

import math
import re
import unicodedata

import msgspec

from gradstudio.late_pattern import late
from gradstudio.operators.errors import LiteralError

MAX_CHARACTERS = 400_000
MAX_DIGITS = 400

_TOKEN = late(
    r"""[ \t\r\n\f]*(?:
        (?P<number>0[xXoObB]\w*|\.?\d(?:[eE][+-](?=\d)|[\w.])*)
      | (?P<word>[^\W\d]\w*(?:\.[^\W\d]\w*)*)
      | (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | (?P<symbol>\.\.\.|\*\*|//|[-+*/%(),:\[\]])
    )""",
    re.VERBOSE,
)
_NUMBER = late(
    r"(?P<based>0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+)"
    r"|(?P<whole>\d+(?:_\d+)*)?(?:(?P<point>\.)(?P<part>\d+(?:_\d+)*)?)?(?:[eE](?P<exponent>[+-]?\d+))?(?P<j>[jJ])?"
)
"""Digits behind the whole part need a point: were they optional both, a run of digits could be parted anywhere,
and a long one with a letter behind it would be tried in all these ways."""
_ESCAPE = late(r"\\(?:([\\'\"abfnrtv])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_UNKNOWN = {"^": "A power is written with **, such as 2**10.", "=": "A value only, without a name and '='."}
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class Token(msgspec.Struct, frozen=True):
    """One word of a literal; the last of a stream has no text."""

    kind: str
    text: str

    @property
    def shown(self) -> str:
        """The text, cut to what fits into a sentence."""
        return self.text[:40] or "the end"


class Number(msgspec.Struct, frozen=True):
    """A number's normal form; kind is "int", "float" or "complex"."""

    kind: str
    text: str


def tokens(text: str) -> list[Token]:
    """The words of a literal, closed by an empty one.

    Raises:
        LiteralError: too long, or a character that no literal has.
    """
    if len(text) > MAX_CHARACTERS:
        raise LiteralError(f"Longer than {MAX_CHARACTERS:,} characters. Keep data of this size in a stored tensor.")
    text = text.strip()
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            rest = text[at:].strip()
            if rest[:1] in "\"'":
                raise LiteralError("A quoted text must end with the same quote, on the same line.")
            raise LiteralError(_UNKNOWN.get(rest[:1], f"Did not expect '{rest[:1]}' here."))
        kind = match.lastgroup or ""
        found.append(Token(kind, _plain_digits(match[kind]) if kind == "number" else match[kind]))
        at = match.end()
    found.append(Token("end", ""))
    return found


def _plain_digits(text: str) -> str:
    """Digits of any script as 0 to 9."""
    return text if text.isascii() else "".join(str(unicodedata.digit(c, c)) for c in text)


def number_form(text: str) -> Number:
    """The normal form of a number: `.5` → `0.5`, `1.` → `1.0`, `1E5` → `1e5`.

    Raises:
        LiteralError: it is no number, or no float can hold it.
    """
    match = _NUMBER.fullmatch(text)
    if match is None or not (match["based"] or match["whole"] or match["part"]):
        raise LiteralError(f"'{text[:40]}' is not a number.")
    if len(text) > MAX_DIGITS:
        raise LiteralError(f"A number can have at most {MAX_DIGITS} digits.")
    if match["based"]:
        return Number("int", text[:2].lower() + text[2:].upper())
    whole, part, exponent = match["whole"], match["part"], match["exponent"]
    decimal = match["point"] is not None or exponent is not None
    if not decimal and not match["j"]:
        if whole != "0" and whole.startswith("0") and whole.strip("0_"):
            raise LiteralError(f"A whole number cannot begin with 0: write {whole.lstrip('0_')}.")
        return Number("int", whole)
    return _decimal(match, whole or "0", part, exponent)


def _decimal(match: re.Match[str], whole: str, part: str | None, exponent: str | None) -> Number:
    fraction = f".{part or '0'}" if match["point"] is not None else ""
    power = f"e{exponent.removeprefix('+')}" if exponent is not None else ""
    plain = f"{whole}{fraction}{power}"
    if math.isinf(float(plain)):
        raise LiteralError(f'{plain[:40]} is larger than any float. Write float("inf") for infinity.')
    return Number("complex", f"{plain}j") if match["j"] else Number("float", plain)


def number_bits(text: str) -> float:
    """About how many bits a whole number needs."""
    value = int(text, 0) if text[:1] == "0" and len(text) > 1 and text[1] in "xob" else int(text)
    return math.log2(value) if value > 1 else float(value)


def unquote(text: str) -> str:
    """What a quoted text says.

    Raises:
        LiteralError: it holds an escape that is not known.
    """
    return _ESCAPE.sub(_unescaped, text[1:-1])


def _unescaped(match: re.Match[str]) -> str:
    short, *codes, unknown = match.groups()
    if short is not None:
        return _ESCAPED.get(short, short)
    if unknown is not None:
        raise LiteralError(f"'\\{unknown}' is not known in a text; write \\\\ for a backslash.")
    number = int(next(code for code in codes if code), 16)
    if number > 0x10FFFF:
        raise LiteralError("There is no such character.")
    return chr(number)


def quote(value: str) -> str:
    """A text as Python text, in double quotes where that needs no more escapes."""
    plain = repr(value)
    if plain[0] == '"' or value.count('"') > value.count("'"):
        return plain
    return '"' + plain[1:-1].replace("\\'", "'").replace('"', '\\"') + '"'
