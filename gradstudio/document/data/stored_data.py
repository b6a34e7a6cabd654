"""Data that a document stores: which tensors belong together, and a look at their rows without running anything."""

import re
import struct
from typing import NamedTuple

import numpy as np

from gradstudio.document.data.hazards import Counts, hazards
from gradstudio.document.data.model import PICTURE_TOP, Numbers, Prepared, Rows
from gradstudio.document.stored_tensors import LENGTH_BYTES
from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.memo_table import MemoTable
from gradstudio.graph.model import Graph, ItemId, Node, StoredTensor
from gradstudio.graph.text.record_checks import digest_of

MOST_ROWS = 5_000
"""So many rows are looked at, spread evenly over all."""
MOST_NUMBERS = 1_000_000
"""And so many numbers of them, where a row is long."""
LEAST_ROWS = 8
MOST_COUNTED = 1_000_000
"""Of so many rows the classes are counted."""
MOST_CLASSES = 1_000
MOST_COLUMNS = 12
"""Of more columns no figures are given."""
FIRST_ROWS = 5
LEAST_SIDE = 4
STORED = "python.stored"
SCALES = (".std", ".var", "normalize", "batch_norm", "layer_norm", "BatchNorm", "LayerNorm")
_NAME = re.compile(r"(X|y|characters|windows)(_\d+)?(_val)?(_raw|_unit)?")
_PICTURES = re.compile(r"pictures of (\d+) × (\d+)\b")
_class_counts: MemoTable[dict[str, int]] = MemoTable()
"""By the digest of the tensor: what is stored under one never changes."""
_COMMA = re.compile(r", (?!\d+\])")
"""Between names: a column of an array is called ``a[:, 0]``."""


class StoredData(NamedTuple):
    """Stored tensors that belong together, as `data_graph` names them.

    Attributes:
        inputs, target: rows to learn from; one of them is there.
        inputs_apart, target_apart: rows to validate with.
        note: what stands above X and above y.
        normalises: the program scales the inputs before anything else.
        is_text: the target is a text's characters, the inputs are windows of it.
    """

    inputs: StoredTensor | None
    target: StoredTensor | None
    inputs_apart: StoredTensor | None = None
    target_apart: StoredTensor | None = None
    note: str = ""
    normalises: bool = False
    is_text: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        """The same for the same contents."""
        return tuple(part.digest if isinstance(part, StoredTensor) else part for part in self)


class Column(NamedTuple):
    """A column of the inputs: mean and standard deviation (unbiased, as torch's) of the rows to learn from."""

    name: str
    mean: float
    deviation: float


class DataSummary(NamedTuple):
    """What is known of data before a run.

    Attributes:
        rows, apart: to learn from, and to validate with.
        looked_at: of the former; all, or a part that is spread evenly.
        counted: rows to learn from whose classes were counted.
        sizes: of one row.
        names: of the columns, "" for one without.
        columns: figures, where the columns are few.
        classes: the name of each, rows to learn from and to validate.
        first: the first rows, where they are no pictures.
        pictures: ``(rows, 1 or 3, height, width)`` of uint8 with the index of each one's class.
        picture_classes: their names.
        warnings: what hurts a training, in sentences.
        is_text: a row is a character.
    """

    rows: int
    apart: int
    looked_at: int
    counted: int
    sizes: tuple[int, ...]
    names: tuple[str, ...]
    columns: tuple[Column, ...]
    classes: Counts
    first: Rows | None
    pictures: Rows | None
    picture_classes: tuple[str, ...]
    warnings: tuple[str, ...]
    is_text: bool


