"""Numbers by turn: what a backward began from, and what a person asked to see over the turns."""

import struct
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import torch
from torch import Tensor, nn

from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.live.live_state import Binding, Live
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.engine.turns.value_gradients import ValueGradients
from gradstudio.engine.value.view_state import is_leaf
from gradstudio.graph.model import ItemId
from gradstudio.protocol.curve_titles import is_metric
from gradstudio.protocol.messages.progress import Begin, Curve, CurveKey, Figure

NAN: Final = float("nan")
MOST_METRICS: Final = 6
"""So many are noted by themselves beside the losses."""
FIGURES: Final[dict[str, Callable[[Tensor], Tensor]]] = {
    "mean": Tensor.mean,
    "rms": lambda value: value.square().mean().sqrt(),
    "norm": torch.linalg.vector_norm,
    "max": lambda value: value.abs().amax(),
    "zeros": lambda value: (value == 0).to(torch.float32).mean(),
}


class TurnCurves:
    """Keeps the numbers of each turn of each loop until they are told.

    Attributes:
        counts: how many turns of each loop were noted since the start from nothing.
        gradients: of values that are no leaves, where they are wanted.
    """

    def __init__(self) -> None:
        """No turn was run."""
        self._wanted: tuple[CurveKey, ...] = ()
        self.gradients = ValueGradients()
        self.counts: dict[ItemId, int] = {}
        self._waiting: dict[ItemId, dict[CurveKey, list[object]]] = {}
        self._begins: dict[ItemId, list[Begin]] = {}
        self._before: dict[tuple[ItemId, CurveKey], Tensor] = {}

    def want(self, wanted: tuple[CurveKey, ...]) -> None:
        """Note this beside losses from now on; what a leaf was when it was looked at before is forgotten."""
        self._wanted = wanted
        self.gradients.want(wanted)
        self._before = {(loop, key): leaf for (loop, key), leaf in self._before.items() if key in wanted}

    def clear(self) -> None:
        """A start from nothing."""
        self.go_back({})

    def go_back(self, counts: dict[ItemId, int]) -> None:
        """The run is where so many turns of each loop had been noted; what waits is of others."""
        self.counts = dict(counts)
        self._waiting, self._begins, self._before = {}, {}, {}
        self.gradients.clear()

    def count(self, loop: ItemId) -> int:
        """How many turns of a loop were noted since the start from nothing."""
        return self.counts.get(loop, 0)

    def begin(self, loop: ItemId, around: tuple[int, ...], turns: int = 0) -> None:
        """A loop was entered, in these turns of those around it; so many of its own are noted since."""
        number = max(self.count(loop) - turns, 0)
        self._begins.setdefault(loop, []).append(Begin(around=around, number=number))

    def note(self, live: Live, loop: ItemId, steps: list[Step]) -> None:
        """A turn is over."""
        self.notes(live, loop, steps)()

    def notes(self, live: Live, loop: ItemId, steps: list[Step]) -> Callable[[], None]:
        """To be called at the end of each turn of a loop."""
        counts, namespace = self.counts, live.namespace
        waiting = self._waiting.setdefault(loop, {})
        binder = _bound_in(live, steps)
        by_themselves = dict([*_losses(binder, steps), *_metrics(live, steps)])
        losses = [(name, waiting.setdefault(key, []).append) for key, name in by_themselves.items()]
        asked = [one for one in self._wanted if one not in by_themselves]
        others = [(key, name, waiting.setdefault(key, []).append) for key, name in _named(binder, asked)]
        counts.setdefault(loop, 0)

        def note() -> None:
            counts[loop] += 1
            for name, append in losses:
                append(_number(namespace.get(name)))
            if others:
                with clean_modes():
                    for key, name, append in others:
                        value = _leaf(namespace.get(name), key)
                        append(self._update(loop, key, value) if key.figure == "update" else self._figure(value, key))

        return note

    def before_backwards(self, live: Live, steps: list[Step]) -> Callable[[], None]:
        """To be called before each backward in the turns of a loop."""
        return self.gradients.before_backwards(_bound_in(live, steps), live.namespace)

    def _figure(self, value: Any, key: CurveKey) -> object:
        """A figure of a value as it stands at the end of the turn, or of its gradient."""
        if key.figure == "rate":
            return _rate(value, key.path)
        if key.grad and isinstance(value, Tensor):
            value = value.grad if is_leaf(value) else self.gradients.of((key.node, key.output))
        elif key.grad:
            value = None
        return _figure(value, key.figure)

    def _update(self, loop: ItemId, key: CurveKey, leaf: object) -> object:
        """How much of a leaf's norm the turn has added; not a number in the first turn that is noted."""
        if not isinstance(leaf, Tensor) or leaf.is_complex() or leaf.layout is not torch.strided:
            return NAN
        now, before = leaf.detach(), self._before.get((loop, key))
        if before is None or before.shape != now.shape:
            self._before[loop, key] = now.clone()
            return NAN
        ratio = torch.linalg.vector_norm(now - before) / torch.linalg.vector_norm(before)
        before.copy_(now)
        return _number(ratio)

    def take(self, loop: ItemId) -> tuple[Curve, ...]:
        """The numbers that were not told yet; none is kept."""
        waiting = self._waiting.get(loop, {})
        curves = tuple([Curve(key=key, data=_packed(numbers)) for key, numbers in waiting.items() if numbers])
        for numbers in waiting.values():
            numbers.clear()
        return curves

    def take_begins(self, loop: ItemId) -> tuple[Begin, ...]:
        """When the loop was entered since this was last asked."""
        return tuple(self._begins.pop(loop, ()))


