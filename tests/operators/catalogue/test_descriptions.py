"""What is said of an operator and its arguments: each in the words that a person reads."""

import msgspec
import pytest

from gradstudio.operators.catalogue import descriptions
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Effect, Face, Family, Kind, Operator, Parameter, Result

CATALOGUE = load()
A, B = Parameter("left", Kind.TENSOR), Parameter("right", Kind.NUMBER)


def operator(face: Face, *parameters: Parameter, symbol: str = "", key: str = "torch.Tensor.made") -> Operator:
    return Operator(key, "made", face, "Made", "", parameters, symbol=symbol)


@pytest.mark.parametrize(
    ("row", "written"),
    [
        (operator(Face.INFIX, A, B, symbol="+"), "left + right"),
        (operator(Face.INFIX, symbol="@"), "a @ b"),
        (operator(Face.AUGMENTED, A, B, symbol="*="), "left *= right"),
        (operator(Face.PREFIX, A, symbol="-"), "-left"),
        (operator(Face.PREFIX, A, symbol="not"), "not left"),
        (operator(Face.ATTRIBUTE, A, symbol="T"), "left.T"),
        (operator(Face.ATTRIBUTE, A, B), "left.right"),
        (operator(Face.SET_ATTRIBUTE, A, symbol="grad"), "left.grad = value"),
        (operator(Face.SET_ATTRIBUTE, A), "left.name = value"),
        (operator(Face.SET_PATH, A, key="torch.backends.flag="), "torch.backends.flag = left"),
        (operator(Face.ASSERT, A, B), "assert left, right"),
        (operator(Face.ITEM, A, B), "left[right]"),
        (operator(Face.SET_ITEM, A, B), "left[right] = value"),
        (operator(Face.LITERAL, A), "made"),
        (operator(Face.METHOD, A, B), "left.made(right)"),
        (operator(Face.FUNCTION, A, B, key="torch.made"), "torch.made(left, right)"),
        (operator(Face.FUNCTION, key="torch.made"), "torch.made()"),
    ],
)
def test_an_operator_is_shown_as_it_is_written(row: Operator, written: str) -> None:
    assert descriptions.signature(row) == written


def test_a_signature_has_defaults_and_stars_and_ends_where_it_grows_long() -> None:
    many = tuple(Parameter(f"p{k}", Kind.INT, default=str(k)) for k in range(9))
    row = operator(Face.FUNCTION, *many, key="torch.made")
    assert descriptions.signature(row) == f"torch.made({', '.join(f'p{k}={k}' for k in range(7))}, …)"
    assert descriptions.signature(row, 1) == "torch.made(p0=0, …)"
    assert descriptions.signature(row, 9).endswith("p8=8)")
    sizes = Parameter("size", Kind.SHAPE, default="()", variadic=True)
    assert descriptions.signature(operator(Face.METHOD, A, sizes)) == "left.made(*size)"


def test_the_arguments_of_a_call_stand_in_lines() -> None:
    keyword = Parameter("eps", Kind.FLOAT, default="1e-5", keyword_only=True)
    another = msgspec.structs.replace(keyword, name="tail")
    expected = (
        ("right", "a number"),
        ("*", "the rest by name only"),
        ("eps=1e-5", "a number"),
        ("tail=1e-5", "a number"),
    )
    assert descriptions.call_lines(operator(Face.METHOD, A, B, keyword, another)) == expected
    assert descriptions.call_lines(operator(Face.FUNCTION, A, B))[0] == ("left", "a tensor")


def test_a_star_of_its_own_is_not_repeated_behind_separate_arguments() -> None:
    several = Parameter("values", Kind.VALUES, variadic=True)
    keyword = Parameter("sep", Kind.TEXT, default='" "', keyword_only=True)
    lines = descriptions.call_lines(operator(Face.FUNCTION, several, keyword))
    assert lines == (("*values", "any values, one after the other"), ('sep=" "', "a text"))


