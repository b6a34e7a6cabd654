"""Where a run stands in its loops at the end of a turn, so that it can stand there once more.

An iterator of a range, a list or a tuple is copied; so are `enumerate` and `zip` of those. One of a `DataLoader` is
begun anew from the generators as they were when it began, and wound on without reading any data.
"""

import copy
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from torch.utils.data import BatchSampler, RandomSampler, SequentialSampler, SubsetRandomSampler
from torch.utils.data.dataloader import _SingleProcessDataLoaderIter

from gradstudio.engine import access
from gradstudio.engine.script.compiled_steps import Head, Item
from gradstudio.engine.script.cursor import Frame
from gradstudio.engine.script.generator_states import GeneratorStates
from gradstudio.engine.turns.checkpoints.object_states import UnknownState

_COPIED: Final[tuple[type, ...]] = (
    type(iter(range(0))), type(iter(range(1 << 70))), type(iter([])), type(iter(())), type(reversed([])),
)  # fmt: skip
_SAMPLERS: Final = (SequentialSampler, RandomSampler, SubsetRandomSampler)
"""What draws all that it draws before it gives its first index."""
Again = Callable[[dict[str, Any]], Iterator[object]]
"""Makes the iterator anew, in the names of the program."""


class Place(NamedTuple):
    """A frame, to be made anew.

    Attributes:
        at: the index of what it stands before.
        pending: the element that was fetched and not bound yet, if there is one.
        again: makes the iterator; None: the frame is no loop's.
        held: what the iterator takes its elements from, which must be what it was.
    """

    items: tuple[Item, ...]
    head: Head | None
    at: int
    turn: int
    pending: tuple[object, ...]
    again: Again | None
    held: tuple[object, ...]
    began: GeneratorStates | None

    def frame(self, namespace: dict[str, Any]) -> Frame:
        """Such a frame; a loader's draws from the generators."""
        frame = Frame(self.items, self.head)
        frame.index, frame.turn, frame.began = self.at, self.turn, self.began
        if self.again is not None:
            frame.iterator = self.again(namespace)
        if self.pending:
            (frame.pending,) = self.pending
        return frame


def place_of(frame: Frame) -> Place:
    """Where a frame stands.

    Raises:
        UnknownState: it is inside a context, or its iterator is of no kind that can be begun again.
    """
    if frame.manager is not None:
        raise UnknownState("a context that was entered")
    again, held = (None, ()) if frame.iterator is None else _again(frame, frame.iterator)
    pending = (frame.pending,) if frame.has_ahead else ()
    return Place(frame.items, frame.head, frame.index, frame.turn, pending, again, held, frame.began)


def _again(frame: Frame, iterator: Any) -> tuple[Again, tuple[object, ...]]:
    """What makes an iterator anew, and what that takes its elements from."""
    if isinstance(iterator, _COPIED):
        kept: Any = copy.copy(iterator)
        return lambda _: copy.copy(kept), _made_of(iterator)
    inner = _made_of(iterator) if isinstance(iterator, enumerate | zip) else (iterator,)
    if any(type(one) is _SingleProcessDataLoaderIter for one in inner):
        return _loader_again(frame, inner[0]), ()
    if not isinstance(iterator, enumerate | zip):
        raise UnknownState(type(iterator).__qualname__)
    kind: Any = type(iterator)
    sources, numbers = (inner[:1], inner[1:]) if isinstance(iterator, enumerate) else (inner, ())
    made = [_again(frame, one) for one in sources]
    return lambda names: kind(*[make(names) for make, _ in made], *numbers), tuple(held for _, held in made)


def _made_of(iterator: Any) -> tuple[Any, ...]:
    """What Python would make such an iterator of."""
    arguments: tuple[Any, ...] = iterator.__reduce__()[1]
    return arguments


def _loader_again(frame: Frame, inner: Any) -> Again:
    """What begins a loader's iterator anew; only where the head of the loop names the loader and nothing else."""
    head, begin = frame.head, frame.began
    if head is None or head.expression is None or begin is None or type(inner) is not _SingleProcessDataLoaderIter:
        raise UnknownState("a loader within an expression")
    sampler = inner._index_sampler
    sampler = sampler.sampler if type(sampler) is BatchSampler else sampler
    if type(sampler) not in _SAMPLERS or (type(sampler) is RandomSampler and sampler.replacement):
        raise UnknownState(type(sampler).__qualname__)
    expression, given = head.expression, inner._num_yielded
    is_over = getattr(inner._sampler_iter, "gi_frame", inner) is None  # what it draws at its end is drawn

    def again(namespace: dict[str, Any]) -> Iterator[object]:
        begin.restore()
        if head.maker is not None:
            access.execute(head.maker.source.code, namespace)
        fresh: Any = iter(access.evaluate(expression, namespace))
        loader, *number = _made_of(fresh) if isinstance(fresh, enumerate) else (fresh,)
        for _ in range(given):
            loader._next_index()
        loader._num_yielded = given
        if is_over:
            next(loader._sampler_iter, None)
        wound: Iterator[object] = enumerate(loader, number[0] + given) if number else loader
        if head.maker is not None:
            namespace[head.loader] = wound
        return wound

    return again
