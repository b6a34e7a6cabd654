"""The catalogue: every operator that a node can be, read from data. No torch here."""

from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gradstudio import paths
from gradstudio.operators.catalogue import block_rows, out_variants
from gradstudio.operators.errors import BrokenCatalogue, UnknownOperator
from gradstudio.operators.model import Operator

if TYPE_CHECKING:
    from gradstudio.operators.search.search_index import SearchIndex


class CatalogueFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of `resources/catalogue`, as `tools/generate_catalogue.py` writes it.

    Attributes:
        torch_version: of the torch the signatures were read from.
        categories: in the order the library shows them.
    """

    format: int
    torch_version: str
    categories: tuple[str, ...]
    operators: tuple[Operator, ...]


class Catalogue:
    """All operators by key, in the order the library shows them."""

    def __init__(
        self, operators: Iterable[Operator], categories: tuple[str, ...] = (), torch_version: str = ""
    ) -> None:
        """Hold the rows; of two rows with one key the later wins."""
        self._rows = {operator.key: operator for operator in operators}
        self.torch_version = torch_version
        self.categories = categories or tuple(dict.fromkeys(row.category for row in self))

    def get(self, key: str) -> Operator | None:
        """The row of that key, or None."""
        return self._rows.get(key) or self._filling.get(key)

    def entry(self, key: str) -> Operator | None:
        """What a person finds under that key: an operator or a block; None for neither."""
        return self.get(key) or block_rows.BY_KEY.get(key)

    def __getitem__(self, key: str) -> Operator:
        """The row of that key.

        Raises:
            UnknownOperator: there is none; the message offers the nearest.
        """
        row = self.get(key)
        if row is None:
            raise UnknownOperator(self._unknown(key))
        return row

    def __contains__(self, key: object) -> bool:
        return key in self._rows or key in self._filling

    def __iter__(self) -> Iterator[Operator]:
        return iter(self._rows.values())

    def __len__(self) -> int:
        return len(self._rows)

    def overloads(self, path: str, *, filling: bool = False) -> tuple[Operator, ...]:
        """Every row that is printed with this Python path (`torch.max`, `torch.max:dim`, ...).

        Args:
            path: the Python path.
            filling: those that write into ``out`` too, behind the others; they are in no list of all rows.
        """
        rows = tuple(self._rows[key] for key in self._paths.get(path, ()))
        return rows + tuple(self._filling[out_variants.key_of(row.key)] for row in rows if filling and row.fills)

    def search(self, query: str, *, limit: int = 50) -> tuple[Operator, ...]:
        """The rows that fit the query, best first, blocks among them; every row in order when it is empty."""
        return self.index.search(query, limit=limit)

    @property
    def has_index(self) -> bool:
        """Whether the index is built already."""
        return "index" in self.__dict__

    def index_slices(self) -> Iterator[None]:
        """Build the index a slice at a time; who asks for it before the last slice has it built at once."""
        from gradstudio.operators.search import synonyms
        from gradstudio.operators.search.search_index import SearchIndex

        made = yield from SearchIndex.in_slices((*self._rows.values(), *block_rows.ROWS), synonyms.load())
        self.__dict__.setdefault("index", made)

    @cached_property
    def index(self) -> "SearchIndex":
        """What finds operators by what people type; built when it is first asked for."""
        from gradstudio.operators.search import synonyms
        from gradstudio.operators.search.search_index import SearchIndex

        return SearchIndex((*self._rows.values(), *block_rows.ROWS), synonyms.load())

    @cached_property
    def _filling(self) -> dict[str, Operator]:
        return {row.key: row for row in map(out_variants.out_row, filter(lambda row: row.fills, self))}

    @cached_property
    def _paths(self) -> dict[str, list[str]]:
        keys: dict[str, list[str]] = {}
        for row in self:
            keys.setdefault(row.path, []).append(row.key)
        return keys

    def _unknown(self, key: str) -> str:
        from difflib import get_close_matches

        near = get_close_matches(key[:200], self._rows, n=1, cutoff=0.6)
        hint = f" Did you mean '{near[0]}'?" if near else " Search the library by a word of what it does."
        return f"The catalogue has no operator '{key[:200]}'.{hint}"


@cache
def load() -> Catalogue:
    """The catalogue that travels with the program; read once.

    Raises:
        BrokenCatalogue: its files are missing or damaged.
    """
    return read(paths.resources() / "catalogue")


def read(folder: Path) -> Catalogue:
    """The catalogue of all files in a folder.

    Raises:
        BrokenCatalogue: there is none, or one is damaged.
    """
    files = [_read_file(path) for path in sorted(folder.glob("*.json"))]
    if not files:
        raise BrokenCatalogue(f"No catalogue of operators in {folder}: the installation is incomplete.")
    categories = tuple(dict.fromkeys(name for file in files for name in file.categories))
    return Catalogue((row for file in files for row in file.operators), categories, files[0].torch_version)


def _read_file(path: Path) -> CatalogueFile:
    try:
        return msgspec.json.decode(path.read_bytes(), type=CatalogueFile)
    except (OSError, msgspec.MsgspecError) as error:
        raise BrokenCatalogue(f"The catalogue {path.name} cannot be read: {error}") from error
