"""Whichever way undrawn Python arrives, as a picture, a notebook or from the clipboard: nothing of it is executed."""

import json
import struct
import zlib
from pathlib import Path

import pytest

from gradstudio.cli import main
from gradstudio.document import png_embedding
from gradstudio.document.clipboard import from_text, to_text
from gradstudio.graph.edits import apply_all
from gradstudio.graph.external_inputs import external_inputs
from gradstudio.graph.model import Graph
from gradstudio.graph.recipes import fragments
from gradstudio.graph.text.code_records import holds_code
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.program.trust import code_digest

UNREADABLE = 4


@pytest.fixture
def sentinel(tmp_path: Path) -> Path:
    """A file that is there once code was executed."""
    return tmp_path / "executed"


def harm(sentinel: Path) -> str:
    return f"open({str(sentinel)!r}, 'w').write('!')"


@pytest.fixture
def graph(sentinel: Path) -> Graph:
    return read_script(f"import torch\n\nx = torch.ones(2)\n{harm(sentinel)}\ny = x * 2\n", keeps_code=True).graph


def one_pixel() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    parts = [chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(b"\0\0")), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def test_a_picture_that_holds_code_is_only_looked_at(
    graph: Graph, sentinel: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "sent.png"
    picture.write_bytes(png_embedding.embed_graph(one_pixel(), graph))
    assert main(["check", str(picture)]) == 0
    for form in ("script", "module", "notebook"):
        main(["export", str(picture), "--as", form])
    assert not sentinel.exists()
    assert main(["run", str(picture)]) == UNREADABLE
    assert harm(sentinel) in capsys.readouterr().out
    assert not sentinel.exists()
    assert main(["run", "--trust", str(picture)]) == 0
    assert sentinel.exists()


@pytest.mark.parametrize("suffix", [".svg", ".png", ".html"])
def test_a_picture_of_code_is_drawn_without_running_it(
    graph: Graph, sentinel: Path, tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "sent.png"
    picture.write_bytes(png_embedding.embed_graph(one_pixel(), graph))
    main(["render", str(picture), "-o", str(tmp_path / f"drawn{suffix}")])
    assert not sentinel.exists()


def test_a_notebook_is_no_document_and_nothing_of_it_runs(
    sentinel: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = {"cell_type": "code", "source": [harm(sentinel)], "metadata": {}, "outputs": [], "execution_count": None}
    content = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    for name in ("sent.ipynb", "sent.py", "sent.gsg"):
        path = tmp_path / name
        path.write_text(json.dumps(content))
        for words in (["check"], ["run"], ["export"], ["render", "-o", str(tmp_path / "drawn.svg")]):
            main([words[0], str(path), *words[1:]])
    assert not sentinel.exists()


def test_what_is_pasted_needs_the_yes_to_it(graph: Graph, sentinel: Path) -> None:
    """A yes to the document as it was is none to what was pasted into it."""
    copied = to_text(fragments.copy_items(graph, [*graph.nodes]), external_inputs(graph, [*graph.nodes]))
    found = from_text(copied)
    assert holds_code(found.graph)
    for here in (
        read_script("import torch\nz = torch.ones(3)\n").graph,
        read_script("t = [*'ab']\n", keeps_code=True).graph,
    ):
        before = code_digest(compile_graph(here))
        edits, _ = fragments.paste(here, found.graph, outer=found.outer)
        apply_all(here, edits)
        program = compile_graph(here)
        assert harm(sentinel) in [one.text for one in program.codes]
        assert code_digest(program) != before
    assert not sentinel.exists()


def test_python_that_is_pasted_and_not_drawn_needs_the_yes_to_it(sentinel: Path) -> None:
    for text in (harm(sentinel), f"```python\n{harm(sentinel)}\n```", f">>> {harm(sentinel)}\n'!'"):
        for here in (None, read_script("import torch\nz = torch.ones(3)\n").graph):
            program = compile_graph(from_text(text, here).graph)
            assert [one.text for one in program.codes] == [harm(sentinel)]
    assert not sentinel.exists()
