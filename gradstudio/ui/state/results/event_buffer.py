"""What is told of a run that is not shown yet: kept in order, and taken up at once when it is whole."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")


class EventBuffer:
    """Keeps what was told while it is closed."""

    def __init__(self) -> None:
        """Nothing is held back."""
        self._waiting: list[Callable[[], None]] | None = None

    @property
    def holds(self) -> bool:
        """Whether what is told now is held back."""
        return self._waiting is not None

    def hold(self) -> None:
        """Keep what is told from now on."""
        self._waiting = []

    def take_up(self) -> None:
        """Tell what was kept, in its order, and hold nothing back any more."""
        waiting, self._waiting = self._waiting, None
        for tell in waiting or ():
            tell()

    def forget(self) -> None:
        """Drop what was kept, and hold nothing back any more."""
        self._waiting = None

    def take(self, tell: Callable[[], None]) -> None:
        """Carry it out at once, or when what is held back is taken up."""
        if self._waiting is None:
            tell()
        else:
            self._waiting.append(tell)


class Buffered(Protocol):
    """Has a buffer, so that its methods can wait."""

    buffer: EventBuffer


S = TypeVar("S", bound=Buffered)


def defer(tell: Callable[Concatenate[S, P], None]) -> Callable[Concatenate[S, P], None]:
    """A method that is carried out at once, or when what is held back is taken up."""

    @wraps(tell)
    def tell_or_wait(store: S, /, *arguments: P.args, **named: P.kwargs) -> None:
        store.buffer.take(partial(tell, store, *arguments, **named))

    return tell_or_wait
