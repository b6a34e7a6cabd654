"""What the quick search lists for what was typed: conditions, suggestions, what is at hand. No Qt."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Final

from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Face, Operator
from gradstudio.operators.search import filters
from gradstudio.operators.search.filters import Typed
from gradstudio.operators.search.fitting_literals import Shape
from gradstudio.operators.search.search_index import Find
from gradstudio.operators.search.tensor_takers import refuses, takes_tensor

LIMIT: Final = 40
RECENT_SHOWN: Final = 5
AT_ONCE: Final = 10
"""Rows that are seen at once, or nearly: what stands behind them is not moved among them, nor out of them."""
WANTED_FIRST: Final = (
    "operator.add", "operator.mul", "operator.matmul", "operator.sub", "operator.truediv", "operator.pow",
    "torch.Tensor.sum", "torch.Tensor.mean", "torch.relu", "torch.nn.functional.relu", "torch.sigmoid", "torch.tanh",
    "torch.exp", "torch.softmax", "torch.nn.functional.softmax", "torch.nn.functional.mse_loss",
    "torch.nn.functional.cross_entropy", "torch.Tensor.backward", "torch.nn.Linear", "torch.Tensor.reshape",
    "torch.Tensor.T", "operator.getitem", "torch.Tensor.detach", "torch.Tensor.to", "torch.Tensor.grad",
)  # fmt: skip
"""What one usually wants at the end of a wire, before anything was typed."""
STARTED_WITH: Final = ("torch.tensor", "torch.randn", "torch.zeros", "torch.ones", "torch.arange", "python.literal")
"""What one usually wants where no wire waits."""
GRAMMAR: Final = "in:tensor  out:bool  cat:loss narrow the list; -cat: leaves out"
Fits = Callable[[Operator], bool]


@dataclass(frozen=True)
class Wanted:
    """What a search is for.

    Attributes:
        fits: leaves out what cannot stand there; None: everything can.
        likely: leaves out what can stand there and is not meant, while nothing is typed.
        usual: keys of what usually stands there; none: what usually stands at the end of a wire.
        first: keys of suggestions, shown before anything else while nothing is typed.
        why: what is said of a suggestion.
        title: what stands in the field while nothing is typed.
        costs: what is lost when an operator is chosen by its key, in a few words; "" for nothing.
        own: groups of the document and published ones; those that the words name come first.
        for_tensor: what was found for a tensor: what takes one first, and accepts its shape, comes before its equals.
        shape: the tensor's; None: nobody knows.
        waits: something waits for the choice, whose place is known: it need not be carried there.
    """

    fits: Fits | None = None
    first: tuple[str, ...] = ()
    why: str = ""
    title: str = ""
    waits: bool = field(default=False)
    own: tuple[Operator, ...] = ()
    likely: Fits | None = None
    for_tensor: bool = False
    shape: Shape | None = None
    usual: tuple[str, ...] = ()
    costs: Callable[[str], str] = lambda _key: ""


def suggestions_for(
    wanted: Wanted, typed: Typed, recent: tuple[str, ...], favourites: tuple[str, ...]
) -> tuple[Find, ...]:
    """The rows for what was typed, at most `LIMIT`."""
    rows: Iterable[Find]
    if typed.text:
        narrow = wanted.fits is not None or bool(typed.filters)
        limit = len(load()) if narrow else LIMIT
        rows = load().index.find(typed.text, limit=limit, preferred={*recent, *favourites, *wanted.first})
        rows = sorted(rows, key=lambda find: not _is_meant(wanted, typed, find.operator))
    else:
        rows = _at_hand(wanted, typed, recent, favourites)
    rows = chain(_own(wanted, typed), rows)
    found = tuple(islice((find for find in rows if fits(wanted, typed, find.operator)), LIMIT))
    return _takers_first(wanted, typed.text.lower(), found) if wanted.for_tensor and typed.text else found


def _takers_first(wanted: Wanted, word: str, found: tuple[Find, ...]) -> tuple[Find, ...]:
    """What begins with the word, of the best rows, in the order of how it suits the tensor; others keep their place."""
    rows = list(found)
    places = [k for k, find in enumerate(found[:AT_ONCE]) if find.operator.title.lower().startswith(word)]
    suiting = sorted((found[k] for k in places), key=lambda find: _misfit(wanted, word, find.operator))
    for k, find in zip(places, suiting, strict=True):
        rows[k] = find
    return tuple(rows)


def _misfit(wanted: Wanted, word: str, operator: Operator) -> int:
    """How little an operator suits the tensor; what was typed in full does, unless it refuses the shape."""
    if operator.face is Face.GROUP:
        return 0
    if wanted.shape is not None and refuses(operator, wanted.shape):
        return 3
    if operator.title.lower() == word and operator.key.startswith("torch."):
        return 0
    if not takes_tensor(operator):
        return 2
    return int(operator.rare or (operator.face is not Face.CONSTRUCTOR and _is_better_kept(operator.title.lower())))


def _is_meant(wanted: Wanted, typed: Typed, operator: Operator) -> bool:
    """Whether it was typed in full and is a suggestion, or a layer: `linear` is `nn.Linear`, which has its weights."""
    word = typed.text.lower()
    if operator.title.lower() != word:
        return False
    return operator.key in wanted.first or (operator.key == f"torch.nn.{operator.title}" and _is_better_kept(word))


def _is_better_kept(word: str) -> bool:
    """Whether a function of that name has to be given what a layer keeps: weights, or whether it trains."""
    row = load().entry(f"torch.nn.functional.{word}")
    kept = {(one.name, one.default) for one in row.parameters} if row is not None else set()
    return not kept.isdisjoint((("weight", None), ("training", "True")))


def _own(wanted: Wanted, typed: Typed) -> Iterator[Find]:
    """Groups whose names hold what was typed; while nothing is, a person's own, unless something else is suggested."""
    words = typed.text.lower().split()
    if not words and wanted.first:
        return iter(())
    groups = wanted.own if words else [row for row in wanted.own if not row.rare]
    return (Find(row) for row in groups if all(word in f"{row.title} {' '.join(row.words)}".lower() for word in words))


