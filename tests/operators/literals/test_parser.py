"""Literals: what a person types is brought to its normal form, or refused in words. Never evaluated."""

import ast
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstudio.operators.literals.parser import LiteralError, example, family_of, parse, parse_any, value_of
from gradstudio.operators.model import Family, Kind, Parameter
from tests.helpers.laws import check_each


def port(kind: Kind, **changes: object) -> Parameter:
    return Parameter("value", kind, **changes)  # type: ignore[arg-type] # tests pass what fits


ACCEPTED = [
    (Kind.INT, "3", "3"),
    (Kind.INT, " -1 ", "-1"),
    (Kind.INT, "−1", "-1"),
    (Kind.INT, "2*8", "2 * 8"),
    (Kind.INT, "1_000", "1_000"),
    (Kind.INT, "0xff", "0xFF"),
    (Kind.FLOAT, "3", "3"),
    (Kind.FLOAT, ".5", "0.5"),
    (Kind.FLOAT, "1.", "1.0"),
    (Kind.FLOAT, "1E-3", "1e-3"),
    (Kind.FLOAT, "1E+5", "1e5"),
    (Kind.FLOAT, "float('-inf')", 'float("-inf")'),
    (Kind.FLOAT, "-inf", 'float("-inf")'),
    (Kind.FLOAT, "nan", 'float("nan")'),
    (Kind.FLOAT, "2*math.pi", "2 * math.pi"),
    (Kind.FLOAT, "pi", "math.pi"),
    (Kind.FLOAT, "(1+2)*3", "(1 + 2) * 3"),
    (Kind.FLOAT, "2**0.5", "2**0.5"),
    (Kind.COMPLEX, "1+2j", "1 + 2j"),
    (Kind.BOOL, "true", "True"),
    (Kind.BOOL, "False", "False"),
    (Kind.BOOL, "yes", "True"),
    (Kind.BOOL, "OFF", "False"),
    (Kind.BOOL, "0", "False"),
    (Kind.FLOAT, "π", "math.pi"),
    (Kind.FLOAT, "-2π", "-2 * math.pi"),
    (Kind.FLOAT, "∞", 'float("inf")'),
    (Kind.FLOAT, "np.inf", 'float("inf")'),
    (Kind.FLOAT, "NaN", 'float("nan")'),
    (Kind.FLOAT, "1e−3", "1e-3"),
    (Kind.FLOAT, "math.pi/2", "math.pi / 2"),
    (Kind.INT, "2**10", "2**10"),
    (Kind.COMPLEX, "1+2i", "1 + 2j"),
    (Kind.NUMBERS, "0.5", "0.5"),
    (Kind.NUMBERS, "[0.9, 0.999]", "(0.9, 0.999)"),
    (Kind.NUMBERS, "0.9, .999", "(0.9, 0.999)"),
    (Kind.DTYPE, "f32", "torch.float32"),
    (Kind.DTYPE, "np.int64", "torch.int64"),
    (Kind.DTYPE, "bf16", "torch.bfloat16"),
    (Kind.DTYPE, "numpy.dtype('float64')", "torch.float64"),
    (Kind.DTYPE, "Float64", "torch.float64"),
    (Kind.DEVICE, "CUDA:1", '"cuda:1"'),
    (Kind.DEVICE, 'torch.device("cuda", 1)', '"cuda:1"'),
    (Kind.DEVICE, "torch.device('cuda:2')", '"cuda:2"'),
    (Kind.SHAPE, "2 3", "(2, 3)"),
    (Kind.SHAPE, "2 by 3", "(2, 3)"),
    (Kind.SHAPE, "-1 x 3", "(-1, 3)"),
    (Kind.SHAPE, "torch.Size([2, 3])", "(2, 3)"),
    (Kind.SHAPE, "torch.Size([])", "()"),
    (Kind.INTS, "2x3", "(2, 3)"),
    (Kind.INDEX, "x[:, 1:]", ":, 1:"),
    (Kind.INDEX, "[:, 1:]", ":, 1:"),
    (Kind.INDEX, "[0, 2]", "[0, 2]"),
    (Kind.INDEX, "[0], [1]", "[0], [1]"),
    (Kind.INDEX, "slice(1, None), newaxis", "1:, None"),
    (Kind.TEXT, "“mean”", '"mean"'),
    (Kind.TEXT, "it's", '"it\'s"'),
    (Kind.DATA, "1 2 3", "[1, 2, 3]"),
    (Kind.DATA, "1\t2\n3\t4", "[[1, 2], [3, 4]]"),
    (Kind.DATA, "0,5\t1\n2\t3", "[[0.5, 1], [2, 3]]"),
    (Kind.DATA, "1,2\r\n3,4\r\n", "[[1, 2], [3, 4]]"),
    (Kind.DATA, "1\n2\n3", "[1, 2, 3]"),
    (Kind.DATA, "[[ 1. -2.]\n [ 3.  4.]]", "[[1.0, -2.0], [3.0, 4.0]]"),
    (Kind.DATA, "array([[1., 2.],\n       [3., 4.]], dtype=float32)", "[[1.0, 2.0], [3.0, 4.0]]"),
    (
        Kind.DATA,
        "tensor([[1., nan],\n [-inf, 4.]], device='cuda:0', grad_fn=<AddBackward0>)",
        '[[1.0, float("nan")], [float("-inf"), 4.0]]',
    ),
    (Kind.DATA, "tensor(3)", "3"),
    (Kind.DATA, "1 - 2", "1 - 2"),
    (Kind.TENSOR_OR_NUMBER, "2", "2"),
    (Kind.TEXT, "mean", '"mean"'),
    (Kind.TEXT, "'it is'", '"it is"'),
    (Kind.TEXT, "'say \"x\"'", "'say \"x\"'"),
    (Kind.DTYPE, "float32", "torch.float32"),
    (Kind.DTYPE, "torch.long", "torch.long"),
    (Kind.DEVICE, "cuda:0", '"cuda:0"'),
    (Kind.DEVICE, "'cpu'", '"cpu"'),
    (Kind.DEVICE, 'torch.device("mps")', '"mps"'),
    (Kind.LAYOUT, "strided", "torch.strided"),
    (Kind.MEMORY_FORMAT, "channels_last", "torch.channels_last"),
    (Kind.SHAPE, "2, 3", "(2, 3)"),
    (Kind.SHAPE, "[2,3]", "(2, 3)"),
    (Kind.SHAPE, "(2,3)", "(2, 3)"),
    (Kind.SHAPE, "2x3", "(2, 3)"),
    (Kind.SHAPE, "2 × 3 × 4", "(2, 3, 4)"),
    (Kind.SHAPE, "5", "(5,)"),
    (Kind.SHAPE, "()", "()"),
    (Kind.INTS, "1", "1"),
    (Kind.INTS, "0,1", "(0, 1)"),
    (Kind.INDEX, ":, 1:, None, ...", ":, 1:, None, ..."),
    (Kind.INDEX, "0", "0"),
    (Kind.INDEX, "(0, 1)", "0, 1"),
    (Kind.INDEX, "::-1", "::-1"),
    (Kind.INDEX, "[0,2], :", "[0, 2], :"),
    (Kind.INDEX, "True", "True"),
    (Kind.DATA, "[1., 2]", "[1.0, 2]"),
    (Kind.DATA, "1, 2, 3", "[1, 2, 3]"),
    (Kind.DATA, "[[1,2],[3,4]]", "[[1, 2], [3, 4]]"),
    (Kind.DATA, "3", "3"),
    (Kind.DATA, "[]", "[]"),
    (Kind.VALUES, "1, 'a'", '(1, "a")'),
    (Kind.NAME, "weight", "weight"),
    (Kind.NAME, "'out_proj.weight'", "out_proj.weight"),
    (Kind.ANY, "(1, 2)", "(1, 2)"),
    (Kind.ANY, "None", "None"),
    (Kind.ANY, "'x'", '"x"'),
]