def stored_data(graph: Graph, item: ItemId) -> StoredData | None:
    """The data that a card stands for: a stored tensor with what belongs to it, or X that is made of one."""
    node = graph.nodes.get(item)
    named = _NAME.fullmatch(node.names[0]) if node is not None and len(node.names) == 1 else None
    if node is None or (node.operator != STORED and named is None):
        return None
    own = _tensor(graph, node)
    if named is not None and (found := _belonging(graph, named[2] or "", named[1])) is not None:
        parts = (found.inputs, found.target, found.inputs_apart, found.target_apart)
        is_made_of = own is None and (named[1] != "y" or found.is_text)
        if is_made_of or any(own is part for part in parts if part is not None):
            return found
    if own is None or not own.shape:  # a single number is no data
        return None
    if len(own.shape) == 1 and own.dtype.startswith(("int", "uint")):
        return StoredData(None, own, note=node.note)
    return StoredData(own, None, note=node.note, normalises=scales_inputs(graph, item))


def look_at(data: StoredData) -> DataSummary | None:
    """Look at the rows; None where numpy has no numbers of that kind, or one row has more than `MOST_NUMBERS`.

    Figures are of at most `MOST_ROWS` rows, classes are counted in at most `MOST_COUNTED`.
    """
    inputs, target = _numbers(data.inputs), _numbers(data.target)
    if inputs is None and target is None:
        return None
    if inputs is not None and inputs[:1].size > MOST_NUMBERS:
        return None
    rows = Rows(inputs if inputs is not None else _nothing_of(target), target)
    apart = _apart(data, rows)
    classes, counts = _classes(data, rows, apart)
    sample, sample_apart = _sample(rows), None if apart is None else _sample(apart)
    names = _column_names(data.note, rows.inputs)
    pictures = _pictures(data.note, Rows(sample.inputs, sample.target if classes else None))
    known = Prepared(
        "", sample, sample_apart, _called(names), (), _words_of_columns(data.note, names), (),
        data.normalises or rows.inputs.dtype.kind in "iub", int(data.is_text),
    )  # fmt: skip
    return DataSummary(
        rows=len(rows.inputs),
        apart=0 if apart is None else len(apart.inputs),
        looked_at=len(sample.inputs),
        counted=min(len(rows.inputs), MOST_COUNTED),
        sizes=rows.inputs.shape[1:] if inputs is not None else (),
        names=names,
        columns=_figures(names, sample.inputs) if pictures is None else (),
        classes=counts,
        first=rows.take(np.arange(min(FIRST_ROWS, len(rows.inputs)))) if pictures is None else None,
        pictures=pictures,
        picture_classes=classes,
        warnings=hazards(known, counts) if len(sample.inputs) else ("There is no row to learn from.",),
        is_text=data.is_text,
    )


def count_classes(graph: Graph, item: ItemId) -> int:
    """How many classes a model has to tell apart for a stored tensor of their numbers; 0 where it holds none."""
    stored = _tensor(graph, graph.nodes.get(item))
    if stored is None:
        return 0
    known = _class_counts.get(graph) or {}
    _class_counts[graph] = known
    if stored.digest not in known:
        known[stored.digest] = _largest_class(_numbers(stored)) + 1
    return known[stored.digest]


def _largest_class(target: Numbers | None) -> int:
    """The largest number of those that are classes; -1 where there is none, or one is no class."""
    if target is None or not target.size or target.dtype.kind not in "iu" or target.min() < 0:
        return -1
    return int(target.max())


def scales_inputs(graph: Graph, item: ItemId) -> bool:
    """Whether a statement that takes an item's first result divides it, or takes its deviation."""
    modules = card_groups(graph).modules
    for wire in graph.wires_from(item):
        if wire.output:
            continue  # what a statement gives beside its inputs
        taker = graph.nodes.get(modules.get(wire.target, wire.target))
        if taker is None:
            continue
        divides = taker.operator == "operator.truediv" and wire.port == "a"
        if divides or any(word in taker.operator for word in SCALES):
            return True
    return False


