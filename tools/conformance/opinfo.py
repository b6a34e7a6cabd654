"""Samples of PyTorch's operator database as plans, with what torch gives for them."""

import dataclasses
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.testing._internal.common_methods_invocations import op_db

from tools.conformance import untracked
from tools.conformance.inputs import take_apart
from tools.conformance.paths import path_of
from tools.conformance.plan import Call, InputRef, OutputRef, Plan, Ref, Unplanned, cotangent, flatten
from tools.conformance.recorder import Recorder, Seen, copied

untracked.apply()
SEED = 42
"""Of the canvas's header: the database's own wrappers use the same one."""
UNINITIALISED = frozenset(
    "empty empty_like empty_permuted empty_strided new_empty new_empty_strided resize_ resize_as_".split()
)
"""Operators whose results hold whatever was in memory: only dtype and shape can be compared."""
MADE: dict[type, tuple[str, Callable[[Any], dict[str, Any]]]] = {
    nn.PairwiseDistance: (
        "torch.nn.PairwiseDistance",
        lambda value: {"p": value.norm, "eps": value.eps, "keepdim": value.keepdim},
    ),
    nn.LinearCrossEntropyOptions: ("torch.nn.LinearCrossEntropyOptions", dataclasses.asdict),
}
"""Objects among the arguments that a node of their own makes: its path, and with which arguments."""
VARIANTS = ("function", "method", "inplace")


def operators(dtype: torch.dtype, only: str = "") -> list[Any]:
    """The database's entries that torch can run on a CPU with this dtype."""
    return [
        op
        for op in op_db
        if dtype in op.supported_dtypes("cpu")
        and not type(op.op).__name__.startswith("_Jitted")  # they are compiled for CUDA
        and (not only or only in (op.name, op.full_name))
    ]


def function_of(op: Any, variant: str) -> Callable[..., Any] | None:
    """What is called; None when the entry has no such variant."""
    if variant == "function":
        return op.op  # type: ignore[no-any-return]  # the database is untyped
    return op.method_variant if variant == "method" else op.inplace_variant  # type: ignore[no-any-return]  # untyped


def samples(op: Any, dtype: torch.dtype, variant: str, seed: int) -> list[Any]:
    """The samples of an entry, the same for one seed of the CPU: to seed all devices takes longer."""
    torch.default_generator.manual_seed(seed)
    differentiable = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(op.sample_inputs("cpu", dtype, requires_grad=differentiable))
    if variant == "inplace":
        found = [sample for sample in found if not sample.broadcasts_input]
    return [sample for sample in found if variant == "function" or isinstance(sample.input, Tensor)]


def plans(op: Any, dtype: torch.dtype, variant: str, seed: int) -> Iterator[Plan | Unplanned]:
    """Every sample of an entry and a variant as a plan."""
    function = function_of(op, variant)
    if function is None:
        return
    for sample in samples(op, dtype, variant, seed):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                plan = plan_of(op, function, (sample.input, *sample.args), sample.kwargs, variant)
                torch_backward(plan)
            except Unplanned as reason:
                yield reason
            else:
                yield plan


def plan_of(op: Any, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], variant: str) -> Plan:
    """A call as a plan; torch runs it once.

    Raises:
        Unplanned: the catalogue has no path for what it calls, or a tensor cannot be stored.
    """
    plan = Plan(op.full_name, uninitialised=op.name in UNINITIALISED)
    inputs: dict[int, Tensor] = {}
    args, kwargs = with_leaves(args, plan, inputs), with_leaves(kwargs, plan, inputs)
    places = Places(plan)
    if variant == "inplace" and plan.inputs:
        plan.calls.append(Call("torch.clone", (InputRef(0),), {}))
        target = plan.calls[0].result = plan.inputs[0].leaf.clone()
        places.add(target, OutputRef(0))
        args = (target, *args[1:])
    seen, result = _run(op, function, args, kwargs, plan)
    for call in seen:
        _add_call(plan, places, op, variant, call)
    if plan.error is None:
        for _, value in flatten(result):
            plan.outputs.append(places.of(value))
            plan.values.append(value)
        if not plan.values:
            plan.plain.append(result)
    return plan


