"""Why a document cannot be read, saved or pasted.

GradStudioError
└── DocumentError
    ├── UnreadableFile       says what is wrong, and at which line and column
    │   ├── CannotOpen       the file is not there, is a folder, may not be read, is too large
    │   ├── NotAGraph        not JSON, or the JSON of something else
    │   ├── NewerVersion     written by a newer GradStudio
    │   ├── BadField         a field is missing, misspelt or holds what it may not hold
    │   ├── BadWire          a wire begins or ends at nothing, or runs backwards
    │   └── BadTensor        stored data is missing or was changed
    ├── CannotSave           the old file is whole; says what the system refused
    ├── BadData              a person's table, arrays or pictures cannot be read, or not as it was chosen
    ├── BadSweep             no literal of the program, no value or no range, or too many trainings
    ├── NothingToContinue    no run of a file was cut off behind a checkpoint, or there is no file to keep one beside
    ├── TooLargeToEmbed      a document that a picture has no room for
    └── NotAFragment         the clipboard holds something else
"""

from collections.abc import Iterable
from typing import Protocol

from gradstudio.errors import GradStudioError


class Placed(Protocol):
    """What is wrong at a place."""

    line: int | None
    column: int | None


class DocumentError(GradStudioError):
    """Base of the room's errors."""


class UnreadableFile(DocumentError):
    """A document that cannot be read.

    Attributes:
        message: the reason in words, without the place.
        line, column: 1-based; None where the reason has no place in the text.
        others: what else cannot be read further down.
    """

    others: "tuple[UnreadableFile, ...]" = ()

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        """Hold the reason and its place."""
        place = "" if line is None else f"line {line}, column {column}: "
        super().__init__(place + message)
        self.message, self.line, self.column = message, line, column

    def record(self) -> dict[str, str | int | None]:
        """As it stands in a report."""
        return {"line": self.line, "column": self.column, "message": self.message}

    def with_others(self, others: "tuple[UnreadableFile, ...]") -> "UnreadableFile":
        """The same with what else cannot be read."""
        self.others = others
        return self


class CannotOpen(UnreadableFile):
    """The system does not hand out the file."""


class NotAGraph(UnreadableFile):
    """The text is not JSON, or it is the JSON of something else."""


class NewerVersion(UnreadableFile):
    """The file was written by a newer GradStudio."""


class BadField(UnreadableFile):
    """A field is missing, misspelt or holds what it may not hold."""


class BadWire(UnreadableFile):
    """A wire begins or ends at nothing, or runs against the order of the program."""


class BadTensor(UnreadableFile):
    """Data stored beside the file is missing or was changed."""


class BadData(DocumentError):
    """Data of a person's that cannot be read, or not as it was chosen: says what, where, and what to do."""


class NothingToContinue(DocumentError):
    """There is no run to go on with, or nowhere to keep one."""


class TooLargeToEmbed(DocumentError):
    """A document whose text is longer than other programs read of a picture."""


class CannotSave(DocumentError):
    """The document was not saved; what was there before is untouched."""


class NotAFragment(DocumentError):
    """A text that is no copied part of a program."""


class CheckpointThere(DocumentError):
    """A training would begin from nothing where an older one has left a checkpoint."""


class BadSweep(DocumentError):
    """What was asked for is no sweep of this program."""


def refusal_text(name: str, others: Iterable[UnreadableFile], error: Placed) -> str:
    """What is wrong with a file, a line for each place; the words of `error` do not say its own."""
    place = f"line {error.line}, column {error.column}: " if error.line is not None else ""
    return "\n".join([f"{name}: {place}{error}", *(f"{name}: {one}" for one in others)])
