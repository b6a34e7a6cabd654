"""Sound inputs to begin from: the examples as documents and texts, and what a canvas may copy."""

import struct
import zlib
from functools import cache

from gradstudio import paths
from gradstudio.document.clipboard import to_text
from gradstudio.document.file import load
from gradstudio.document.png_embedding import embed_graph
from gradstudio.document.stored_tensors import stored_tensor
from gradstudio.graph.model import Graph
from gradstudio.operators.catalogue.loader import load as load_catalogue
from gradstudio.operators.model import Parameter
from gradstudio.program.write import write_script

LARGEST = 60_000
"""Characters of a text to begin from: longer ones take the time of many cases."""
LITERALS = (
    *("1", "-2.5", "1e-3", "True", "None", "[[1.0, 2.0], [3.0, 4.0]]", "(2, 3)", '"mean"', "torch.float32", "cpu"),
    *("1 + 2 * 3", "-(1 / 3)", "2 ** 10", "float('inf')", "math.pi", "3j", "1:, None, ...", "0:10:2", "{'a': 1}"),
    *("torch.tensor([1, 2])", "[0] * 4", "range(3)", "'a' 'b'", "1_000", "0xff", "b'a'", "f'{1}'", "lambda: 0", "x"),
)


@cache
def graphs() -> tuple[Graph, ...]:
    """The examples, in the order of their names."""
    return tuple(load(path) for path in sorted(paths.examples().glob("*.gsg")))


@cache
def documents() -> tuple[str, ...]:
    """The texts of the examples that have nothing beside them."""
    found = (path.read_text(encoding="utf-8") for path in sorted(paths.examples().glob("*.gsg")))
    return tuple(text for text in found if len(text) < LARGEST and '"tensors"' not in text)


@cache
def texts() -> tuple[str, ...]:
    """The examples as Python."""
    return tuple(text for text in map(write_script, graphs()) if len(text) < LARGEST)


@cache
def fragments() -> tuple[str, ...]:
    """What the clipboard may hold: parts of programs, and lines of Python in the ways in which they are copied."""
    parts = [text for text in map(to_text, graphs()) if len(text) < LARGEST]
    prompts = ["\n".join(f">>> {line}" for line in text.splitlines() if line) for text in texts()]
    return (*parts, *texts(), *prompts, "```python\nx = torch.ones(2)\n```", "In [1]: x = torch.ones(2)\n")


@cache
def parameters() -> tuple[Parameter, ...]:
    """A parameter of every kind and constraint that the catalogue has."""
    found: dict[tuple[object, ...], Parameter] = {}
    for operator in load_catalogue():
        for one in operator.parameters:
            found.setdefault((one.kind, one.nullable, one.variadic, one.element, bool(one.choices)), one)
    return tuple(found.values())


@cache
def pictures() -> tuple[bytes, ...]:
    """Pictures of one pixel with a document in each."""
    head = _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    bare = b"\x89PNG\r\n\x1a\n" + head + _chunk(b"IDAT", zlib.compress(b"\0\0")) + _chunk(b"IEND", b"")
    return tuple(embed_graph(bare, graph) for graph in graphs()[:5])


@cache
def stored_files() -> tuple[bytes, ...]:
    """Files of stored tensors, two dozen bytes long."""
    kinds = (("float32", 4), ("int64", 8), ("bool", 1), ("complex64", 8))
    return tuple(stored_tensor(bytes(6 * width), dtype, (2, 3)).data for dtype, width in kinds)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
