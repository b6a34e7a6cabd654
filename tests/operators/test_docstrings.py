"""Docstrings as blocks: each kind of block, torch's habits, LaTeX as text, and no text that is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstudio.operators.docstrings import latex
from gradstudio.operators.docstrings.excerpts import MAX_CHARACTERS, argument_words, first_sentence
from gradstudio.operators.docstrings.inline_markup import spans
from gradstudio.operators.docstrings.model import (
    Box,
    Code,
    Definition,
    Fields,
    Formula,
    Heading,
    Listing,
    Paragraph,
    Signature,
    Span,
    Table,
    plain_text,
)
from gradstudio.operators.docstrings.reader import read

SUM = """sum(input, dim, keepdim=False, *, dtype=None) -> Tensor

Returns the sum of each row of the :attr:`input` tensor in the given
dimension :attr:`dim`. If it is a list, reduce over all of them.

Args:
    input (Tensor): the input tensor.
    dim (int or tuple of ints, optional): the dimension or dimensions to reduce.
        If ``None``, all dimensions are reduced.

Keyword args:
    dtype (:class:`torch.dtype`, optional): the desired data type.

Example::

    >>> a = torch.randn(4, 4)
    >>> torch.sum(a, 1)
    tensor([-0.4598, -0.1381])

    >>> b = torch.arange(4)