@pytest.mark.parametrize(("kind", "text", "normal"), ACCEPTED)
def test_a_literal_is_brought_to_its_normal_form(kind: Kind, text: str, normal: str) -> None:
    assert parse(text, port(kind)) == normal


@pytest.mark.parametrize("kind", [Kind.ANY, Kind.TEXT])
@pytest.mark.parametrize("said", ["a…b", "a – b — c", "2 × 3 − 1", "“so” it said", "it's…"])
def test_typographic_signs_between_quotes_are_left_as_they_are(kind: Kind, said: str) -> None:
    assert value_of(parse(f'"{said}"', port(kind))) == said


def test_the_quotes_of_a_word_processor_are_quotes_and_what_they_hold_is_left_as_it_is() -> None:
    assert parse("“a…b × c”", port(Kind.ANY)) == '"a…b × c"'


def test_signs_beside_a_quoted_text_are_made_plain() -> None:
    assert parse("('x…', −3, “y”)", port(Kind.ANY)) == '("x…", -3, "y")'


def test_the_normal_form_is_its_own() -> None:
    for kind, _, normal in ACCEPTED:
        assert parse(normal, port(kind)) == normal, kind


REFUSED = [
    (Kind.INT, "3.0", "write 3"),
    (Kind.INT, "1.5", "whole number"),
    (Kind.INT, "True", "whole number"),
    (Kind.INT, "012", "write 12"),
    (Kind.FLOAT, "3,5", "decimal is written with a point"),
    (Kind.FLOAT, "1e400", "infinity"),
    (Kind.FLOAT, "abc", "'abc' is not a value"),
    (Kind.FLOAT, "1.5.2", "not a number"),
    (Kind.FLOAT, "1 +", "missing at the end"),
    (Kind.FLOAT, "'1'", "does not fit"),
    (Kind.BOOL, "2", "True or False"),
    (Kind.BOOL, "maybe", "True or False"),
    (Kind.TEXT, "'open", "same quote"),
    (Kind.TEXT, "'a' 'b'", "Did not expect"),
    (Kind.DTYPE, "flaot32", r"Did you mean torch\.float32"),
    (Kind.DTYPE, "torch.save", "no dtype"),
    (Kind.DEVICE, "gpu", "Did you mean cuda"),
    (Kind.DEVICE, "cuda:x", "no device"),
    (Kind.DEVICE, "cuda:", "no device"),
    (Kind.SHAPE, "2.5, 1", "2.5 is not a whole number"),
    (Kind.SHAPE, "[[1]]", "whole number"),
    (Kind.INDEX, "1.5", "no index"),
    (Kind.INDEX, "'a'", "no index"),
    (Kind.INDEX, "1:2:3:4", "Did not expect ':'"),
    (Kind.INDEX, "1.5:2", "slice takes whole numbers"),
    (Kind.DATA, "[[1, 2], [3]]", "differ in length"),
    (Kind.DATA, "[1, [2]]", "differ in length"),
    (Kind.DATA, "['a']", "not a number"),
    (Kind.DATA, "a,b\n1,2", "Row 1, column 1 holds 'a'"),
    (Kind.DATA, "1\t\n2\t3", "Row 1, column 2 is empty"),
    (Kind.DATA, "[1 2 ... 8 9]", "left out when this was printed"),
    (Kind.INT, "1e3", "write 1000"),
    (Kind.FLOAT, "2^10", r"\*\*"),
    (Kind.FLOAT, "sqrt(2)", "use a node"),
    (Kind.FLOAT, "lr=0.1", "without a name"),
    (Kind.NUMBERS, "0.9, 'a'", '"a" is not a number'),
    (Kind.NUMBERS, "True", "does not fit"),
    (Kind.DATA, "[1, 2", "is missing"),
    (Kind.TENSOR, "1", "draw a wire"),
    (Kind.MODULE, "nn.Linear(2, 2)", "draw a wire"),
    (Kind.NAME, "__class__", "not the name of an attribute"),
    (Kind.NAME, "_parameters", "not the name of an attribute"),
    (Kind.NAME, "load_state_dict", "is a method"),
    (Kind.NAME, "a b", "not the name of an attribute"),
    (Kind.ANY, "x", "'x' is not a value"),
    (Kind.ANY, "lambda: 0", "not a value"),
    (Kind.ANY, "[x for x in y]", "not a value"),
    (Kind.ANY, "{}", "Did not expect"),
    (Kind.ANY, "1 if 2 else 3", "Did not expect"),
    (Kind.ANY, "__import__('os').system('ls')", "Did not expect"),
    (Kind.ANY, "open('x')", "not a value"),
    (Kind.ANY, "torch.load('x')", "Did not expect"),
    (Kind.ANY, "float('1e5')", "write other numbers plainly"),
    (Kind.ANY, "f'{x}'", "not a value"),
    (Kind.ANY, "'a' * 3", "combines numbers only"),
    (Kind.ANY, "[0] * 1000", "combines numbers only"),
    (Kind.ANY, "-'a'", "before a number"),
    (Kind.ANY, r"'\q'", "not known in a text"),
    (Kind.ANY, "", "Nothing is written"),
]


