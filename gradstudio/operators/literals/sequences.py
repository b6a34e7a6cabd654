"""Several values in one literal – sizes, indices, nested lists – and whether each is what the argument takes."""

from gradstudio.operators.errors import LiteralError
from gradstudio.operators.literals.grammar import NUMBERS, Form, Term

_FORM_WORDS = {
    Form.INT: "a whole number",
    Form.FLOAT: "a decimal number",
    Form.COMPLEX: "a complex number",
    Form.BOOL: "True or False",
    Form.TEXT: "a text",
    Form.NAME: "a name of torch's",
    Form.LIST: "a list",
    Form.TUPLE: "several values",
}


def check_term(term: Term, fits: bool) -> str:
    """The text of a term that fits; a refusal in words of one that does not."""
    if term.bare:
        raise LiteralError("One value, not several; a decimal is written with a point.")
    if not fits:
        words = "" if term.text in ("True", "False") else _FORM_WORDS.get(term.form, "")
        raise LiteralError(f"{quotation(term.text)} {f'is {words} and ' if words else ''}does not fit here.")
    return term.text


def quotation(text: str) -> str:
    """What is quoted in a sentence of ours."""
    return text if len(text) <= 40 else f"{text[:37]}..."


def shape(term: Term) -> str:
    """Sizes as a tuple."""
    items = term.items if term.form in (Form.LIST, Form.TUPLE) else (term,)
    _require_ints(items)
    return _tuple(items)


def ints(term: Term) -> str:
    """A whole number, or several as a tuple."""
    if term.form not in (Form.LIST, Form.TUPLE):
        return check_term(term, term.form is Form.INT)
    _require_ints(term.items)
    return _tuple(term.items)


def numbers(term: Term) -> str:
    """A number, or several as a tuple."""
    if term.form not in (Form.LIST, Form.TUPLE):
        return check_term(term, term.form in NUMBERS)
    for item in term.items:
        if item.form not in NUMBERS:
            raise LiteralError(f"{quotation(item.text)} is not a number.")
    return _tuple(term.items)


def _tuple(items: tuple[Term, ...]) -> str:
    return f"({', '.join(item.text for item in items)}{',' if len(items) == 1 else ''})"


def _require_ints(items: tuple[Term, ...]) -> None:
    for item in items:
        if item.form is not Form.INT:
            raise LiteralError(f"{quotation(item.text)} is not a whole number.")


def index(term: Term, *, single: bool) -> str:
    """What stands between [ and ], its elements with commas."""
    items = term.items if term.form is Form.TUPLE else (term,)
    if not items:
        raise LiteralError("An empty index picks nothing.")
    if single and len(items) > 1:
        raise LiteralError("One index here; the others have ports of their own.")
    for item in items:
        _require_index(item)
    return ", ".join(item.text for item in items)


def _require_index(item: Term) -> None:
    if item.form in (Form.LIST, Form.TUPLE):
        for inner in item.items:
            if inner.form not in (Form.INT, Form.BOOL, Form.LIST, Form.TUPLE):
                raise LiteralError(f"{quotation(inner.text)} is no position.")
            _require_index(inner)
    elif item.form not in (Form.INT, Form.BOOL, Form.NONE, Form.ELLIPSIS, Form.SLICE):
        raise LiteralError(f"{quotation(item.text)} is no index.")


def data(term: Term) -> str:
    """A number, or nested lists whose rows have one length."""
    _data_shape(term)
    return f"[{', '.join(item.text for item in term.items)}]" if term.bare else term.text


def _data_shape(term: Term) -> tuple[int, ...]:
    """The shape of nested lists of numbers; every row must have the same."""
    if term.form in NUMBERS or term.form is Form.BOOL:
        return ()
    if term.form not in (Form.LIST, Form.TUPLE):
        raise LiteralError(f"{quotation(term.text)} is not a number.")
    shapes = {_data_shape(item) for item in term.items}
    if len(shapes) > 1:
        lengths = sorted({str(shape[0]) if shape else "a single number" for shape in shapes})
        raise LiteralError(f"The rows differ in length ({' and '.join(lengths)}); they must be the same.")
    return (len(term.items), *(shapes.pop() if shapes else ()))
