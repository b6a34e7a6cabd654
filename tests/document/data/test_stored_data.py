"""Stored data are looked at as torch reads them: counts, means, first rows, and the import's own warnings."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch
from safetensors.torch import load

from gradstudio.document.data.data_graph import data_graph
from gradstudio.document.data.digits import digits
from gradstudio.document.data.hazards import class_counts, hazards
from gradstudio.document.data.model import Choice, Prepared, Rows
from gradstudio.document.data.sources import open_data
from gradstudio.document.data.split import prepare
from gradstudio.document.data.stored_data import MOST_NUMBERS, MOST_ROWS, DataSummary, look_at, stored_data
from gradstudio.document.stored_tensors import stored_tensor
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.text.record_checks import digest_of
from gradstudio.program.reading.reader import read_script

COLOURS, NEAR = ("red", "green", "blue"), '"near, 1 by"'
TEXT = "length,width,colour,kind\n" + "".join(
    f"{k % 7 + 0.5},{k * 1000},{COLOURS[k % 3]},{NEAR if k < 6 else 'far'}\n" for k in range(100)
)
GAP = "\u00a0"
RNG = np.random.default_rng(0)


def imported(folder: Path, **changes: object) -> Prepared:
    (folder / "flowers.csv").write_text(TEXT)
    source = open_data(folder / "flowers.csv")
    choice: Choice = msgspec.structs.replace(source.proposal(), inputs=("length", "width", "colour"), **changes)
    return prepare(source, choice)


def card(graph: Graph, name: str) -> ItemId:
    return next(node.id for node in graph.nodes.values() if node.names == (name,))


def seen(graph: Graph, name: str) -> DataSummary | None:
    data = stored_data(graph, card(graph, name))
    return look_at(data) if data is not None else None


def summary(graph: Graph, name: str) -> DataSummary:
    found = seen(graph, name)
    assert found is not None
    return found


def as_torch(graph: Graph, name: str) -> torch.Tensor:
    """The tensor as the program's own `load_file` would give it."""
    found: torch.Tensor = load(graph.tensors[digest_of(graph.nodes[card(graph, name)])].data)["data"]
    return found


def prepared(inputs: np.ndarray, target: np.ndarray | None = None, apart: Rows | None = None) -> Prepared:
    return Prepared("made", Rows(inputs, target), apart, (), (), (), ("rows",), False)


def of_tensor(array: np.ndarray, dtype: str, name: str = "data") -> Graph:
    tensor = stored_tensor(array.tobytes(), dtype, array.shape)
    text = (
        "from pathlib import Path\n\nfrom safetensors.torch import load_file\n\nHERE = Path(__file__).parent\n\n"
        f'{name} = load_file(HERE / "a.tensors/{tensor.digest}.safetensors")["data"]\n'
    )
    return read_script(text, lambda _file: tensor).graph


def test_digits_are_ten_classes_of_pictures() -> None:
    graph = data_graph(digits())
    X, y, y_val = (as_torch(graph, name) for name in ("X", "y", "y_val"))
    found = summary(graph, "X")
    assert (found.rows, found.apart, found.sizes) == (1438, 359, (64,))
    assert [count for _, count, _ in found.classes] == torch.bincount(y).tolist()
    assert [count for _, _, count in found.classes] == torch.bincount(y_val).tolist()
    assert [name for name, _, _ in found.classes] == [str(k) for k in range(10)]
    assert found.pictures is not None and found.pictures.target is not None and found.warnings == ()
    assert torch.equal(torch.from_numpy(found.pictures.inputs), (X.reshape(-1, 1, 8, 8) * 255).round().byte())
    assert found.pictures.target.tolist() == y.tolist()
    for name in ("X_val", "y", "y_val"):
        assert stored_data(graph, card(graph, name)) == stored_data(graph, card(graph, "X"))


@pytest.mark.parametrize("normalises", [False, True])
def test_a_table_says_what_its_import_said(tmp_path: Path, normalises: bool) -> None:
    data = imported(tmp_path, normalises=normalises)
    graph = data_graph(data)
    X = as_torch(graph, "X_raw" if normalises else "X")
    found = summary(graph, "X")
    assert found.names == ("length", "width", "colour") and found.classes == class_counts(data)
    assert [one.mean for one in found.columns] == pytest.approx(X.double().mean(dim=0).tolist())
    assert [one.deviation for one in found.columns] == pytest.approx(X.double().std(dim=0).tolist())
    assert found.first is not None and found.first.inputs.tolist() == X[:5].tolist()
    assert found.warnings == hazards(data) and ("Ranges differ" in " ".join(found.warnings)) is not normalises
    assert "order that means nothing" in found.warnings[0] and "unbalanced" in found.warnings[-1]


