"""What can go wrong between window or command line and engine.

GradStudioError
└── ProtocolError
    ├── BadHost         a host is not known, or what is said of one cannot be
    ├── BadRecord       a file is no record of a run
    ├── BrokenFrame     the bytes are no message of ours
    ├── EngineDied      the engine's process is gone; carries its exit code
    │   ├── HostFailed      it is on a host that is not reached, has none, or is gone; in words what to do
    │   └── OtherProtocol   it is of another version of GradStudio
    ├── NeedsTrust      a program holds code of its own, and nobody was asked
    ├── EngineSilent    no answer in the time that was given
    ├── ShapeTooLong    a shape was looked for until the clock of that ran out; carries the place
    └── SlurmRefused    a job is none, or Slurm does not take it
"""

from gradstudio.errors import GradStudioError
from gradstudio.graph.model import ItemId


class ProtocolError(GradStudioError):
    """Base of the room's errors."""


class BadHost(ProtocolError):
    """A host is not known, or what is said of one cannot be; the message says what and what to do."""


class BadRecord(ProtocolError):
    """A file that should hold the record of a run holds something else, or is not there."""


class BrokenFrame(ProtocolError):
    """Bytes on the pipe that are no message of the union; the peer is of another version or dying."""


class EngineDied(ProtocolError):
    """The engine's process ended, by itself or killed.

    Attributes:
        code: its exit code; negative is the signal that killed it; None when not known yet.
    """

    def __init__(self, code: int | None) -> None:
        """Say how it ended."""
        how = "was killed by signal " + str(-code) if code is not None and code < 0 else f"ended with code {code}"
        super().__init__(f"The engine {how}. The document is untouched; the next run starts a new engine.")
        self.code = code


class HostFailed(EngineDied):
    """A host is not reached, has no engine to start, or was lost; the message says which, and what to do."""

    def __init__(self, words: str, code: int | None = None) -> None:
        """Hold the words."""
        super().__init__(code)
        self.args = (words,)


class OtherProtocol(EngineDied):
    """The engine speaks another version of what is said between it and us."""

    def __init__(self, theirs: int, ours: int) -> None:
        """Say which."""
        super().__init__(None)
        self.args = (
            f"The engine is of another GradStudio: it speaks version {theirs} of what window and engine say to one "
            f"another, this one version {ours}. Both must be the same version of GradStudio.",
        )


class EngineSilent(ProtocolError):
    """The engine did not answer in time."""


class ShapeTooLong(ProtocolError):
    """Looking for a shape took so long that the engine was ended.

    Attributes:
        node, line: the statement that was tried, as the script numbers lines; "" and 0 where none was.
    """

    def __init__(self, seconds: float, node: ItemId, line: int) -> None:
        """Say for how long it was looked for."""
        super().__init__(
            f"looking for its shape used {seconds:g} s of a processor and was ended. Only a run can tell it."
        )
        self.node, self.line = node, line


class NeedsTrust(ProtocolError):
    """A program holds code of its own, which runs only where a person said yes to it."""


class SlurmRefused(ProtocolError):
    """What is asked of Slurm is no job, or Slurm does not take it; the message has its words."""
