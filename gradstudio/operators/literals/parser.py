"""Literals: what a person types into a port, checked for the argument, in its normal Python form.

Nothing here evaluates. A refusal says what is wrong and what the argument takes.
"""

import keyword
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from gradstudio.operators.errors import LiteralError
from gradstudio.operators.literals import normalisation as typed
from gradstudio.operators.literals import sequences as several
from gradstudio.operators.literals.grammar import NUMBERS, Form, Term, read
from gradstudio.operators.literals.number_tables import as_lists
from gradstudio.operators.literals.sequences import quotation
from gradstudio.operators.literals.tokens import MAX_CHARACTERS, quote
from gradstudio.operators.literals.torch_names import (
    ATTRIBUTE,
    DEVICE_TYPES,
    DTYPES,
    LAYOUTS,
    MEMORY_FORMATS,
    MODULE_METHODS,
)
from gradstudio.operators.model import Family, Kind, Parameter

__all__ = ["LiteralError", "example", "family_of", "parse", "parse_any", "value_of"]

DOCUMENT_DEVICE = "device"
"""The literal of a `device` port that follows the document's device (semantics §11)."""

_EXAMPLES = {
    Kind.NUMBER: "a number, such as 0.5 or -3",
    Kind.TENSOR_OR_NUMBER: "a number, such as 0.5 or -3, or a wire that brings a tensor",
    Kind.INT: "a whole number, such as 3 or -1",
    Kind.FLOAT: "a number, such as 0.01 or 1e-3",
    Kind.COMPLEX: "a number, such as 1 + 2j",
    Kind.BOOL: "True or False",
    Kind.TEXT: 'a text, such as "mean"',
    Kind.DTYPE: "a dtype, such as torch.float32 or torch.int64",
    Kind.DEVICE: "a device, such as cpu, cuda, cuda:0 or mps",
    Kind.LAYOUT: "a layout, such as torch.strided",
    Kind.MEMORY_FORMAT: "a memory format, such as torch.contiguous_format",
    Kind.SHAPE: "sizes, such as (2, 3)",
    Kind.INTS: "a whole number or several, such as 1 or (0, 2)",
    Kind.NUMBERS: "a number or several, such as 0.5 or (0.5, 1.5)",
    Kind.INDEX: "an index, such as 0 or :, 1:",
    Kind.VALUES: 'values, such as 1, True, "text"',
    Kind.DATA: "a number, or lists of numbers such as [[1.0, 2.0], [3.0, 4.0]]",
    Kind.NAME: "the name of an attribute, such as weight",
    Kind.ANY: 'a value, such as 1.5, (2, 3), True, None or "text"',
}
_FIELD_EXAMPLES = {
    **dict.fromkeys((Kind.NUMBER, Kind.TENSOR_OR_NUMBER, Kind.FLOAT), "0.5"),
    Kind.INT: "3",
    Kind.COMPLEX: "1 + 2j",
    Kind.BOOL: "True",
    Kind.TEXT: "text",
    Kind.SHAPE: "2, 3",
    Kind.INTS: "0, 2",
    Kind.NUMBERS: "0.5, 1.5",
    Kind.INDEX: ":, 1:, mask",
    Kind.VALUES: '1, "text"',
    Kind.DATA: "[[1, 2], [3, 4]]",
    Kind.NAME: "weight",
    Kind.ANY: "1.5",
}
_WIRED = {
    Kind.TENSOR: "a tensor",
    Kind.TENSORS: "tensors",
    Kind.MODULE: "a module",
    Kind.MODULES: "modules",
    Kind.OPTIMIZER: "an optimizer",
    Kind.ARRAY: "a numpy array",
    Kind.GENERATOR: "a random generator",
    Kind.OBJECT: "an object",
}


def parse(text: str, parameter: Parameter) -> str:
    """The normal form of a literal for a parameter.

    Raises:
        LiteralError: the text is not a value that the parameter takes; says what is.
    """
    text = _plain(text)
    if not text:
        raise LiteralError(f"Nothing is written here. {example(parameter)}")
    if text in ("None", "none") and parameter.nullable:
        return "None"
    try:
        return _parse(text, parameter)
    except LiteralError as error:
        raise LiteralError(f"{error} {example(parameter)}") from None


def parse_any(text: str) -> str:
    """The normal form of a literal of any kind.

    Raises:
        LiteralError: it is no literal.
    """
    return _whole_text(read(_plain(text)))


