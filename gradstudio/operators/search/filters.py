"""The small grammar of searches: ``in:tensor out:bool cat:loss`` beside the words; a ``-`` before one turns it round.

No Qt here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gradstudio.operators.model import Face, Family, Kind, Operator

NAMES: Final = ("in", "out", "cat")
_FILTER = re.compile(r"(?P<minus>-?)(?P<name>[A-Za-z]+):(?P<word>[\w.-]*)")
_TENSORS: Final = frozenset({Kind.TENSOR, Kind.TENSOR_OR_NUMBER, Kind.TENSORS, Kind.ANY})
_TAKES: Final[dict[str, frozenset[Kind]]] = {
    "tensor": _TENSORS,
    "number": frozenset({Kind.NUMBER, Kind.TENSOR_OR_NUMBER, Kind.INT, Kind.FLOAT, Kind.COMPLEX, Kind.NUMBERS}),
    "int": frozenset({Kind.INT, Kind.INTS}),
    "float": frozenset({Kind.FLOAT}),
    "complex": frozenset({Kind.COMPLEX, Kind.NUMBER, Kind.TENSOR_OR_NUMBER, Kind.NUMBERS, Kind.DATA}),
    "bool": frozenset({Kind.BOOL}),
    "text": frozenset({Kind.TEXT, Kind.NAME}),
    "dtype": frozenset({Kind.DTYPE}),
    "device": frozenset({Kind.DEVICE}),
    "shape": frozenset({Kind.SHAPE}),
    "index": frozenset({Kind.INDEX}),
    "list": frozenset({Kind.TENSORS, Kind.VALUES, Kind.MODULES, Kind.SHAPE, Kind.INTS, Kind.NUMBERS}),
    "data": frozenset({Kind.DATA}),
    "module": frozenset({Kind.MODULE, Kind.MODULES}),
    "optimizer": frozenset({Kind.OPTIMIZER}),
    "array": frozenset({Kind.ARRAY}),
    "generator": frozenset({Kind.GENERATOR}),
    "anything": frozenset({Kind.ANY, Kind.VALUES, Kind.OBJECT}),
}
_FAMILIES: Final = {
    "tensor": Family.TENSOR,
    "number": Family.NUMBER,
    "text": Family.TEXT,
    "tuple": Family.TUPLE,
    "list": Family.TUPLE,
    "module": Family.MODULE,
    "optimizer": Family.OPTIMIZER,
    "array": Family.ARRAY,
    "object": Family.OBJECT,
}
_BOOLS: Final = frozenset(
    "eq ne lt le gt ge equal not_equal less less_equal greater greater_equal is_ is_not not_ contains lacks allclose "
    "isclose isin isnan isinf isfinite isneginf isposinf isreal signbit all any logical_and logical_or logical_xor "
    "logical_not array_equal bool can_cast shares_memory may_share_memory isinstance".split()
)
_INTS: Final = frozenset(
    "argmax argmin argsort argwhere nonzero count_nonzero bincount searchsorted bucketize randint randint_like "
    "randperm tril_indices triu_indices multinomial numel dim ndim nelement int long short len item_size".split()
)
_COMPLEXES: Final = frozenset("complex polar view_as_complex stft fft rfft fft2 fftn ifft hfft2 rfft2 rfftn".split())
_GIVES: Final = {"bool": _BOOLS, "int": _INTS, "complex": _COMPLEXES}
"""What the catalogue does not say of a result: its dtype, where the operator's name settles it."""


@dataclass(frozen=True)
class Filter:
    """One condition: the operator takes, gives, or belongs to what `word` begins."""

    name: str
    word: str
    negated: bool = False

    def keeps(self, operator: Operator) -> bool:
        """Whether an operator may stay among the finds."""
        return _CHECKS[self.name](operator, self.word.lower()) is not self.negated


@dataclass(frozen=True)
class Typed:
    """What was typed: words to search for, conditions, and why one of them means nothing ("": all do)."""

    text: str
    filters: tuple[Filter, ...] = ()
    wrong: str = ""

    def keeps(self, operator: Operator) -> bool:
        """Whether an operator fulfils every condition."""
        return all(one.keeps(operator) for one in self.filters)


