"""Lessons: Markdown that says what to try, step by step, with the signs by which a step is seen to be done.

A lesson is a heading, words, and a numbered list. What stands in HTML comments is for the program::

    1. Press **Run**, and click `x`. <!-- ran; selected x -->

The signs are `ran`, `failed`, `back` (a moment before now is looked at), `now`, `selected NAME`,
`value NAME = LITERAL`, `grad NAME = LITERAL`, `code TEXT instead of TEXT` (all its lines are in the program).
`try TEXT instead of TEXT` is one way of doing the step, no sign. `predict ONE | =OTHER` asks for a guess, of which
the one behind `=` is right: the step is done when something was guessed.
"""

import ast
import contextlib
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from gradstudio.late_pattern import late

NEAR: Final = 5e-3
"""Share by which a number may be off: lessons round."""
BESIDE: Final = ".lesson.md"
MOST_BYTES: Final = 1 << 17
"""A file that is larger is no lesson."""
LONGEST_LITERAL: Final = 2000
_STEP: Final = late(r"^\d+\. ", re.MULTILINE)
GUESSED: Final = ("try", "predict")
"""What is no sign of a step: one way of doing it, and what is guessed."""
_BACKTICKS: Final = late(r"\\*`+")
_LINK: Final = late(r"\](?=[(\[:])")
"""What makes a link or a picture of words in brackets."""
_SHOWN_AS_IT_IS: Final = {ord("<"): "‹", ord("&"): "＆"}
_COMMENT: Final = late(r"\s*<!--(.*?)-->", re.DOTALL)


class Sign(NamedTuple):
    """One thing that can be seen: a verb, what it is about, and the value or the old text."""

    verb: str
    about: str = ""
    value: str = ""


class Step(NamedTuple):
    """One thing to do: Markdown, and the signs that must all be there; without any a person says that it is done."""

    text: str
    signs: tuple[Sign, ...] = ()

    @property
    def choices(self) -> tuple[str, ...]:
        """What may be guessed before the next step shows it; empty: nothing is asked."""
        return tuple(choice.removeprefix("=") for choice in self._guesses())

    @property
    def answer(self) -> str:
        """The guess that is right."""
        return next((choice[1:] for choice in self._guesses() if choice.startswith("=")), "")

    def _guesses(self) -> tuple[str, ...]:
        asked = next((sign.about for sign in self.signs if sign.verb == "predict"), "")
        return tuple(choice.strip() for choice in asked.split("|") if choice.strip())


class Lesson(NamedTuple):
    """A lesson: its title, words before the steps, and the steps."""

    title: str
    words: str
    steps: tuple[Step, ...]


class LessonView(Protocol):
    """What a lesson can see of a document."""

    def ran(self) -> bool:
        """Whether a run of the program as it stands has come to its end since the step began."""

    def failed(self) -> bool:
        """Whether the newest run failed."""

    def looks_back(self) -> bool:
        """Whether a moment before now is looked at."""

    def selected(self) -> str:
        """Name of the result whose details are shown."""

    def code(self) -> str:
        """The program as Python."""

    def value(self, name: str) -> object:
        """Nested lists of the variable as it stands; None: not known."""

    def grad(self, name: str) -> object:
        """Nested lists of its gradient; None: there is none."""


def load_lesson(folder: Path, stem: str) -> Lesson | None:
    """The lesson of an example; None where there is none."""
    return _loaded(folder / f"{stem}.md") if stem else None


def lesson_beside(document: Path) -> Lesson | None:
    """The lesson that was sent with a document, ``NAME.lesson.md`` beside ``NAME.gsg``; None where there is none."""
    return _loaded(document.with_suffix(BESIDE))


def _loaded(path: Path) -> Lesson | None:
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:  # a pipe would be waited for
            return None
        return read_lesson(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


def read_lesson(text: str) -> Lesson:
    """The lesson that a text is; of Markdown, emphasis and code are left: it may come from anybody."""
    head, *steps = _STEP.split(text)
    title, _, words = head.strip().partition("\n")
    return Lesson(harmless(title.removeprefix("# ")), harmless(words), tuple(_step(one) for one in steps))


def harmless(text: str) -> str:
    """The text in one paragraph, without what Markdown would take for HTML, a picture or a link.

    Backticks alternate, so that what is code here is code to whoever shows it.
    """
    parts = _BACKTICKS.sub("`", " ".join(text.split())).split("`")
    is_open = len(parts) % 2 == 0  # the last one opens nothing
    return "`".join(
        part if number % 2 and not (is_open and number == len(parts) - 1) else _without_markup(part)
        for number, part in enumerate(parts)
    )


def _without_markup(text: str) -> str:
    return _LINK.sub("] ", text.translate(_SHOWN_AS_IT_IS))


def is_done(step: Step, seen: LessonView) -> bool:
    """Whether all signs of a step are there; a step without signs never is."""
    asked = [sign for sign in step.signs if sign.verb not in GUESSED]
    return bool(asked) and all(_holds(sign, seen) for sign in asked)


def asks_for_gradient(step: Step) -> bool:
    """Whether a card is to be selected so that its gradient is read, and not its value."""
    names = [sign.about for sign in step.signs if sign.verb == "selected"]
    if not names or any(f"`{name}` = " in step.text for name in names):
        return False
    return "gradient" in step.text or ".grad" in step.text


def near(one: object, other: object) -> bool:
    """Whether nested lists of numbers are the same but for rounding."""
    if isinstance(one, Sequence) and isinstance(other, Sequence) and not isinstance(one, str):
        return len(one) == len(other) and all(near(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, int | float) and isinstance(other, int | float):
        with contextlib.suppress(OverflowError):  # digits without end, which no tensor holds
            return math.isclose(one, other, rel_tol=NEAR, abs_tol=0 if other else 1e-6)
    return one == other


def lines_of(text: str) -> tuple[str, ...]:
    """The lines of a text of code in a sign, without indents."""
    return tuple(line.strip() for line in text.replace("\\n", "\n").split("\n"))


def _step(text: str) -> Step:
    signs = tuple(_sign(part) for comment in _COMMENT.findall(text) for part in comment.split(";"))
    return Step(harmless(_COMMENT.sub("", text)), signs)


def _sign(text: str) -> Sign:
    verb, _, rest = text.strip().partition(" ")
    if verb == "predict":
        return Sign(verb, rest)
    about, _, value = rest.partition(" instead of " if verb in ("code", "try") else " = ")
    return Sign(verb, about.strip(), value.strip())


def _holds(sign: Sign, seen: LessonView) -> bool:
    match sign.verb:
        case "ran":
            return seen.ran()
        case "failed":
            return seen.failed()
        case "back":
            return seen.looks_back()
        case "now":
            return not seen.looks_back()
        case "selected":
            return seen.selected() == sign.about
        case "code":
            written = {line.strip() for line in seen.code().split("\n")}
            return written.issuperset(lines_of(sign.about))
        case "value":
            return near(seen.value(sign.about), _literal(sign.value))
        case "grad":
            return near(seen.grad(sign.about), _literal(sign.value))
    return False


def _literal(text: str) -> object:
    """What a literal is worth; what is none is like nothing that is seen."""
    try:
        return ast.literal_eval(text[:LONGEST_LITERAL])
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return object()
