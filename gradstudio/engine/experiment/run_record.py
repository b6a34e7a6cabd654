"""What one silent run gave: every value as it was made, every gradient as it arrived last, leaves as they ended."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.experiment.rerun import Outputs, Rerun, Watcher
from gradstudio.engine.gradient.wire_edges import MAX_ITEMS
from gradstudio.engine.live.recent_rows import FIRST_TURNS, LAST_TURNS
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.engine.value.lazy_modules import buffers_of, parameters_of
from gradstudio.engine.value.tensor_summary import summarise
from gradstudio.engine.value.view_state import grad_fn_of, is_leaf
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import Summary

Number = bool | int | float | complex
KeptValue = Tensor | Number | Summary | None
"""A tensor; of what found no room its summary."""
When = tuple[ItemId, tuple[int, ...]]
Where = tuple[int, str]


@dataclass(slots=True, eq=False)
class ValueTrace:
    """One value of one execution.

    Attributes:
        value: as it was made.
        standing: the tensor itself, of a leaf or a module's buffer: it may end otherwise than it began.
        grad: what arrived last; of a leaf `.grad` as the run ended.
        ended: of a `standing` one that was written into since, as the run ended.
    """

    value: KeptValue
    standing: Tensor | None = None
    version: int = 0
    grad: KeptValue = None
    ended: KeptValue = None


class RunRecord(Watcher):
    """Keeps what a silent run gives, up to so many bytes; of loops as many turns as are recorded."""

    def __init__(self, allowed_bytes: int, max_values: int) -> None:
        """Nothing yet. Exact values of summaries up to `max_values` elements."""
        self.births: dict[When, dict[Where, ValueTrace]] = {}
        self.max_values = max_values
        self._allowed = allowed_bytes

    def after(self, run: Rerun, step: Step, outputs: Outputs) -> None:
        """Note what it gave."""
        self.note(step.id, run.turns, outputs)

    def bound(self, run: Rerun, block: ItemId, place: int, name: str) -> None:
        """Note the loop variable."""
        self.note(block, run.turns, (run.namespace.get(name),), place)

    def note(self, node: ItemId, turns: tuple[int, ...], outputs: Outputs, first: int = 0) -> None:
        """Keep the values of one execution, and look out for their gradients."""
        births = self.births.setdefault((node, turns), {})
        with clean_modes():
            for index, output in enumerate(outputs, first):
                for path, value, stands in _parts(output):
                    births[index, path] = self._birth(value, stands)
        if turns and turns[-1] >= FIRST_TURNS + LAST_TURNS:
            self.births.pop((node, (*turns[:-1], turns[-1] - LAST_TURNS)), None)

    def conclude(self) -> None:
        """The run is over: read the leaves."""
        with clean_modes():
            for births in self.births.values():
                for birth in births.values():
                    self._conclude(birth)

    def _conclude(self, birth: ValueTrace) -> None:
        tensor, birth.standing = birth.standing, None
        if tensor is None:
            return
        if tensor.requires_grad:
            birth.grad = self._kept(tensor.grad) if tensor.grad is not None else None
        if not tensor.is_inference() and tensor._version != birth.version:
            birth.ended = self._kept(tensor)

    def _birth(self, value: Any, stands: bool) -> ValueTrace:
        if not isinstance(value, Tensor):
            return ValueTrace(value)
        birth = ValueTrace(self._kept(value.clone()))
        leaf = is_leaf(value)
        if stands or (leaf and value.requires_grad):
            birth.standing, birth.version = value, 0 if value.is_inference() else value._version
        elif value.requires_grad and grad_fn_of(value) is not None:
            value.register_hook(_hook(self, birth))  # type: ignore[no-untyped-call]  # torch leaves it untyped
        return birth

    def _kept(self, tensor: Tensor) -> KeptValue:
        tensor = tensor.detach()
        size = tensor.nbytes if tensor.layout is torch.strided and not tensor.is_nested else 0
        if tensor.is_nested or size > self._allowed:
            return summarise(tensor, self.max_values)
        self._allowed -= size
        return tensor

    def arrived(self, birth: ValueTrace, grad: Tensor) -> None:
        """A gradient has come to a value that is no leaf."""
        if isinstance(birth.grad, Tensor):
            self._allowed += birth.grad.nbytes if birth.grad.layout is torch.strided else 0
        with clean_modes():
            birth.grad = self._kept(grad)


def _hook(trail: RunRecord, birth: ValueTrace) -> Any:
    def hook(grad: Tensor | None) -> None:
        if grad is not None:
            trail.arrived(birth, grad)

    return hook


def _parts(output: object) -> Iterator[tuple[str, Any, bool]]:
    """(path, value, whether it stands for itself) of what is a tensor or a number."""
    if isinstance(output, Tensor | bool | int | float | complex):
        yield "", output, False
    elif isinstance(output, nn.Module):
        for name, tensor in (*parameters_of(output), *buffers_of(output)):
            yield name, tensor, True
    elif isinstance(output, list | tuple):
        for place, item in enumerate(output[:MAX_ITEMS]):
            if isinstance(item, Tensor | bool | int | float | complex):
                yield str(place), item, False
