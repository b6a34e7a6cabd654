"""Why the engine refuses or ends what it was asked.

GradStudioError
└── EngineError
    ├── TooLarge      a statement's results would not fit the device's free memory
    ├── NotBound      a name or a value that nobody has
    ├── AccessRefused what a drawing may not read, call or write; the message is the reason
    ├── CannotDraw    a chart of a node that cannot be drawn; the message is the reason
    ├── CannotTry     an experiment (what-if, gradcheck) that cannot be made; the message is the reason
    ├── ProgramEnded  a program of a person's own ended itself
    └── VerbRefused   a verb that makes no sense now; the message is the reason
"""

from gradstudio.errors import GradStudioError
from gradstudio.protocol.messages.progress import ProgramExit


class EngineError(GradStudioError):
    """Base of the room's errors."""


class TooLarge(EngineError):
    """Refused before anything was allocated.

    Attributes:
        needed_bytes: what the results would take.
    """

    def __init__(self, message: str, needed_bytes: int) -> None:
        """Say what, how much and what there is."""
        super().__init__(message)
        self.needed_bytes = needed_bytes


class NotBound(EngineError):
    """No value of that name is there."""


class AccessRefused(EngineError):
    """A program asked for something that is not among what a drawing may do."""


class CannotDraw(EngineError):
    """What a node gives cannot be drawn as the chart that was chosen."""


class CannotTry(EngineError):
    """An experiment that cannot be made."""


class VerbRefused(EngineError):
    """The verb cannot be carried out in this state."""


class ProgramEnded(EngineError):
    """A program of a person's own ended itself: `sys.exit()`.

    Attributes:
        program_exit: with which code; None: it raised something that ends no program in order.
    """

    def __init__(self, message: str, program_exit: ProgramExit | None = None) -> None:
        """Say what it raised."""
        super().__init__(message)
        self.program_exit = program_exit

    @property
    def is_fine(self) -> bool:
        """Whether it said that all went well."""
        return self.program_exit is not None and not self.program_exit.code


class Stopped(BaseException):
    """The person asked to stop; raised between statements of a plain run, never caught by a program."""
