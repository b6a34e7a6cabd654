"""The base of everything that is said between window and engine."""

from typing import Literal as OneOf

import msgspec

PROTOCOL_VERSION = 4

Verb = OneOf["run", "forward", "backward", "step", "zero_grad", "repeat", "go_to_turn", "continue"]


class Message(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Base of all messages; the tag is the class name."""
