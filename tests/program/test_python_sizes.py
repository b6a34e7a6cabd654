"""Python's own numbers, texts and lists that would be too large are told from the text; the others never are."""

import pytest

from gradstudio.program.compile import compile_graph
from gradstudio.program.errors import NotReadable
from gradstudio.program.python_limits import TooBig
from gradstudio.program.python_sizes import of_value, refuse, too_big
from gradstudio.program.reading.reader import read_script

HEAD = "import math\nimport torch\n"


def reasons(text: str) -> list[str]:
    return [found.reason for found in too_big(compile_graph(read_script(HEAD + text).graph).statements)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 9**9**9", "about 369,693,100 digits"),
        ("x = 10**8000000", "about 8,000,000 digits"),
        ("n = 1 << 300000\nx = 9**n", "10**15 or more digits"),
        ("x = 1 << (1 << 40)", "digits"),
        ("x = 3\nx **= 10**9", "digits"),
        ("x = pow(7, 10**8)", "digits"),
        ("x = math.factorial(10**6)", "about 5,565,7"),
        ("x = math.comb(10**7, 5 * 10**6)", "digits"),
        ("a = 10**90000\nb = a * a", "about 180,000 digits"),
        ("x = torch.ones(2)\ny = x * 9**9**9", "digits"),
        ("x = 'a' * 10**12", "A text of 1,000,000,000,000 characters"),
        ("n = 10**6\na = [1, 2] * n\nb = a * 1000", "A list of 2,000,000,000 elements"),
        ("a = [1] * 60000000\nb = a + a", "A list of 120,000,000 elements"),
        ("x = torch.tensor([0.0] * 10**11)", "100,000,000,000 elements"),
        ("x = torch.tensor(list(range(10**12)))", "1,000,000,000,000 elements"),
        ("x = sum(range(0, 10**12, 2))", "500,000,000,000 elements"),
        ("x = 'a'.ljust(10**12)", "characters"),
        ("x = '%1000000d' % 3", "wider than 10,000"),
        ("x = '{:>100000}'.format(3)", "wider than 10,000"),
        ("x = torch.ones(10**30)", "A size has at most 63 bits"),
        ("for i in range(3):\n    x = 9**9**9", "digits"),
    ],
)
def test_what_is_too_large_is_told_with_its_size(text: str, words: str) -> None:
    (reason,) = reasons(text)
    assert words in reason


@pytest.mark.parametrize(
    "text",
    [
        "x = 9**9 ** 2",
        "x = 2.0**9**9",
        "x = 1**10**12\ny = 0**10**12\nz = (-1) ** 10**12",
        "x = 10**-12",
        "a = 2**50000\nb = a * 3\nc = (a - b) * 0",
        "x = torch.ones(3)\nn = 10**9\ny = x * n * n * n",
        "a = [1, 2] * 1000\nb = torch.tensor(a + a)",
        "for i in range(10**12):\n    print(i)",
        "x = 2\nfor i in range(40):\n    x = x * x",  # what it becomes shows only in the loop
        "x = 10**5\nfor i in range(3):\n    x = i\ny = 7**x",
        "for i in range(0):\n    x = 9**9**9",
        "x = 3\nif x > 5:\n    print(9**9**9)",
        "x = f'{3:>100.3f}' + '%5d' % 3 + '{:<9}'.format(2)",
        "x = 5 % 3 // 1\ny = 7 >> 1\nz = math.factorial(20)",
        "x = torch.full((2,), 10**30)",
        "x = len([1] * 50) ** 100",
    ],
)
def test_what_is_small_or_not_known_is_never_refused(text: str) -> None:
    assert reasons(text) == []


@pytest.mark.parametrize("spec", [">1000000000.3f", ".20000f", "99999999999999999999"])
def test_a_text_that_is_too_wide_is_refused_where_it_stands(spec: str) -> None:
    with pytest.raises(NotReadable, match="at most 10,000 characters") as refused:
        read_script(f"x = 1.0\nprint(f'{{x:{spec}}}')\n")
    assert refused.value.line == 2


def test_values_that_are_there_count() -> None:
    values = {"x": 2**300_000, "n": 10**9, "a": [1] * 10, "t": 3.5}

    def lookup(name: str) -> object:
        return of_value(values.get(name))

    for text in ("y = x * x", "x **= 2", "y = a * n", "y = list(range(n))", "y = ('-' * n)"):
        with pytest.raises(TooBig):
            refuse(text, lookup)
    for text in ("y = x + 1", "y = t ** 99", "a += a", "y = unknown ** n", "y = x", "y = range(n)"):
        refuse(text, lookup)


def test_a_number_of_too_many_digits_is_told_so() -> None:
    with pytest.raises(NotReadable, match="A number is written with at most 4,000 digits"):
        read_script(f"x = 0.{'1' * 100_000}\n")
