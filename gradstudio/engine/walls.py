"""The walls around programs that people open, as they stand in this process (``docs/trust.md``)."""

import ctypes
import sys
from typing import Final

from gradstudio.engine.audit_wall import wall

LIST: Final = "list by type"
HOOK: Final = "audit hook"
NO_PRIVILEGES: Final = "no new privileges"
_PR_SET_NO_NEW_PRIVS: Final = 38


def build_walls() -> tuple[str, ...]:
    """Build what this system has; their names, as `gradstudio info` tells them."""
    has_none_to_gain = _gain_no_privileges()  # ctypes is used before the hook refuses it to programs
    wall.build()
    return (LIST, HOOK, *((NO_PRIVILEGES,) if has_none_to_gain else ()))


def _gain_no_privileges() -> bool:
    """On Linux nothing that this process starts, ever, gets more rights than it has: no setuid, no capabilities."""
    if sys.platform != "linux":
        return False
    try:
        result: int = ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    except (OSError, AttributeError):
        return False
    return result == 0
