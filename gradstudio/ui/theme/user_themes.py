"""Themes of the person's own: JSON files in the folder of settings, checked, with messages (docs/themes.md)."""

from pathlib import Path
from typing import Any, Final, NamedTuple, get_args

import msgspec
from PySide6.QtGui import QColor

from gradstudio.ui.theme.model import Theme, ThemeName, theme

PREFIX: Final = "own:"
"""Before the name of a file in what a person chose as a theme."""
WORDS: Final = frozenset({"name", "default_hue", "categories"})
"""Roles whose texts are no colours."""
SHOWN: Final = 3
"""So many poor contrasts are told; the rest is counted."""


class ThemeReading(NamedTuple):
    """A theme, and what is to be said of its file; where the file cannot be used, the theme it says it builds on."""

    theme: Theme
    problems: tuple[str, ...] = ()


class UserThemes:
    """The themes in a folder."""

    def __init__(self, folder: Path) -> None:
        """A folder that need not be there."""
        self.folder = folder

    def names(self) -> tuple[str, ...]:
        """What a person can choose, e.g. "own:midnight"."""
        return tuple(f"{PREFIX}{path.stem}" for path in sorted(self.folder.glob("*.json")))

    def load(self, choice: str) -> ThemeReading:
        """The theme of that name."""
        path = self.folder / f"{choice.removeprefix(PREFIX)}.json"
        try:
            data = path.read_bytes()
        except OSError as error:
            return ThemeReading(
                theme("dark"), (f"{path.name} cannot be read: {error.strerror}. Dark is shown instead.",)
            )
        return read(data, path.stem)


def read(data: bytes, name: str) -> ThemeReading:
    """A theme from the text of its file: a base and the roles that are not as there."""
    try:
        given = msgspec.json.decode(data)
    except msgspec.MsgspecError as error:
        return ThemeReading(theme("dark"), (f"{name}.json is no JSON: {error}. Dark is shown instead.",))
    if not isinstance(given, dict):
        return ThemeReading(theme("dark"), (f'{name}.json must be an object such as {{"base": "dark"}}.',))
    base, problems = given.pop("base", "dark"), []
    if base not in get_args(ThemeName):
        problems.append(f"{name}.json: base must be one of {', '.join(get_args(ThemeName))}, not {base!r}.")
        base = "dark"
    plain = msgspec.to_builtins(theme(base))
    for role, value in given.items():
        problem = _merge(plain, role, value)
        if problem:
            problems.append(f"{name}.json: {problem}")
    plain["name"] = f"{PREFIX}{name}"
    try:
        made = msgspec.convert(plain, Theme)
    except msgspec.ValidationError as error:
        return ThemeReading(theme(base), (*problems, f"{name}.json: {error}. {base.capitalize()} is shown instead."))
    return ThemeReading(made, (*problems, *_poor_words(made, name)))


def _merge(plain: dict[str, Any], role: str, value: Any) -> str:
    """Put a value into a theme; what is wrong with it, else ""."""
    import difflib

    if role == "name":
        return ""
    if role not in plain:
        near = difflib.get_close_matches(role, plain, 1)
        return f"there is no role {role!r}{f'; did you mean {near[0]!r}?' if near else '.'}"
    problem = _wrong_color(role, value)
    if problem:
        return problem
    if isinstance(plain[role], dict) and isinstance(value, dict):
        unknown = set(value) - set(plain[role]) if role != "categories" else set()
        if unknown:
            return f"{role} has no {', '.join(sorted(unknown))}; it has {', '.join(plain[role])}."
        plain[role] = {**plain[role], **value}
    else:
        plain[role] = value
    return ""


def _wrong_color(role: str, value: Any) -> str:
    """The first text within a value that is no colour."""
    if role in WORDS:
        return ""
    if isinstance(value, dict):
        return next((words for key, part in value.items() if (words := _wrong_color(f"{role}.{key}", part))), "")
    if isinstance(value, list):
        return next((words for k, part in enumerate(value) if (words := _wrong_color(f"{role}.{k}", part))), "")
    if isinstance(value, str) and not (value.startswith("#") and QColor.isValidColorName(value)):
        return f'{role} is {value!r}; colours are written "#rrggbb" or "#aarrggbb".'
    return ""


def _poor_words(made: Theme, name: str) -> tuple[str, ...]:
    from gradstudio.ui.theme.contrast import poor_pairs

    pairs = poor_pairs(made)
    if not pairs:
        return ()
    shown = "; ".join(pair.words for pair in pairs[:SHOWN])
    more = f"; and {len(pairs) - SHOWN} more" if len(pairs) > SHOWN else ""
    return (f"{name}.json can be used, but not all of it can be seen well: {shown}{more}.",)
