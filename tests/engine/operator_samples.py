"""Sample arguments of catalogue rows out of PyTorch's own tests: `op_db` for operators, `module_db` for modules."""

import contextlib
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Face, Kind, Operator, Parameter
from tests.helpers.seeds import seed_torch
from tools.catalogue.signatures import resolve

Arguments = dict[str, Any]
PER_OPERATOR = 6
"""Samples that are taken of an entry of the database."""

_NUMBERS = frozenset({Kind.NUMBER, Kind.INT, Kind.FLOAT, Kind.COMPLEX})
_LISTS = frozenset({Kind.SHAPE, Kind.INTS, Kind.NUMBERS})
_EXACT: dict[Kind, tuple[type, ...]] = {
    Kind.TENSOR: (torch.Tensor,),
    Kind.TEXT: (str,),
    Kind.DTYPE: (torch.dtype,),
    Kind.DEVICE: (str, torch.device),
    Kind.LAYOUT: (torch.layout,),
    Kind.MEMORY_FORMAT: (torch.memory_format,),
    Kind.GENERATOR: (torch.Generator,),
    Kind.MODULE: (torch.nn.Module,),
    Kind.OPTIMIZER: (torch.optim.Optimizer,),
}


def samples(operator: Operator) -> list[Arguments]:
    """Values by parameter for some calls of the row, each made afresh; empty when the databases have none."""
    found = _pool().get(operator.key) or _of_same_word(operator)
    return [{name: fresh(value) for name, value in arguments.items()} for arguments in found]


def fresh(value: Any) -> Any:
    """A copy of a sample value, so that a call that writes leaves the sample alone."""
    if isinstance(value, torch.Tensor) and value.layout is torch.strided and not value.is_inference():
        copy = value.detach().clone()
        return copy.requires_grad_(value.requires_grad)
    if type(value) in (list, tuple):
        return type(value)(fresh(item) for item in value)
    return value


def fitting(operator: Operator, positional: tuple[Any, ...], keywords: Arguments) -> Arguments | None:
    """The values by parameter when the row takes such a call, else None."""
    rest, given, values = list(positional), dict(keywords), {}
    for parameter in operator.parameters:
        if parameter.variadic and rest:
            is_whole = len(rest) == 1 and isinstance(rest[0], list | tuple)
            values[parameter.name] = rest[0] if is_whole else tuple(rest)
            rest.clear()
        elif rest and not parameter.keyword_only:
            values[parameter.name] = rest.pop(0)
        elif parameter.name in given:
            values[parameter.name] = given.pop(parameter.name)
    required = {p.name for p in operator.parameters if p.default is None and not p.variadic}
    if rest or given or not required <= values.keys():
        return None
    fits = all(takes(p, values[p.name]) for p in operator.parameters if p.name in values)
    return values if fits else None


def takes(parameter: Parameter, value: Any) -> bool:
    """Whether a parameter takes a Python value, tensors with one element as numbers too."""
    kind = parameter.kind
    if value is None:
        return parameter.nullable or kind is Kind.ANY
    if kind in _EXACT:
        return isinstance(value, _EXACT[kind])
    if kind is Kind.BOOL:
        return isinstance(value, bool) and (not parameter.choices or repr(value) in parameter.choices)
    is_number = isinstance(value, int | float | complex)
    if kind in _NUMBERS or kind is Kind.TENSOR_OR_NUMBER:
        whole = kind is not Kind.INT or (isinstance(value, int) and not isinstance(value, bool))
        return (is_number and whole) or (kind is Kind.TENSOR_OR_NUMBER and isinstance(value, torch.Tensor))
    items = value if isinstance(value, list | tuple) else (value,)
    if kind in _LISTS:
        return all(isinstance(item, int | float) and not isinstance(item, bool) for item in items)
    return kind is not Kind.TENSORS or all(isinstance(item, torch.Tensor) for item in items)


@cache
def _pool() -> dict[str, list[Arguments]]:
    catalogue = load()
    found: dict[str, list[Arguments]] = defaultdict(list)
    for path, positional, keywords in (*_calls_of_operators(), *_calls_of_modules()):
        for operator in catalogue.overloads(path):
            values = fitting(operator, positional, keywords)
            if values is not None:
                found[operator.key].append(values)
                break
    return found


