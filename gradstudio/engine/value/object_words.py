"""What is said of an object in a few words: how much a dict, a loader or a table holds, how large an image is.

Asking an object runs code of whoever made it, so it is done for trusted programs alone. Libraries are looked at where
the program has loaded them; none is imported here.
"""

import argparse
import collections
import sys
from collections.abc import Callable, Iterable
from typing import Any

from torch.utils.data import DataLoader, Dataset

MAX_WORDS = 200
MAX_KEYS = 6


def words_of(value: object) -> str:
    """A few words about an object; "" where none are known, and where it does not answer."""
    try:
        return next((make(value) for kind, make in _makers() if isinstance(value, kind)), "")[:MAX_WORDS]
    except Exception:  # noqa: BLE001 - a trial: whose object it is decides what asking raises
        return ""


def _makers() -> Iterable[tuple[type, Callable[[Any], str]]]:
    yield argparse.Namespace, lambda value: _listed(f"{key}={item!r}" for key, item in vars(value).items())
    yield dict, lambda value: f"{_count(value, 'item')}: {_listed(map(repr, value))}" if value else "empty"
    yield (set, lambda value: _count(value, "item"))
    yield (frozenset, lambda value: _count(value, "item"))
    yield (collections.deque, lambda value: _count(value, "item"))
    yield DataLoader, _loader_words
    yield (Dataset, lambda value: _count(value, "item") if hasattr(type(value), "__len__") else "")
    for module, name, make in _OF_LIBRARIES:
        kind = getattr(sys.modules.get(module), name, None)
        if isinstance(kind, type):
            yield kind, make


def _loader_words(loader: "DataLoader[Any]") -> str:
    batch = f" of {loader.batch_size}" if loader.batch_size else ""
    return f"{_count(loader, 'batch', 'es')}{batch}, {_count(loader.dataset, 'item')}"


def _count(value: Any, one: str, many: str = "s") -> str:
    count = len(value)
    return f"{count:,} {one}{'' if count == 1 else many}"


def _listed(words: Iterable[str]) -> str:
    shown: list[str] = []
    for word in words:
        if len(shown) == MAX_KEYS:
            return ", ".join([*shown, "…"])
        shown.append(word[:40])
    return ", ".join(shown)


def _table_words(table: Any) -> str:
    rows, columns = table.shape
    return f"{rows:,} × {columns:,}: {_listed(map(str, table.columns))}"


_OF_LIBRARIES: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("pandas", "DataFrame", _table_words),
    ("pandas", "Series", lambda series: f"{_count(series, 'value')}, {series.dtype}"),
    ("PIL.Image", "Image", lambda image: f"{image.width} × {image.height}, {image.mode}"),
)
"""Of classes that libraries bring: where they are when they are loaded."""
