"""What an explanation is, and what a way out."""

import re
from typing import NamedTuple

import msgspec

from gradstudio.graph.edits import Edits


class Advice(msgspec.Struct, frozen=True):
    """What we say above torch's words.

    Attributes:
        explanation: plain words; "" when we know no more than torch.
        fixes: what may be done, each one imperative sentence.
    """

    explanation: str = ""
    fixes: tuple[str, ...] = ()


class Fix(NamedTuple):
    """A way out: one undo step called `title`, or (edits None) words alone."""

    title: str
    edits: Edits | None = None


class FixKind(msgspec.Struct, frozen=True):
    """How a way out becomes edits: a row of `advice.fixes.fix_kinds.MAKERS` with what it needs to know.

    Attributes:
        maker: which row.
        words: number of the rule's fix in words that it carries out, so that those words need not be said; -1: none.
        port: the argument it is about; "" where the maker finds it.
        text: an operator's key or a literal; named groups of the pattern may be used as ``{name}``.
    """

    maker: str
    words: int = -1
    port: str = ""
    text: str = ""


class Rule(msgspec.Struct, frozen=True):
    """A known error of torch.

    Attributes:
        type_name: the exception's class, or "" for any.
        pattern: a regular expression searched in torch's message; its named groups may be used
            in `explanation` as ``{name}``.
        example: Python statements that provoke it; a test runs them and looks for the pattern.
        kinds: the fixes as edits, best first.
    """

    name: str
    type_name: str
    pattern: str
    explanation: str
    fixes: tuple[str, ...]
    example: str
    kinds: tuple[FixKind, ...] = ()

    def groups(self, type_name: str, message: str) -> dict[str, str] | None:
        """The pattern's named groups, when the error is this one; `type_name` "" is any (what inference tells)."""
        if self.type_name and type_name and self.type_name != type_name:
            return None
        found = re.search(self.pattern, message, re.DOTALL)
        return {key: value or "" for key, value in found.groupdict().items()} if found is not None else None

    def match(self, type_name: str, message: str) -> Advice | None:
        """Advice for the error, when it is this one."""
        groups = self.groups(type_name, message)
        return Advice(self.explanation.format(**groups), self.fixes) if groups is not None else None
