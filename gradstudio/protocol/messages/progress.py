"""Where a run is: one without a trace says it now and then, any other of a statement that takes long."""

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.bounds import Count, Seconds


class Running(Message, frozen=True):
    """The run has come here; what follows may take long.

    Attributes:
        line: of the script, 1-based.
        turn: how often that line was reached; 0 where that is not counted.
        node: whose statement it is, in a run with a trace.
        seconds: how long that statement has been at work.
    """

    line: Count
    turn: Count = 0
    node: ItemId = ItemId("")
    seconds: Seconds = 0.0