def test_a_row_in_both_parts_is_told() -> None:
    inputs = RNG.random((40, 2)).astype(np.float32)
    labels = np.arange(40, dtype=np.int64) % 2
    graph = data_graph(prepared(inputs, labels, Rows(inputs[:3], labels[:3])))
    assert "3 rows to validate stand" in summary(graph, "y_val").warnings[0]


def test_of_much_data_a_part_is_looked_at_and_all_classes_are_counted() -> None:
    inputs = RNG.random((30_000, 300), dtype=np.float32)
    labels = np.repeat(np.array([0, 1, 2]), (20_000, 9_000, 1_000))
    found = summary(data_graph(prepared(inputs, labels)), "X")
    assert (found.rows, found.looked_at) == (30_000, MOST_NUMBERS // 300)
    assert found.classes == (("0", 20_000, 0), ("1", 9_000, 0), ("2", 1_000, 0))
    assert found.warnings == (
        "Classes are unbalanced: “0” has 20,000 rows, “2” 1,000. "
        "Weigh the rare ones in the loss, or look at more than accuracy.",
    )
    narrow = summary(data_graph(prepared(np.arange(20_000, dtype=np.float32)[:, None] / 2000)), "X")
    assert narrow.looked_at == MOST_ROWS and narrow.columns[0].mean == pytest.approx(19_999 / 4000, rel=1e-3)


def test_a_text_is_its_characters(tmp_path: Path) -> None:
    (tmp_path / "poem.txt").write_text("a b, c\n" * 40)
    source = open_data(tmp_path / "poem.txt")
    graph = data_graph(prepare(source, source.proposal()))
    characters, later = as_torch(graph, "characters"), as_torch(graph, "characters_val")
    for name in ("characters", "X", "y"):
        found = summary(graph, name)
        assert found.is_text and not found.warnings and (found.rows, found.apart) == (len(characters), len(later))
        assert [count for _, count, _ in found.classes] == torch.bincount(characters).tolist()
        assert {name for name, _, _ in found.classes} == {"a", "b", "c", "comma", "space", "\\n"}


def test_what_is_no_number_is_told() -> None:
    array = RNG.random((20, 2)).astype(np.float32)
    array[3, 1], array[4, 0] = np.nan, np.inf
    assert "2 values are NaN or infinite" in summary(of_tensor(array, "float32"), "data").warnings[0]


@pytest.mark.parametrize(
    ("array", "dtype"),
    [
        (np.zeros((), np.float32), "float32"),
        (np.zeros((4, 2), np.int16), "bfloat16"),
        (np.zeros((4, 2), np.complex64), "complex64"),
        (np.zeros((1, MOST_NUMBERS + 1), np.float32), "float32"),
    ],
)
def test_of_what_is_no_data_nothing_is_said(array: np.ndarray, dtype: str) -> None:
    assert seen(of_tensor(array, dtype), "data") is None


def test_an_empty_tensor_has_no_row() -> None:
    assert summary(of_tensor(np.zeros((0, 3), np.float32), "float32"), "data").warnings == (
        "There is no row to learn from.",
    )
    assert summary(of_tensor(np.zeros(0, np.int64), "int64"), "data").classes == ()


def test_a_numbering_of_the_rows_has_no_classes() -> None:
    assert summary(of_tensor(np.arange(50, dtype=np.int64), "int64"), "data").classes == ()
    of_years = summary(of_tensor(np.repeat(np.array([7, 900]), 20), "int64"), "data").classes
    assert of_years == (("7", 20, 0), ("900", 20, 0))


def test_a_value_that_is_only_called_so_is_no_data() -> None:
    graph = of_tensor(RNG.random((20, 2)).astype(np.float32), "float32", "X")
    text = "import torch\n\ny = torch.zeros(20)\nz = y + 1\n"
    other = read_script(text).graph
    for node in other.nodes.values():
        renamed = msgspec.structs.replace(node, id=ItemId(f"other_{node.id}"))
        graph.nodes[renamed.id] = renamed
    assert seen(graph, "X") is not None
    assert seen(graph, "y") is None and seen(graph, "z") is None


def test_columns_without_names_are_called_by_their_place() -> None:
    inputs = np.stack([RNG.random(50), RNG.random(50) * 0.001, np.ones(50)], axis=1).astype(np.float32)
    found = summary(of_tensor(inputs, "float32"), "data")
    spans = (torch.from_numpy(inputs).amax(0) - torch.from_numpy(inputs).amin(0)).tolist()
    assert found.warnings == (
        f"“[:,{GAP}2]” has one value in all rows to learn from: it says nothing, leave it out.",
        f"Ranges differ by {spans[0] / spans[1]:,.0f} ×: “[:,{GAP}0]” goes over {spans[0]:,.3g}, "
        f"“[:,{GAP}1]” goes over {spans[1]:,.3g}. Normalise them.",
    )
    many = np.repeat(inputs, 5, axis=1)
    assert summary(of_tensor(many, "float32"), "data").warnings == ()
