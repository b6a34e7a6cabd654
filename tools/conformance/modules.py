"""Samples of PyTorch's module database as plans: constructor, mode, call, with what torch gives for them."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.testing._internal.common_modules import module_db

from tools.conformance.opinfo import MADE, SEED, Places, torch_backward, with_leaves
from tools.conformance.plan import Call, OutputRef, Plan, Ref, Unplanned, flatten

NESTED = (nn.TransformerEncoderLayer, nn.TransformerDecoderLayer)
"""Modules that are given to the constructors of others."""


def entries(dtype: torch.dtype, only: str = "") -> list[Any]:
    """The entries of the database for this dtype."""
    return [
        info for info in module_db if dtype in info.dtypes and (not only or only in (info.name, info.formatted_name))
    ]


def plans(info: Any, dtype: torch.dtype, training: bool, seed: int) -> Iterator[Plan | Unplanned]:
    """Every sample of an entry as a plan."""
    torch.manual_seed(seed)
    with warnings.catch_warnings(), _noting_arguments() as noted:
        warnings.simplefilter("ignore")
        found = list(info.module_inputs_func(info, "cpu", dtype, True, training))
    for sample in found:
        with warnings.catch_warnings(), _default_dtype(dtype):
            warnings.simplefilter("ignore")
            try:
                plan = _plan(info, sample, training, noted, dtype)
            except Unplanned as reason:
                yield reason
            else:
                yield plan


def _plan(info: Any, sample: Any, training: bool, noted: dict[int, Any], dtype: torch.dtype) -> Plan:
    plan = Plan(info.name, default_dtype="" if dtype is torch.float32 else str(dtype))
    made, given = sample.constructor_input, sample.forward_input
    inputs: dict[int, Tensor] = {}
    args, kwargs = with_leaves(tuple(made.args), plan, inputs), with_leaves(dict(made.kwargs), plan, inputs)
    forward = with_leaves(tuple(given.args), plan, inputs)
    named = with_leaves(dict(given.kwargs), plan, inputs)
    places = Places(plan)
    torch.manual_seed(SEED)
    refs: dict[int, Ref] = {}
    args = tuple(_inner(value, plan, noted, refs, places) for value in args)
    kwargs = {key: _inner(value, plan, noted, refs, places) for key, value in kwargs.items()}
    path = f"{info.module_cls.__module__}.{info.module_cls.__name__}"
    path = "torch.nn." + path.rpartition(".")[2] if path.startswith("torch.nn.modules") else path
    maker = Call(path, _referred(args, refs, places), _referred(kwargs, refs, places))
    plan.calls.append(maker)
    plan.module = len(plan.calls) - 1
    try:
        module = info.module_cls(*args, **kwargs)
        if not training:
            plan.calls.append(Call("torch.nn.Module.eval", (OutputRef(plan.module),), {}))
            module.eval()
        inner = (OutputRef(plan.module), *places.references(forward))
        plan.calls.append(Call("python.call", inner, places.references(named)))
        result = module(*forward, **named)
    except Exception as error:  # noqa: BLE001 - whatever torch raises is its answer
        plan.error = (type(error).__name__, str(error))
        return plan
    for way, tensor in flatten(result):
        places.add(tensor, OutputRef(len(plan.calls) - 1, way))
    for _, tensor in flatten(result):
        plan.outputs.append(places.of(tensor))
        plan.values.append(tensor)
    torch_backward(plan, module)
    return plan


def _inner(value: Any, plan: Plan, noted: dict[int, Any], refs: dict[int, Ref], places: Places) -> Any:
    """A module among the arguments, made anew under our seed by a call of its own."""
    if not isinstance(value, nn.Module) or type(value) in MADE:
        return value
    if id(value) not in noted:
        raise Unplanned(f"an argument is a {type(value).__name__}, a module that is made elsewhere")
    args, kwargs = noted[id(value)]
    plan.calls.append(Call(f"torch.nn.{type(value).__name__}", args, kwargs))
    anew = type(value)(*args, **kwargs)
    refs[id(anew)] = OutputRef(len(plan.calls) - 1)
    return anew


def _referred(value: Any, refs: dict[int, Ref], places: Places) -> Any:
    if isinstance(value, tuple):
        return tuple(_referred(item, refs, places) for item in value)
    if isinstance(value, dict):
        return {key: _referred(item, refs, places) for key, item in value.items()}
    return refs[id(value)] if id(value) in refs else places.references(value)


@contextmanager
def _noting_arguments() -> Iterator[dict[int, Any]]:
    """The arguments with which modules for other modules' constructors are made, by the module's identity."""
    noted: dict[int, Any] = {}
    originals = {cls: cls.__init__ for cls in NESTED}

    def noting(cls: type[nn.Module]) -> Any:
        def __init__(self: nn.Module, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - it takes the place of one
            noted[id(self)] = (args, kwargs)
            originals[cls](self, *args, **kwargs)

        return __init__

    for cls in NESTED:
        cls.__init__ = noting(cls)
    try:
        yield noted
    finally:
        for cls in NESTED:
            cls.__init__ = originals[cls]


@contextmanager
def _default_dtype(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
