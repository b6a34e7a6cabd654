"""Refuses the pairs of Python and PySide6 that are known to break, before Qt is loaded. No Qt here."""

import sys

from gradstudio.errors import GradStudioError

Version = tuple[int, int, int]

BROKEN_DOCKS: frozenset[Version] = frozenset({(6, 11, 0), (6, 11, 1)})
LOSES_REFERENCES: Version = (6, 12, 0)
"""The first version that takes a reference to None, True or False too few in each call (PySide6 6.12.0)."""

IMMORTAL_CONSTANTS = (3, 12)
"""The first Python whose None cannot be deallocated, so that this does no harm (PEP 683)."""

OLDEST: Version = (6, 10, 0)
REMEDY = 'Install a fitting one: python -m pip install "PySide6-Essentials>=6.11.2,<6.12"'


class UnfitQt(GradStudioError):
    """The installed PySide6 cannot be used with this Python."""


def check(python: tuple[int, int] = sys.version_info[:2], pyside_text: str | None = None) -> None:
    """Passes when the installed PySide6 is fit for use.

    Args:
        python: major and minor version of Python.
        pyside_text: the version of PySide6-Essentials, asked of the installation when left out.

    Raises:
        UnfitQt: with what is wrong and what to type.
    """
    pyside_text = installed_pyside() if pyside_text is None else pyside_text
    reason = why_unfit(python, parse(pyside_text))
    if reason:
        raise UnfitQt(f"PySide6 {pyside_text or '(none)'} on Python {python[0]}.{python[1]}: {reason}. {REMEDY}")


def why_unfit(python: tuple[int, int], pyside: Version | None) -> str:
    """The reason why this pair cannot be used, in words; empty when it can."""
    if pyside is None:
        return "the window needs PySide6-Essentials"
    if pyside < OLDEST:
        return "the window needs 6.10 or newer"
    if pyside in BROKEN_DOCKS:
        return "docks lose their place with this version"
    if pyside >= LOSES_REFERENCES and python < IMMORTAL_CONSTANTS:
        return "this pair crashes after some thousand calls (none_dealloc)"
    return ""


def installed_pyside() -> str:
    """The version of the installed PySide6-Essentials; empty when there is none."""
    from importlib import metadata

    try:
        return metadata.version("PySide6-Essentials")
    except metadata.PackageNotFoundError:
        return ""


def parse(text: str) -> Version | None:
    """The first three numbers of a version; None when there are none."""
    numbers = [int(part) for part in text.split(".")[:3] if part.isdecimal()]
    if not numbers:
        return None
    major, minor, patch = (*numbers, 0, 0)[:3]
    return major, minor, patch
