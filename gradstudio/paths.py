"""Where the data that travels with the program lies."""

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


@cache
def resources() -> Path:
    """The folder of icons, themes, catalogue and data: inside the package in a wheel, else beside it."""
    return _data_folder("resources")


@cache
def examples() -> Path:
    """The folder of example documents, found in the same way."""
    return _data_folder("examples")


def _data_folder(name: str) -> Path:
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / name
