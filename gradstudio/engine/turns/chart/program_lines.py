"""The statements of a program in order, and which of them gives a name that another reads."""

from collections.abc import Callable, Iterator
from functools import cached_property

from gradstudio.engine.live.live_state import Loaded
from gradstudio.engine.script.compiled_steps import Head, Item, Step
from gradstudio.graph.model import ItemId

NOWHERE = -1


class ProgramLines:
    """Statements and heads of blocks, by their place.

    Attributes:
        items: all of them, a head before what its block holds.
    """

    def __init__(self, loaded: Loaded) -> None:
        """Of a program that was made ready."""
        self.items = list(_flat(loaded.items))

    @cached_property
    def last(self) -> dict[str, int]:
        """Where each name is bound last."""
        return {name: place for place, item in enumerate(self.items) for name in names_of(item)}

    def place_of(self, node: ItemId) -> int:
        """Where a node's statement stands."""
        return next((place for place, item in enumerate(self.items) if item.id == node), NOWHERE)

    def reads(self, place: int) -> Iterator[tuple[str, int]]:
        """The names that a statement reads, each with where it was bound; without those of functions and classes."""
        item = self.items[place]
        for name in item.source.operands if isinstance(item, Step) else ():
            if (binder := self._binder(name, place)) != NOWHERE:
                yield name, binder

    def leads_on(self, place: int) -> Iterator[int]:
        """From where something comes to a place: to a statement what it reads, to a loop its loader."""
        item = self.items[place]
        if isinstance(item, Step):
            yield from (at for _, at in self.reads(place))
        elif item.loader:
            yield self._binder(item.loader, place)

    def leading_to(self, place: int, ends: Callable[[str, int], bool] = lambda _name, _at: False) -> list[int]:
        """The statements that lead to a place, in order, itself the last.

        Args:
            ends: whether a name and where it was bound are not followed.
        """
        found, waiting = {place}, [place]
        while waiting:
            for name, at in self.reads(waiting.pop()):
                if at not in found and not ends(name, at):
                    found.add(at)
                    waiting.append(at)
        return sorted(found)

    def _binder(self, name: str, place: int) -> int:
        return next((at for at in range(place - 1, -1, -1) if name in names_of(self.items[at])), NOWHERE)

    def is_setup(self, place: int) -> bool:
        """Whether a statement is set-up (semantics §5)."""
        item = self.items[place]
        return isinstance(item, Step) and not item.statement.repeated


def names_of(item: Item) -> tuple[str, ...]:
    """What a statement or a loop binds."""
    return item.targets if isinstance(item, Head) else item.statement.names


def _flat(items: tuple[Item, ...]) -> Iterator[Item]:
    for item in items:
        yield item
        if isinstance(item, Head):
            yield from _flat(item.body)
