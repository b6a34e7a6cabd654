"""Gradients of values that are no leaves, as they are asked for over the turns of a loop."""

import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from torch import Tensor

from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.live.live_state import Binding
from gradstudio.engine.value.view_state import grad_fn_of
from gradstudio.protocol.messages.progress import CurveKey


class ValueGradients:
    """What `retain_grad()` would leave in `.grad`, the sum of what all backwards bring; `.grad` itself stays None.

    The autograd node of each value that is asked for gets a hook where a backward is about to begin. It changes
    nothing: what torch computes is the same to the last bit.
    """

    def __init__(self) -> None:
        """None is asked for."""
        self._wanted: frozenset[Binding] = frozenset()
        self._values: dict[Binding, weakref.ref[Tensor]] = {}
        self._sums: dict[Binding, Tensor] = {}

    def want(self, keys: Iterable[CurveKey]) -> None:
        """Follow the gradients of these, and of no others."""
        self._wanted = frozenset((key.node, key.output) for key in keys if key.grad and not key.path)
        self._values = {place: value for place, value in self._values.items() if place in self._wanted}
        self._sums = {place: grad for place, grad in self._sums.items() if place in self._wanted}

    def clear(self) -> None:
        """The run is somewhere else: what came to values of other turns is forgotten."""
        self._values, self._sums = {}, {}

    def of(self, place: Binding) -> Tensor | None:
        """The gradient of the newest value there that a backward began behind; None when none has come."""
        return self._sums.get(place)

    def before_backward(self, binder: dict[str, Binding], namespace: dict[str, Any]) -> None:
        """A backward is about to begin: be told of what comes to the values that have these names."""
        self.before_backwards(binder, namespace)()

    def before_backwards(self, binder: dict[str, Binding], namespace: dict[str, Any]) -> Callable[[], None]:
        """To be called where a backward is about to begin, as long as names are bound so."""
        names = [(name, place) for name, place in binder.items() if place in self._wanted] if self._wanted else []

        def follow() -> None:
            for name, place in names:
                self._follow(place, namespace.get(name))

        return follow

    def _follow(self, place: Binding, value: object) -> None:
        """Have the value's gradient summed up from now on; a value that is followed already goes on."""
        known = self._values.get(place)
        if known is not None and known() is value:
            return
        self._values.pop(place, None)
        self._sums.pop(place, None)
        grad_fn = grad_fn_of(value) if isinstance(value, Tensor) else None
        if isinstance(value, Tensor) and grad_fn is not None:
            followed = self._values[place] = weakref.ref(value)
            grad_fn.register_prehook(partial(self._arrived, place, followed, value.output_nr))

    def _arrived(self, place: Binding, value: weakref.ref[Tensor], number: int, grads: Sequence[Tensor | None]) -> None:
        """A copy is kept: the program may write into what torch hands on."""
        grad = grads[number]
        if grad is None or self._values.get(place) is not value:
            return
        with clean_modes():
            before = self._sums.get(place)
            self._sums[place] = grad.detach().clone() if before is None else before + grad.detach()
