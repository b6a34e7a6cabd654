"""Hostile texts end in words at their line, or are read as Python reads them; nothing hangs, nothing is computed."""

import ast

import pytest

from gradstudio.graph.text.code_records import CODE, code_of
from gradstudio.graph.text.literal_text import MAX_NESTING, spell
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_script

HEAD = "import torch\nx = torch.ones(2)\n"
DEEP = "nested more than 100 deep"
LONG = "more than 1,000 operators and calls in a row"


def refusal(text: str) -> NotReadable:
    with pytest.raises(NotReadable) as caught:
        read_script(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        pytest.param("y = " + "(" * 10_000 + "x" + ")" * 10_000, 3, "nested parentheses", id="parentheses"),
        pytest.param("y = " + "+".join(["x"] * 100_000), 3, DEEP, id="a sum of 100,000"),
        pytest.param("y = " + "+".join(["x"] * 1_002), 3, LONG, id="a sum of 1,002"),
        pytest.param("y = " + "(" * 90 + "x" + ("+x" * 30 + ")") * 90, 3, LONG, id="sums within sums"),
        pytest.param("y = " + "(x*" * 60 + "x" + ("+x" * 900 + ")") * 60, 3, DEEP, id="long sums, deep within"),
        pytest.param("y = x" + ".T" * 100_000, 3, DEEP, id="attributes"),
        pytest.param("y = x" + ".sin()" * 1_001, 3, LONG, id="calls"),
        pytest.param("y = " + "[" * 5_000 + "]" * 5_000, 3, "nested parentheses", id="5,000 lists"),
        pytest.param("y = " + "[" * 150 + "]" * 150, 3, DEEP, id="150 lists"),
        pytest.param("y = " + "-" * 20_000 + "1", 3, DEEP, id="signs"),
        pytest.param("y = not " * 5_000 + "x", 3, "", id="not"),
        pytest.param("n = " + "9" * 6_000, 3, "4300 digits", id="digits"),
        pytest.param("n = 0x" + "f" * 1_000_000, 3, "4,300 digits", id="hexadecimal digits"),
        pytest.param("y = [" + "1, " * 300_000 + "]", 3, "commas", id="a list of 300,000"),
        pytest.param("y = [" + "1, " * 70_000 + "]", 3, "too long", id="a list of 70,000"),
        pytest.param("y = 1; " * 30_000, 3, "20,000 statements", id="30,000 statements on a line"),
        pytest.param("\n" * 300_000, 200_001, "200,000 lines", id="lines"),
        pytest.param("s = '" + "a" * 5_000_000 + "'", 1, "5,000,000 characters", id="characters"),
        pytest.param("# region: a\n" * 5_000 + "y = 1", 102, "Groups are nested", id="groups"),
        pytest.param("y = 1\nz = \0 2", 4, "NUL", id="NUL"),
        pytest.param("y = 1 \\", 3, "not Python", id="a line that goes on into nothing"),
        pytest.param("for i in x:\n\ty = i\n        z = i", 5, "not Python", id="tabs and spaces"),
        pytest.param("y = " + "a" * 100_000, 3, "not bound", id="a long name that is read"),
        pytest.param("a" * 100_000 + " = 1", 3, "at most 100 characters", id="a long name that is bound"),
        pytest.param("y = torch.ones(2, dtype=None, dtype=None)", 3, "given twice", id="an argument twice"),
        pytest.param("y = " + ", ".join(["torch.ones(1)"] * 15_000), 3, "too long", id="15,000 calls"),
        pytest.param("y = 'a\\ud800'", 3, "half of a character", id="surrogates"),
        pytest.param("y = b'abc'", 3, "", id="bytes"),
        pytest.param("y = x.__class__.__base__.__subclasses__()", 3, "", id="dunder methods"),
        pytest.param("y = ().__class__.__mro__", 3, "", id="dunder attributes"),
        pytest.param("y = '{0.__class__}'.format(x)", 3, "", id="attributes in a format"),
        pytest.param("%time y = x", 3, "Jupyter", id="a magic"),
        pytest.param("!pip install torch", 3, "Jupyter", id="a shell command"),
        pytest.param("torch.ones?", 3, "Jupyter", id="a question"),
    ],
)
def test_it_is_refused_at_its_line(text: str, line: int, words: str) -> None:
    error = refusal(HEAD + text if line > 2 and line < 1_000 else text)
    assert words in error.reason
    assert len(error.reason) < 300
    assert error.line == line


@pytest.mark.parametrize(
    "expression",
    [
        "+".join(["x"] * 1_001),
        "x" + ".sin()" * 1_000,
        "x" + "[None]" * 500 + "[0]" * 500,
        "x" + " - 1" * 1_000,
        "torch.ones(2)" + ".relu()[None].T[:, 0] * x" * 250,
        "(x if x is None else x)" + "+ x" * 900,
        "(x +" * 40 + "x" + " * x" * 200 + ")" * 40,
    ],
)
def test_a_long_chain_is_read_as_the_statements_it_is(expression: str) -> None:
    read = read_script(f"{HEAD}y = {expression}")
    links = [
        n for n in ast.walk(ast.parse(expression)) if isinstance(n, ast.BinOp | ast.Subscript | ast.Call | ast.IfExp)
    ]
    attributes = expression.count(".T")
    assert len(read.graph.nodes) == 1 + len(links) + attributes
    text = write_script(read.graph)
    assert write_script(read_script(text).graph) == text


