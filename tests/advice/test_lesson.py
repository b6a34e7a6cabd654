"""Lessons as texts: how they are read, and by which signs a step is done."""

import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstudio import paths
from gradstudio.advice.lesson import Sign, asks_for_gradient, is_done, lesson_beside, load_lesson, near, read_lesson

TEXT = """# A title

Words over
two lines.

1. Press **Run**. <!-- ran; selected x -->
2. Look
   at it.
3. Change it. <!-- code a = 2\\nb = 3 instead of a = 1; grad x = [1.0, 2.72] -->
"""
VERBS = {"ran", "failed", "back", "now", "selected", "code", "value", "grad", "try", "predict"}


@dataclass
class Known:
    """A document as a lesson sees it."""

    did_run: bool = False
    did_fail: bool = False
    back: bool = False
    name: str = ""
    text: str = ""
    values: dict[str, object] = field(default_factory=dict)
    grads: dict[str, object] = field(default_factory=dict)

    def ran(self) -> bool:
        return self.did_run

    def failed(self) -> bool:
        return self.did_fail

    def looks_back(self) -> bool:
        return self.back

    def selected(self) -> str:
        return self.name

    def code(self) -> str:
        return self.text

    def value(self, name: str) -> object:
        return self.values.get(name)

    def grad(self, name: str) -> object:
        return self.grads.get(name)


def test_a_lesson_is_read_without_its_signs():
    lesson = read_lesson(TEXT)
    assert lesson.title == "A title" and lesson.words == "Words over two lines."
    assert [step.text for step in lesson.steps] == ["Press **Run**.", "Look at it.", "Change it."]
    assert lesson.steps[0].signs == (Sign("ran"), Sign("selected", "x"))
    assert lesson.steps[2].signs[1] == Sign("grad", "x", "[1.0, 2.72]")


def test_a_step_is_done_when_all_its_signs_are_there():
    first, second, third = read_lesson(TEXT).steps
    assert not is_done(first, Known(did_run=True))
    assert is_done(first, Known(did_run=True, name="x"))
    assert not is_done(second, Known(did_run=True, name="x"))
    written = Known(text="if c:\n    a = 2\n    b = 3\n", grads={"x": [1.0, 2.7183]})
    assert is_done(third, written)
    assert not is_done(third, Known(text="a = 2", grads=written.grads))
    assert not is_done(third, Known(text=written.text))


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("failed", Known(did_fail=True)),
        ("back", Known(back=True)),
        ("now", Known()),
        ("value b = 1.5", Known(values={"b": 1.4999})),
    ],
)
def test_every_other_sign(text: str, seen: Known):
    assert is_done(read_lesson(f"# t\n\n1. x <!-- {text} -->\n").steps[0], seen)
    opposite = Known(back=not seen.back)
    assert not is_done(read_lesson(f"# t\n\n1. x <!-- {text} -->\n").steps[0], opposite) or text == "now" == "back"


def test_numbers_are_compared_as_rounded_and_nothing_else_is_a_number():
    assert near([[1.0], [2.0]], [[1.001], [2.0]])
    assert not near([1.0], [1.1]) and not near([1.0], 1.0) and not near(None, 1.0) and not near([1.0], [1.0, 2.0])
    assert near(0.0, 0.0) and near("nan", "nan") and not near(1e-3, 0.0)


def test_every_example_has_a_lesson_with_known_signs():
    folder = paths.examples()
    for path in sorted(folder.glob("*.gsg")):
        lesson = load_lesson(folder / "lessons", path.stem)
        assert lesson is not None and lesson.title and lesson.words, path.stem
        guesses = sum(bool(step.choices) for step in lesson.steps)
        assert 3 <= len(lesson.steps) - guesses <= 5, path.stem
        assert {sign.verb for step in lesson.steps for sign in step.signs} <= VERBS
        assert lesson.steps[0].signs, path.stem