def _of_same_word(operator: Operator) -> list[Arguments]:
    """Samples of `torch.acos` for `torch.Tensor.arccos_` and the like: what can be called with them."""
    for path, positional, keywords in _by_word().get(operator.word.rstrip("_"), ()):
        values = fitting(operator, positional, keywords)
        if values is not None and path != operator.path and _can_be_called(operator, values):
            return [values]
    return []


def _can_be_called(operator: Operator, values: Arguments) -> bool:
    from tests.engine.operator_calls import call, prepared

    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call(operator, prepared(operator, {name: fresh(value) for name, value in values.items()}))
        return True
    return False


Call = tuple[str, tuple[Any, ...], Arguments]


@cache
def _operators_and_modules() -> tuple[list[Any], list[Any]]:
    """PyTorch's databases, which take two seconds to load: not while tests are collected."""
    from torch.testing._internal.common_methods_invocations import op_db
    from torch.testing._internal.common_modules import module_db

    from tools.conformance import untracked

    untracked.apply()
    return op_db, module_db


@cache
def _by_word() -> dict[str, list[Call]]:
    found: dict[str, list[Call]] = defaultdict(list)
    for call in _calls_of_operators():
        found[call[0].rsplit(".", 1)[1].rstrip("_")].append(call)
    aliases = {alias.name: op.name for op in _operators_and_modules()[0] for alias in op.aliases}
    for alias, name in aliases.items():
        found[alias.rsplit(".", 1)[-1]] += found.get(name.rsplit(".", 1)[-1], [])
    return found


@cache
def _calls_of_operators() -> tuple[Call, ...]:
    return tuple(call for op in _operators_and_modules()[0] for call in _calls_of(op))


def _calls_of(op: Any) -> Iterator[Call]:
    dtypes = [dtype for dtype in (torch.float32, torch.int64, torch.bool) if dtype in op.dtypes]
    if not dtypes or type(op.op).__name__.startswith("_Jitted"):
        return
    for sample in _some(lambda: op.sample_inputs("cpu", dtypes[0], requires_grad=dtypes[0] is torch.float32)):
        for function in (op.op, op.method_variant, op.inplace_variant):
            if function is not None:
                arguments = tuple(fresh(value) for value in (sample.input, *sample.args))
                yield from _recorded(function, arguments, dict(sample.kwargs))


def _some(made: Callable[[], Any]) -> list[Any]:
    seed_torch(3)
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [sample for sample, _ in zip(made(), range(PER_OPERATOR), strict=False)]
    return []


def _recorded(function: Any, positional: tuple[Any, ...], keywords: Arguments) -> list[Call]:
    """The calls of catalogue paths that calling the function comes to."""
    path = _paths().get(id(function))
    if path is not None:
        return [(path, positional, keywords)]
    with contextlib.suppress(Exception), warnings.catch_warnings(), _Listening() as heard:
        warnings.simplefilter("ignore")
        function(*positional, **keywords)
        return heard.calls
    return []


class _Listening(TorchFunctionMode):
    """Notes what of torch is called from outside."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Call] = []

    def __torch_function__(self, function: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if (path := _paths().get(id(function))) is not None:
            self.calls.append((path, tuple(fresh(value) for value in args), dict(kwargs or {})))
        return function(*args, **(kwargs or {}))


@cache
def _paths() -> dict[int, str]:
    rows = [row for row in load() if row.path.startswith("torch.") and row.face in (Face.FUNCTION, Face.METHOD)]
    return {id(resolve(row.path)): row.path for row in reversed(rows)}


@cache
def _calls_of_modules() -> tuple[Call, ...]:
    found: list[Call] = []
    for info in _operators_and_modules()[1]:
        path = f"torch.nn.{info.module_cls.__name__}"
        made = _some(lambda info=info: info.module_inputs_func(info, "cpu", torch.float32, False, True))  # type: ignore[misc]  # bound at once
        for sample in made:
            arguments = sample.constructor_input
            found.append((path, arguments.args, arguments.kwargs))
    return tuple(found)
