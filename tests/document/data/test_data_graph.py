"""Data in a document: stored tensors that load and are exported as others are, with what normalises them."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from gradstudio.document.data.data_graph import data_graph
from gradstudio.document.data.model import Choice
from gradstudio.document.data.sources import open_data
from gradstudio.document.data.split import prepare
from gradstudio.document.file import load, save
from gradstudio.graph.model import Graph
from gradstudio.graph.text.code_records import CODE

TEXT = "a,b,species\n" + "".join(f"{k * 0.5},{k * 300},{'uvw'[k % 3]}\n" for k in range(20))


def drawn(folder: Path, **changes: object) -> Graph:
    (folder / "flowers.csv").write_text(TEXT)
    source = open_data(folder / "flowers.csv")
    choice: Choice = msgspec.structs.replace(source.proposal(), **changes)
    return data_graph(prepare(source, choice))


def names(graph: Graph) -> list[str]:
    return [name for item in graph.order() if item in graph.nodes for name in graph.nodes[item].names]


def test_tensors_are_named_and_what_they_are_stands_beside_them(tmp_path: Path) -> None:
    graph = drawn(tmp_path)
    assert names(graph) == ["X", "X_val", "y", "y_val"]
    assert {(one.dtype, one.shape, one.source) for one in graph.tensors.values()} == {
        ("float32", (16, 2), "flowers.csv"), ("float32", (4, 2), "flowers.csv"),
        ("int64", (16,), "flowers.csv"), ("int64", (4,), "flowers.csv"),
    }  # fmt: skip
    notes = " ".join(node.note for node in graph.nodes.values())
    assert "Classes: 0 u, 1 v, 2 w." in notes and "16 rows to learn from, 4 to validate" in notes
    assert not any(node.operator == CODE for node in graph.nodes.values())
    assert len(graph.places) >= len(graph.nodes)


def test_a_document_keeps_them_and_what_normalises_them(tmp_path: Path) -> None:
    graph = drawn(tmp_path, normalises=True)
    save(graph, tmp_path / "one.gsg")
    again = load(tmp_path / "one.gsg")
    assert names(again) == ["X_raw", "X_val_raw", "mean", "std", "X", "X_val", "y", "y_val"]
    assert again.tensors == graph.tensors


def test_names_that_are_taken_are_not_taken_again(tmp_path: Path) -> None:
    (tmp_path / "flowers.csv").write_text(TEXT)
    source = open_data(tmp_path / "flowers.csv")
    graph = data_graph(prepare(source, source.proposal()), {"y_val"})
    assert names(graph) == ["X_2", "X_2_val", "y_2", "y_2_val"]


def test_pictures_are_stored_as_bytes_and_scaled_by_the_program(tmp_path: Path) -> None:
    np.savez(tmp_path / "p.npz", images=np.zeros((10, 3, 3), np.uint8), labels=np.arange(10) % 2)
    source = open_data(tmp_path / "p.npz")
    graph = data_graph(prepare(source, source.proposal()))
    assert names(graph) == ["X_raw", "X_val_raw", "X", "X_val", "y", "y_val"]
    assert {one.dtype for one in graph.tensors.values()} == {"uint8", "int64"}


@pytest.mark.parametrize("name", ["'; import os #", "a\nb", "☃" * 300, "x\u2028y", ""])
def test_words_of_a_file_are_never_code(tmp_path: Path, name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    text = f"{quoted},y\n" + "".join(f"{k * 0.5},{quoted if k % 2 else 'other'}\n" for k in range(12))
    (tmp_path / "words.csv").write_text(text)
    source = open_data(tmp_path / "words.csv")
    graph = data_graph(prepare(source, source.proposal()))
    assert {node.operator for node in graph.nodes.values()} == {"python.stored"}