"""


def only(text: str) -> object:
    blocks = read(text).blocks
    assert len(blocks) == 1, blocks
    return blocks[0]


def test_a_function_of_torch_is_read_as_signature_words_arguments_and_example() -> None:
    page = read(SUM)
    assert page.signatures == ("sum(input, dim, keepdim=False, *, dtype=None) -> Tensor",)
    words, arguments, keywords, heading, example = page.blocks
    assert isinstance(words, Paragraph) and plain_text(words.spans).startswith(
        "Returns the sum of each row of the input tensor"
    )
    assert isinstance(arguments, Fields) and arguments.title == "Arguments"
    assert [field.names for field in arguments.fields] == [("input",), ("dim",)]
    assert plain_text(arguments.fields[1].takes) == "int or tuple of ints, optional"
    assert isinstance(keywords, Fields) and keywords.fields[0].takes[0].target == "torch.dtype"
    assert heading == Heading((Span("Example"),))
    assert isinstance(example, Code) and example.text.count(">>>") == 3 and example.is_session


def test_what_a_tooltip_needs() -> None:
    page = read(SUM)
    assert first_sentence(page) == "Returns the sum of each row of the input tensor in the given dimension dim."
    assert argument_words(page, "dim").endswith("If None, all dimensions are reduced.")
    assert argument_words(page, "keepdim") == ""
    assert first_sentence(read("abs() -> Tensor\n\nSee :func:`torch.abs`")) == "", "it only points elsewhere"
    assert len(first_sentence(read("word " * 200))) <= MAX_CHARACTERS + 2


def test_a_signature_may_take_several_lines_and_there_may_be_several() -> None:
    page = read(
        "std(input, dim=None,\n    correction=1) -> Tensor\n\nWords.\n\n"
        ".. function:: std(input) -> Tensor\n   :noindex:\n\nMore."
    )
    assert page.signatures == ("std(input, dim=None, correction=1) -> Tensor",)
    assert [type(block) for block in page.blocks] == [Paragraph, Signature, Paragraph]


@pytest.mark.parametrize(
    ("text", "kind", "title"),
    [
        (".. note::\n    Words.", "note", "Note"),
        (".. warning:: Words.", "warning", "Warning"),
        (".. note:: Words\n          that go on.", "note", "Note"),
        ("Note:\n    Words.", "note", "Note"),
        (".. warning\n    With one colon too few.", "warning", "Warning"),
        (".. seealso::\n    :func:`torch.abs`", "note", "See also"),
        (".. versionadded:: 2.1", "note", "New in 2.1"),
    ],
)
def test_notes_and_warnings_are_boxes(text: str, kind: str, title: str) -> None:
    box = only(text)
    assert isinstance(box, Box) and (box.kind, box.title) == (kind, title)


def test_lists_hold_blocks_of_their_own() -> None:
    listing = only("- first\n  goes on\n\n  .. math::\n      x\n\n- second")
    assert isinstance(listing, Listing) and not listing.numbered
    first, second = listing.items
    assert [type(block) for block in first] == [Paragraph, Formula] and second == (Paragraph((Span("second"),)),)
    numbered = only("1. first\n2. second")
    assert isinstance(numbered, Listing) and numbered.numbered and len(numbered.items) == 2


def test_a_list_may_follow_its_paragraph_without_a_blank_line() -> None:
    assert [type(block) for block in read("The difference is:\n- one\n- two").blocks] == [Paragraph, Listing]


def test_tables_with_rules_and_lists_of_lists() -> None:
    table = only("====  =====\nord   norm\n====  =====\nNone  two\n0     count\n====  =====")
    assert isinstance(table, Table) and table.heads == 1
    assert [[plain_text(cell) for cell in row] for row in table.rows] == [
        ["ord", "norm"],
        ["None", "two"],
        ["0", "count"],
    ]
    _, listed = read(".. list-table:: Title\n   :header-rows: 1\n\n   * - a\n     - b\n   * - 1\n     - 2").blocks
    assert isinstance(listed, Table) and [[plain_text(cell) for cell in row] for row in listed.rows] == [
        ["a", "b"],
        ["1", "2"],
    ]


def test_a_drawn_table_keeps_its_lines() -> None:
    assert only("+---+---+\n| a | b |\n+---+---+") == Code("+---+---+\n| a | b |\n+---+---+", python=False)


def test_words_between_examples_stay_words() -> None:
    blocks = read("Example:\n\n    >>> f = 1\n\n    Compare against :func:`torch.abs` and see:\n\n    >>> g = 2").blocks
    assert [type(block) for block in blocks] == [Heading, Code, Paragraph, Code]


def test_a_term_and_what_is_said_of_it() -> None:
    definition = only("``mode``:\n    how it is done")
    assert isinstance(definition, Definition) and plain_text(definition.term) == "mode"


def test_what_leaves_no_trace() -> None:
    assert (
        read(".. image:: ../scripts/ReLU.png\n\n.. include:: x.rst\n    :parser: y\n\n.. _name: https://a.b").blocks
        == ()
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (":attr:`dim`", (Span("dim", ("code",)),)),
        (":func:`~torch.nn.functional.relu`", (Span("relu", ("code",), "torch.nn.functional.relu"),)),
        (":class:`the dtype <torch.dtype>`", (Span("the dtype", ("code",), "torch.dtype"),)),
        (":ref:`broadcasting-semantics`", (Span("broadcasting semantics", ("emphasis",)),)),
        (":ref:`some words <label>`", (Span("some words", ("emphasis",)),)),
        ("``a * b``", (Span("a * b", ("code",)),)),
        ("**bold** and *not*", (Span("bold", ("strong",)), Span(" and "), Span("not", ("emphasis",)))),
        ("`Paper <https://a.b/c>`__", (Span("Paper", (), "https://a.b/c"),)),
        ("see https://a.b/c.", (Span("see "), Span("https://a.b/c", (), "https://a.b/c"), Span("."))),
        ("2 * 3 * 4", (Span("2 * 3 * 4"),)),
    ],
)
def test_roles_literals_and_links(text: str, expected: tuple[Span, ...]) -> None:
    assert spans(text) == expected


def test_a_link_finds_its_address_at_the_end_of_the_page() -> None:
    page = read("As in `A Method`_.\n\n.. _A Method:\n    https://a.b/c")
    first = page.blocks[0]
    assert isinstance(first, Paragraph) and Span("A Method", (), "https://a.b/c") in first.spans


@pytest.mark.parametrize(
    ("formula", "told"),
    [
        (r"K \geq 1", "K ≥ 1"),
        (r"\frac{1}{N} \sum_{i=1}^N x_i", "1/N ∑_i=1^N x_i"),
        (r"\frac{a + b}{c}", "(a + b) / c"),
        (r"\frac{\exp(x)}{\sum_j \exp(x_j)}", "exp(x) / (∑_j exp(x_j))"),
        (r"\sqrt{k}", "√k"),
        (r"\sqrt{x + 1}", "√(x + 1)"),
        (r"x \in \mathbb{R}^{n \times m}", "x ∈ ℝ^n×m"),
        (r"(-1)^{n}", "(−1)^n"),
        (r"\text{hidden\_size}", "hidden_size"),
        (r"\text{{out}}_{i}", "out_i"),
        (r"y_n \not= \alpha", "y_n ≠ α"),
        (r"\left\lfloor\frac{a}{b}\right\rfloor", "⌊a/b⌋"),
        (r"\widehat{m_t} \leftarrow m_t", "m̂_t ← m_t"),
        (r"\unknowncommand x", "unknowncommand x"),
        (r"(N, C, d_1, ...)", "(N, C, d_1, ...)"),
    ],
)
def test_formulas_become_text(formula: str, told: str) -> None:
    assert plain_text(latex.inline(formula)) == told


def test_cases_stand_under_one_another_behind_a_brace() -> None:
    lines = latex.display(r"f(x) = \begin{cases} x, & \text{if } x > 0 \\ 0, & \text{otherwise} \end{cases}")
    assert [" ".join(plain_text(line).split()) for line in lines] == ["f(x) =", "⎧ x, if x > 0", "⎩ 0, otherwise"]


def test_an_algorithm_keeps_its_lines_and_indentation() -> None:
    lines = latex.display(
        r"\begin{aligned} &\textbf{if} \: a \\ &\hspace{10mm} g \leftarrow g + 1 \\[-1.ex] \end{aligned}"
    )
    assert [plain_text(line) for line in lines] == ["if a", "\u2003\u2003 g ← g + 1"]
    assert "strong" in lines[0][0].marks


@given(st.text(alphabet="ab .:`*_|>-=+\\{}()[]\n#<1$^&~", max_size=300))
def test_no_text_is_refused(text: str) -> None:
    read(text)
    latex.display(text)


HABITS = (
    *("Args:", "    x (int): y", ".. note::", "    >>> a", "", "- b", "====  ===", "Words", "::", ".. math::"),
    *("    \\frac{", "1. c", "Example::", "~~~~", ":param x: y", "+---+", "```", "   further in", "Returns:"),
)


@given(st.lists(st.sampled_from(HABITS), max_size=14))
def test_no_order_of_lines_is_refused(lines: list[str]) -> None:
    read("\n".join(lines))


def test_what_is_lowered_within_what_is_lowered_can_be_told_from_it() -> None:
    limit = latex.inline(r"\sum_{k = 0}^{C_{\text{in}} - 1} x^{2^n}")
    assert plain_text(limit) == "∑_k=0^Cᵢₙ−1 x^2ⁿ"
    assert [span.text for span in limit if span.marks[1:] == ("sup",)] == ["Cᵢₙ−1", "2ⁿ"]
    (line,) = latex.display(r"C_{\text{out}_j} + a_{i_Q} + b_{i^Q}")
    assert [span.text for span in line if "sub" in span.marks] == ["outⱼ", "i,Q", "i^Q"]
    assert all(len(span.marks) <= 2 for span in line)


def test_room_that_a_formula_asks_for_is_kept_and_remarks_are_not_read() -> None:
    (line,) = latex.display("A = U V^{\\text{H}}\n\\mathrlap{\\qquad U \\in K}% not shown\n")
    assert plain_text(line).endswith("V^H \u2003 U ∈ K")