def _belonging(graph: Graph, ending: str, root: str) -> StoredData | None:
    """The parts of the data set whose names end so."""
    nodes = {node.names[0]: node for node in graph.nodes.values() if node.operator == STORED and len(node.names) == 1}
    if (text := nodes.get(f"characters{ending}")) is not None:
        later = nodes.get(f"characters{ending}_val")
        return StoredData(None, _tensor(graph, text), None, _tensor(graph, later), text.note, is_text=True)
    inputs = nodes.get(f"X{ending}_raw") or nodes.get(f"X{ending}")
    if inputs is None or root not in ("X", "y"):
        return None
    target, apart = nodes.get(f"y{ending}"), nodes.get(f"X{ending}_val_raw") or nodes.get(f"X{ending}_val")
    found = StoredData(
        _tensor(graph, inputs),
        _tensor(graph, target),
        _tensor(graph, apart),
        _tensor(graph, nodes.get(f"y{ending}_val")),
        "\n".join(node.note for node in (inputs, target) if node is not None),
        scales_inputs(graph, inputs.id),
    )
    return found if _fits(found.inputs, found.target) and found.inputs is not None else None


def _fits(inputs: StoredTensor | None, target: StoredTensor | None) -> bool:
    """Whether there is a target value for each row."""
    if inputs is None or not inputs.shape:
        return False
    return target is None or target.shape[:1] == inputs.shape[:1]


def _tensor(graph: Graph, node: Node | None) -> StoredTensor | None:
    return graph.tensors.get(digest_of(node)) if node is not None and node.operator == STORED else None


def _numbers(tensor: StoredTensor | None) -> Numbers | None:
    """The elements where they lie in memory; of no kind that numpy lacks, and no complex ones."""
    if tensor is None or tensor.dtype.startswith(("bfloat", "complex")):
        return None
    if 0 in tensor.shape:
        return np.zeros(tensor.shape, tensor.dtype)
    begin = LENGTH_BYTES + struct.unpack_from("<Q", tensor.data)[0]
    kind = np.dtype(tensor.dtype).newbyteorder("<")
    return np.frombuffer(tensor.data, kind, offset=begin).reshape(tensor.shape)


def _nothing_of(target: Numbers | None) -> Numbers:
    return np.zeros((0 if target is None else len(target), 0), np.float32)


def _apart(data: StoredData, rows: Rows) -> Rows | None:
    """The rows to validate with, where they are of the same kind."""
    inputs, target = _numbers(data.inputs_apart), _numbers(data.target_apart)
    if data.inputs is None:
        return None if target is None else Rows(_nothing_of(target), target)
    if inputs is None or inputs.shape[1:] != rows.inputs.shape[1:] or inputs.dtype != rows.inputs.dtype:
        return None
    return Rows(inputs, target if target is not None and len(target) == len(inputs) else None)


