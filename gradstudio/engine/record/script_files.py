"""Which files are a person's own, and what they call their tensors and modules."""

import linecache
import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn

_OURS = str(Path(__file__).resolve().parents[2]) + os.sep
_LIBRARIES = tuple(
    str(Path(folder).resolve()) + os.sep
    for folder in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), str(Path(torch.__file__).parents[1])}
)
MAX_TENSORS = 64
"""Items of a list that are called after the list."""


class ScriptFiles:
    """Files that are neither libraries nor this program; a notebook's cells are such files too."""

    def is_theirs(self, filename: str) -> bool:
        """Whether a line of that file is the person's own."""
        return _is_theirs(filename)

    def short(self, filename: str) -> str:
        """How a file is called."""
        return "a cell" if filename.startswith("<ipython") or "ipykernel_" in filename else os.path.basename(filename)

    def source(self, filename: str, line: int) -> str:
        """A line of it, without the spaces around."""
        return linecache.getline(filename, line).strip()


@lru_cache(maxsize=4096)
def _is_theirs(filename: str) -> bool:
    if "ipykernel_" in filename or filename.startswith("<ipython") or filename in ("<stdin>", "<string>"):
        return True
    if filename.startswith("<"):
        return False
    path = os.path.realpath(filename)
    return not path.startswith((_OURS, *_LIBRARIES)) and "site-packages" not in path


class CallerNames:
    """The names around the place where a record is asked for.

    Attributes:
        tensors: by identity of a tensor; `modules`, `optimizers` likewise. The first name that is found.
    """

    def __init__(self, frame: FrameType | None) -> None:
        """Look at the frame that asks."""
        self._frame = frame
        self.tensors: dict[int, str] = {}
        self.modules: dict[int, str] = {}
        self.optimizers: dict[int, str] = {}
        self._kept: list[Any] = []
        self.look()

    def look(self) -> None:
        """See what has a name by now."""
        frame = self._frame
        if frame is None:
            return
        for names in (frame.f_locals, frame.f_globals):
            for name, value in _things(names):
                table = self.tensors
                if isinstance(value, nn.Module):
                    table = self.modules
                elif not isinstance(value, Tensor):
                    table = self.optimizers
                if id(value) not in table:
                    table[id(value)] = name
                    self._kept.append(value)

    def let_go(self) -> None:
        """The frame is not needed any more."""
        self._frame = None


def _things(names: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in list(names.items()):
        if name.startswith("_"):
            continue
        if isinstance(value, Tensor | nn.Module | torch.optim.Optimizer):
            yield name, value
        elif isinstance(value, list | tuple) and len(value) <= MAX_TENSORS:
            for place, item in enumerate(value):
                if isinstance(item, Tensor | nn.Module):
                    yield f"{name}_{place}", item


def caller() -> FrameType | None:
    """The innermost frame of the person's own."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not _is_theirs(frame.f_code.co_filename):
        frame = frame.f_back
    return frame
