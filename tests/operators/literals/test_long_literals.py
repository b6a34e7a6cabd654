"""Long texts that are no literals are refused at once: no pattern tries a run of signs in all ways to part it."""

import pytest

from gradstudio.operators.errors import LiteralError
from gradstudio.operators.literals.parser import parse, parse_any
from gradstudio.operators.literals.tokens import number_form
from gradstudio.operators.model import Kind, Parameter

LENGTH = 100_000
LONG = {
    "digits and a letter": "1" * LENGTH + "x",
    "digits of another script": "٣" * LENGTH + "x",
    "digits and what might be imaginary": "1" * LENGTH + "i_",
    "groups of digits": "1_" * LENGTH + "x",
    "points": "1." * LENGTH,
    "sizes": "1x" * LENGTH + "a",
    "gaps": "1 " * LENGTH + "a",
    "a wide gap": "1" + " " * LENGTH + "a",
    "quotes that nothing closes": '"' + '\\"' * LENGTH,
    "single quotes": "'" + "\\'" * LENGTH,
    "keywords of a printed tensor": "tensor(1x" + ", dtype=a" * (LENGTH // 5) + ")",
    "types that nothing closes": "tensor(1x" + ", dtype=<" * (LENGTH // 5) + ")",
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
@pytest.mark.parametrize("kind", [Kind.FLOAT, Kind.DATA, Kind.INTS, Kind.INDEX, Kind.DTYPE, Kind.DEVICE, Kind.ANY])
def test_a_long_text_that_is_no_literal_is_refused(kind: Kind, text: str) -> None:
    with pytest.raises(LiteralError):
        parse(text, Parameter(name="dim", kind=kind))


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_long_text_is_no_literal_of_any_kind(text: str) -> None:
    with pytest.raises(LiteralError):
        parse_any(text)


@pytest.mark.parametrize(
    ("text", "form"),
    [("12", "12"), ("1_000", "1_000"), ("1.", "1.0"), (".5", "0.5"), ("1.2_5", "1.2_5"), ("1.E+5", "1.0e5")],
)
def test_a_number_is_parted_at_its_point(text: str, form: str) -> None:
    assert number_form(text).text == form


def test_a_printed_tensor_is_read_without_all_its_keywords() -> None:
    text = "tensor([1., 2.], device='cuda:0', dtype=torch.float64, grad_fn=<AddBackward0>)"
    assert parse(text, Parameter(name="data", kind=Kind.DATA)) == "[1.0, 2.0]"
