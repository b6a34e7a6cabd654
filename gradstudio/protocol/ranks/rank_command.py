"""What starts several ranks as one engine."""

from collections.abc import Sequence
from typing import Final

from gradstudio.protocol.process_group import COMMAND, RUNS_CODE

_LEADER: Final = "gradstudio.protocol.ranks.leader"
_RANKS: Final = "--ranks="
MOST_RANKS: Final = 64
"""On one machine."""


def leader_command(count: int, *options: str) -> tuple[str, ...]:
    """Starts so many engines that are ranks, and who leads them; `options` are the engine's."""
    return (*COMMAND[:-1], _LEADER, f"{_RANKS}{count}", *options)


def asked_for(arguments: Sequence[str]) -> tuple[int, list[str]]:
    """How many ranks are to be led, and the options of their engines."""
    count = next(int(one.removeprefix(_RANKS)) for one in arguments if one.startswith(_RANKS))
    return min(max(count, 1), MOST_RANKS), [one for one in arguments if one == RUNS_CODE]
