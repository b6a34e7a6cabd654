"""Older versions of the file, made newer step by step: pure functions on plain dicts.

The entry for version n takes what a file of version n holds and returns what one of version
n + 1 would. Every version that was ever released keeps a fixture in `tests/document/fixtures`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from gradstudio.document.gsg.file_records import VERSION

Plain = dict[str, Any]
Migration = Callable[[Plain], Plain]

MIGRATIONS: dict[int, Migration] = {}


def migrate(plain: Plain, migrations: Mapping[int, Migration] | None = None, target: int = VERSION) -> Plain:
    """The same document in the target version; the plain dict given is not changed in place."""
    table = MIGRATIONS if migrations is None else migrations
    version = plain["version"]
    while version < target:
        plain = {**table[version](plain), "version": version + 1}
        version += 1
    return plain
