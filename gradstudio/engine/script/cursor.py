"""The counter of semantics §6: where the program stands, through blocks and turns of loops.

It may stop anywhere, also inside a block; the block's context (`no_grad`, `autocast`) then stays
entered, and is left when the cursor goes on or is closed.
"""

from collections.abc import Container, Iterator
from contextlib import AbstractContextManager
from itertools import repeat
from typing import Any

from torch.utils.data import DataLoader

from gradstudio.engine import access
from gradstudio.engine.code.turn_ends import BREAK, ENDED
from gradstudio.engine.script.compiled_steps import Head, Item, Step, has_backward
from gradstudio.engine.script.generator_states import GeneratorStates, generators_of
from gradstudio.graph.model import ItemId

GRADLESS = ("no_grad", "inference_mode")
NOBODY = ItemId("")


class _Nothing:
    """A loop that has no next turn."""


_NOTHING = _Nothing()


class Frame:
    """A list of statements that is being run, and the block it belongs to.

    Attributes:
        began: of a loop over a loader, the generators when what it goes over was made.
    """

    __slots__ = ("began", "head", "index", "items", "iterator", "manager", "pending", "turn")

    def __init__(self, items: tuple[Item, ...], head: Head | None = None) -> None:
        """Stand before the first."""
        self.items = items
        self.head = head
        self.index = 0
        self.turn = 0
        self.manager: AbstractContextManager[object] | None = None
        self.iterator: Iterator[object] | None = None
        self.pending: object = _NOTHING
        self.began: GeneratorStates | None = None

    def has_next_turn(self) -> bool:
        """Whether the loop goes on; fetches the next element and keeps it."""
        if self.iterator is None:
            return False
        if self.pending is _NOTHING:
            self.pending = next(self.iterator, _NOTHING)
        return self.pending is not _NOTHING

    @property
    def has_ahead(self) -> bool:
        """Whether an element was fetched and not bound yet."""
        return self.pending is not _NOTHING

    def end_turns(self) -> None:
        """No turn of the loop follows."""
        self.iterator, self.pending = iter(()), _NOTHING

    def take_ahead(self) -> tuple[object, ...]:
        """The element that was fetched and not bound yet, if there is one; it is fetched no more."""
        ahead, self.pending = self.pending, _NOTHING
        return () if ahead is _NOTHING else (ahead,)


class HeadFailed(Exception):
    """The head of a block raised (its context, iterable or condition); `__cause__` is what it raised."""

    def __init__(self, head: Head) -> None:
        """Name the block."""
        super().__init__(head.id)
        self.head = head


