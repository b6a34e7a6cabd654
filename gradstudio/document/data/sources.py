"""Which files are data, and how one is opened."""

from pathlib import Path

from gradstudio.document.data.model import Progress, Source, Work
from gradstudio.document.errors import BadData
from gradstudio.graph.slices import work_through

TABLES = (".csv", ".tsv")
PARQUETS = (".parquet",)
ARRAYS = (".npy", ".npz")
TEXTS = (".txt",)
GZIP = ".gz"
PACKED = tuple(f"{kind}{GZIP}" for kind in TABLES)
FILES = (*TABLES, *PACKED, *ARRAYS, *TEXTS, *PARQUETS)


def kind_of(path: Path) -> str:
    """What the name of a file ends with, in small letters; of one that is packed both: ``.csv.gz``."""
    suffixes = path.suffixes[-2:] if path.suffix.lower() == GZIP else path.suffixes[-1:]
    return "".join(suffixes).lower()


def open_data(path: Path) -> Source:
    """The data of a file, without a stop.

    Raises:
        BadData: as `data_reading` does.
    """
    return work_through(data_reading(path))


def data_reading(path: Path) -> Work[Source]:
    """The data of a file.

    Raises:
        BadData: it cannot be read; says what, where, and what to do.
    """
    yield Progress("files", 0, 1)
    kind = kind_of(path)
    if kind in ARRAYS:
        from gradstudio.document.data.array_files import Arrays

        return Arrays(path)
    if kind in PARQUETS:
        from gradstudio.document.data.parquet_files import parquet_reading

        return (yield from parquet_reading(path))
    if kind in TEXTS:
        from gradstudio.document.data.table_text import is_table

        if not is_table(path):
            from gradstudio.document.data.character_text import Characters

            return Characters(path)
    if kind in (*TABLES, *PACKED, *TEXTS):
        from gradstudio.document.data.tables import table_reading

        return (yield from table_reading(path))
    raise BadData(f"'{path.name}' is no data that can be read. Choose a file that ends in {', '.join(FILES)}.")
