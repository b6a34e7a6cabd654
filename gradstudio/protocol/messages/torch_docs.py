"""torch's own documentation, asked from the engine: the window never imports torch."""

import msgspec

from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.bounds import Size


class Describe(Message, frozen=True):
    """Send the documentation of an operator, by its catalogue key."""

    request: Size
    operator: str


class Passage(msgspec.Struct, frozen=True, omit_defaults=True):
    """The docstring of one object.

    Attributes:
        source: the Python path it was found at; "" for words of our own.
        text: as the installed torch has it (reStructuredText), without common indentation.
        signature: how it is called, as Python itself tells; "" where Python does not know.
    """

    source: str
    text: str
    signature: str = ""


class Described(Message, frozen=True):
    """Answer to `Describe`.

    Attributes:
        passages: what is said of the operator, then what that refers to ("See torch.abs"), in this order.
        source: the Python path that was looked up.
        torch: the version that was asked.
        error: in words, when there is none.
    """

    request: Size
    operator: str
    passages: tuple[Passage, ...] = ()
    source: str = ""
    torch: str = ""
    error: str = ""
