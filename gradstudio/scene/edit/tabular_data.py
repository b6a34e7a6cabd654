"""Tables of numbers from the clipboard or a file, as nodes: a literal where it is small, else a stored tensor."""

import ast
import re
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradstudio.document.stored_tensors import stored_tensor
from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits, SetTensor, apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import BodyId, Graph, ItemId
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.errors import LiteralError
from gradstudio.operators.literals.number_tables import as_lists
from gradstudio.operators.literals.parser import parse

TABLES: Final = (".csv", ".tsv")
ARRAYS: Final = (".npy", ".npz")
TEXTS: Final = (".txt",)
PARQUETS: Final = (".parquet",)
PACKED: Final = (".gz",)
"""Of a table; of anything else it is said."""
TENSOR, STORED = "torch.tensor", "python.stored"
MAX_BYTES: Final = 5_000_000
"""Of a text (semantics §17)."""
SAMPLE_BYTES: Final = 65_536
FEW_LINES: Final = 8
"""A table of at most so many lines is one tensor."""
MAX_ARRAY_BYTES: Final = 500_000_000
_PRINTED: Final = re.compile(r"(?:array|tensor)\s*\([\s\S]*\)")
_SIGNS: Final = re.compile(r"[\s\[\](),;+\-\d._eEj]*")
_WORDS: Final = re.compile(r"\b(?:nan|inf|True|False)\b")
_NUMBER: Final = re.compile(r"\d|nan|inf|True|False")
_WIDTHS: Final = {"f2": "float16", "f4": "float32", "f8": "float64", "b1": "bool", "c8": "complex64"}
_WIDTHS.update({f"{sign}{n}": f"{word}{8 * n}" for sign, word in (("i", "int"), ("u", "uint")) for n in (1, 2, 4, 8)})


class Data(NamedTuple):
    """Numbers: as a literal, or as an array beyond the limit of literals; and what is to be said of them."""

    literal: str = ""
    array: NDArray[np.generic] | None = None
    said: str = ""


def is_data(text: str) -> bool:
    """Whether a text is numbers and nothing else: printed arrays, nested lists, a table, perhaps under a header row."""
    text = text.strip()
    if len(text) > MAX_BYTES or not text:
        return False
    if _PRINTED.fullmatch(text):
        return True
    return _is_numbers(text) or _is_numbers(_without_header(text))


def is_data_set(path: Path) -> bool:
    """Whether a file has rows to learn from: several arrays, a text, pictures, many rows, or words."""
    if path.suffix in (".npz", *TEXTS, *PARQUETS, *PACKED) or path.is_dir():
        return True
    if path.suffix not in TABLES:
        return False
    try:
        with path.open("rb") as file:
            text = file.read(SAMPLE_BYTES).decode("utf-8-sig", errors="replace")
    except OSError:
        return False
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) > FEW_LINES or not is_data("\n".join(lines))


def read_text(text: str) -> Data:
    """The numbers of a text.

    Raises:
        Refused: something else stands in it, or rows differ; the message says where.
    """
    if len(text) > MAX_BYTES:
        raise Refused(f"The text is longer than {MAX_BYTES:,} characters. Save it with numpy and drop the .npy file.")
    text, said = text.strip(), ""
    if not _PRINTED.fullmatch(text) and not _is_numbers(text) and _is_numbers(_without_header(text)):
        text, said = _without_header(text), "without its header row"
    try:
        return Data(parse(text, load()[TENSOR].parameters[0]), said=said)
    except LiteralError as error:
        if "stored tensor" not in str(error):
            raise Refused(str(error)) from None
    return Data(array=_large(text), said=said)


def read_file(path: Path) -> tuple[tuple[str, Data], ...]:
    """Names and numbers of a file: one, or one for each array of an .npz. No pickle is ever read.

    Raises:
        Refused: it cannot be read, or holds something else.
    """
    name = re.sub(r"\W", "_", path.stem) or "data"
    try:
        if path.suffix in TABLES:
            return ((name, read_text(path.read_text(encoding="utf-8-sig"))),)
        if path.stat().st_size > MAX_ARRAY_BYTES:
            raise Refused(f"'{path.name}' is larger than {MAX_ARRAY_BYTES // 1_000_000} MB.")
        found = np.load(path, allow_pickle=False)
        if isinstance(found, np.ndarray):
            return ((name, Data(array=found)),)
        with found:
            return tuple((re.sub(r"\W", "_", key), Data(array=found[key])) for key in found.files)
    except (OSError, UnicodeError, ValueError, EOFError) as error:
        raise Refused(f"'{path.name}' cannot be read as numbers: {error}") from None


def add_tensor(graph: Graph, data: Data, x: float, y: float, body: BodyId, source: str = "") -> tuple[Edits, ItemId]:
    """A node with the numbers.

    Raises:
        Refused: torch has no dtype for them.
    """
    if data.array is None:
        edits, item = recipes.add_operator(graph, TENSOR, x, y, body=body)
        trial = graph.copy()
        apply_all(trial, edits)
        return (*edits, *recipes.set_literal(trial, item, "data", data.literal)), item
    array = np.ascontiguousarray(data.array)
    dtype = _WIDTHS.get(f"{array.dtype.kind}{array.dtype.itemsize}")
    if dtype is None:
        raise Refused(f"Numbers of the kind {array.dtype} have no place in a stored tensor; convert them first.")
    little = array.astype(array.dtype.newbyteorder("<"))
    tensor = stored_tensor(little.tobytes(), dtype, tuple(data.array.shape), source)
    edits, item = recipes.add_operator(graph, STORED, x, y, body=body)
    trial = graph.copy()
    keep = (SetTensor(tensor.digest, tensor),)
    apply_all(trial, (*keep, *edits))
    return (*keep, *edits, *recipes.set_literal(trial, item, "digest", f'"{tensor.digest}"')), item


def _is_numbers(text: str) -> bool:
    """Several numbers, or one in brackets, and nothing else."""
    several = len(_NUMBER.findall(text)) > 1 or text.startswith(("[", "("))
    is_table = bool(re.search(r"[\[(\s,;]", text))
    return several and is_table and bool(_NUMBER.search(text)) and _SIGNS.fullmatch(_WORDS.sub("", text)) is not None


def _without_header(text: str) -> str:
    return text.partition("\n")[2].strip()


def _large(text: str) -> NDArray[np.generic]:
    """Numbers beyond what a literal may hold, in the dtype that torch.tensor would choose."""
    lists = re.sub(r"\binf\b", "1e999", re.sub(r"\bnan\b", "None", as_lists(text)))
    try:
        read = ast.literal_eval(lists)
        floats = "None" in lists or "." in lists or "e" in lists.lower().replace("true", "").replace("false", "")
        return np.array(read, dtype=np.float32 if floats else None)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError) as error:
        raise Refused(f"The numbers cannot be read: {error}") from None
