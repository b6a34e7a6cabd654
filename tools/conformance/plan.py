"""Plans: what one sample of PyTorch's database asks for, as calls upon stored tensors. No canvas here."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class InputRef:
    """The input of that number."""

    index: int


@dataclass(frozen=True, slots=True)
class OutputRef:
    """A tensor in what a call gave; `path` leads to it through tuples and lists."""

    call: int
    path: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PartRef:
    """Within an input: the stored tensor of that number; -1 is what the step before gave, the first part at first."""

    index: int


Ref = InputRef | OutputRef | PartRef
BEFORE = PartRef(-1)


@dataclass(slots=True)
class Call:
    """One call of the sample.

    Attributes:
        path: its path in the catalogue.
        args, kwargs: plain values, and references in the place of tensors.
        result: what it gave, as torch gave it.
    """

    path: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any = None


@dataclass(slots=True)
class Input:
    """One tensor of a sample, taken apart into what a document can store.

    Attributes:
        leaf: the tensor itself, a leaf.
        parts: stored tensors; one, or those a sparse tensor is made of.
        steps: calls that make the tensor of them: path and arguments.
    """

    leaf: Tensor
    parts: list[Tensor]
    steps: list[tuple[str, tuple[Any, ...]]]
    requires_grad: bool


@dataclass(slots=True)
class Plan:
    """A sample as calls, with what torch gave.

    Attributes:
        outputs: where each tensor of the result comes from; `values` are those tensors, in the same order.
        cotangents: of those outputs that a backward begins at, by number; empty when there is no backward.
        grads: gradient of each input, by number, as torch left it.
        parameter_grads: gradient of each parameter of the module.
        plain: the result when no tensor is in it.
        error: (type, message) when torch refused the call.
        uninitialised: values are whatever was in memory.
        module: number of the call that makes the module that is measured; None when there is none.
        default_dtype: of the document's header.
    """

    name: str
    inputs: list[Input] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    outputs: list[Ref] = field(default_factory=list)
    values: list[Tensor] = field(default_factory=list)
    plain: list[Any] = field(default_factory=list)
    cotangents: dict[int, Tensor] = field(default_factory=dict)
    grads: dict[int, Tensor | None] = field(default_factory=dict)
    parameter_grads: dict[str, Tensor | None] = field(default_factory=dict)
    error: tuple[str, str] | None = None
    uninitialised: bool = False
    module: int | None = None
    default_dtype: str = ""


class Unplanned(Exception):
    """The sample cannot be planned; the message says why."""


def flatten(value: Any, path: tuple[int, ...] = ()) -> list[tuple[tuple[int, ...], Tensor]]:
    """The tensors in a value, each with the way to it through tuples and lists."""
    if isinstance(value, Tensor):
        return [(path, value)]
    if isinstance(value, list | tuple):
        return [found for k, item in enumerate(value) for found in flatten(item, (*path, k))]
    if isinstance(value, dict):
        return [found for item in value.values() for found in flatten(item, path)]
    return []


def cotangent(value: Tensor, number: int) -> Tensor:
    """A fixed gradient for an output: the same for every run, different in every element."""
    count = value.numel()
    generator = torch.Generator().manual_seed(1000 + number)
    real = value.dtype.to_real()
    flat = torch.randn(count, generator=generator, dtype=torch.float32).to(real)
    if value.dtype.is_complex:
        flat = torch.complex(*(torch.randn(count, generator=generator).to(_component(value.dtype)) for _ in range(2)))
        flat = flat.to(value.dtype)
    return flat.reshape(value.shape)


def _component(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype is torch.complex128 else torch.float32
