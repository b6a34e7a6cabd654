"""Recorder: which functions of torch a sample calls, seen through the lambdas of PyTorch's database."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.testing._internal import common_methods_invocations as invocations

from tools.conformance.paths import known


@dataclass(slots=True)
class Seen:
    """A call: what was called, with what, and what came of it (None when it raised)."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any = None


class Recorder(TorchFunctionMode):
    """Notes the outermost calls of torch while it is entered."""

    def __init__(self) -> None:
        """Nothing seen yet."""
        super().__init__()
        self.seen: list[Seen] = []

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """One call: carried out, and noted."""
        kwargs = kwargs or {}
        call = Seen(func, copied(args), dict(kwargs))
        self.seen.append(call)
        call.result = func(*args, **kwargs)
        return call.result

    @contextmanager
    def through_wrappers(self) -> Iterator[None]:
        """While recording, the database's seeding wrapper calls its function as the canvas will: under our seed."""
        original = invocations.wrapper_set_seed

        def call(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            if id(op) not in known():
                return op(*args, **kwargs)
            noted = Seen(op, copied(args), dict(kwargs))
            self.seen.append(noted)
            with torch._C.DisableTorchFunction():
                noted.result = op(*args, **kwargs)
            return noted.result

        invocations.wrapper_set_seed = call
        try:
            with self:
                yield
        finally:
            invocations.wrapper_set_seed = original


def copied(value: Any) -> Any:
    """The containers anew, so that what the call does to them does not show."""
    if type(value) in (list, tuple):
        return type(value)(map(copied, value))
    return value
