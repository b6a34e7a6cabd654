"""A text of a person's: each character becomes a class, and of the ones before it the next one is to be told."""

from collections import Counter
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gradstudio.document.data.columns import MOST_CLASSES
from gradstudio.document.data.model import Choice, Field, Progress, Rows, Samples, Work
from gradstudio.document.data.table_text import read_text
from gradstudio.document.errors import BadData

MOST_CHARACTERS = 5_000_000
"""A document keeps eight bytes of each."""
LONGEST_WINDOW = 512
SHOWN = 60
"""Characters of a line that are shown."""
NAMES = {"\n": "\\n", "\t": "\\t", " ": "space", ",": "comma"}
"""What could not be told apart in a list."""
OTHER = "other"


class Characters:
    """The characters of a text by their numbers: those that stand in it, in order; the rarest share one.

    Attributes:
        text: with line ends as Python has them.
        words: the name of each class.
    """

    def __init__(self, path: Path) -> None:
        """Read a file.

        Raises:
            BadData: it is no text, or too long.
        """
        self.name = path.name
        text, encoding = read_text(path)
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")
        if len(self.text) > MOST_CHARACTERS:
            raise BadData(
                f"'{path.name}' has {len(self.text):,} characters, more than {MOST_CHARACTERS:,}. Keep a part of it."
            )
        counts = Counter(self.text)
        usual = counts.most_common(MOST_CLASSES if len(counts) <= MOST_CLASSES else MOST_CLASSES - 1)
        signs = sorted(sign for sign, _ in usual)
        self._numbers = {sign: k for k, sign in enumerate(signs)}
        self._rare = len(counts) - len(signs)
        self.words = (*(_name(sign) for sign in signs), *((OTHER,) if self._rare else ()))
        size, count = f"{len(self.text):,} characters", f"{len(counts):,} different"
        self.fields: tuple[Field, ...] = (
            Field("text", size, can_be_target=False),
            Field("numbers", count, False, False),
        )
        odd = ", read as Windows-1252, for it is not UTF-8" if encoding == "cp1252" else ""
        self.description = f"{size}, {count}{odd}"

    def proposal(self) -> Choice:
        """The characters before as inputs, the next one as the class."""
        return Choice(("text",))

    def samples(self, choice: Choice) -> Work[Samples]:
        """A row for each place: the window of characters before it. What is to validate is the end of the text.

        Raises:
            BadData: the text is shorter than a window, or the part to validate is.
        """
        yield Progress("characters", 0, len(self.text))
        window = choice.window
        if not 1 <= window <= LONGEST_WINDOW:
            raise BadData(f"A window has {window} characters; choose 1 to {LONGEST_WINDOW}.")
        codes = self._codes
        kept = round(len(codes) * choice.validation)
        learnt, apart = codes[: len(codes) - kept], codes[len(codes) - kept :]
        if len(learnt) <= window or (kept and kept <= window):
            raise BadData(
                f"The text has {len(learnt):,} characters to learn from and {kept:,} to validate; a window of {window} "
                "and the next one do not go into both. Choose a shorter one, or another share."
            )
        before, after = self.text[:window], self.text[window]
        notes = [f"the first row is {before!r}, then {after!r}"]
        if self._rare:
            notes.append(f"the {self._rare:,} rarest characters are one class, “{OTHER}”")
        return Samples(
            _windows(learnt, window), classes=self.words, notes=tuple(notes),
            validation=_windows(apart, window) if kept else None, apart="the end of the text", window=window,
        )  # fmt: skip

    def preview(self, count: int) -> tuple[tuple[str, ...], ...]:
        """The first lines, and the numbers of their characters."""
        start = self.text[: 100 * count * SHOWN].split("\n")
        lines = [f"{line}\n"[:SHOWN] for line in start if line.strip()][:count]
        return tuple((line.rstrip("\n"), " ".join(str(self._number(sign)) for sign in line)) for line in lines)

    def _number(self, sign: str) -> int:
        return self._numbers.get(sign, len(self._numbers))

    @cached_property
    def _codes(self) -> NDArray[np.int64]:
        places = np.frombuffer(self.text.encode("utf-32-le"), np.uint32)
        number_of = np.full(int(places.max()) + 1, len(self._numbers), np.int64)
        for sign, number in self._numbers.items():
            number_of[ord(sign)] = number
        return number_of[places]


def _windows(codes: NDArray[np.int64], window: int) -> Rows:
    rows = np.lib.stride_tricks.sliding_window_view(codes, window + 1)
    return Rows(rows[:, :-1], rows[:, -1])


def _name(sign: str) -> str:
    if sign in NAMES:
        return NAMES[sign]
    return sign if sign.isprintable() and not sign.isspace() else ascii(sign)[1:-1]
