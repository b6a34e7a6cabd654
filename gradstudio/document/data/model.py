"""Records of data that is imported: what a person chooses, and the rows that come of it."""

from collections.abc import Generator
from typing import NamedTuple, Protocol, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.generic]
Result = TypeVar("Result")

PICTURE_TOP = 255
"""The largest value of a picture's pixel."""
USUAL_SHARE = 0.2
USUAL_WINDOW = 8


class Field(msgspec.Struct, frozen=True):
    """What can be chosen as an input or as the target: a column of a table, an array of a file.

    Attributes:
        kind: in words: "numbers", "3 classes", "text".
        can_be_input, can_be_target: what it is good for.
        is_class: as a target it is usually a class, not a number.
        is_number: it holds numbers, so as a target it may also be one.
    """

    name: str
    kind: str
    can_be_input: bool = True
    can_be_target: bool = True
    is_class: bool = False
    is_number: bool = True


class Choice(msgspec.Struct, frozen=True):
    """What a person wants of the data.

    Attributes:
        inputs, target: names of fields; "" is no target.
        is_class: the target is a class (int64), not a number (float32).
        fills_missing: a missing input becomes the mean of its column, or its commonest class; else its row is left out.
        normalises: the program takes the mean off the inputs and divides by the standard deviation.
        validation: the share of rows that is kept to validate, 0 … 0.9.
        seed: of the split.
        window: of a text: how many characters the next one is told from.
        size, is_gray: of pictures: width and height, and whether they have one channel instead of three.
    """

    inputs: tuple[str, ...] = ()
    target: str = ""
    is_class: bool = True
    fills_missing: bool = False
    normalises: bool = False
    validation: float = USUAL_SHARE
    seed: int = 0
    window: int = USUAL_WINDOW
    size: tuple[int, int] = (0, 0)
    is_gray: bool = False


class Rows(NamedTuple):
    """Inputs ``(rows, …)`` and, where there is one, the target ``(rows,)`` of int64 or ``(rows, 1)`` of float32."""

    inputs: Numbers
    target: Numbers | None = None

    def take(self, rows: NDArray[np.int64]) -> "Rows":
        """Some of them."""
        return Rows(self.inputs[rows], None if self.target is None else self.target[rows])


class Samples(NamedTuple):
    """The rows that a choice leaves.

    Attributes:
        rows: floats with NaN where a value is missing that is to be filled; pictures are uint8.
        columns: names of the columns of inputs that have two dimensions.
        classes: names of the classes of the target by their index.
        classes_of: of input columns that are text: the names of their classes.
        notes: what was done, in sentences.
        validation: rows that the source itself keeps apart.
        apart: where those stand.
        window: the rows are windows of so many characters over one text, each with the next one; 0: they are not.
    """

    rows: Rows
    columns: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    classes_of: tuple[tuple[str, tuple[str, ...]], ...] = ()
    notes: tuple[str, ...] = ()
    validation: Rows | None = None
    apart: str = "kept apart in the file"
    window: int = 0


class Source(Protocol):
    """A file or folder that was read."""

    name: str
    description: str
    fields: tuple[Field, ...]

    def proposal(self) -> Choice:
        """What most would choose."""

    def samples(self, choice: Choice) -> "Work[Samples]":
        """The rows.

        Raises:
            BadData: nothing is left, or what was chosen does not go together.
        """

    def preview(self, count: int) -> tuple[tuple[str, ...], ...]:
        """The first rows as texts, one for each field."""


class Progress(NamedTuple):
    """How far a piece of work is.

    Attributes:
        words: what is counted: "lines", "pictures".
        first: what can be shown already, read from the beginning alone; told once.
    """

    words: str
    done: int = 0
    total: int = 0
    first: Source | None = None


Work = Generator[Progress, None, Result]
"""What takes long, in small pieces: between them it tells how far it is, and may be ended."""


class Prepared(NamedTuple):
    """What becomes tensors: rows to learn from, rows to validate with.

    Attributes:
        name: of the file or folder.
        window: of a text, as in `Samples`.
    """

    name: str
    train: Rows
    validation: Rows | None
    columns: tuple[str, ...]
    classes: tuple[str, ...]
    classes_of: tuple[tuple[str, tuple[str, ...]], ...]
    notes: tuple[str, ...]
    normalises: bool
    window: int = 0