@pytest.mark.parametrize(("kind", "text", "words"), REFUSED)
def test_what_does_not_fit_is_refused_in_words(kind: Kind, text: str, words: str) -> None:
    with pytest.raises(LiteralError, match=words):
        parse(text, port(kind))


def test_a_refusal_says_what_the_argument_takes() -> None:
    with pytest.raises(LiteralError, match=re.escape("'value' takes a whole number, such as 3 or -1.")):
        parse("many", port(Kind.INT))


def test_every_kind_can_say_what_it_takes() -> None:
    for kind in Kind:
        assert example(port(kind)).startswith("'value' takes "), kind


HOSTILE = {
    "a megabyte": "1" * 1_000_000,
    "many megabytes": "[" * 5_000_000,
    "deep lists": "[" * 50_000 + "]" * 50_000,
    "deep parentheses": "(" * 101 + "1" + ")" * 101,
    "deep signs": "-" * 50_000 + "1",
    "a long sum": "1+" * 50_000 + "1",
    "a long sum of floats": "1.0+" * 50_000 + "1",
    "a tower of powers": "9**9**9**9",
    "a huge power": "10**100000",
    "a product of powers": "2**9999*2**9999",
    "a huge exponent": "1e999999999",
    "many digits": "9" * 5_000,
    "too many elements": "[" + "1," * 10_001 + "]",
    "too many in rows": "[" + "[1,1]," * 5_001 + "]",
    "an import": "__import__('os').system('true')",
    "a dunder": "().__class__.__bases__",
    "a null": "1\0",
    "a newline in a text": "'a\nb'",
    "a backslash at the end": "'\\",
    "quotes": "'" * 100_000,
    "a walrus": "(x:=1)",
    "a star": "*[1]",
    "bytes": "b'x'",
}