def _losses(binder: dict[str, Binding], steps: list[Step]) -> Iterator[tuple[CurveKey, str]]:
    """What the backwards of a loop begin from, where it has a name at the end of a turn."""
    for step in steps:
        name = next(iter(step.source.operands), "") if step.statement.backward else ""
        bound = binder.get(name)
        if bound is not None and name not in step.statement.drops:
            yield CurveKey(node=bound[0], output=bound[1]), name


def _metrics(live: Live, steps: list[Step]) -> Iterator[tuple[CurveKey, str]]:
    """Numbers of a loop that learns whose names say how well, such as an accuracy; a few of them."""
    if not any(step.statement.backward for step in steps):
        return
    found: dict[str, CurveKey] = {}
    for step in steps:
        for output, name in enumerate(step.statement.names):
            if not step.statement.is_part and is_metric(name) and _may_be_number(live.namespace.get(name)):
                found[name] = CurveKey(node=step.id, output=output)
    for name, key in list(found.items())[:MOST_METRICS]:
        yield key, name


def _may_be_number(value: object) -> bool:
    """Whether a value is a number, or not there yet."""
    if isinstance(value, Tensor):
        return value.numel() == 1 and not value.is_complex()
    return value is None or isinstance(value, bool | int | float)


def _named(binder: dict[str, Binding], keys: Iterable[CurveKey]) -> Iterator[tuple[CurveKey, str]]:
    """The keys of what has a name now, and the name."""
    names = {binding: name for name, binding in binder.items()}
    for key in keys:
        if (name := names.get((key.node, key.output))) is not None:
            yield key, name


def _bound_in(live: Live, steps: list[Step]) -> dict[str, Binding]:
    """Which node binds each name; of a run that goes on from a file, those of the turn that comes, too."""
    coming = {name: bound for step in steps for name, bound in zip(step.statement.names, step.bindings, strict=True)}
    return coming | live.binder


def _number(value: Any) -> object:
    """A number now; of an accelerator the tensor, which is asked when it is told."""
    if isinstance(value, Tensor):
        if value.numel() != 1:
            return NAN
        return value.item() if value.is_cpu else value.detach()
    return value


def _leaf(value: Any, key: CurveKey) -> Any:
    """A value, or a module's leaf."""
    return dict(value.named_parameters()).get(key.path) if isinstance(value, nn.Module) else value


def _rate(value: Any, path: str) -> object:
    """The learning rate of an optimizer's group, of the first one where there is no path."""
    groups = value.param_groups if isinstance(value, torch.optim.Optimizer) else []
    number = int(path.partition("[")[2].rstrip("]") or 0)
    return _number(groups[number].get("lr", NAN)) if number < len(groups) else NAN


def _figure(value: Any, figure: Figure) -> object:
    """A figure of a value; of what is no tensor the number that it is."""
    if not isinstance(value, Tensor) or figure not in FIGURES:
        return _number(value)
    plain = value.layout is torch.strided and not value.is_nested and value.numel() > 0
    if not plain or value.is_complex():
        return NAN
    return _number(FIGURES[figure](value.detach().to(torch.promote_types(value.dtype, torch.float32))))


def _packed(numbers: list[object]) -> bytes:
    return struct.pack(f"<{len(numbers)}d", *map(_float, numbers))


def _float(value: object) -> float:
    number = value.item() if isinstance(value, Tensor) else value
    return float(number) if isinstance(number, bool | int | float) else NAN
