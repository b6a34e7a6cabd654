"""Every number of the lessons beside the examples, held against plain torch."""

import ast
import math
import re
from typing import Any

import pytest
import torch

from gradstudio import paths
from gradstudio.advice.lesson import Lesson, Sign, Step, load_lesson, near
from gradstudio.document import file
from gradstudio.program.write import write_script

FOLDER = paths.examples()
STEMS = sorted(path.stem for path in FOLDER.glob("*.gsg"))
CLAIM = re.compile(r"`([^`]+)` = \*\*([^*]+)\*\*")


def run(script: str, stem: str) -> dict[str, Any]:
    """The variables of a script after its run; a RuntimeError of torch is kept as `failure`."""
    known: dict[str, Any] = {"__name__": "lesson", "__file__": str(FOLDER / f"{stem}.py"), "math": math}
    try:
        exec(script, known)
    except RuntimeError as error:
        known["failure"] = str(error)
    return known


def plain(value: object) -> object:
    """A tensor as nested lists."""
    return value.tolist() if isinstance(value, torch.Tensor) else value


def changed(script: str, step: Step) -> str:
    """The script after what the step asks to be changed."""
    for sign in step.signs:
        if sign.verb in ("code", "try"):
            old, new = (text.replace("\\n", "\n") for text in (sign.value, sign.about))
            indents = {line[: len(line) - len(line.lstrip())] for line in script.split("\n") if old in line}
            assert old in script, (old, indents)
            script = script.replace(old, new)
    return script


def check(sign: Sign, known: dict[str, Any]) -> None:
    if sign.verb == "failed":
        assert "failure" in known
    elif sign.verb == "ran":
        assert "failure" not in known
    elif sign.verb == "selected":
        assert sign.about in known
    elif sign.verb in ("value", "grad"):
        value = known[sign.about] if sign.verb == "value" else known[sign.about].grad
        assert near(plain(value), ast.literal_eval(sign.value)), (sign, value)


@pytest.mark.parametrize("stem", STEMS)
def test_the_numbers_of_a_lesson_are_those_of_torch(stem: str) -> None:
    lesson = load_lesson(FOLDER / "lessons", stem)
    assert isinstance(lesson, Lesson)
    script = write_script(file.load(FOLDER / f"{stem}.gsg"), stem=stem)
    claims = 0
    for step in lesson.steps:
        script = changed(script, step)
        known = run(script, stem)
        for expression, value in CLAIM.findall(step.text):
            claims += 1
            found = plain(eval(expression, known))
            assert near(found, ast.literal_eval(value)), (expression, value, found)
        for sign in step.signs:
            check(sign, known)
    assert claims >= 1