def example(parameter: Parameter) -> str:
    """What the parameter takes, as a sentence: "'dim' takes a whole number, such as 3 or -1."."""
    if parameter.choices and parameter.kind is Kind.TEXT:
        words = "one of " + ", ".join(parameter.choices)
    else:
        words = _EXAMPLES.get(parameter.kind) or f"{_WIRED[parameter.kind]}: draw a wire"
    return f"'{parameter.name}' takes {words}{', or None' if parameter.nullable else ''}."


def example_of(parameter: Parameter) -> str:
    """A literal that the parameter would take, to stand dimly in an empty field; "" where only a wire fits."""
    if parameter.choices:
        return parameter.choices[0]
    return _FIELD_EXAMPLES.get(parameter.kind, "")


def value_of(text: str) -> object:
    """The value of a plain literal: numbers, texts, True, False, None and nested lists of these.

    Raises:
        LiteralError: it is no literal, or one whose value only torch or Python knows.
    """
    return _value(read(_plain(text)))


def family_of(text: str) -> Family:
    """What would flow from a literal; unknown when the text is none."""
    return _family_of_short(text) if len(text) <= _SHORT else _family_of(text)


_SHORT = 100
"""Families of texts up to this length are remembered."""


def _family_of(text: str) -> Family:
    if text == DOCUMENT_DEVICE:
        return Family.TEXT
    try:
        form = read(_plain(text)).form
    except LiteralError:
        return Family.UNKNOWN
    return _FAMILIES.get(form, Family.NUMBER)


_family_of_short = lru_cache(maxsize=4096)(_family_of)
_FAMILIES = {
    Form.TEXT: Family.TEXT,
    Form.NAME: Family.TEXT,
    Form.DEVICE: Family.TEXT,
    Form.SLICE: Family.TEXT,
    Form.ELLIPSIS: Family.OBJECT,
    Form.NONE: Family.NONE,
    Form.LIST: Family.TUPLE,
    Form.TUPLE: Family.TUPLE,
}


def _plain(text: str) -> str:
    if len(text) > MAX_CHARACTERS:
        raise LiteralError(f"Longer than {MAX_CHARACTERS:,} characters. Keep data of this size in a stored tensor.")
    return text.strip()


def _parse(text: str, parameter: Parameter) -> str:
    text = text if parameter.kind is Kind.TEXT else typed.without_typography(text)
    match parameter.kind:
        case Kind.TEXT:
            return _text(text, parameter)
        case Kind.DTYPE:
            return _named(typed.dtype_name(text), DTYPES, "dtype")
        case Kind.LAYOUT:
            return _named(text, LAYOUTS, "layout")
        case Kind.MEMORY_FORMAT:
            return _named(text, MEMORY_FORMATS, "memory format")
        case Kind.DEVICE:
            return _device(text, parameter)
        case Kind.NAME:
            return _attribute(text)
        case Kind.INDEX:
            return several.index(read(typed.index(text), slices=True), single=parameter.element)
        case Kind.SHAPE:
            return several.shape(read(typed.sizes(text)))
        case Kind.INTS:
            return several.ints(read(typed.sizes(text)))
        case Kind.BOOL:
            return _by_kind(read(typed.switch(text)), Kind.BOOL)
        case Kind.DATA:
            return several.data(read(as_lists(text)))
        case Kind.ANY:
            return _any(text, parameter)
        case kind if kind in _WIRED:
            raise LiteralError("This cannot be written down.")
        case kind:
            return _by_kind(read(text), kind)


def _by_kind(term: Term, kind: Kind) -> str:
    match kind:
        case Kind.INT if term.form is Form.FLOAT and (whole := _whole(term)):
            raise LiteralError(f"{term.text} is not a whole number: write {whole}.")
        case Kind.INT:
            return several.check_term(term, term.form is Form.INT)
        case Kind.FLOAT:
            return several.check_term(term, term.form in (Form.INT, Form.FLOAT))
        case Kind.COMPLEX:
            return several.check_term(term, term.form in NUMBERS)
        case Kind.NUMBER | Kind.TENSOR_OR_NUMBER:
            return several.check_term(term, term.form in NUMBERS or term.form is Form.BOOL)
        case Kind.BOOL:
            return several.check_term(term, term.form is Form.BOOL)
        case Kind.NUMBERS:
            return several.numbers(term)
        case Kind.VALUES:
            return _whole_text(term) if term.items else f"({_whole_text(term)},)"
        case _:
            return _whole_text(term)


