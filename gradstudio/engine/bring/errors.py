"""Why a module cannot be brought.

GradStudioError
└── CannotBring
    ├── NotThere        what was asked for is not in the file
    ├── CodeFailed      the user's code failed
    └── Inexpressible   it does what no canvas can draw
"""

from gradstudio.errors import GradStudioError


class CannotBring(GradStudioError):
    """Base; `file`, `line` and `source` say where in the user's code, as far as it is about a line."""

    def __init__(self, message: str, file: str = "", line: int = 0, source: str = "") -> None:
        """Hold the reason and its place."""
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.source = source


class NotThere(CannotBring):
    """What was asked for is not in the file, or not a module, or needs other arguments."""


class CodeFailed(CannotBring):
    """The user's code raised."""


class Inexpressible(CannotBring):
    """The module does what no canvas can draw."""