@pytest.mark.parametrize("kind", [Kind.ANY, Kind.DATA, Kind.INDEX, Kind.FLOAT])
def test_hostile_text_is_refused(kind: Kind) -> None:
    def is_refused(text: str) -> None:
        with pytest.raises(LiteralError) as raised:
            parse(text, port(kind))
        assert len(str(raised.value)) < 300

    check_each(HOSTILE.items(), is_refused)


def test_ten_thousand_elements_are_allowed() -> None:
    text = f"[{', '.join(['1.5'] * 10_000)}]"
    assert parse(text, port(Kind.DATA)) == text


def test_a_hundred_levels_are_allowed() -> None:
    text = "[" * 99 + "1" + "]" * 99
    assert parse(text, port(Kind.DATA)) == text


def test_none_goes_where_it_is_accepted() -> None:
    assert parse("None", port(Kind.TENSOR, nullable=True)) == "None"
    with pytest.raises(LiteralError, match="does not fit"):
        parse("None", port(Kind.INT))


def test_the_documents_device_is_for_the_device_port_alone() -> None:
    assert parse("device", Parameter("device", Kind.DEVICE)) == "device"
    with pytest.raises(LiteralError):
        parse("device", Parameter("device_type", Kind.DEVICE))


def test_a_choice_needs_no_quotes() -> None:
    reduction = port(Kind.TEXT, choices=('"mean"', '"sum"'))
    assert parse("sum", reduction) == parse("'sum'", reduction) == '"sum"'
    padding = port(Kind.ANY, choices=('"same"',))
    assert parse("same", padding) == '"same"'
    assert parse("1", padding) == "1"


