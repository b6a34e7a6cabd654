"""Regular expressions that are compiled when they are first used: a start reads fifty of them, and uses ten."""

import re
from typing import Any, cast


def late(text: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """The pattern, compiled as soon as something is asked of it."""
    return cast(re.Pattern[str], _Late(text, flags))


class _Late:
    """Has nothing of a pattern; whatever is asked of it stays."""

    def __init__(self, text: str, flags: re.RegexFlag) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, found)
        return found