@pytest.mark.parametrize("face", [Face.INFIX, Face.ITEM, Face.ATTRIBUTE, Face.GROUP])
def test_what_is_no_call_has_no_lines(face: Face) -> None:
    assert descriptions.call_lines(operator(face, A, B, symbol="+")) == ()


@pytest.mark.parametrize(
    ("parameter", "told"),
    [
        (Parameter("p", Kind.ANY), ""),
        (Parameter("p", Kind.ANY, keyword_only=True), "by name only"),
        (Parameter("p", Kind.ANY, choices=("1", "2")), "anything, such as 1, 2"),
        (Parameter("p", Kind.TENSOR, nullable=True), "a tensor, or None"),
        (Parameter("p", Kind.TENSOR, nullable=True, default="None"), "a tensor"),
        (Parameter("p", Kind.TEXT, choices=("'a'", "'b'")), "one of 'a', 'b'"),
        (Parameter("p", Kind.INT, choices=("1", "2"), keyword_only=True), "a whole number: 1, 2; by name only"),
        (Parameter("p", Kind.BOOL, choices=("True", "False")), "True or False"),
        (Parameter("p", Kind.TEXT, choices=tuple("abcdefghi")), "one of a, b, c, d, e, f, g, h, …"),
    ],
)
def test_what_an_argument_takes(parameter: Parameter, told: str) -> None:
    assert descriptions.parameter_text(parameter) == told


def test_every_kind_and_family_has_words() -> None:
    assert set(descriptions.KIND_WORDS) == set(Kind)
    assert set(descriptions.FAMILY_WORDS) == set(Family)


def test_a_default_is_told_or_that_one_is_needed() -> None:
    assert descriptions.argument(Parameter("p", Kind.FLOAT, default="1")) == "a number; default 1"
    assert descriptions.argument(Parameter("p", Kind.ANY)) == "needed"
    assert descriptions.default_words(Parameter("p", Kind.TEXT, default="")) == "default "
    assert descriptions.plain_summary("writes `x` into `y`") == "writes x into y"


def test_badges_say_what_has_to_be_known() -> None:
    row = operator(Face.METHOD, A)
    assert descriptions.badges(row) == ()
    told = msgspec.structs.replace(row, view=True, cuts=True, varying=True, effects=(Effect.IN_PLACE, Effect.RANDOM))
    assert [word for word, _ in descriptions.badges(told)] == ["in-place", "view", "cuts gradient", "random", "varying"]
    assert "its first argument" in dict(descriptions.badges(told))["in-place"]
    named = msgspec.structs.replace(told, writes=("left", "right"))
    assert "“left” and “right”" in dict(descriptions.badges(named))["in-place"]
    assert "Draws" in dict(descriptions.badges(told))["random"]


def test_a_constructor_is_random_in_its_parameters_and_a_module_call_has_no_badge() -> None:
    row = msgspec.structs.replace(operator(Face.CONSTRUCTOR), effects=(Effect.RANDOM, Effect.MODULE_CALL))
    ((word, sentence),) = descriptions.badges(row)
    assert (word, sentence.startswith("Its parameters begin")) == ("random", True)


def test_results_are_named_unless_there_is_nothing_to_tell() -> None:
    row = operator(Face.FUNCTION, A)
    assert descriptions.results(row) == "a tensor"
    assert descriptions.results(msgspec.structs.replace(row, results=())) == "nothing"
    assert descriptions.results(msgspec.structs.replace(row, varying=True)) == "several values in one list"
    two = (Result("values"), Result("count", Family.NUMBER))
    assert descriptions.results(msgspec.structs.replace(row, results=two)) == "values (a tensor), count (a number)"


def test_rows_of_the_catalogue_are_told_whole() -> None:
    assert descriptions.signature(CATALOGUE["torch.matmul"]) == "torch.matmul(input, other)"
    assert "in-place" in dict(descriptions.badges(CATALOGUE["torch.Tensor.add_"]))
