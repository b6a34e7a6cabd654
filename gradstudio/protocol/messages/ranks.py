"""What passes between the window, the leader of several ranks, and the ranks."""

from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.bounds import Count, Size


class Meet(Message, frozen=True):
    """To every rank before a verb: where a program that begins from nothing meets the others (``MASTER_PORT``)."""

    port: Count


class LookAt(Message, frozen=True):
    """To the leader: the window shows this rank from now on. What the rank has said of its newest run follows."""

    rank: Size
