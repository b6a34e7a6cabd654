"""Numbers by turn: what a backward began from, and what a person asked to see over the turns."""

import struct
from collections.abc import Callable, Iterator
from typing import Any

from torch import Tensor

from gradstudio.engine.live.live_state import Live
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.engine.script.cursor import Frame
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.progress import Curve, CurveKey

NAN = float("nan")


class TurnCurves:
    """Keeps the numbers of each turn of each loop until they are told."""

    def __init__(self) -> None:
        """No turn was run."""
        self._counts: dict[ItemId, int] = {}
        self._waiting: dict[ItemId, dict[CurveKey, list[object]]] = {}

    def clear(self) -> None:
        """A start from nothing."""
        self._counts, self._waiting = {}, {}

    def count(self, loop: ItemId) -> int:
        """How many turns of a loop were noted since the start from nothing."""
        return self._counts.get(loop, 0)

    def note(self, live: Live, frame: Frame, steps: list[Step]) -> None:
        """A turn is over."""
        self.notes(live, frame, steps)()

    def notes(self, live: Live, frame: Frame, steps: list[Step]) -> Callable[[], None]:
        """To be called at the end of each turn of a loop."""
        assert frame.head is not None
        loop, counts, namespace = frame.head.id, self._counts, live.namespace
        waiting = self._waiting.setdefault(loop, {})
        sources = [(name, waiting.setdefault(key, []).append) for key, name in _losses(live, steps)]
        counts.setdefault(loop, 0)

        def note() -> None:
            counts[loop] += 1
            for name, append in sources:
                append(_number(namespace.get(name)))

        return note

    def take(self, loop: ItemId) -> tuple[Curve, ...]:
        """The numbers that were not told yet; none is kept."""
        waiting = self._waiting.get(loop, {})
        curves = tuple([Curve(key=key, data=_packed(numbers)) for key, numbers in waiting.items() if numbers])
        for numbers in waiting.values():
            numbers.clear()
        return curves


def _losses(live: Live, steps: list[Step]) -> Iterator[tuple[CurveKey, str]]:
    """What the backwards of a loop begin from, where it has a name at the end of a turn."""
    for step in steps:
        name = next(iter(step.source.operands), "") if step.statement.backward else ""
        bound = live.binder.get(name)
        if bound is not None and name not in step.statement.drops:
            yield CurveKey(node=bound[0], output=bound[1]), name


def _number(value: Any) -> object:
    """A number now; of an accelerator the tensor, which is asked when it is told."""
    if isinstance(value, Tensor):
        if value.numel() != 1:
            return NAN
        return value.item() if value.is_cpu else value.detach()
    return value


def _packed(numbers: list[object]) -> bytes:
    return struct.pack(f"<{len(numbers)}d", *map(_float, numbers))


def _float(value: object) -> float:
    number = value.item() if isinstance(value, Tensor) else value
    return float(number) if isinstance(number, bool | int | float) else NAN
