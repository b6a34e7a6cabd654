"""Arrays that numpy saved (NPY, NPZ): one is chosen as the inputs, one as the target. A pickle is never read."""

import zipfile
from collections.abc import Collection, Mapping
from io import BytesIO
from pathlib import Path

import numpy as np

from gradstudio.document.data.columns import MOST_CLASSES, USUAL_CLASSES
from gradstudio.document.data.model import Choice, Field, Numbers, Progress, Rows, Samples, Work
from gradstudio.document.data.table_text import bytes_of
from gradstudio.document.errors import BadData

LARGEST_ARRAYS = 500_000_000
"""Bytes of a file, and of what it unpacks to."""
MOST_ARRAYS = 200
INPUT_WORDS = ("x", "x_train", "xtrain", "inputs", "input", "images", "data", "features", "train_images", "train_x")
TARGET_WORDS = ("y", "y_train", "ytrain", "target", "targets", "labels", "label", "train_labels", "train_y", "classes")
APART_WORDS = ("val", "valid", "validation", "test")
_MAGIC = b"\x93NUMPY"


class Arrays:
    """The arrays of a file by their names.

    Attributes:
        arrays: those that hold numbers.
    """

    def __init__(self, path: Path) -> None:
        """Read a file.

        Raises:
            BadData: it is damaged, too large, or holds objects, which only code could read.
        """
        self.name = path.name
        self.arrays: Mapping[str, Numbers] = _read(path)
        apart = {apart for one in self.arrays if (apart := _apart(one, self.arrays)) is not None}
        self.fields = tuple(_field(name, array) for name, array in self.arrays.items() if name not in apart)
        shapes = (f"{name} {array.dtype} {list(array.shape)}" for name, array in self.arrays.items())
        self.description = ", ".join(list(shapes)[:8])

    def proposal(self) -> Choice:
        """The arrays that are called like inputs and target, else the first, and the first of as many whole numbers."""
        inputs = self._called(INPUT_WORDS) or next((one.name for one in self.fields if one.can_be_input), "")
        if not inputs:
            return Choice()
        rows = len(self.arrays[inputs])
        fitting = [one for one in self.fields if one.can_be_target and len(self.arrays[one.name]) == rows]
        others = [one for one in fitting if one.name != inputs]
        named = self._called(TARGET_WORDS)
        target = next((one for one in others if one.name == named), next((one for one in others if one.is_class), None))
        return Choice((inputs,), target.name if target else "", target.is_class if target else True)

    def samples(self, choice: Choice) -> Work[Samples]:
        """The rows of the two arrays.

        Raises:
            BadData: there is not one array of inputs, or the target has another number of rows.
        """
        yield Progress("rows")
        if len(choice.inputs) != 1:
            raise BadData("Choose one array as the inputs.")
        name, notes = choice.inputs[0], []
        inputs, lost = _inputs(self._array(name), name)
        rows = Rows(inputs)
        classes: tuple[str, ...] = ()
        validation = None
        if choice.target:
            goal = self._array(choice.target)
            if len(goal) != len(inputs):
                raise BadData(
                    f"'{name}' has {len(inputs):,} rows, '{choice.target}' {len(goal):,}. Choose two that go together."
                )
            rows, classes = _with_target(inputs, goal, choice)
        if lost:
            notes.append(f"{lost:,} numbers of “{name}” are missing or too large, and are filled with its mean")
        validation = self._validation(choice, classes)
        columns = tuple(f"{name}[:, {k}]" for k in range(inputs.shape[1])) if inputs.ndim == 2 else ()
        return Samples(rows, columns, classes, (), tuple(notes), validation)

    def preview(self, count: int) -> tuple[tuple[str, ...], ...]:
        """The first rows, a few numbers of each."""
        shown = [self.arrays[one.name] for one in self.fields]
        longest = max((len(array) for array in shown if array.ndim), default=0)
        return tuple(
            tuple(_words(array, row) for array in shown) for row in range(min(count, longest))
        )  # fmt: skip

    def _called(self, words: Collection[str]) -> str:
        by_name = {one.name.lower(): one.name for one in self.fields}
        return next((by_name[word] for word in words if word in by_name), "")

    def _array(self, name: str) -> Numbers:
        if name not in self.arrays:
            raise BadData(f"'{self.name}' has no array '{name}'; it has {', '.join(list(self.arrays)[:20])}.")
        array = self.arrays[name]
        if not array.ndim or not len(array):
            raise BadData(f"'{name}' has no rows. Choose an array with a first size.")
        return array

    def _validation(self, choice: Choice, classes: tuple[str, ...]) -> Rows | None:
        """The rows that the file keeps apart under the same names with *test* or *val*."""
        apart = _apart(choice.inputs[0], self.arrays)
        goal = _apart(choice.target, self.arrays) if choice.target else None
        if apart is None or (choice.target and goal is None):
            return None
        inputs, _ = _inputs(self._array(apart), apart)
        if inputs.shape[1:] != self.arrays[choice.inputs[0]].shape[1:]:
            return None
        if goal is None:
            return Rows(inputs)
        target = self._array(goal)
        if len(target) != len(inputs):
            return None
        rows, theirs = _with_target(inputs, target, choice, classes)
        return rows if theirs == classes else None


