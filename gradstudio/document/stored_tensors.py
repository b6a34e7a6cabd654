"""Stored tensors: safetensors bytes named by their sha256, beside the document or inside a fragment."""

import hashlib
import json
import math
import stat
import struct
from pathlib import Path

import msgspec
import psutil

from gradstudio.document.atomic_write import system_refusal, write_file
from gradstudio.document.errors import BadTensor
from gradstudio.graph.model import StoredTensor

LARGEST_HEADER = 1_000_000
LENGTH_BYTES = 8
ALIGNMENT = 64
_DTYPES = {
    "F64": ("float64", 8),
    "F32": ("float32", 4),
    "F16": ("float16", 2),
    "BF16": ("bfloat16", 2),
    "I64": ("int64", 8),
    "I32": ("int32", 4),
    "I16": ("int16", 2),
    "I8": ("int8", 1),
    "U8": ("uint8", 1),
    "U16": ("uint16", 2),
    "U32": ("uint32", 4),
    "U64": ("uint64", 8),
    "C64": ("complex64", 8),
    "BOOL": ("bool", 1),
}


class _Entry(msgspec.Struct, frozen=True):
    dtype: str
    shape: list[int]
    data_offsets: tuple[int, int]


def stored_tensor(data: bytes, dtype: str, shape: tuple[int, ...], source: str = "") -> StoredTensor:
    """A stored tensor of raw little-endian elements, row by row.

    Args:
        data: the elements.
        dtype: torch's word, such as "float32".
        shape: its sizes.
        source: where the data comes from and under which licence.

    Returns:
        It with its safetensors file: a length, a JSON header padded so that the elements begin at a multiple of
        64 bytes, and these. A script maps the file into memory, and libraries below torch may add up in
        another order where a tensor begins at another place than torch would choose.
    """
    code, width = next((code, width) for code, (name, width) in _DTYPES.items() if name == dtype)
    if len(data) != math.prod(shape) * width:
        raise ValueError(f"{len(data)} bytes are not {dtype} {list(shape)}")
    entry = {"data": {"dtype": code, "shape": list(shape), "data_offsets": [0, len(data)]}}
    head = json.dumps(entry, separators=(",", ":")).encode()
    head += b" " * (-(len(head) + LENGTH_BYTES) % ALIGNMENT)
    packed = struct.pack("<Q", len(head)) + head + data
    return StoredTensor(hashlib.sha256(packed).hexdigest(), dtype, shape, packed, source)


def checked_tensor(digest: str, dtype: str, shape: tuple[int, ...], data: bytes, source: str) -> StoredTensor:
    """The stored tensor, after a look at its hash and at what it says of itself.

    Raises:
        BadTensor: the bytes are not those that were saved, or hold something else.
    """
    if hashlib.sha256(data).hexdigest() != digest:
        raise BadTensor(f"the stored tensor {digest[:12]}… was changed: its contents do not fit its name")
    found_dtype, found_shape = _look(data, len(data), digest)
    if (found_dtype, found_shape) != (dtype, shape):
        raise BadTensor(
            f"the stored tensor {digest[:12]}… is {found_dtype} {list(found_shape)}, "
            f"but the document says {dtype} {list(shape)}"
        )
    return StoredTensor(digest, dtype, shape, data, source)


def named_tensor(digest: str, data: bytes) -> StoredTensor:
    """The stored tensor of a file that is named by its digest, after a look at its hash.

    Raises:
        BadTensor: the bytes are not those that were saved, or hold something else.
    """
    dtype, shape = _look(data, len(data), digest)
    return checked_tensor(digest, dtype, shape, data, "")


def read_beside(folder: Path, digest: str) -> bytes:
    """The bytes of a stored tensor in the folder beside its document; what is no such file is not read.

    Raises:
        BadTensor: the file is not there, may not be read, is no ordinary file of that folder, or is not of the size
            that its first bytes say.
    """
    path = file_of(folder, digest)
    where = f"'{folder.name}/{path.name}'"
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise BadTensor(f"its data {where} is not an ordinary file")
        if path.resolve().parent != folder.resolve():
            raise BadTensor(f"its data {where} is a link that leads out of the folder")
        with path.open("rb") as file:
            head = file.read(min(status.st_size, LENGTH_BYTES + LARGEST_HEADER))
            _look(head, status.st_size, digest)
            _refuse_more_than_memory(status.st_size, where)
            return head + file.read(status.st_size - len(head))
    except FileNotFoundError as error:
        raise BadTensor(
            f"its data is missing: there is no file {where} beside the document. "
            f"Copy the folder '{folder.name}' together with the document"
        ) from error
    except OSError as error:
        raise BadTensor(f"its data {where} cannot be read: {system_refusal(error, path)}") from error


def _refuse_more_than_memory(size: int, where: str) -> None:
    free = psutil.virtual_memory().available
    if size > free:
        raise BadTensor(f"its data {where} has {size / 2**30:,.1f} GiB, and {free / 2**30:,.1f} GiB of memory are free")


def write_beside(folder: Path, tensor: StoredTensor, *, durable: bool = True) -> None:
    """Put the tensor's file into the folder, unless it is there already.

    Raises:
        CannotSave: the system refused.
    """
    path = file_of(folder, tensor.digest)
    if not _is_there(path, tensor.data):
        write_file(path, tensor.data, durable=durable)


def file_of(folder: Path, digest: str) -> Path:
    """Where the tensor of that digest lies in the folder."""
    return folder / f"{digest}.safetensors"


def _is_there(path: Path, data: bytes) -> bool:
    try:
        return path.stat().st_size == len(data) and path.read_bytes() == data
    except OSError:
        return False


def _look(head: bytes, file_bytes: int, digest: str) -> tuple[str, tuple[int, ...]]:
    """The dtype and shape of the one tensor "data" in a safetensors file.

    The package's own reader copies all elements, and its writer begins them at another place than `stored_tensor`.

    Args:
        head: the beginning of the file, or all of it.
        file_bytes: how large the file is.
        digest: names it in what is said.
    """
    name = f"the stored tensor {digest[:12]}…"
    try:
        length = struct.unpack_from("<Q", head)[0]
        if length > LARGEST_HEADER:
            raise BadTensor(f"{name} is not a safetensors file")
        table = msgspec.json.decode(head[LENGTH_BYTES : LENGTH_BYTES + length], type=dict[str, msgspec.Raw])
        entry = msgspec.json.decode(table["data"], type=_Entry)
        dtype, width = _DTYPES[entry.dtype]
    except (struct.error, msgspec.MsgspecError, UnicodeError, KeyError, RecursionError) as error:
        raise BadTensor(f"{name} is not a safetensors file with one tensor 'data'") from error
    size = math.prod(entry.shape) * width
    if min(entry.shape, default=0) < 0 or entry.data_offsets != (0, size) or file_bytes != LENGTH_BYTES + length + size:
        raise BadTensor(f"{name} is damaged: its size does not fit its shape")
    if table.keys() - {"data", "__metadata__"}:
        raise BadTensor(f"{name} holds more than one tensor")
    return dtype, tuple(entry.shape)
