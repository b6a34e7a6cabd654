"""What is said between the measure and the process that executes exported scripts."""

from typing import IO

import msgspec


class Ask(msgspec.Struct):
    """Execute a script.

    Attributes:
        folder: where the script would stand; its stored tensors lie in ``program.tensors`` there.
        outputs: of each result the name that holds it, and the way on through tuples.
        leaves: names whose `.grad` is asked, modules among them.
        plain: a result that is no tensor is wanted as Python would write it.
    """

    script: str
    folder: str
    outputs: list[tuple[str, tuple[int, ...]]]
    leaves: list[str]
    plain: bool = False


class Array(msgspec.Struct):
    """A tensor: its dtype, and every element as an array of numpy."""

    dtype: str
    shape: tuple[int, ...]
    kind: str
    data: bytes


class Answer(msgspec.Struct):
    """What came of it; `error` is the exception's class and message.

    Attributes:
        outputs: one for each that was asked; None where there is no tensor.
        grads: of every leaf by name (``x0``, ``m.weight``); None where torch has none.
    """

    outputs: list[Array | None] = []
    grads: dict[str, Array | None] = {}
    plain: str = ""
    error: tuple[str, str] | None = None


def write_frame(stream: IO[bytes], message: Ask | Answer) -> None:
    """Put a message on a pipe, behind its length."""
    data = msgspec.msgpack.encode(message)
    stream.write(len(data).to_bytes(8, "little") + data)
    stream.flush()


def read_frame(stream: IO[bytes]) -> bytes:
    """The bytes of the next message; none at the end of the pipe."""
    head = stream.read(8)
    return stream.read(int.from_bytes(head, "little")) if len(head) == 8 else b""