def _spread(count: int, most: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Rows that are spread evenly: all, or so many."""
    return np.linspace(0, count - 1, min(count, most)).round().astype(np.int64)


def _sample(rows: Rows) -> Rows:
    width = max(1, rows.inputs[:1].size)
    most = max(LEAST_ROWS, min(MOST_ROWS, MOST_NUMBERS // width))
    return rows if len(rows.inputs) <= most else rows.take(_spread(len(rows.inputs), most))


def _classes(data: StoredData, rows: Rows, apart: Rows | None) -> tuple[tuple[str, ...], Counts]:
    """Names of the classes by their index, and how many rows each has; empty where the target is none."""
    target = _counted(rows.target)
    if target is None or not len(target) or target.min() < 0 or target.max() >= MOST_CLASSES:
        return (), ()
    later = _counted(apart.target if apart is not None else None)
    if later is None or (len(later) and (later.min() < 0 or later.max() >= MOST_CLASSES)):
        later = target[:0]
    names = _numbered("Classes", data.note)
    size = max(len(names), *(int(one.max()) + 1 for one in (target, later) if len(one)))
    learn, test = np.bincount(target, minlength=size), np.bincount(later, minlength=size)
    if len(names) == size:
        return names, tuple(zip(names, learn.tolist(), test.tolist(), strict=True))
    if 2 * np.count_nonzero(learn) > len(target):
        return (), ()  # a numbering of the rows
    names = tuple(map(str, range(size)))
    has_gaps = 2 * np.count_nonzero(learn + test) < size  # numbers that are no indices of classes
    kept = [k for k in range(size) if not has_gaps or learn[k] + test[k]]
    return names, tuple((names[k], int(learn[k]), int(test[k])) for k in kept)


def _counted(target: Numbers | None) -> Numbers | None:
    """Of a target that may be classes the rows that are counted."""
    if target is None or target.ndim != 1 or target.dtype.kind not in "iu":
        return None
    return target[_spread(len(target), MOST_COUNTED)].astype(np.int64)


def _figures(names: tuple[str, ...], inputs: Numbers) -> tuple[Column, ...]:
    if not 0 < len(names) <= MOST_COLUMNS or len(inputs) < 2:
        return ()
    numbers = inputs.astype(np.float64)
    with np.errstate(invalid="ignore"):  # of values that are not finite neither is the mean
        means, deviations = numbers.mean(axis=0), numbers.std(axis=0, ddof=1)
    return tuple(Column(*one) for one in zip(names, means.tolist(), deviations.tolist(), strict=True))


def _pictures(note: str, rows: Rows) -> Rows | None:
    """The rows as pictures: ``(rows, 1 or 3, height, width)``, or what the note says to be some."""
    inputs = rows.inputs
    said = _PICTURES.search(" ".join(note.split()))
    if said is not None and inputs.ndim == 2 and inputs.shape[1] == int(said[1]) * int(said[2]):
        inputs = inputs.reshape(-1, 1, int(said[2]), int(said[1]))
    elif inputs.ndim == 3 and inputs.dtype == np.uint8:
        inputs = inputs[:, None]
    is_picture = inputs.ndim == 4 and inputs.shape[1] in (1, 3) and min(inputs.shape[2:]) >= LEAST_SIDE
    if not is_picture or not len(inputs) or inputs.dtype.kind not in "uf":
        return None
    if inputs.dtype == np.uint8:
        return Rows(inputs, rows.target)
    numbers = np.nan_to_num(inputs.astype(np.float32), posinf=0, neginf=0)
    low, high = float(numbers.min()), float(numbers.max())
    scaled = (numbers - low) * (PICTURE_TOP / ((high - low) or 1.0))
    return Rows(scaled.round().astype(np.uint8), rows.target)


# ------------------------------------------------------------------ what a note says


def _column_names(note: str, inputs: Numbers) -> tuple[str, ...]:
    """Of inputs with two dimensions: as they are named above X, "" for one that is not."""
    if inputs.ndim != 2:
        return ()
    line = _line("Columns", note)
    names = _COMMA.split(line) if line else []
    head, more, count = names[-1].rpartition(" and ") if names else ("", "", "")
    if more and count.removesuffix(" more").isdecimal():
        names[-1] = head
    width = inputs.shape[1]
    return (*names, *[""] * (width - len(names))) if len(names) <= width else ("",) * width


def _called(names: tuple[str, ...]) -> tuple[str, ...]:
    """What columns are called in a warning; () for many that have no names."""
    if len(names) > MOST_COLUMNS and not any(names):
        return ()
    return tuple(name or f"[:,\u00a0{k}]" for k, name in enumerate(names))


def _words_of_columns(note: str, names: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Of columns that were words: what each number stands for."""
    found = ((name, _numbered(name, note)) for name in names if name)
    return tuple((name, words) for name, words in found if words)


def _numbered(name: str, note: str) -> tuple[str, ...]:
    """``name: 0 a, 1 b.`` as names by their index."""
    rest = _line(name, note)
    found: list[str] = []
    while rest.startswith(f"{len(found)} "):
        word, _, after = rest.removeprefix(f"{len(found)} ").partition(f", {len(found) + 1} ")
        found.append(word)
        rest = f"{len(found)} {after}" if after else ""
    return tuple(found)


def _line(name: str, note: str) -> str:
    """What follows ``name: `` at the beginning of a line, up to the full stop that ends one."""
    found = re.search(rf"^{re.escape(name)}: (.*?)\.$", note, re.MULTILINE | re.DOTALL)
    return " ".join(found[1].split()) if found is not None else ""