def torch_backward(plan: Plan, module: Any = None) -> None:
    """Run torch's backward on the plan's results, where it has one."""
    begins = {
        number: value
        for number, value in enumerate(plan.values)
        if value.requires_grad and (value.dtype.is_floating_point or value.dtype.is_complex)
    }
    leaves = [entry.leaf for entry in plan.inputs if entry.requires_grad]
    if not begins or not (leaves or module is not None):
        return
    cotangents = {number: cotangent(value, number) for number, value in begins.items()}
    try:
        torch.autograd.backward(tuple(begins.values()), tuple(cotangents.values()))
    except RuntimeError:
        for leaf in leaves:
            leaf.grad = None
        return
    plan.cotangents = cotangents
    plan.grads = {number: entry.leaf.grad for number, entry in enumerate(plan.inputs) if entry.requires_grad}
    if module is not None:
        plan.parameter_grads = {name: parameter.grad for name, parameter in module.named_parameters()}


class Places:
    """Where the tensors of a plan come from, the latest place first."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._of: dict[int, Ref] = {id(entry.leaf): InputRef(k) for k, entry in enumerate(plan.inputs)}
        self._kept: list[Any] = []

    def add(self, tensor: Tensor, ref: Ref) -> None:
        """A tensor is there now."""
        self._of[id(tensor)] = ref
        self._kept.append(tensor)

    def of(self, tensor: Tensor) -> Ref:
        """Where a tensor comes from."""
        ref = self._of.get(id(tensor))
        if ref is None:
            raise Unplanned("a tensor of it comes from no function that torch shows")
        return ref

    def references(self, value: Any) -> Any:
        """The value with references in the place of tensors."""
        if isinstance(value, Tensor):
            return self.of(value)
        if type(value) in MADE:
            return self._made(value)
        if isinstance(value, list | tuple) and any(True for _ in flatten(value)):
            items = [self.references(item) for item in value]
            return tuple(items) if isinstance(value, tuple) else items
        if isinstance(value, dict):
            return {key: self.references(item) for key, item in value.items()}
        return value

    def _made(self, value: Any) -> Ref:
        """An object that a call of its own makes on the canvas."""
        if id(value) not in self._of:
            path, arguments = MADE[type(value)]
            self.plan.calls.append(Call(path, (), arguments(value)))
            self._of[id(value)] = OutputRef(len(self.plan.calls) - 1)
            self._kept.append(value)
        return self._of[id(value)]


def with_leaves(value: Any, plan: Plan, inputs: dict[int, Tensor]) -> Any:
    """The value with a leaf of its own in the place of every tensor, which becomes an input of the plan."""
    if isinstance(value, Tensor):
        if id(value) not in inputs:
            entry = take_apart(value, whole=plan.name.startswith("as_strided"))
            plan.inputs.append(entry)
            inputs[id(value)] = entry.leaf
        return inputs[id(value)]
    if isinstance(value, dict):
        return {key: with_leaves(item, plan, inputs) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)([with_leaves(item, plan, inputs) for item in value])
    return value


def _run(
    op: Any, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], plan: Plan
) -> tuple[list[Seen], Any]:
    """Torch's own run: what it called, and what it gave."""
    torch.default_generator.manual_seed(SEED)
    if path_of(function, op.name) is not None:
        call = Seen(function, copied(args), dict(kwargs))
        try:
            call.result = function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - whatever torch raises is its answer
            plan.error = (type(error).__name__, str(error))
        return [call], call.result
    recorder = Recorder()
    result = None
    try:
        with recorder.through_wrappers():
            result = function(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - as above
        plan.error = (type(error).__name__, str(error))
    if not recorder.seen:
        raise Unplanned("it calls nothing of torch that can be seen")
    return recorder.seen, result


def _add_call(plan: Plan, places: Places, op: Any, variant: str, seen: Seen) -> None:
    function, args, result = seen.function, seen.args, seen.result
    name = f"{op.name}_" if variant == "inplace" else op.name
    found = path_of(function, name)
    if found is None:
        word = getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or str(function)
        raise Unplanned(f"not in the catalogue: {getattr(function, '__module__', '') or ''}.{word}")
    path, swapped = found
    if path.endswith("__get__"):
        args = args[:1]
    references = places.references(args)
    if swapped:
        references = (references[1], references[0], *references[2:])
    plan.calls.append(Call(path, references, places.references(seen.kwargs), result))
    for way, tensor in flatten(result):
        places.add(tensor, OutputRef(len(plan.calls) - 1, way))