def test_there_is_no_lesson_of_a_document_of_ones_own(tmp_path: Path):
    assert load_lesson(tmp_path, "mine") is None and load_lesson(tmp_path, "") is None


def test_a_guess_is_asked_for_and_the_right_one_is_known():
    step = read_lesson("# T\n\n1. And then? <!-- predict it grows | =it shrinks | a = b -->\n2. See.").steps[0]
    assert step.text == "And then?"
    assert step.choices == ("it grows", "it shrinks", "a = b") and step.answer == "it shrinks"
    assert not is_done(step, Known()), "nothing that is seen answers for a person"


def test_every_guess_of_the_examples_has_one_right_answer_and_a_step_that_shows_it():
    asked = 0
    for path in (paths.examples() / "lessons").glob("*.md"):
        lesson = read_lesson(path.read_text(encoding="utf-8"))
        for number, step in enumerate(lesson.steps):
            if step.choices:
                asked += 1
                assert sum(sign.about.count("=") for sign in step.signs) == 1, step
                assert len(set(step.choices)) >= 2 and step.answer in step.choices
                assert max(map(len, step.choices)) <= 22, "a button in the narrow dock holds no more"
                assert lesson.steps[number + 1].signs, (path, step)
    assert asked >= 10


def test_a_lesson_is_sent_beside_its_document(tmp_path: Path):
    document = tmp_path / "mine.gsg"
    assert lesson_beside(document) is None
    beside = tmp_path / "mine.lesson.md"
    beside.write_text(TEXT, encoding="utf-8")
    assert lesson_beside(document) == read_lesson(TEXT)
    beside.write_text(TEXT + " " * (1 << 17), encoding="utf-8")
    assert lesson_beside(document) is None
    beside.write_bytes(b"\xff")
    assert lesson_beside(document) is None
    beside.unlink()
    if hasattr(os, "mkfifo"):
        os.mkfifo(beside)
        assert lesson_beside(document) is None, "nothing is waited for"


def test_a_lesson_from_anybody_holds_no_picture_link_or_html():
    text = "# A <img src='//far/x'>\n\n![x](//far/x) [go](file:///) &lt;\n\n1. \\`<b>` and `` a ` <i> `x <u>"
    lesson = read_lesson(text)
    assert lesson.title == "A ‹img src='//far/x'>"
    assert lesson.words == "![x] (//far/x) [go] (file:///) ＆lt;"
    assert lesson.steps[0].text == "`<b>` and ` a ` ‹i> `x ‹u>"


@given(st.text(alphabet="`\\\\<>[]()!&a \n", max_size=60))
def test_outside_of_code_nothing_of_a_lesson_is_markup(text: str):
    words = read_lesson(f"# T\n{text}").words
    parts = words.split("`")
    outside = parts[::2] + ([] if len(parts) % 2 else parts[-1:])
    assert not any(sign in part for part in outside for sign in ("<", "&", "](", "][", "]:"))
    assert "``" not in words and "\\`" not in words


@pytest.mark.parametrize("literal", ["[" * 500, "f()", "1" * 5000, "{[]: 1}", ""])
def test_what_is_no_literal_is_like_nothing(literal: str):
    assert not is_done(read_lesson(f"# T\n\n1. S <!-- value x = {literal} -->").steps[0], Known(values={"x": 1}))


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Click `x`, and read its gradient. <!-- selected x -->", True),
        ("Click `x`: `x.grad` = **3.0**. <!-- ran; selected x -->", True),
        ("Click `noise`: the deviation of the gradients is `noise` = **1.0**. <!-- selected noise -->", False),
        ("Read the gradient. <!-- ran -->", False),
    ],
)
def test_the_gradient_is_shown_where_a_step_asks_for_it_and_not_for_the_value(text: str, asked: bool):
    (step,) = read_lesson(f"# Title\n\n1. {text}").steps
    assert asks_for_gradient(step) is asked
