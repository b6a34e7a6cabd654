"""Lessons as texts: how they are read, and by which signs a step is done."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gradstudio import paths
from gradstudio.advice.lesson import Sign, is_done, load_lesson, near, read_lesson

TEXT = """# A title

Words over
two lines.

1. Press **Run**. <!-- ran; selected x -->
2. Look
   at it.
3. Change it. <!-- code a = 2\\nb = 3 instead of a = 1; grad x = [1.0, 2.72] -->
"""
VERBS = {"ran", "failed", "back", "now", "selected", "code", "value", "grad", "try"}


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
        assert 3 <= len(lesson.steps) <= 5, path.stem
        assert {sign.verb for step in lesson.steps for sign in step.signs} <= VERBS
        assert lesson.steps[0].signs, path.stem


def test_there_is_no_lesson_of_a_document_of_ones_own(tmp_path: Path):
    assert load_lesson(tmp_path, "mine") is None and load_lesson(tmp_path, "") is None