def _whole_text(term: Term) -> str:
    return f"({term.text})" if term.bare else term.text


# Texts and names -------------------------------------------------------------------------------


def _text(text: str, parameter: Parameter) -> str:
    text = typed.strip_typed_quotes(text)
    if text[:1] in "\"'":
        term = read(text)
        if term.form is not Form.TEXT:
            raise LiteralError("One quoted text, please.")
        value = term.value
    elif text.endswith(('"', "'")):
        raise LiteralError("Quotes go around the whole text.")
    else:
        value = text
    choices = {read(choice).value for choice in parameter.choices}
    if choices and value not in choices:
        same = [choice for choice in choices if choice.lower() == value.strip().lower()]
        if len(same) == 1:
            return quote(same[0])
        near = _nearest(value[:40], choices)
        raise LiteralError(f"{quote(value[:40])} is none of them.{f' Did you mean {quote(near[0])}?' if near else ''}")
    if any(unicodedata.category(letter) == "Cs" for letter in value):
        raise LiteralError("This text holds half a character.")
    return quote(value)


def _any(text: str, parameter: Parameter) -> str:
    """Any literal; of the offered texts also without their quotes."""
    offered = {read(choice).value: choice for choice in parameter.choices if choice[:1] in "\"'"}
    return quote(text) if text in offered else _whole_text(read(text))


def _named(text: str, names: frozenset[str], what: str) -> str:
    name = text.removeprefix("torch.")
    if name in names:
        return f"torch.{name}"
    near = _nearest(name[:40].lower(), names)
    hint = f" Did you mean torch.{near[0]}?" if near else ""
    raise LiteralError(f"There is no {what} '{quotation(text)}'.{hint}")


def _nearest(word: str, names: Iterable[str]) -> list[str]:
    """The name that is most like a word, where one is."""
    from difflib import get_close_matches

    return get_close_matches(word, list(names), n=1)


def _device(text: str, parameter: Parameter) -> str:
    if text == DOCUMENT_DEVICE and parameter.name == "device":
        return DOCUMENT_DEVICE
    text = typed.device_name(read(text).value if text[:1] in "\"'" else text)
    kind, _, number = text.partition(":")
    if kind not in DEVICE_TYPES or not re.fullmatch(r"|\d{1,3}", number) or text.endswith(":"):
        asked = kind[:40].lower()
        near = ["cuda"] if asked in ("gpu", "nvidia") else _nearest(asked, DEVICE_TYPES)
        raise LiteralError(f"There is no device '{quotation(text)}'.{f' Did you mean {near[0]}?' if near else ''}")
    return quote(text)


def _attribute(text: str) -> str:
    name = read(text).value if text[:1] in "\"'" else text
    for part in name.split("."):
        if part in MODULE_METHODS:
            raise LiteralError(f"'{part}' is a method, not a value; look for it in the library.")
        if not ATTRIBUTE.fullmatch(part) or keyword.iskeyword(part):
            raise LiteralError(f"'{quotation(part)}' is not the name of an attribute.")
    return name


# Values ----------------------------------------------------------------------------------------


def _value(term: Term) -> object:
    match term.form:
        case Form.LIST:
            return [_value(item) for item in term.items]
        case Form.TUPLE:
            return tuple(_value(item) for item in term.items)
        case Form.TEXT:
            return term.value
        case Form.BOOL:
            return term.text == "True"
        case Form.NONE:
            return None
        case Form.INT | Form.FLOAT | Form.COMPLEX:
            return _number(term)
        case _:
            raise LiteralError(f"{quotation(term.text)} has no plain value.")


def _number(term: Term) -> int | float | complex:
    if match := re.fullmatch(r'float\("([^"]*)"\)', term.text):
        return float(match[1])
    sign, digits = (-1, term.text[1:]) if term.text.startswith("-") else (1, term.text.removeprefix("+"))
    try:
        match term.form:
            case Form.INT:
                return sign * int(digits, 0)
            case Form.FLOAT:
                return sign * float(digits)
            case _:
                return sign * complex(digits)
    except ValueError:
        raise LiteralError(f"{quotation(term.text)} is computed when the program runs.") from None


def _whole(term: Term) -> str:
    """`1000` for `1e3`; "" for what is no whole number."""
    try:
        value = _number(term)
    except LiteralError:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else ""
