"""Comments beside statements, and blank lines between comments: printed where they stood, whatever they say."""

import ast
import io
import tokenize

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradstudio.graph.edits import ReplaceBlock, ReplaceNode, SetTail, apply
from gradstudio.graph.model import BodyId, Graph, ItemId
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import Script, write, write_script
from tests.program.sketch import Sketch, formatted
from tests.program.test_laws import programs

LONG = "a comment that is far longer than the line on which it would have to stand, and so stands above"
HOSTILE = (
    *("region: a", "endregion", "\\", "\\region: a", "  region: a", "noqa", "noqa: E501", "NOQA", "type: ignore[x]"),
    *("fmt: skip", "fmt: off", "fmt: on", "ruff: noqa", "isort: skip", "ty: ignore", "pylint: x", "#", "!", ":"),
    *("a\nimport os", "a\r\nb", "a\x0cb", "a\u2028b", "\u202e turned", "\ud800", "\x00", "a\tb", "  "),
    *('"""', "'''", "( [ {", "日本" * 20, "\U0001fae8" * 30),
    *("coding: utf-16", "\xa0type: ignore", "x" * 60, LONG, "noqa " + LONG, "type: " + LONG),
)  # fmt: skip
ITEMS = st.sampled_from(("", "", "a few words", *HOSTILE))
NOTES = st.lists(st.sampled_from(("", "", " ", "words", "more words", *HOSTILE)), max_size=5).map("\n".join)


@st.composite
def told(draw: st.DrawFn) -> Graph:
    """Programs with comments above, beside and below their statements, and blank lines between these."""
    graph = draw(programs())
    for node in list(graph.nodes.values()):
        said = {"note": draw(NOTES), "beside": draw(ITEMS), "blank_before": draw(st.booleans())}
        apply(graph, ReplaceNode(msgspec.structs.replace(node, **said)))
    for block in list(graph.blocks.values()):
        said = {"note": draw(NOTES), "beside": draw(ITEMS), "blank_before": draw(st.booleans())}
        apply(graph, ReplaceBlock(msgspec.structs.replace(block, **said)))
    for body in list(graph.bodies):
        apply(graph, SetTail(body, draw(NOTES)))
    return graph


def plain(text: str) -> list[str]:
    """The lines of a text that are no comments, without those behind them."""
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
    return [line for line in lines if line]


@given(told())
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_no_comment_is_more_than_one_and_ruff_leaves_the_text_as_it_is(graph: Graph) -> None:
    script = write(graph)
    silent = graph.copy()
    for node in list(silent.nodes.values()):
        apply(silent, ReplaceNode(msgspec.structs.replace(node, note="", beside="")))
    for block in list(silent.blocks.values()):
        apply(silent, ReplaceBlock(msgspec.structs.replace(block, note="", beside="")))
    for body in list(silent.bodies):
        apply(silent, SetTail(body, ""))
    assert ast.dump(ast.parse(script.text)) == ast.dump(ast.parse(write_script(silent)))
    assert plain(script.text) == plain(write_script(silent))
    assert formatted(script.text) == script.text


@given(told())
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_what_is_read_from_a_text_is_printed_as_that_text(graph: Graph) -> None:
    once = write(graph).code
    twice = write(read_script(once).graph).code
    assert twice == once


@given(told())
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_places_are_those_of_the_statements_without_their_comments(graph: Graph) -> None:
    script = write(graph)
    assert all("#" not in shown(script, item) for item in graph.nodes)


def shown(script: Script, item: ItemId) -> str:
    """The text of an item in a script; "" when it is not printed."""
    lines = script.text.split("\n")
    for span in script.spans:
        if span.node == item:
            cut = lines[span.line - 1 : span.end_line]
            cut[-1] = cut[-1][: span.end_column]
            return "\n".join([cut[0][span.column :], *cut[1:]])
    return ""


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_beside_a_statement_breaks_out_of_its_comment(text: str) -> None:
    sketch = Sketch()
    x = sketch.tensor("x", beside=text)
    quiet = sketch.block("no_grad", beside=text)
    sketch.node("operator.neg", "y", {"a": x}, body=quiet, beside=text)
    script = write_script(sketch.graph)
    assert len(ast.parse(script.encode()).body) == len(ast.parse(write_script(Sketch().graph)).body) + 4
    assert formatted(script) == script