def _read(path: Path) -> Mapping[str, Numbers]:
    data = bytes_of(path, LARGEST_ARRAYS, "Save fewer rows")
    try:
        if zipfile.is_zipfile(BytesIO(data)):
            found = _unpacked(data, path.name)
        elif not data.startswith(_MAGIC):
            raise BadData(f"'{path.name}' is no array that numpy saved. Save it again with numpy.save.")
        else:
            array = np.load(BytesIO(data), allow_pickle=False)
            found = {path.stem: array} if isinstance(array, np.ndarray) else {}
    except (OSError, UnicodeError, ValueError, EOFError, KeyError, TypeError, MemoryError, SyntaxError) as error:
        raise BadData(_damaged(path.name, error)) from error
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OverflowError, RecursionError) as error:
        raise BadData(_damaged(path.name, error)) from error
    numbers = {name: array for name, array in found.items() if array.dtype.kind in "fiub"}
    if not numbers:
        kinds = ", ".join(f"{name} {array.dtype}" for name, array in list(found.items())[:4])
        raise BadData(f"'{path.name}' holds no numbers{f' ({kinds})' if kinds else ''}. Save arrays of float or int.")
    return numbers


def _unpacked(data: bytes, name: str) -> dict[str, Numbers]:
    with zipfile.ZipFile(BytesIO(data)) as archive:
        entries = [one for one in archive.infolist() if one.filename.endswith(".npy")]
        if len(entries) > MOST_ARRAYS:
            raise BadData(f"'{name}' holds {len(entries)} arrays, more than {MOST_ARRAYS}. Save fewer in one file.")
        if sum(one.file_size for one in entries) > LARGEST_ARRAYS:
            size = f"{LARGEST_ARRAYS // 10**6} MB"
            raise BadData(f"'{name}' unpacks to more than {size}. Save fewer rows.")
        found = {}
        for one in entries:
            with archive.open(one) as file:
                held = file.read(one.file_size)
            if not held.startswith(_MAGIC):
                raise BadData(
                    f"'{one.filename}' in '{name}' is no array that numpy saved. Save it again with numpy.savez."
                )
            found[one.filename.removesuffix(".npy")] = np.load(BytesIO(held), allow_pickle=False)
        return found


def _damaged(name: str, error: Exception) -> str:
    if "allow_pickle" in str(error) or "ickle" in str(error):
        return f"'{name}' holds Python objects, which only running code could read: save arrays of numbers instead."
    return f"'{name}' is no array that numpy saved, or it is damaged ({error}). Save it again with numpy.save."


def _field(name: str, array: Numbers) -> Field:
    kind = f"{array.dtype} {list(array.shape)}"
    has_rows = bool(array.ndim) and len(array) > 0 and array.size > 0
    is_flat = has_rows and array.size == len(array)
    is_class = is_flat and array.dtype.kind in "iub" and len(np.unique(array)) <= max(USUAL_CLASSES, 2)
    return Field(name, kind, has_rows, is_flat, is_class)


def _apart(name: str, names: Collection[str]) -> str | None:
    """The name of the array that is kept apart for that one: ``x_test`` of ``x_train`` or ``x``."""
    for word in APART_WORDS:
        wishes = [name.replace("train", word)] if "train" in name else [f"{name}_{word}", f"{word}_{name}"]
        found = next((one for one in wishes if one in names and one != name), None)
        if found is not None:
            return found
    return None


def _inputs(array: Numbers, name: str) -> tuple[Numbers, int]:
    """Rows of float32, or of uint8 as they are; and how many numbers are none."""
    if array.size == 0:
        raise BadData(f"'{name}' has no elements.")
    if array.dtype == np.uint8 and array.ndim > 2:
        return array, 0
    with np.errstate(over="ignore"):
        floats = array.astype(np.float32)
    if floats.ndim == 1:
        floats = floats.reshape(-1, 1)
    bad = ~np.isfinite(floats)
    lost = int(bad.sum())
    if lost:
        if lost == floats.size:
            raise BadData(f"'{name}' holds no finite number.")
        floats = np.where(bad, floats[~bad].astype(np.float64).mean(), floats).astype(np.float32)
    return floats, lost


def _with_target(
    inputs: Numbers, goal: Numbers, choice: Choice, classes: tuple[str, ...] = ()
) -> tuple[Rows, tuple[str, ...]]:
    if goal.size != len(goal):
        raise BadData(
            f"'{choice.target}' has more than one value for a row. Choose an array of one size as the target."
        )
    flat = goal.reshape(-1)
    if not choice.is_class:
        floats = flat.astype(np.float32)
        if not np.isfinite(floats).all():
            raise BadData(f"'{choice.target}' has values that are missing or infinite. Take them out first.")
        return Rows(inputs, floats.reshape(-1, 1)), ()
    values = np.unique(flat)
    if len(values) > MOST_CLASSES or (goal.dtype.kind == "f" and not np.array_equal(values, np.round(values))):
        raise BadData(f"'{choice.target}' is no class: it has {len(values):,} values. Take it as a number.")
    words = tuple(f"{value:.15g}" for value in values.astype(np.float64).tolist())
    if classes and set(words) <= set(classes):
        index = {word: k for k, word in enumerate(classes)}
        places = np.array([index[word] for word in words], np.int64)[np.searchsorted(values, flat)]
        return Rows(inputs, places), classes
    return Rows(inputs, np.searchsorted(values, flat).astype(np.int64)), words


def _words(array: Numbers, row: int) -> str:
    if not array.ndim or row >= len(array):
        return ""
    flat = np.asarray(array[row]).reshape(-1)
    words = " ".join(f"{value:.4g}" for value in flat[:8].astype(np.float64).tolist())
    return f"{words} …" if flat.size > 8 else words
