"""Where a statement stands in the script of a program that was sent."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple, TypeVar

import msgspec

from gradstudio.graph.groups.call_ids import outermost
from gradstudio.graph.model import ItemId
from gradstudio.program.model import Program
from gradstudio.protocol.framing import decoded
from gradstudio.protocol.messages.events import Log, Paused


class _Sent(msgspec.Struct):
    """What has to be known of a `Load`."""

    program: Program


class _Script(NamedTuple):
    """The lines of a program's code, and the line of each node."""

    lines: list[str]
    of_node: dict[ItemId, int]


_SENT: Final = msgspec.msgpack.Decoder(_Sent)
MOST_TEXT: Final = 60
"""Letters of a statement that are said."""
Words = TypeVar("Words", bound=Log | Paused)
_LINE: Final = re.compile(r"\b((?:at|behind|to) line )([1-9]\d*)")
"""As `place_of` has it, behind the words that lead to a place."""


def place_of(load: bytes, line: int) -> str:
    """``line 8 (torch.distributed.barrier())``, of the program of a `Load`: a person's own text may count otherwise."""
    lines = _script(load).lines if load else []
    text = lines[line - 1].strip().rstrip(":") if 0 < line <= len(lines) else ""
    return f"line {line}" + (f" ({text[:MOST_TEXT]})" if text else "")


def with_lines(message: Words, own: Callable[[int], int]) -> Words:
    """Words about lines of the script, told with the lines that whoever reads them has for those."""
    if not message.names_lines:
        return message

    def as_read(found: re.Match[str]) -> str:
        return f"{found[1]}{own(int(found[2]))}"

    if isinstance(message, Log):
        return msgspec.structs.replace(message, text=_LINE.sub(as_read, message.text))
    return msgspec.structs.replace(message, reason=_LINE.sub(as_read, message.reason))


def line_of(load: bytes, node: ItemId) -> int:
    """The line of a node in the program of a `Load`, of a call's inside that of the call; 0: it is not known."""
    if not load or not node:
        return 0
    lines = _script(load).of_node
    return lines.get(node, lines.get(outermost(node), 0))


@lru_cache(maxsize=1)
def _script(load: bytes) -> _Script:
    """Of the newest program: it is asked for each rank, at each word about it."""
    program = decoded(_SENT, load).program
    return _Script(program.code.split("\n"), {span.node: span.line for span in program.spans})