def code(text: str) -> str:
    """What a text is printed as, without its imports."""
    return write(read_script("import torch\n\n" + text).graph).code.removeprefix("import torch\n\n")


@pytest.mark.parametrize(
    "text",
    [
        "x = torch.ones(2, 3)  # (B, T)\ny = x.sum()  # a scalar\n",
        "# above\nx = torch.ones(2)  # beside\n",
        "with torch.no_grad():  # no gradients\n    x = torch.ones(2)  # inside\n",
        "x = torch.ones(2)\nfor i in range(3):  # three times\n    x = x + 1  # (2,)\n    # below\n",
        "x = torch.ones(2)  # region: not one\ny = x + 1  # endregion\nz = y + 1  # \\region: neither\n",
        "x = torch.ones(2)  # noqa: " + "E501 " * 20 + "x\n",
        "x = torch.ones(2)  #     far in\n".replace("#     far", "# far"),
        f"x = torch.tensor(\n    [{', '.join(['1.0'] * 16)}]\n)  # behind the bracket\n",
        "# the file\n#\n# and what it is for\n\n# the first section\nx = torch.ones(2)\n",
        "x = torch.ones(2)\n\n# a section\n\n# a statement\ny = x + 1\n",
        "x = torch.ones(2)\n\n# a section\n\ny = x + 1\n\n# the end\n",
        "x = 1\nwith torch.no_grad():\n    # a section\n\n    y = x + 1\n\n    # the end of it\n\nz = x + 1\n",
        "# region: one\n# of it\n\nx = 1\n\n# below\n# endregion\n\n# for two\n\n# region: two\n# endregion\n",
    ],
)
def test_a_text_keeps_its_comments_where_they_stand(text: str) -> None:
    assert formatted(text) == text
    assert code(text) == text


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("x = 1; y = 2  # of the last", "x = 1\ny = 2  # of the last\n"),
        ("for i in range(2): x = i  # one line", "for i in range(2):\n    x = i  # one line\n"),
        (
            "for i in range(\n    2\n):  # below the head\n    x = i",
            "for i in range(2):  # below the head\n    x = i\n",
        ),
        ("with (\n    torch.no_grad()\n):  # quiet\n    x = 1", "with torch.no_grad():  # quiet\n    x = 1\n"),
        (
            "x = torch.ones(  # inside\n    2,  # as well\n)  # behind",
            "# inside\n# as well\nx = torch.ones(2)  # behind\n",
        ),
        ("x = 1 + \\\n  2  # behind", "x = 1 + 2  # behind\n"),
        ("'''bare\n\nstring'''\n\nx = 1", "# bare\n#\n# string\n\nx = 1\n"),
        ("x = 1\n\n\n\n# a\n\n\n\n# b\n\n\n\ny = 2", "x = 1\n\n# a\n\n# b\n\ny = 2\n"),
        ("with torch.no_grad():\n\n    # a\n\n    x = 1", "with torch.no_grad():\n    # a\n\n    x = 1\n"),
        ("x = 1  #", "x = 1\n"),
        ("x = 1  #a\tb ", "x = 1  # a\tb\n"),
        (f"x = 1 + 1  # {LONG}", f"# {LONG}\nx = 1 + 1\n"),
    ],
)
def test_other_texts_are_printed_so(text: str, printed: str) -> None:
    assert code(text).removeprefix("import torch\n\n") == printed


def test_a_comment_beside_what_is_printed_inside_another_statement_stands_above_that() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    part = sketch.node("operator.neg", "", {"a": x}, part=True, note="why", beside="(2,)")
    sketch.node("operator.add", "y", {"a": part, "b": x}, beside="the sum")
    assert sketch.lines[-3:] == ["# why", "# (2,)", "y = -x + x  # the sum"]


def test_a_comment_without_room_keeps_the_places_right() -> None:
    sketch = Sketch()
    x = sketch.tensor("x", beside=LONG)
    quiet = sketch.block("no_grad", beside=LONG)
    y = sketch.node("operator.neg", "y", {"a": x}, body=BodyId(quiet))
    script = write(sketch.graph)
    assert shown(script, x) == "x = torch.tensor(1.0)"
    assert shown(script, y) == "y = -x"
    assert script.code.split("\n")[script.lines[quiet] - 1] == "with torch.no_grad():"
