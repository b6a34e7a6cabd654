"""Where a run without a trace is, said now and then while it lasts."""

from gradstudio.protocol.messages.base import Message


class Running(Message, frozen=True):
    """The run has come here; what follows may take long.

    Attributes:
        line: of the script, 1-based.
        turn: how often that line was reached.
    """

    line: int
    turn: int
