"""Tables in Parquet, read by pyarrow where it is installed: their cells become those of a table."""

import importlib
import math
from pathlib import Path
from typing import Any, Final

from gradstudio.document.data.model import Progress, Work
from gradstudio.document.data.table_text import MOST_CELLS, Cells
from gradstudio.document.data.tables import FIRST_ROWS, Table, table_of
from gradstudio.document.errors import BadData
from gradstudio.graph.slices import work_through

NOT_INSTALLED: Final = (
    "'{name}' is Parquet, which pyarrow reads, and it is not installed. Install it: pip install pyarrow"
)
ROWS_AT_ONCE: Final = 256


def parquet_reading(path: Path) -> Work[Table]:
    """Read a file; its first rows can be shown before the rest is read.

    Raises:
        BadData: pyarrow is not installed or cannot read it, it is too large, or a column holds no single values.
    """
    try:
        parquet: Any = importlib.import_module("pyarrow.parquet")
        arrow: Any = importlib.import_module("pyarrow")
    except ImportError as error:
        raise BadData(NOT_INSTALLED.format(name=path.name)) from error
    try:
        file = parquet.ParquetFile(path)
        names = tuple(file.schema_arrow.names)
        rows, count = file.metadata.num_rows, len(names)
        nested = [one.name for one in file.schema_arrow if arrow.types.is_nested(one.type)]
        if nested:
            raise BadData(f"'{path.name}' has lists in the column '{nested[0]}'. Save numbers and words only.")
        if not rows or not count:
            raise BadData(f"'{path.name}' has no rows.")
        if rows * count > MOST_CELLS:
            raise BadData(f"'{path.name}' has {rows * count:,} cells, more than {MOST_CELLS:,}. Keep fewer rows.")
        yield Progress("rows", first=work_through(_table(path.name, file, names, min(rows, FIRST_ROWS))))
        return (yield from _table(path.name, file, names, rows))
    except (OSError, arrow.ArrowException) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadData(f"'{path.name}' is not Parquet that can be read: {reason}") from error


def _table(name: str, file: Any, names: tuple[str, ...], most: int) -> Work[Table]:
    rows: list[list[str]] = []
    for batch in file.iter_batches(batch_size=min(most, ROWS_AT_ONCE)):
        columns = [[_text(value) for value in column.to_pylist()] for column in batch.columns]
        rows += map(list, zip(*columns, strict=True))
        yield Progress("rows", len(rows), most)
        if len(rows) >= most:
            break
    cells = Cells(names, rows[:most], list(range(1, len(rows) + 1)))
    return (yield from table_of(name, cells, None, f"{len(rows[:most]):,} rows, {len(names)} columns, Parquet"))


def _text(value: object) -> str:
    """A value as a cell: a missing one is empty, a number is written so that it is the same when it is read."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return repr(value) if isinstance(value, float) else str(value)
