"""Prepared data as a part of a program: stored tensors X and y, X_val and y_val, and what normalises them."""

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from textwrap import wrap

import numpy as np

from gradstudio.document.data.model import PICTURE_TOP, Numbers, Prepared
from gradstudio.document.stored_tensors import stored_tensor
from gradstudio.graph.model import Graph, StoredTensor
from gradstudio.layout.tidy import layout_missing
from gradstudio.program.reading.reader import read_script

MOST_NAMES = 60
"""Columns that are named in a note."""
WIDTH = 100
"""Characters of a line of a note."""
LEAST_SPREAD = "1e-6"
"""A column of one value is divided by this, not by zero."""
STEM = "data"
_HEAD = """from pathlib import Path

import torch
from safetensors.torch import load_file

HERE = Path(__file__).parent

"""


def data_graph(data: Prepared, taken: Collection[str] = ()) -> Graph:
    """The part of a program, laid out; its names are free of those that are taken."""
    tensors: dict[str, StoredTensor] = {}

    def store(array: Numbers) -> str:
        tensor = _stored(array, data.name)
        tensors[tensor.digest] = tensor
        return f'load_file(HERE / "{STEM}.tensors/{tensor.digest}.safetensors")["data"]'

    text = _HEAD + "\n".join(_Lines(data, store, _ending(taken)).lines()) + "\n"
    graph = read_script(text, lambda file: tensors[Path(file).stem]).graph
    graph.places = layout_missing(graph)
    return graph


def _stored(array: Numbers, source: str) -> StoredTensor:
    little = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False))
    return stored_tensor(little.tobytes(), array.dtype.name, array.shape, source)


def _ending(taken: Collection[str]) -> str:
    """What is put behind X and y so that none of the names is taken."""
    number, ending = 1, ""
    roots = ("X", "y", "X_raw", "mean", "std", "pictures", "characters", "windows")
    while any(f"{root}{ending}{apart}" in taken for root in roots for apart in ("", "_val", "_val_raw")):
        number += 1
        ending = f"_{number}"
    return ending


class _Lines:
    """The statements of prepared data."""

    def __init__(self, data: Prepared, store: Callable[[Numbers], str], ending: str) -> None:
        self._data, self._store, self._ending = data, store, ending

    def lines(self) -> Iterator[str]:
        """All of them."""
        data, inputs, goal = self._data, f"X{self._ending}", f"y{self._ending}"
        parts = [(inputs, data.train.inputs)]
        if data.validation is not None:
            parts.append((f"{inputs}_val", data.validation.inputs))
        yield from _comment(self._about_inputs())
        if data.window:
            yield from _comment(self._about_target())
            yield from self._windows()
            return
        yield from self._inputs(parts)
        if data.train.target is None:
            return
        yield from _comment(self._about_target())
        yield f"{goal} = {self._store(data.train.target)}"
        if data.validation is not None and data.validation.target is not None:
            yield f"{goal}_val = {self._store(data.validation.target)}"

    def _windows(self) -> Iterator[str]:
        """The text is kept once; its windows are views of it."""
        for apart, rows in (("", self._data.train), ("_val", self._data.validation)):
            if rows is None or rows.target is None:
                continue
            tail = f"{self._ending}{apart}"
            yield f"characters{tail} = {self._store(np.concatenate([rows.inputs[0], rows.target]))}"
            yield f"windows{tail} = characters{tail}.unfold(0, {self._data.window + 1}, 1)"
            yield f"X{tail} = windows{tail}[:, :-1]"
            yield f"y{tail} = windows{tail}[:, -1]"

    def _inputs(self, parts: list[tuple[str, Numbers]]) -> Iterator[str]:
        is_picture = parts[0][1].dtype == np.uint8
        if not (is_picture or self._data.normalises):
            yield from (f"{name} = {self._store(array)}" for name, array in parts)
            return
        yield from (f"{name}_raw = {self._store(array)}" for name, array in parts)
        read = {name: f"{name}_raw.float() / {PICTURE_TOP}" if is_picture else f"{name}_raw" for name, _ in parts}
        if not self._data.normalises:
            yield from (f"{name} = {value}" for name, value in read.items())
            return
        if is_picture:
            read = {name: f"{name}_unit" for name in read}
            yield from (f"{name}_unit = {name}_raw.float() / {PICTURE_TOP}" for name in read)
        first = next(iter(read.values()))
        over = "dim=0" if self._data.columns else ""
        mean, std = f"mean{self._ending}", f"std{self._ending}"
        yield f"{mean} = {first}.mean({over})"
        yield f"{std} = {first}.std({over}).clamp(min={LEAST_SPREAD})"
        yield from (f"{name} = ({value} - {mean}) / {std}" for name, value in read.items())

    def _about_inputs(self) -> list[str]:
        data = self._data
        lines = [f"{data.name}: {'; '.join(data.notes)}."]
        if data.columns:
            more = len(data.columns) - MOST_NAMES
            rest = f" and {more} more" if more > 0 else ""
            lines.append(f"Columns: {', '.join(data.columns[:MOST_NAMES])}{rest}.")
        lines += [f"{name}: {_numbered(words)}." for name, words in data.classes_of]
        return lines

    def _about_target(self) -> list[str]:
        if self._data.classes:
            return [f"Classes: {_numbered(self._data.classes)}."]
        return []


def _numbered(words: tuple[str, ...]) -> str:
    return ", ".join(f"{k} {' '.join(word.split())}" for k, word in enumerate(words))


def _comment(lines: list[str]) -> Iterator[str]:
    for line in lines:
        clean = "".join(one if one.isprintable() else " " for one in line)
        yield from (f"# {part}" for part in wrap(clean, WIDTH, break_on_hyphens=False))