class Cursor:
    """Walks a program's items; the caller executes what it stands before.

    Attributes:
        frames: the lists of statements it stands in, outermost first.
        bound: loop variables bound since the caller last looked: (block, place among its variables, name).
        left: the block that the last `settle` left, or did not enter, last of all.
        lasted: how many turns each loop had that was left.
    """

    def __init__(self, items: tuple[Item, ...], namespace: dict[str, Any]) -> None:
        """Stand before the first item; block heads are evaluated in `namespace`."""
        self._namespace = namespace
        self.frames = [Frame(items)]
        self.bound: list[tuple[ItemId, int, str]] = []
        self.left = NOBODY
        self.lasted: dict[ItemId, int] = {}
        self._passed: tuple[Frame, int] | None = None
        self._begun: dict[ItemId, GeneratorStates] = {}

    @property
    def turns(self) -> tuple[int, ...]:
        """The turn of each loop around, outermost first."""
        if len(self.frames) == 1:
            return ()
        return tuple(frame.turn for frame in self.frames if frame.iterator is not None)

    @property
    def gradless_block(self) -> ItemId | None:
        """The innermost block around that switches gradients off, unless one inside it switches them on."""
        for frame in reversed(self.frames):
            kind = frame.head.block.kind if frame.head is not None else ""
            if frame.head is not None and kind in (*GRADLESS, "enable_grad", "set_grad_enabled"):
                is_off = kind in GRADLESS or getattr(frame.manager, "mode", True) is False
                return frame.head.id if is_off else None
        return None

    def settle(self, behind: ItemId = NOBODY) -> Step | None:
        """The step that is next, blocks entered and left on the way to it; None at the end.

        Args:
            behind: a block; directly behind it there is nothing next either, and `left` is that block.

        Raises:
            HeadFailed: a block's head raised; the cursor stands before that block.
        """
        item = self.reach(behind)
        assert not isinstance(item, Head | Frame)
        return item

    def reach(
        self, behind: ItemId = NOBODY, before: Container[ItemId] = (), by_turns: bool = False
    ) -> Item | Frame | None:
        """As `settle`, but not into one of the blocks in `before`: that block itself is what is next.

        `by_turns`: at the end of a turn the loop's frame is what is next, until `pass_turn`.
        """
        self.left = NOBODY
        while not behind or self.left != behind:
            frame = self.frames[-1]
            if frame.index < len(frame.items):
                item = frame.items[frame.index]
                if isinstance(item, Step):
                    if item.counts:
                        self.note_begin(item)
                    return item
                if item.id in before:
                    return item
                self._enter(item)
            elif len(self.frames) == 1:
                return None
            elif by_turns and frame.iterator is not None and self._passed != (frame, frame.turn):
                return frame
            else:
                self._next_turn_or_leave(frame)
        return None

    def note_begin(self, step: Step) -> None:
        """A statement is run next: where it begins a loader, the generators are noted as they are before that."""
        loader = self._namespace.get(step.counts)
        if isinstance(loader, DataLoader):
            self._begun[step.id] = GeneratorStates(generators_of(loader))

    def advance(self) -> None:
        """The step was executed: go behind it, or where the code in it has gone."""
        if ENDED in self._namespace:
            self._end_turn(self._namespace.pop(ENDED))
        else:
            self.frames[-1].index += 1

    def pass_turn(self) -> None:
        """Whoever asked to hear of the end of a turn of the innermost loop has heard."""
        self._passed = (self.frames[-1], self.frames[-1].turn)

    def stand(self, path: tuple[int, ...]) -> None:
        """Stand before a statement of the innermost loop's body: its place there, and in the blocks around it.

        Raises:
            HeadFailed: the head of such a block raised.
        """
        for index in path[:-1]:
            frame = self.frames[-1]
            frame.index = index
            head = frame.items[index]
            assert isinstance(head, Head)
            self._enter(head)
            if self.frames[-1] is frame:
                return  # a condition that does not hold any more
        self.frames[-1].index = path[-1] if path else len(self.frames[-1].items)

    def stand_behind_turn(self, loop: ItemId, turn: int) -> None:
        """Stand at the end of a later turn of a loop around, whose body was not run since; what is inside is left."""
        while self.frames[-1].head is None or self.frames[-1].head.id != loop:
            self._leave()
        self._pass_turns(self.frames[-1], turn)

    def stand_inside(self, index: int, turn: int) -> None:
        """Stand at the end of a turn of a loop in the innermost body, or behind the body of a block there.

        Raises:
            ValueError: there is no such block.
        """
        frame = self.frames[-1]
        head = frame.items[index] if index < len(frame.items) else None
        if not isinstance(head, Head):
            raise ValueError("there is no block")
        frame.index = index
        inner = self._open(head) if head.block.kind == "for" else Frame(head.body, head)
        if inner is None:
            raise ValueError("a loop has no turn")
        self.frames.append(inner)
        self._pass_turns(inner, turn)

    def _pass_turns(self, frame: Frame, turn: int) -> None:
        while frame.turn < turn and frame.has_next_turn():
            self._bind(frame)
            frame.turn += 1
        del self.bound[:-1]
        frame.index = len(frame.items)

    def upcoming(self) -> Item | None:
        """What is next, without entering anything but groups: a step, or the block that is to be entered."""
        item = self._next()[1]
        while isinstance(item, Head) and item.block.kind == "group" and item.body:
            item = item.body[0]
        return item

    def beginning(self) -> ItemId:
        """The block, group or not, that is to be entered next; "" when a step is next."""
        item = self._next()[1]
        return item.id if isinstance(item, Head) else NOBODY

    def around(self) -> ItemId:
        """The innermost block around what is next; "" outside all."""
        head = self.frames[self._next()[0]].head
        return head.id if head is not None else NOBODY

    def is_ahead(self, node: ItemId) -> bool:
        """Whether a node or block is still to come, or a block to be left, further turns included."""
        innermost = len(self.frames) - 1
        return any(
            _holds(frame.items[frame.index + (depth < innermost) :], node)
            or (frame.head is not None and frame.head.id == node)
            or (_holds(frame.items, node) and frame.has_next_turn())
            for depth, frame in enumerate(self.frames)
        )

    def backward_ahead(self) -> bool:
        """Whether a backward statement is still to come, further turns included."""
        innermost = len(self.frames) - 1
        return any(
            has_backward(frame.items[frame.index + (depth < innermost) :])
            or (has_backward(frame.items) and frame.has_next_turn())
            for depth, frame in enumerate(self.frames)
        )

    def path(self) -> tuple[int, ...]:
        """The index in each frame, outermost first."""
        return tuple(frame.index for frame in self.frames)

    def rebase(self, items: tuple[Item, ...], namespace: dict[str, Any]) -> None:
        """Stand at the same place of another program, the same up to here."""
        self._namespace = namespace
        for depth, frame in enumerate(self.frames):
            frame.items = items
            if depth < len(self.frames) - 1:
                head = items[frame.index]
                assert isinstance(head, Head)
                self.frames[depth + 1].head, items = head, head.body

    def skip_to_end(self) -> None:
        """Stand behind the last statement; only for a cursor that has entered nothing."""
        self.frames[0].index = len(self.frames[0].items)

    def close(self) -> None:
        """Leave every block, innermost first."""
        while len(self.frames) > 1:
            self._leave()

    def _next(self) -> tuple[int, Item | None]:
        """The frame that what is next stands in, and that."""
        for depth in range(len(self.frames) - 1, -1, -1):
            frame = self.frames[depth]
            index = frame.index + (depth < len(self.frames) - 1)
            if index < len(frame.items):
                return depth, frame.items[index]
            if frame.has_next_turn() and frame.items:
                return depth, frame.items[0]
        return 0, None

    def _enter(self, head: Head) -> None:
        try:
            frame = self._open(head)
        except Exception as error:
            raise HeadFailed(head) from error
        if frame is None:
            self._drop(head)
            self.frames[-1].index += 1
            self.left = head.id
        else:
            self.frames.append(frame)

    def _open(self, head: Head) -> Frame | None:
        """A frame for the block's body, its context entered; None when the body is not to run."""
        frame, kind = Frame(head.body, head), head.block.kind
        loader = self._namespace.get(head.loader) if head.loader else None
        if isinstance(loader, DataLoader):
            frame.began = GeneratorStates(generators_of(loader))
        elif head.maker is not None:
            frame.began = self._begun.get(head.maker.id)
        value: Any = None if head.expression is None else access.evaluate(head.expression, self._namespace)
        if kind == "for":
            frame.iterator = iter(value) if head.block.iterable else repeat(())
            if not frame.has_next_turn():
                return None
            self._bind(frame)
        elif kind == "if":
            return frame if value else None
        elif kind != "group":
            value.__enter__()
            frame.manager = value
        return frame

    def _bind(self, frame: Frame) -> None:
        assert frame.head is not None
        names = frame.head.targets
        value: Any = frame.pending
        frame.pending = _NOTHING
        elements = (value,) if len(names) == 1 else tuple(value)
        for place, (name, element) in enumerate(zip(names, elements, strict=True)):
            self._namespace[name] = element
            self.bound.append((frame.head.id, place, name))

    def _next_turn_or_leave(self, frame: Frame) -> None:
        assert frame.head is not None
        try:
            if frame.has_next_turn():
                self._bind(frame)
                frame.turn, frame.index = frame.turn + 1, 0  # so that another thread finds none that was passed
                return
        except Exception as error:
            raise HeadFailed(frame.head) from error
        self._leave()
        self.frames[-1].index += 1

    def _end_turn(self, word: str) -> None:
        """Stand at the end of the turn of the innermost loop, which has no further one after a `break`."""
        while self.frames[-1].iterator is None:
            self._leave()
        frame = self.frames[-1]
        frame.index = len(frame.items)
        if word == BREAK:
            frame.end_turns()

    def _leave(self) -> None:
        frame = self.frames.pop()
        if frame.manager is not None:
            frame.manager.__exit__(None, None, None)
        if frame.head is not None:
            self._drop(frame.head)
            self.left = frame.head.id
            if frame.iterator is not None:
                self.lasted[frame.head.id] = frame.turn + 1

    def _drop(self, head: Head) -> None:
        for name in head.block.drops:
            self._namespace.pop(name, None)


def _holds(items: tuple[Item, ...], node: ItemId) -> bool:
    return any(item.id == node or (isinstance(item, Head) and _holds(item.body, node)) for item in items)