def test_a_refusal_counts_characters_and_not_bytes() -> None:
    error = refusal("α = 'ααα'; y = {α for α in 'αβ'}")
    assert (error.line, error.column) == (1, 15)


@pytest.mark.parametrize("ending", ["\r\n", "\r", "\n"])
def test_every_end_of_a_line_is_one(ending: str) -> None:
    text = ending.join(["import torch", "", "x = torch.ones(2)  # two", "y = '''a", "b'''", "z = {v for v in x}", ""])
    assert refusal(text).line == 6
    read = read_script(text.replace("z = {v for v in x}", ""))
    assert [node.beside for node in read.graph.nodes.values()] == ["two", ""]
    assert read.graph.nodes[next(reversed(read.graph.nodes))].literals == {"value": '"a\\nb"'}


@pytest.mark.parametrize("mark", ["\x0c", "\x0b", "\x1c", "\x85", "\u2028", "\u2029"])
def test_what_only_looks_like_the_end_of_a_line_is_none(mark: str) -> None:
    assert refusal(f"x = 1  # a{mark}b\ny = 'c{mark}d'\nz = [lambda: 1]\n").line == 3


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffx = 1\n",
        "# -*- coding: latin-1 -*-\nx = 'é'\n",
        "\x0cx = 1\n\x0c\ny = 2  # form feeds\n",
        "if True:\n\tprint(1)\n",
        "x = 1 + \\\n  2\ny = \\\n    3\n",
        "ﬁ = 1\nｘ = fi\ny = x\n",
        "а = 1\na = 2\nb = а\n",  # a Cyrillic letter and a Latin one
        "# \u202e turned round\nx = '\u202e turned \u2066'  # \u2067\n",
        "s = '\\a\\b\\f\\n\\r\\t\\v\\0\\x7f\\u202e\\U0001F600\\N{BULLET}\\\\\\'\\\"\\d'\n",
        "s = 'a' \"b\" '''c\nd''' r'\\n' u'e'\n",
        "# region: a\nx = 1\n# region: b\ny = 2\n",
        "# region: a\nx = 1\n\n# endregion\n\n# region: b\ny = 2\n\n# endregion\nz = 1\n",
        "# endregion\nx = 1\n# endregion\n# endregion\n",
        "# \\region: no marker\n# region:\n#region: a\nx = 1 # endregion\n",
        "# gradstudio: node x\n#: a\n#!b\n#\n##\nx = 1\n",
        "n = 10**10**10\nm = 2**-1**5000\n",
        "for i in range(10**12, -10**30, -1):\n    pass\n",
        "x = 1e999999999\ny = 1e-999999\nz = 1_000j\n",
        "",
        "\n\n\n",
        "# only\n\n# comments\n",
        "'''only a text'''\n",
        "x = 1;y = 2;;\n".replace(";;", ";"),
        "y = " + "(" * 150 + "1" + ")" * 150 + "\n",
        "x = 1\n" + "y = x" + " + 1" * 95 + "\n",
        " = ".join(f"a{k}" for k in range(300)) + " = 1\n",
    ],
)  # fmt: skip
def test_it_is_read_and_what_is_written_of_it_stays(text: str) -> None:
    written = write_script(read_script(text).graph)
    assert write_script(read_script(written).graph) == written


def test_nothing_is_computed_while_it_is_read() -> None:
    graph = read_script("n = 9**9**9**9\nt = 'a' * 10**15\nb = [0] * 10**15\nc = 1 << 10**15\n").graph
    assert next(iter(graph.nodes.values())).literals == {"value": "9**9**9**9"}


def test_many_loops_in_loops_are_looked_through_once() -> None:
    text = "".join(" " * depth + f"for i{depth} in range(2):\n" for depth in range(90)) + " " * 90 + "x = i0\n"
    assert "blocks" in refusal(text).reason


@pytest.mark.parametrize("term", ["1", "[1]", "'a'"])
def test_a_long_sum_of_literals_is_not_asked_at_every_link_whether_it_is_one(term: str) -> None:
    spell.cache_clear()
    read_script("x = " + " + ".join([term] * 800) + "\n")
    assert spell.cache_info().misses <= 2 * MAX_NESTING


def test_a_format_that_reads_what_is_inside_of_values_is_code_where_code_is_kept() -> None:
    text = HEAD + 'print("{0.shape}".format(x))\ny = "{a[0]}".format(a=x) if x.sum() > 0 else "no"\nz = x * 2\n'
    graph = read_script(text, keeps_code=True).graph
    codes = [code_of(node) for node in graph.nodes.values() if node.operator == CODE]
    assert "\n".join(codes).splitlines() == text.splitlines()[2:4] and text[len(HEAD) :] in write_script(graph)