def test_one_element_of_an_index_is_one() -> None:
    element = port(Kind.INDEX, element=True)
    assert parse("1:", element) == "1:"
    with pytest.raises(LiteralError, match="One index here"):
        parse("0, 1", element)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-2.5", -2.5),
        ("0xFF", 255),
        ("1e3", 1000.0),
        ("3j", 3j),
        ("True", True),
        ("None", None),
        ("'a\\n'", "a\n"),
        ("[1, [2, 'x']]", [1, [2, "x"]]),
        ("(1,)", (1,)),
        ("1, 2", (1, 2)),
        ("float('inf')", math.inf),
        ("-inf", -math.inf),
    ],
)
def test_plain_literals_have_a_value(text: str, value: object) -> None:
    assert value_of(text) == value
    assert type(value_of(text)) is type(value)


@pytest.mark.parametrize("text", ["torch.float32", "2 * 3", "math.pi", "x", "...", "torch.device('cpu')"])
def test_other_literals_have_none(text: str) -> None:
    with pytest.raises(LiteralError):
        value_of(text)


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("1", Family.NUMBER),
        ("2 * math.pi", Family.NUMBER),
        ("True", Family.NUMBER),
        ("'a'", Family.TEXT),
        ("torch.float32", Family.TEXT),
        ("device", Family.TEXT),
        ("(1, 2)", Family.TUPLE),
        ("[]", Family.TUPLE),
        ("None", Family.NONE),
        ("what", Family.UNKNOWN),
    ],
)
def test_a_literal_belongs_to_a_family(text: str, family: Family) -> None:
    assert family_of(text) is family


numbers = st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False)
plain = st.recursive(
    numbers | st.booleans() | st.none() | st.text(st.characters(blacklist_categories=["Cs"]), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.lists(inner, max_size=4).map(tuple),
    max_leaves=12,
)


@given(plain)
def test_what_python_writes_is_read_and_means_the_same(value: object) -> None:
    text = parse_any(repr(value))
    assert ast.literal_eval(text) == value
    assert value_of(text) == value
    assert parse_any(text) == text


@given(st.text(max_size=200), st.sampled_from(list(Kind)))
def test_any_text_gives_a_literal_or_a_refusal(text: str, kind: Kind) -> None:
    try:
        normal = parse(text, port(kind))
    except LiteralError:
        return
    assert parse(normal, port(kind)) == normal


pieces = st.sampled_from(
    [
        "1",
        "2.5",
        "-",
        "+",
        "*",
        "**",
        "/",
        "(",
        ")",
        "[",
        "]",
        ",",
        ":",
        "...",
        "None",
        "True",
        "math.pi",
        "'a'",
        "1j",
        " ",
    ]
)


@given(st.lists(pieces, max_size=14).map("".join))
def test_what_is_accepted_is_python(text: str) -> None:
    try:
        normal = parse_any(text)
    except LiteralError:
        return
    assert ast.dump(ast.parse(normal, mode="eval")) == ast.dump(ast.parse(text.strip(), mode="eval"))


typed = st.sampled_from(
    "1 2.5 .5 -3 1e3 0x10 nan inf π 2π ∞ 1i x × by , ; \t \n : ... … None True yes [ ] ( ) array( tensor( dtype= "
    "slice( newaxis mask i - + ** / “ ” ' \" f32 np. torch. cuda :0 mean = ^ % é 𝟙 \ud800".split(" ")
)


@given(st.lists(typed, max_size=12), st.sampled_from([" ", ""]), st.sampled_from(list(Kind)), st.booleans())
def test_what_a_person_may_type_is_taken_up_or_refused_in_words(
    words: list[str], gap: str, kind: Kind, element: bool
) -> None:
    try:
        normal = parse(gap.join(words), port(kind, element=element))
    except LiteralError:
        return
    assert parse(normal, port(kind, element=element)) == normal
    if kind is not Kind.NAME:
        ast.parse(f"_[{normal}]" if kind is Kind.INDEX else normal, mode="eval")


@given(st.text(max_size=40))
def test_a_quoted_text_says_what_it_said(value: str) -> None:
    try:
        text = parse_any(repr(value))
    except LiteralError:
        assert "\n" in value or not value.isprintable()
        return
    assert ast.literal_eval(text) == value
