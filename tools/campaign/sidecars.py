"""What may lie beside a document in place of a stored tensor: other bytes, other sizes, and what is no file.

An input is a line of JSON that says what lies there and what the document says of it, then the bytes of the file.
"""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from random import Random

from gradstudio.document.file import load_with_view
from gradstudio.document.python.python_document import load_python
from tools.campaign import mutations, sources

KINDS = ("file",) * 30 + ("pipe", "device", "folder", "outside", "loop", "sparse", "absent")
DTYPES = ("float32", "int64", "bool", "complex64", "float8", "", "object")
SHAPES: tuple[object, ...] = ([2, 3], [3, 2], [6], [], [-1], [2, 0], [2**62, 2], [0] * 50, ["2"], None, [2.0, 3])
SPARSE_BYTES = 200 * 2**30


def make(generator: Random) -> bytes:
    """An input."""
    data = generator.choice(sources.stored_files())
    if generator.random() < 0.8:
        data = mutations.of_bytes(generator, data, sources.stored_files())
    about = {
        "kind": generator.choice(KINDS),
        "dtype": generator.choice(DTYPES),
        "shape": generator.choice(SHAPES),
        "digest": generator.choice(("own", "own", "own", "other", "../up", "")),
        "as": generator.choice(("gsg", "gsg", "py")),
    }
    return json.dumps(about).encode() + b"\n" + data


def put(data: bytes, folder: Path) -> Callable[[], object]:
    """Lays out a document and its folder; the reader of the document is returned."""
    head, _, content = data.partition(b"\n")
    about = json.loads(head)
    digests = {"own": hashlib.sha256(content).hexdigest(), "other": "0" * 64}
    digest = digests.get(about["digest"], about["digest"])
    beside = folder / "fuzzed.tensors"
    beside.mkdir()
    _lay(about["kind"], beside / f"{digest.replace('/', '_')}.safetensors", content)
    if about["as"] == "py":
        script = folder / "fuzzed.py"
        lines = ("from pathlib import Path", "from safetensors.torch import load_file", "")
        path = f'Path(__file__).parent / "fuzzed.tensors" / "{digest}.safetensors"'
        script.write_text("\n".join((*lines, f'x = load_file({path})["data"]', "")))
        return lambda: load_python(script)
    record = {"digest": digest, "dtype": about["dtype"], "shape": about["shape"]}
    document = json.loads(sources.documents()[0])
    document["tensors"] = [record]
    path_of = folder / "fuzzed.gsg"
    path_of.write_text(json.dumps(document))
    return lambda: load_with_view(path_of)


def _lay(kind: str, path: Path, content: bytes) -> None:
    match kind:
        case "file":
            path.write_bytes(content)
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "folder":
            path.mkdir()
        case "outside":
            target = path.parent.parent / "outside"
            target.write_bytes(content)
            path.symlink_to(target)
        case "loop":
            path.symlink_to(path)
        case "sparse":
            with path.open("wb") as file:
                file.write(content)
                file.truncate(SPARSE_BYTES)
        case _:
            pass
