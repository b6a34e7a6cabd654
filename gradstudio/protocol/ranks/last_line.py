"""Where a statement stands in the script of a program that was sent."""

from typing import Final

import msgspec

from gradstudio.graph.groups.call_ids import outermost
from gradstudio.graph.model import ItemId
from gradstudio.program.model import Program
from gradstudio.protocol.framing import decoded


class _Sent(msgspec.Struct):
    """What has to be known of a `Load`."""

    program: Program


_SENT: Final = msgspec.msgpack.Decoder(_Sent)


MOST_TEXT: Final = 60
"""Letters of a statement that are said."""


def place_of(load: bytes, line: int) -> str:
    """``line 8 (torch.distributed.barrier())``, of the program of a `Load`: a person's own text may count otherwise."""
    lines = decoded(_SENT, load).program.code.split("\n") if load else []
    text = lines[line - 1].strip().rstrip(":") if 0 < line <= len(lines) else ""
    return f"line {line}" + (f" ({text[:MOST_TEXT]})" if text else "")


def line_of(load: bytes, node: ItemId) -> int:
    """The line of a node in the program of a `Load`, of a call's inside that of the call; 0: it is not known."""
    if not load or not node:
        return 0
    lines = {span.node: span.line for span in decoded(_SENT, load).program.spans}
    return lines.get(node, lines.get(outermost(node), 0))
