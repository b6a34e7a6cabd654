"""Which words could follow in the Code dock: names of the program, and what the catalogue has behind a dot. No Qt."""

from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from gradstudio.late_pattern import late
from gradstudio.operators.catalogue.descriptions import signature
from gradstudio.operators.catalogue.loader import load

MOST_WORDS = 1000
SHORTEST = 2
"""Letters of a bare word after which words are offered; behind a dot they are offered at once."""
_WRITTEN = late(r"((?:[^\W\d]\w*\.|\)\.|\]\.)*)(\w*)$")
_PATHS = {"F": "torch.nn.functional", "nn": "torch.nn", "optim": "torch.optim", "np": "numpy"}
_OBJECT = ("torch.Tensor", "torch.nn.Module", "torch.optim.Optimizer")
_BARE = ("torch", "nn", "F", "optim", "math", "np", "for", "in", "with", "range", "print", "import", "from", "True")
_MORE_BARE = ("False", "None", "float", "int", "len", "enumerate", "zip")


class CompletionWord(NamedTuple):
    """A word, and the operator it stands for; "" for a name of the program."""

    word: str
    key: str = ""


def completion_words(before: str, names: Iterable[str]) -> tuple[str, tuple[CompletionWord, ...]]:
    """What was typed of a word, and the words that begin with it.

    Args:
        before: the line up to the cursor.
        names: what the program binds.
    """
    written = _WRITTEN.search(before)
    if written is None or _is_in_words(before) or before[: written.start(2)].endswith(".."):
        return "", ()
    path, stem = written.group(1).rstrip("."), written.group(2)
    behind_dot = before[: written.start(2)].endswith(".")
    if not behind_dot and (len(stem) < SHORTEST or stem[0].isdigit()):
        return stem, ()
    if behind_dot and before[: written.start(2) - 1][-1:].isdigit() and not path:
        return stem, ()
    found = _members(path) if behind_dot else _bare(names)
    fitting = [word for word in found if word.word.startswith(stem)]
    others = [word for word in found if word not in fitting and word.word.lower().startswith(stem.lower())]
    words = tuple([*fitting, *others][:MOST_WORDS])
    return stem, () if [word.word for word in words] == [stem] else words


def word_signature(word: CompletionWord) -> str:
    """The signature of what a word stands for."""
    operator = load().get(word.key) if word.key else None
    return signature(operator) if operator is not None else "a name of the program"


def _members(path: str) -> tuple[CompletionWord, ...]:
    module = _PATHS.get(path.split(".")[0], path.split(".")[0])
    whole = ".".join([module, *path.split(".")[1:]]) if path else ""
    table = _table()
    if whole in table:
        return table[whole]
    return () if path in ("math", "torch") else _of_objects()


def _bare(names: Iterable[str]) -> tuple[CompletionWord, ...]:
    own = sorted({name for name in names if name.isidentifier() and name != "_"})
    return (*map(CompletionWord, own), *(CompletionWord(word) for word in (*_BARE, *_MORE_BARE) if word not in own))


@cache
def _table() -> dict[str, tuple[CompletionWord, ...]]:
    """By module or class: what stands in it, modules within it too."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for operator in load():
        path = operator.key.partition(":")[0]
        holder, _, word = path.rpartition(".")
        if word.isidentifier():
            found[holder].setdefault(word, path)
        while "." in holder:
            holder, _, inner = holder.rpartition(".")
            if not inner[0].isupper():
                found[holder].setdefault(inner, "")
    return {
        holder: tuple(CompletionWord(word, words[word]) for word in sorted(words)) for holder, words in found.items()
    }


@cache
def _of_objects() -> tuple[CompletionWord, ...]:
    """What a tensor, a module or an optimizer has, the tensor's first."""
    words: dict[str, CompletionWord] = {}
    for holder in _OBJECT:
        for word in _table().get(holder, ()):
            words.setdefault(word.word, word)
    return tuple(sorted(words.values(), key=lambda word: (word.word.startswith("_"), word.word)))


def _is_in_words(before: str) -> bool:
    """Whether a comment or a text is being typed."""
    quote = ""
    for character in before:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "#":
            return True
    return bool(quote)
