"""The Markdown of notes: a line of the comment is a line of the note, and what is not understood stands as typed."""

import pytest

from gradstudio.scene.note.markdown import BULLET, INDENT, MOST_SHOWN, RULE, Line, Run, parse, without_markup


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("a **bold** word", (Run("a "), Run("bold", "bold"), Run(" word"))),
        ("*slanted* and _so_", (Run("slanted", "italic"), Run(" and "), Run("so", "italic"))),
        ("***both***", (Run("both", "bold_italic"),)),
        ("`W @ x`", (Run("W @ x", "code"),)),
        ("[torch](https://pytorch.org)", (Run("torch", "link", "https://pytorch.org"),)),
        (
            "see https://pytorch.org.",
            (Run("see "), Run("https://pytorch.org", "link", "https://pytorch.org"), Run(".")),
        ),
        ("self.__init__ and 2 * 3 * 4", (Run("self.__init__ and 2 * 3 * 4"),)),
        ("[file](file:///etc)", (Run("[file](file:///etc)"),)),
        ("<b>no</b>", (Run("<b>no</b>"),)),
        ("", (Run(""),)),
    ],
)
def test_words_have_their_style_and_the_rest_stands_as_typed(text: str, runs: tuple[Run, ...]) -> None:
    assert parse(text) == (Line(runs),)


def test_a_very_long_note_is_shown_by_its_beginning_and_says_how_much_more_there_is() -> None:
    for text in ("word " * 1_000_000, "a line\n" * 1_000_000, "x" * 5_000_000):
        lines = parse(text)
        shown = sum(len(run.text) + 1 for line in lines[:-1] for run in line.runs)
        assert 15_000 < shown <= MOST_SHOWN + 1
        assert lines[-1].runs[0].text == f"… and {len(text) - MOST_SHOWN:,} more characters"


def test_headings_are_of_two_sizes_and_keep_their_links() -> None:
    first, second = parse("# Weights #\n### of https://a.org")
    assert first.runs == (Run("Weights", "head"),)
    assert second.runs == (Run("of ", "head_2"), Run("https://a.org", "head_2", "https://a.org"))


def test_lists_are_moved_in_by_their_depth_and_numbers_are_kept() -> None:
    one, two, three = parse("- first\n  * deeper\n12) counted")
    assert [(line.bullet, line.indent) for line in (one, two, three)] == [
        (BULLET, INDENT),
        (BULLET, 2 * INDENT),
        ("12.", INDENT),
    ]
    assert parse(f"{' ' * 40}- far")[0].indent == 7 * INDENT


def test_between_fences_everything_is_code() -> None:
    assert parse("```python\n# **x**\n```\n**y**") == (
        Line((Run("# **x**", "code"),), INDENT),
        Line((Run("y", "bold"),)),
    )


def test_the_same_words_without_their_signs() -> None:
    assert without_markup("# A\n- **b** `c`\n2. [d](https://d.org)") == f"A\n{BULLET} b c\n2. d"


@pytest.mark.parametrize("sign", ["#", "=", "-", "*", "_", "~"])
def test_a_line_that_only_rules_off_is_one_short_line(sign: str) -> None:
    assert parse(f"{sign * 70}\nWe pass the data.") == (Line((Run(sign * RULE),)), Line((Run("We pass the data."),)))
    assert parse(sign * 3) == (Line((Run(sign * 3),)),)
    assert parse(f"{sign * 40} (1) Update D") != (Line((Run(sign * RULE),)),)
