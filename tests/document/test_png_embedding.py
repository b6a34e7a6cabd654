"""The graph that travels in its picture comes back whole; pictures without one are refused in words."""

import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstudio.document import file
from gradstudio.document.errors import UnreadableFile
from gradstudio.document.file import View
from gradstudio.document.png_embedding import embed_graph, load_picture

EXAMPLES = Path(__file__).parents[2] / "examples"


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


DOT = (
    b"\x89PNG\r\n\x1a\n"
    + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    + chunk(b"IDAT", zlib.compress(b"\x00\x00"))
    + chunk(b"IEND", b"")
)
"""One grey pixel."""


@pytest.mark.feature(79)
@pytest.mark.parametrize("name", ["08_attention_head.gsg", "07_digits_perceptron.gsg"])
def test_the_whole_document_comes_back_with_its_tensors_and_its_view(tmp_path: Path, name: str) -> None:
    graph, _ = file.load_with_view(EXAMPLES / name)
    view = View(0.5, 10.0, 20.0)
    path = tmp_path / "picture.png"
    path.write_bytes(embed_graph(DOT, graph, view))
    again, seen = load_picture(path)
    assert file.dumps(again, seen) == file.dumps(graph, view)
    assert again.tensors == graph.tensors


def test_a_newer_graph_takes_the_place_of_the_older(tmp_path: Path) -> None:
    one, other = (file.load(EXAMPLES / name) for name in ("01_square_polynomial.gsg", "02_two_paths.gsg"))
    path = tmp_path / "picture.png"
    path.write_bytes(embed_graph(embed_graph(DOT, one), other))
    assert load_picture(path)[0].nodes == other.nodes
    assert path.read_bytes().count(b"gradstudio-graph") == 1


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (DOT, "there is no graph in this picture"),
        (b"GIF89a", "no whole PNG"),
        (DOT[:-6], "cut off"),
        (embed_graph(DOT, file.load(EXAMPLES / "02_two_paths.gsg")).replace(b"x\xda", b"x\xdb", 1), "damaged"),
    ],
)
def test_what_holds_no_graph_is_refused_in_words(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(data)
    with pytest.raises(UnreadableFile, match=words):
        load_picture(path)


@given(st.data())
def test_a_damaged_picture_is_read_or_refused_but_breaks_nothing(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = bytearray(embed_graph(DOT, file.load(EXAMPLES / "02_two_paths.gsg")))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damaged") / "picture.png"
    path.write_bytes(bytes(whole))
    try:
        graph, _ = load_picture(path)
    except UnreadableFile:
        return
    assert graph.nodes is not None
