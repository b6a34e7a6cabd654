"""torch's own documentation, asked from the engine: the window never imports torch."""

from gradstudio.protocol.message import Message


class Describe(Message, frozen=True):
    """Send the documentation of an operator, by its catalogue key."""

    request: int
    operator: str


class Described(Message, frozen=True):
    """Answer to `Describe`.

    Attributes:
        text: the docstring as the installed torch has it (reStructuredText), without common indentation.
        source: the Python path that was looked up.
        error: in words, when there is none.
    """

    request: int
    operator: str
    text: str = ""
    source: str = ""
    error: str = ""
