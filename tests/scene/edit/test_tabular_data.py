"""Numbers of a text or a file become a node: a literal where they are few, else a stored tensor."""

from pathlib import Path

import numpy as np
import pytest

from gradstudio.graph.edits import apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import ROOT, Graph
from gradstudio.scene.edit.tabular_data import Data, add_tensor, is_data, is_data_set, read_file, read_text


@pytest.mark.parametrize("text", ["1 2 3", "[[1, 2], [3, 4]]", "a,b\n1,2\n3,4", "array([1.0, nan])", "1\t2\n3\t4"])
def test_numbers_are_recognised(text: str) -> None:
    assert is_data(text)


@pytest.mark.parametrize("text", ["", "5", "x = 3", "hello, world"])
def test_other_texts_are_no_numbers(text: str) -> None:
    assert not is_data(text)


def test_a_header_row_is_left_out_and_that_is_said() -> None:
    assert read_text("a,b\n1,2\n3,4") == Data("[[1, 2], [3, 4]]", said="without its header row")


def test_rows_of_different_lengths_are_refused() -> None:
    with pytest.raises(Refused):
        read_text("[[1, 2], [3]]")


def test_few_numbers_are_a_literal_and_many_are_stored() -> None:
    graph = Graph()
    edits, item = add_tensor(graph, read_text("1 2 3"), 0, 0, ROOT)
    apply_all(graph, edits)
    assert graph.nodes[item].literals["data"] == "[1, 2, 3]"
    edits, item = add_tensor(graph, Data(array=np.arange(6, dtype=np.float32).reshape(2, 3)), 0, 0, ROOT)
    apply_all(graph, edits)
    (tensor,) = graph.tensors.values()
    assert (tensor.dtype, tensor.shape) == ("float32", (2, 3))
    assert tensor.digest in graph.nodes[item].literals["digest"]


def test_arrays_and_tables_are_read_from_files(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("1,2\n3,4\n")
    assert read_file(tmp_path / "table.csv") == (("table", Data("[[1, 2], [3, 4]]")),)
    np.save(tmp_path / "one.npy", np.ones(3))
    ((name, data),) = read_file(tmp_path / "one.npy")
    assert name == "one" and data.array is not None and data.array.tolist() == [1, 1, 1]
    np.savez(tmp_path / "two.npz", a=np.ones(2), b=np.zeros(2))
    assert [name for name, _ in read_file(tmp_path / "two.npz")] == ["a", "b"]
    (tmp_path / "bad.npy").write_bytes(b"no array")
    with pytest.raises(Refused, match="cannot be read as numbers"):
        read_file(tmp_path / "bad.npy")


@pytest.mark.parametrize(
    ("name", "text", "is_set"),
    [
        ("matrix.csv", "1,2\n3,4\n", False),
        ("rows.csv", "1,2\n" * 20, True),
        ("words.csv", "a,b\n1,red\n", True),
        ("one.npy", "", False),
        ("several.npz", "", True),
    ],
)
def test_rows_to_learn_from_are_told_from_a_matrix(tmp_path: Path, name: str, text: str, is_set: bool) -> None:
    (tmp_path / name).write_text(text)
    assert is_data_set(tmp_path / name) == is_set
