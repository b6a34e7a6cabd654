"""Why a text cannot become a program, or a program not a text.

GradStudioError
└── ProgramError
    ├── NotReadable   a line of Python that a canvas cannot express; says which, and what to do instead
    └── NoForm        a program that a form cannot express; says what, where, and what to do
"""

from gradstudio.errors import GradStudioError


class ProgramError(GradStudioError):
    """Base of the room's errors."""


class NotReadable(ProgramError):
    """The text holds something that a canvas cannot express.

    Attributes:
        reason: in words, without the place.
        line: 1-based.
        column: 0-based, in characters.
        others: what else cannot be read further down, each without others of its own.
    """

    def __init__(self, reason: str, line: int, column: int = 0, others: "tuple[NotReadable, ...]" = ()) -> None:
        """Say what cannot be read, and where."""
        super().__init__(f"Line {line}, column {column + 1}: {reason}")
        self.reason = reason
        self.line = line
        self.column = column
        self.others = others

    @property
    def all(self) -> "tuple[NotReadable, ...]":
        """This and the others, in the order of the text."""
        return self, *self.others


class NoForm(ProgramError):
    """The form cannot express the program; the message says what is in the way and what to do."""