def nearest(wanted: Wanted, typed: Typed) -> tuple[Find, ...]:
    """What looks most like what was typed, where nothing fits."""
    return tuple(Find(row) for row in load().index.nearest(typed.text) if fits(wanted, typed, row))


def fits(wanted: Wanted, typed: Typed, operator: Operator) -> bool:
    """Whether an operator can stand there and fulfils what was typed as conditions."""
    return (wanted.fits is None or wanted.fits(operator)) and typed.keeps(operator)


def hint(typed: str, read: Typed) -> str:
    """What to say of the conditions in a text: what is wrong, else what the one at its end can become."""
    if read.wrong:
        return read.wrong
    offered = filters.completions(typed, load().categories)
    words = [
        text.rstrip().rpartition(" ")[2].lstrip("-").rpartition(":")[2] or text.rpartition(" ")[2] for text in offered
    ]
    if not words or offered == (typed,) or any(text.rstrip() == typed for text in offered):
        return ""
    return f"Tab: {', '.join(words)}"


def complete_condition(typed: str) -> str:
    """The text with the condition at its end written out; "" where there is nothing to write out."""
    offered = filters.completions(typed, load().categories)
    return offered[0] if offered and not any(text.rstrip() == typed for text in offered) else ""


def _at_hand(wanted: Wanted, typed: Typed, recent: tuple[str, ...], favourites: tuple[str, ...]) -> Iterator[Find]:
    """Before words are typed: suggestions, used last, favourites, what is usual here, then all the others."""
    usual = WANTED_FIRST if wanted.fits is not None else (*STARTED_WITH, *WANTED_FIRST)
    catalogue = load()
    keys = dict.fromkeys((*wanted.first, *wanted.usual, *recent[:RECENT_SHOWN], *favourites, *usual))
    first = {key: row for key in keys if (row := catalogue.entry(key)) is not None}
    others = sorted(
        (row for row in catalogue if row.key not in first), key=lambda row: row.rare and bool(typed.filters)
    )
    for row in chain(first.values(), others):
        if wanted.likely is not None and not typed.filters and not wanted.likely(row):
            continue
        yield Find(row, wanted.why if row.key in wanted.first else "")
