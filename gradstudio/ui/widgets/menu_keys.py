"""Keys in the texts of context menus: a row names a command behind a tab, and shows the keys which that has now."""

from collections.abc import Callable
from typing import Final

from gradstudio.late_pattern import late

KeysOf = Callable[[str], str]
"""By the id of a command, the first of its keys as this system writes it; "": it has none."""
COMMAND: Final = late(r"[a-z]+\.[a-z_]+")


def no_keys(_command: str) -> str:
    """The keys of commands where there is no window that has some."""
    return ""


def with_keys(text: str, keys_of: KeysOf) -> str:
    """The text of a row with the keys of the command that it names; other words behind a tab stay."""
    words, tab, named = text.partition("\t")
    keys = keys_of(named) if COMMAND.fullmatch(named) else named
    return f"{words}{tab}{keys}" if keys else words
