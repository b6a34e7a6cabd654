"""Tables in Parquet: the rows that pyarrow wrote, and what is said where it is not there."""

import datetime
import sys
from pathlib import Path

import msgspec
import pytest

from gradstudio.document.data.sources import data_reading, open_data
from gradstudio.document.data.split import prepare
from gradstudio.document.data.tables import FIRST_ROWS
from gradstudio.document.data.work import until_first
from gradstudio.document.errors import BadData


def test_without_pyarrow_the_line_that_installs_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises(BadData, match="pip install pyarrow"):
        open_data(tmp_path / "a.parquet")


def written(folder: Path, **columns: object) -> Path:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table(columns), folder / "a.parquet")
    return folder / "a.parquet"


def test_columns_are_those_of_the_file(tmp_path: Path) -> None:
    count = 3 * FIRST_ROWS
    values = [k / 3 for k in range(count)]
    path = written(
        tmp_path, a=values, b=[None if k == 7 else k % 5 for k in range(count)], on=[k % 2 == 0 for k in range(count)],
        day=[datetime.date(2020, 1, 1 + k % 3) for k in range(count)], kind=["xyz"[k % 3] for k in range(count)],
    )  # fmt: skip
    first, rest = until_first(data_reading(path))
    assert rest is not None and f"{FIRST_ROWS} rows" in first.description
    source = open_data(path)
    assert source.description == f"{count} rows, 5 columns, Parquet"
    assert [one.kind for one in source.fields] == ["numbers", "numbers", "2 classes", "3 classes", "3 classes"]
    data = prepare(source, msgspec.structs.replace(source.proposal(), inputs=("a", "b"), target="kind", validation=0.0))
    assert data.classes == ("x", "y", "z") and len(data.train.inputs) == count - 1
    kept = [value for k, value in enumerate(values) if k != 7]
    assert data.train.inputs[:, 0].tolist() == pytest.approx(kept, rel=1e-7)


def test_lists_and_what_is_no_parquet_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="has lists in the column 'a'"):
        open_data(written(tmp_path, a=[[1, 2], [3]]))
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and more")
    with pytest.raises(BadData, match="is not Parquet that can be read"):
        open_data(tmp_path / "bad.parquet")