def read(typed: str) -> Typed:
    """Part what was typed; a condition without a word yet is none."""
    words: list[str] = []
    filters: list[Filter] = []
    wrong = ""
    for part in typed.split():
        found = _FILTER.fullmatch(part)
        if found is None:
            words.append(part)
            continue
        name, word = found["name"].lower(), found["word"]
        wrong = wrong or _wrong(name, word)
        if not wrong and word:
            filters.append(Filter(name, word, bool(found["minus"])))
    return Typed(" ".join(words), tuple(filters), wrong)


def completions(typed: str, categories: tuple[str, ...] = ()) -> tuple[str, ...]:
    """What the condition at the end of a text can become, the whole text with it; empty where none is begun."""
    head, _, last = typed.rpartition(" ")
    found = _FILTER.fullmatch(last)
    head = f"{head} " if head else ""
    if found is None:
        begun = last.removeprefix("-")
        names = [name for name in NAMES if len(begun) > 1 and name.startswith(begun.lower())]
        return tuple(f"{head}{last[: len(last) - len(begun)]}{name}:" for name in names)
    name = found["name"].lower()
    if name not in NAMES:
        return ()
    known = tuple(_known(name, categories))
    word = found["word"].lower()
    return tuple(f"{head}{found['minus']}{name}:{one} " for one in known if one.startswith(word))


def _wrong(name: str, word: str) -> str:
    if name not in NAMES:
        return f"There is no condition “{name}:”. There are in: (takes), out: (gives) and cat: (category)."
    if name == "cat" or not word or any(one.startswith(word.lower()) for one in _known(name, ())):
        return ""
    listed = ", ".join(_known(name, ()))
    return f"“{name}:{word}” means nothing here. It can be {listed}."


def _known(name: str, categories: tuple[str, ...]) -> Iterator[str]:
    """The words that a condition knows."""
    if name == "in":
        yield from _TAKES
    elif name == "out":
        yield from dict.fromkeys((*_FAMILIES, *_GIVES, "nothing"))
    else:
        yield from dict.fromkeys(category.split()[0].lower() for category in categories)


def _takes(operator: Operator, word: str) -> bool:
    kinds = _kinds(word)
    if any(parameter.kind in kinds for parameter in operator.parameters):
        return True
    if not _is_layer(operator):
        return False
    return any(p.kind in kinds for p in operator.takes) if operator.takes else Kind.TENSOR in kinds


def _kinds(word: str) -> frozenset[Kind]:
    if word in _TAKES:
        return _TAKES[word]
    return frozenset().union(*(kinds for known, kinds in _TAKES.items() if known.startswith(word)))


def _gives(operator: Operator, word: str) -> bool:
    results = (*operator.results, *(operator.calls if _is_layer(operator) else ()))
    families = {result.family for result in results}
    for known in (word,) if word in _FAMILIES or word in _GIVES else (*_FAMILIES, *_GIVES, "nothing"):
        if not known.startswith(word):
            continue
        if known == "nothing" and not operator.results:
            return True
        if known in _GIVES and bool(operator.results) and _names_dtype(operator, known):
            return True
        if known in _FAMILIES and _FAMILIES[known] in families:
            return True
    return False


def _is_layer(operator: Operator) -> bool:
    """Whether it makes a module: on the canvas it comes with its call, and so takes and gives what that does."""
    return operator.face is Face.CONSTRUCTOR and [result.family for result in operator.results] == [Family.MODULE]


def _names_dtype(operator: Operator, word: str) -> bool:
    name = operator.word
    return name in _GIVES[word] or (word == "bool" and name.startswith("is_") and operator.category != "Layers")


def _is_in(operator: Operator, word: str) -> bool:
    """A word of the category, or a part of the operator's home, begins so."""
    parts = (*operator.category.lower().split(), *operator.path.lower().split(".")[:-1])
    return any(part.startswith(word) for part in parts)


_CHECKS: Final = {"in": _takes, "out": _gives, "cat": _is_in}
