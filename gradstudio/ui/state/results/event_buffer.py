"""What is told of a run that is not shown yet: kept in order, and taken up at once when it is whole."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")


class HeldBack:
    """Keeps what `waits` methods were told; `waiting` is None while nothing is held back."""

    waiting: list[Callable[[], None]] | None = None

    def hold(self) -> None:
        """Keep what is told from now on."""
        self.waiting = []

    def take_up(self) -> None:
        """Tell what was kept, in its order."""
        waiting, self.waiting = self.waiting, None
        for tell in waiting or ():
            tell()


S = TypeVar("S", bound=HeldBack)


def waits(tell: Callable[Concatenate[S, P], None]) -> Callable[Concatenate[S, P], None]:
    """A method that is carried out at once, or when what is held back is taken up."""

    @wraps(tell)
    def told(store: S, /, *arguments: P.args, **named: P.kwargs) -> None:
        if store.waiting is None:
            tell(store, *arguments, **named)
        else:
            store.waiting.append(partial(tell, store, *arguments, **named))

    return told
