"""Landlock: from now on this process writes no file but in a few places, starts nothing, opens no TCP connection.

Three system calls of Linux 5.13 and newer, whose numbers are the same on every architecture. Nothing here takes a right
back: a domain is for ever, for this thread and all that it starts.
"""

import ctypes
import os
from collections.abc import Iterable
from typing import Final

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION: Final = 1
"""Flag of the first call: tell the version instead."""
_PATH_BENEATH: Final = 1
_EXECUTE, _WRITE_FILE, _TRUNCATE = 1 << 0, 1 << 1, 1 << 14
_REMOVE_AND_MAKE: Final = sum(1 << bit for bit in range(4, 13))
_REFER: Final = 1 << 13
_FILE: Final = _WRITE_FILE | _TRUNCATE
_BIND_AND_CONNECT: Final = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS: Final = 0b11
_SINCE: Final = ((1, _EXECUTE | _WRITE_FILE | _REMOVE_AND_MAKE), (2, _REFER), (3, _TRUNCATE))
"""Versions, and the ways of touching files that they know; reading is never among what is refused."""
_NETWORK_SINCE, _SCOPES_SINCE, _ALL_THREADS_SINCE = 4, 6, 8
_ALL_THREADS: Final = 1 << 3


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def confine(writable: Iterable[str]) -> bool:
    """Refuse every write but beneath these files and folders; False where the kernel does not offer it.

    Whoever calls it has given up new privileges before.
    """
    library = ctypes.CDLL(None, use_errno=True)
    version: int = library.syscall(_CREATE_RULESET, None, 0, _VERSION)
    if version < 1:
        return False
    attributes = _attributes(version)
    if version < _NETWORK_SINCE:
        size = 8
    elif version < _SCOPES_SINCE:
        size = 16
    else:
        size = 24
    ruleset: int = library.syscall(_CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), 0)
    if ruleset < 0:
        return False
    try:
        for path in writable:
            _allow(library, ruleset, path, int(attributes.files) & ~_EXECUTE)
        choices = (_ALL_THREADS, 0) if version >= _ALL_THREADS_SINCE else (0,)
        return any(library.syscall(_RESTRICT_SELF, ruleset, flags) == 0 for flags in choices)
    finally:
        os.close(ruleset)


def _attributes(version: int) -> _Ruleset:
    """All that a version can refuse, but reading and what is asked of devices."""
    files = sum(rights for since, rights in _SINCE if version >= since)
    network = _BIND_AND_CONNECT if version >= _NETWORK_SINCE else 0
    scopes = _ABSTRACT_SOCKETS_AND_SIGNALS if version >= _SCOPES_SINCE else 0
    return _Ruleset(files, network, scopes)


def _allow(library: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    """Let a path that is there be written to, a folder with all beneath it."""
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        rule = _PathBeneath(rights if os.path.isdir(path) else rights & _FILE, parent)
        library.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(parent)
