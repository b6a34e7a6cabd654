"""Why an operator or a literal is refused.

GradStudioError
└── OperatorError
    ├── UnknownOperator   no row of the catalogue has that key
    ├── BrokenCatalogue   the data that travels with the program cannot be read
    ├── LiteralError      a text that is not a value this argument takes
    └── BindingError      arguments that no row of a path takes
"""

from typing import TYPE_CHECKING

from gradstudio.errors import GradStudioError

if TYPE_CHECKING:
    from gradstudio.operators.model import Operator


class OperatorError(GradStudioError):
    """Base of the room's errors."""


class UnknownOperator(OperatorError, KeyError):
    """No row of the catalogue has that key; the message offers the nearest one."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class BrokenCatalogue(OperatorError):
    """A file of the catalogue is missing or is not what it should be."""


class LiteralError(OperatorError, ValueError):
    """A text that is not a value this argument takes; says what is."""


class BindingError(OperatorError, TypeError):
    """Arguments that no row of a path takes; says what does not fit.

    Attributes:
        nearest: the row that misses least.
    """

    def __init__(self, message: str, nearest: "Operator") -> None:
        """Hold the message and the row."""
        super().__init__(message)
        self.nearest = nearest
