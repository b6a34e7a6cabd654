"""What is read, from what it is made, and what must hold of whatever was read.

An input is bytes, so that every one of them can be kept as a file and read again. A reader either refuses in words of
ours, or gives something that can be written, printed and read again.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

from gradstudio.document.clipboard import from_text, to_text
from gradstudio.document.file import View, dumps, load_with_view, loads
from gradstudio.document.journal import recoverable
from gradstudio.document.png_embedding import load_picture
from gradstudio.document.python.python_document import load_python
from gradstudio.graph.model import Graph
from gradstudio.operators.errors import LiteralError
from gradstudio.operators.literals.parser import family_of, parse, parse_any
from gradstudio.program.compile import compile_graph
from tools.campaign import frames, mutations, sidecars, sources
from tools.campaign.far import frames as far_frames
from tools.campaign.far import porters, ranks
from tools.campaign.watch import Wrong

Look = Callable[[], object]
"""Reads what was laid out, while the watch looks on."""


class Fuzzer(NamedTuple):
    """One kind of input.

    Attributes:
        make: an input.
        put: lays an input out in an empty folder, and says how it is read there.
        is_forked: whether it is read in a process of its own.
    """

    make: Callable[[Random], bytes]
    put: Callable[[bytes, Path], Look]
    is_forked: bool = False


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _document(generator: Random) -> bytes:
    text = generator.choice(sources.documents())
    match generator.randrange(10):
        case 0 | 1:
            return mutations.of_bytes(generator, _encoded(text), [_encoded(one) for one in sources.documents()])
        case 2:
            return _encoded(mutations.of_text(generator, text, sources.documents()))
        case _:
            return _encoded(mutations.of_json(generator, text))


def _text(generator: Random) -> bytes:
    text = generator.choice(sources.texts())
    if generator.random() < 0.1:
        return mutations.of_bytes(generator, _encoded(text), [_encoded(one) for one in sources.texts()])
    return _encoded(mutations.of_text(generator, text, sources.texts()))


def _literal(generator: Random) -> bytes:
    kind = generator.randrange(len(sources.parameters()))
    text = mutations.of_text(generator, generator.choice(sources.LITERALS), sources.LITERALS)
    return f"{kind}\n".encode() + _encoded(text)


def _clipboard(generator: Random) -> bytes:
    text = generator.choice(sources.fragments())
    if text.startswith("{") and generator.random() < 0.7:
        return _encoded(mutations.of_json(generator, text))
    return _encoded(mutations.of_text(generator, text, sources.fragments()))


def _picture(generator: Random) -> bytes:
    return mutations.of_bytes(generator, generator.choice(sources.pictures()), sources.pictures())


def _journal(generator: Random) -> bytes:
    document = generator.choice(sources.documents()).encode()
    about = b'{"format": "gradstudio-recovery", "version": 1, "pid": 1, "document": null, "written": 1.0}\n'
    return mutations.of_bytes(generator, about + document, [document, about])


def _check(graph: Graph) -> None:
    """Writes and prints what was read, and reads what was written.

    Raises:
        Wrong: it comes back as another.
    """
    written = dumps(graph)
    compile_graph(graph)
    if graph.tensors:
        return
    if dumps(loads(written)) != written:
        raise Wrong("what was read, written and read again is written differently")


def _put_document(data: bytes, folder: Path) -> Look:
    path = folder / "fuzzed.gsg"
    path.write_bytes(data)
    return lambda: _check(load_with_view(path)[0])


def _put_text(data: bytes, folder: Path) -> Look:
    path = folder / "fuzzed.py"
    path.write_bytes(data)
    return lambda: _check(load_python(path).graph)


def _put_picture(data: bytes, folder: Path) -> Look:
    path = folder / "fuzzed.png"
    path.write_bytes(data)
    return lambda: _check(load_picture(path)[0])


def _put_literal(data: bytes, folder: Path) -> Look:
    kind, _, text = data.decode("utf-8", "surrogatepass").partition("\n")
    parameter = sources.parameters()[int(kind) % len(sources.parameters())]

    def look() -> None:
        family_of(text)
        for read in (lambda written: parse(written, parameter), parse_any):
            try:
                first = read(text)
            except LiteralError:
                continue
            if read(first) != first:
                raise Wrong(f"the normal form {first[:100]!r} is read as {read(first)[:100]!r}")

    return look


def _put_clipboard(data: bytes, folder: Path) -> Look:
    text = data.decode("utf-8", "surrogatepass")
    canvas = sources.graphs()[0]

    def look() -> None:
        part = from_text(text, canvas)
        to_text(part.graph)
        compile_graph(part.graph)

    return look


def _put_journal(data: bytes, folder: Path) -> Look:
    (folder / "fuzzed.recovery").write_bytes(data)

    def look() -> None:
        for left in recoverable(folder):
            graph, view = left.load()
            assert isinstance(view, View)
            _check(graph)

    return look


FUZZERS = {
    "files": Fuzzer(_document, _put_document),
    "texts": Fuzzer(_text, _put_text),
    "literals": Fuzzer(_literal, _put_literal),
    "clipboard": Fuzzer(_clipboard, _put_clipboard),
    "pictures": Fuzzer(_picture, _put_picture),
    "journals": Fuzzer(_journal, _put_journal),
    "sidecars": Fuzzer(sidecars.make, sidecars.put),
    "requests": Fuzzer(frames.make_requests, frames.put_requests),
    "events": Fuzzer(frames.make_events, frames.put_events),
    "far-ends": Fuzzer(far_frames.make_far, far_frames.put_far),
    "ranks": Fuzzer(ranks.make, ranks.put),
}
if sys.platform == "linux":  # porters are forked, and their end is waited for
    FUZZERS["porters"] = Fuzzer(porters.make, porters.put, is_forked=True)


def clear(folder: Path) -> None:
    """Empties the folder of what a case laid out there."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink()
