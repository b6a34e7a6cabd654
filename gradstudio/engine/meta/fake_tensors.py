"""torch's fake tensors, the third way to know a shape, and what has to be loaded before the first one.

The first operator on a tensor without data loads some eight hundred modules: a second, that nobody
should wait for. `WarmUp` loads them in slices, so that a request that comes meanwhile is served first.
"""

import copy
import gc
import importlib
import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from typing import Any

import torch
from torch import Tensor, nn

from gradstudio.engine.meta.meta_tensors import rebuild
from gradstudio.engine.value.view_state import is_leaf

_LOADED_FIRST = (
    "mpmath.ctx_mp",
    "mpmath",
    "sympy.core",
    "sympy.polys.rings",
    "sympy.polys",
    "sympy.functions",
    "sympy",
    "torch.fx.experimental.symbolic_shapes",
    "torch._prims",
    "torch._refs",
    "torch._decomp.decompositions",
    "torch._dynamo.source",
    "torch._dynamo.utils",
    "torch._dynamo.exc",
    "torch._inductor.config",
    "torch._inductor.utils",
    "torch.distributed._functional_collectives",
    "torch.distributed.tensor.placement_types",
    "torch.distributed.tensor._dtensor_spec",
    "torch.distributed.tensor._ops._conv_ops",
    "torch.distributed.tensor._ops",
    "torch._functorch._aot_autograd.runtime_wrappers",
    "torch._dynamo.variables.streams",
    "torch._dynamo.variables.tensor",
    "torch._dynamo.variables.torch",
    "torch._dynamo.variables.builder",
    "torch._dynamo.trace_rules",
    "torch._dynamo.symbolic_convert",
    "torch._dynamo.polyfills.loader",
    "torch._dynamo",
)
"""In the order torch would load them; each is a slice of at most a tenth of a second. One that is not there is none."""


class WarmUp:
    """Loads what the first operator on a tensor without data needs.

    Attributes:
        done: everything is loaded.
    """

    def __init__(self) -> None:
        """Nothing is loaded yet."""
        self.done = False
        self._slices = self._load()

    def step(self) -> None:
        """Load a little more."""
        self.done = next(self._slices, None) is None

    def finish(self) -> None:
        """Load all that is left."""
        while not self.done:
            self.step()

    def _load(self) -> Iterator[str]:
        for name in _LOADED_FIRST:
            with suppress(ImportError):
                importlib.import_module(name)
            yield name
        twin = torch.empty(2, device="meta")
        _ = twin + twin
        yield "meta"
        with fake_mode():
            _ = torch.empty(2) + 1
        gc.collect(1)
        gc.freeze()  # what was loaded stays: no collection need look at it again, which takes a tenth of a second
        yield "fake"


def fake_mode() -> AbstractContextManager[Any]:
    """A mode in which tensors have a shape, a dtype and a device, and no data."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    logging.getLogger("torch._subclasses").setLevel(logging.CRITICAL)  # it logs what it cannot do, with tracebacks
    mode: AbstractContextManager[Any] = FakeTensorMode(allow_non_fake_inputs=True)
    return mode


def fake_of(value: Any, twins: dict[int, Any]) -> Any:
    """A fake of a value, on the CPU; to be called within the mode. `twins` keeps those that were made."""
    if id(value) in twins:
        return twins[id(value)]
    if isinstance(value, nn.Parameter):
        twin: Any = nn.Parameter(torch.empty_like(value, device="cpu"), value.requires_grad)
    elif isinstance(value, Tensor):
        twin = _fake_tensor(value)
    elif isinstance(value, nn.Module):
        twin = _fake_module(value, twins)
    elif isinstance(value, list | tuple):
        return rebuild(value, lambda item: fake_of(item, twins))
    else:
        return value
    twins[id(value)] = twin
    return twin


def _fake_tensor(value: Tensor) -> Tensor:
    with torch.no_grad():
        twin = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="cpu")
    if not value.requires_grad:
        return twin
    twin.requires_grad_()
    with torch.enable_grad():
        return twin if is_leaf(value) else twin.clone()


def _fake_module(module: nn.Module, twins: dict[int, Any]) -> nn.Module:
    """The module with fakes in place of its parameters and buffers; the module itself is left as it is."""
    twin = copy.copy(module)
    for table in ("_parameters", "_buffers", "_modules"):
        held = getattr(module, table)
        twin.__dict__[table] = type(held)((name, fake_of(item, twins)) for name, item in held.items())
    return twin
