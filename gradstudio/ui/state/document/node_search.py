"""Finding nodes by what is written on them and what they computed. No Qt here."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Protocol

from gradstudio.graph.model import Block, Graph, ItemId, Node
from gradstudio.graph.text.item_titles import title
from gradstudio.graph.text.notes import note_of
from gradstudio.operators.catalogue.loader import load
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.protocol.messages.records import ArrayRecord, PlainRecord, Record, TensorRecord, TupleRecord

SHAPE: Final = re.compile(r"[\[(]\s*(\d+(?:\s*,\s*\d+)*)?\s*,?\s*[\])]|(\d+(?:\s*[x×]\s*\d+)+)", re.IGNORECASE)
BARE: Final = re.compile(r"\s*\d+(?:\s*,\s*\d+)+\s*,?\s*")
"""Sizes without brackets, when nothing else is asked for."""
NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?", re.IGNORECASE)
Problems = Callable[[ItemId], Iterable[tuple[str, str]]]
"""Severity and words of what is wrong with an item."""


class RunValues(Protocol):
    """What is asked of a run."""

    def outputs(self, node: ItemId, /) -> tuple[Record, ...] | None:
        """Records of its results."""

    def inference(self, node: ItemId, output: int = 0, /) -> PortInference | None:
        """What is expected of an output."""


def find_nodes(
    graph: Graph, computed: RunValues, query: str, problems: Problems = lambda item: ()
) -> tuple[ItemId, ...]:
    """The items, in program order, that every word of a query is about; none for an empty query.

    A word is a part of a name, operator, note, literal, dtype or of torch's words about an error; a number that
    was written or computed, or how it begins; a shape ("2x3", "[2, 3]", "2, 3"); "nan", "inf", "error", "warning",
    "muted", "bypassed"; or a whole id.
    """
    words = _words(query)
    if not words:
        return ()
    return tuple(item for item in graph.order() if _Seen(graph, computed, item, problems).has_all(words))


def _words(query: str) -> list[str]:
    """Words, shapes kept whole."""
    if BARE.fullmatch(query):
        return [f"[{query.strip().rstrip(',')}]"]
    shapes = [match.group(0) for match in SHAPE.finditer(query) if match.group(0)]
    return [*SHAPE.sub(" ", query).casefold().split(), *shapes]


class _Seen:
    """All that is to be read about one item."""

    def __init__(self, graph: Graph, computed: RunValues, item: ItemId, problems: Problems) -> None:
        self._item, self._owner = item, graph.nodes.get(item) or graph.blocks[item]
        self._records = list(_flat(computed.outputs(item) or ()))
        self._inferred = computed.inference(item) if not self._records else None
        self._problems = tuple(problems(item))
        self._text = "\n".join((title(graph, item), *self._texts())).casefold()

    def has_all(self, words: Iterable[str]) -> bool:
        return all(self._has(word) for word in words)

    def _has(self, word: str) -> bool:
        if SHAPE.fullmatch(word):
            wanted = tuple(int(figure) for figure in re.findall(r"\d+", word))
            return wanted in self._shapes()
        return word == self._item.casefold() or self._has_number(word) or self._reads(word)

    def _reads(self, word: str) -> bool:
        """Text anywhere; a bare number is no part of a longer one."""
        if NUMBER.fullmatch(word) is None:
            return word in self._text
        return re.search(rf"(?<![\d.]){re.escape(word)}(?![\d.])", self._text) is not None

    def _texts(self) -> Iterator[str]:
        owner = self._owner
        yield from owner.literals.values()
        yield note_of(owner)
        if isinstance(owner, Node):
            operator = load().get(owner.operator)
            yield from (*owner.names, owner.operator, operator.title if operator is not None else "")
            yield "bypassed" if owner.bypassed else ""
        elif isinstance(owner, Block):
            yield from (owner.kind, owner.title, owner.variable, *owner.carried)
        yield "muted" if owner.muted else ""
        yield from (f"torch.{dtype.removeprefix('torch.')}" for dtype in self._dtypes())
        yield from (f"{severity}\n{words}" for severity, words in self._problems)
        yield from _odd(self._records)

    def _shapes(self) -> set[tuple[int, ...]]:
        shapes = {record.summary.whole_shape for record in self._records if isinstance(record, TensorRecord)}
        shapes |= {record.shape for record in self._records if isinstance(record, ArrayRecord)}
        if self._inferred is not None and self._inferred.shape is not None:
            shapes.add(self._inferred.shape)
        return shapes

    def _dtypes(self) -> Iterator[str]:
        for record in self._records:
            if isinstance(record, TensorRecord):
                yield record.summary.dtype
            elif isinstance(record, ArrayRecord):
                yield record.dtype
        if self._inferred is not None and self._inferred.dtype:
            yield self._inferred.dtype

    def _has_number(self, word: str) -> bool:
        """Whether such a number was computed, of either sign where none is typed."""
        if NUMBER.fullmatch(word) is None:
            return False
        numbers = (value for record in self._records for value in _numbers(record))
        return any(_is_shown_as(word, value if word[0] in "+-" else abs(value)) for value in numbers)


def _is_shown_as(word: str, value: float) -> bool:
    """Whether a number is the typed one, is that when rounded to its decimals, or begins with it."""
    wanted, decimals = float(word), len(word.partition(".")[2])
    if value == wanted or (bool(decimals) and round(value, decimals) == wanted):
        return True
    return bool(decimals) and f"{value:.{decimals + 3}f}".startswith(word.removeprefix("+"))


def _flat(records: Iterable[Record]) -> Iterator[Record]:
    for record in records:
        if isinstance(record, TupleRecord):
            yield from _flat(record.items)
        else:
            yield record


def _odd(records: Iterable[Record]) -> Iterator[str]:
    """Words for what is not finite."""
    for record in records:
        if isinstance(record, TensorRecord):
            for one in filter(None, (record.summary, record.grad)):
                yield "nan" if one.nan else ""
                yield "inf" if one.posinf or one.neginf else ""


def _numbers(record: Record) -> Iterator[float]:
    if isinstance(record, TensorRecord):
        summary = record.summary
        yield from _leaves((summary.value, summary.minimum, summary.maximum, summary.mean))
    elif isinstance(record, PlainRecord | ArrayRecord):
        yield from _leaves(record.value)


def _leaves(nested: object) -> Iterator[float]:
    if isinstance(nested, list | tuple):
        for inner in nested:
            yield from _leaves(inner)
    elif isinstance(nested, int | float) and not isinstance(nested, bool):
        yield float(nested)
