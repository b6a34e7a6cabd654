"""Memos: of graphs and definitions, kept with what they are about so that they go when it goes; and by keys."""

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar, cast

Key = TypeVar("Key")
Value = TypeVar("Value")


class MemoOwner(Protocol):
    """What memos are kept with.

    Attributes:
        memos: by table, what was derived of it.
    """

    memos: dict[object, Any]


class MemoTable(Generic[Value]):
    """One kind of memo, of every graph or definition that has one.

    A dictionary with weak keys would hold for ever whatever its value refers to, and an analysis refers to its graph.
    """

    def __init__(self, *, is_copied: bool = False) -> None:
        """No memos yet; `is_copied`: each says of which revision it is and never changes, so a copy has it as well."""
        self.is_copied = is_copied

    def get(self, owner: MemoOwner) -> Value | None:
        """What was derived of it; None when nothing was."""
        return cast(Value | None, owner.memos.get(self))

    def __setitem__(self, owner: MemoOwner, value: Value) -> None:
        """Keep what was derived of it, instead of what was before."""
        owner.memos[self] = value


class KeyedMemo(dict[Key, Value]):
    """Answers by what they are about, each found when it is first looked up: what is known costs no call."""

    def __init__(self, find: Callable[[Key], Value]) -> None:
        """Nothing is known yet; `find` is asked once for each key."""
        super().__init__()
        self._find = find

    def __missing__(self, key: Key) -> Value:
        value = self[key] = self._find(key)
        return value
