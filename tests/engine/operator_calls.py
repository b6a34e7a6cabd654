"""Sample calls of catalogue operators in plain torch; used by `test_catalogue_against_torch`."""

import math
from typing import Any

import numpy
import torch
from torch import nn

from gradstudio.engine.torch_settings import settings
from gradstudio.operators.model import Effect, Face, Kind, Operator, Parameter
from tests.engine import (
    operator_calls_numpy,
    operator_calls_objects,
    operator_calls_processes,
    operator_calls_rare,
    operator_samples,
)
from tools.catalogue.signatures import resolve


def evaluate(text: str) -> Any:
    """The value of a literal of the catalogue. Trusted text: it comes from our own data."""
    return eval(text, {"torch": torch, "math": math, "float": float})


def matrix(*size: int, grad: bool = True) -> torch.Tensor:
    """Numbers between 0.2 and 0.8, a matrix well away from singular."""
    size = size or (3, 3)
    values = torch.rand(*size, dtype=torch.float64, generator=torch.Generator().manual_seed(7)) * 0.6 + 0.2
    if len(size) == 2 and size[0] == size[1]:
        values = (values + values.T) / 2 + 2 * torch.eye(size[0], dtype=torch.float64)
    return values.requires_grad_(grad)


def whole(*values: int) -> torch.Tensor:
    return torch.tensor(values)


def mask() -> torch.Tensor:
    return torch.eye(3).bool()


def vector() -> torch.Tensor:
    return matrix(3)


def batch() -> torch.Tensor:
    return matrix(2, 3, 3)


def written() -> torch.Tensor:
    """No leaf, so that it may be written into."""
    return matrix() * 1


def chances() -> torch.Tensor:
    return (matrix() / 4).detach().requires_grad_()


def signs() -> torch.Tensor:
    return torch.tensor([[1.0, -1.0, 1.0]] * 3, dtype=torch.float64)


def complex_numbers() -> torch.Tensor:
    return torch.complex(matrix(), matrix())


def with_gradients() -> tuple[torch.Tensor, ...]:
    leaf = matrix()
    (leaf * 3).sum().backward()
    return (leaf,)


def image(channels: int = 2, size: int = 4) -> torch.Tensor:
    return matrix(1, channels, size, size)


INDEX = torch.tensor([[0, 1, 2], [2, 1, 0], [1, 1, 1]])
LEAF = matrix()
ROWS = torch.tensor([0, 2])

SAMPLES: dict[str, dict[str, Any]] = {
    "torch.meshgrid": {"tensors": lambda: (vector(), vector())},
    "torch.cartesian_prod": {"tensors": lambda: (vector(), vector())},
    "torch.chain_matmul": {"matrices": lambda: (matrix(), matrix())},
    "torch.vander": {"x": vector},
    "torch.as_tensor": {"data": matrix},
    "torch.from_numpy": {"ndarray": lambda: numpy.ones(3)},
    "torch.bernoulli": {"input": chances},
    "torch.imag": {"input": complex_numbers},
    "torch.Tensor.imag": {"self": complex_numbers},
    "torch.real": {"input": complex_numbers},
    "torch.Tensor.real": {"self": complex_numbers},
    "torch.conj": {"input": complex_numbers},
    "torch.bincount": {"input": lambda: whole(0, 1, 1)},
    "torch.bucketize": {"boundaries": lambda: torch.tensor([0.0, 1.0], dtype=torch.float64)},
    "torch.searchsorted": {"sorted_sequence": lambda: torch.arange(9.0).view(3, 3)},
    "torch.bmm": {"input": batch, "mat2": batch},
    "torch.Tensor.bmm": {"self": batch, "mat2": batch},
    "torch.baddbmm": {"input": batch, "batch1": batch, "batch2": batch},
    "torch.mv": {"vec": vector},
    "torch.addmv": {"input": vector, "vec": vector},
    "torch.dot": {"input": vector, "tensor": vector},
    "torch.Tensor.dot": {"self": vector, "tensor": vector},
    "torch.outer": {"input": vector, "vec2": vector},
    "torch.Tensor.expand": {"self": lambda: matrix(1, 3)},
    "torch.broadcast_to": {"input": lambda: matrix(1, 3)},
    "operator.setitem": {"a": written},
    "torch.index_select": {"index": ROWS},
    "torch.Tensor.index_select": {"index": ROWS},
    "torch.index_add": {"index": ROWS, "source": lambda: matrix(2, 3)},
    "torch.Tensor.item": {"self": lambda: matrix(1)},
    "torch.Tensor.numpy": {"self": lambda: matrix(grad=False)},
    "torch.nn.functional.prelu": {"weight": lambda: matrix(1)},
    "torch.nn.functional.glu": {"input": lambda: matrix(3, 4)},
    "torch.nn.functional.bilinear": {"weight": lambda: matrix(2, 3, 3)},
    "torch.nn.functional.conv1d": {"input": lambda: matrix(1, 2, 6), "weight": lambda: matrix(3, 2, 2)},
    "torch.nn.functional.conv2d": {"input": image, "weight": lambda: matrix(3, 2, 2, 2)},
    "torch.nn.functional.conv3d": {"input": lambda: matrix(1, 2, 3, 3, 3), "weight": lambda: matrix(3, 2, 2, 2, 2)},
    "torch.nn.functional.conv_transpose1d": {"input": lambda: matrix(1, 2, 6), "weight": lambda: matrix(2, 3, 2)},
    "torch.nn.functional.conv_transpose2d": {"input": image, "weight": lambda: matrix(2, 3, 2, 2)},
    "torch.nn.functional.max_pool2d": {"input": image},
    "torch.nn.functional.avg_pool2d": {"input": image},
    "torch.nn.functional.adaptive_avg_pool2d": {"input": image},
    "torch.nn.functional.adaptive_max_pool2d": {"input": image},
    "torch.nn.functional.dropout2d": {"input": image},
    "torch.nn.functional.layer_norm": {"normalized_shape": (3,)},
    "torch.nn.functional.rms_norm": {"normalized_shape": (3,)},
    "torch.nn.functional.group_norm": {"input": image},
    "torch.nn.functional.instance_norm": {"input": image},
    "torch.nn.functional.embedding": {"input": INDEX},
    "torch.nn.functional.embedding_bag": {"input": INDEX},
    "torch.nn.functional.one_hot": {"tensor": INDEX},
    "torch.nn.functional.interpolate": {"input": image},
    "torch.nn.functional.grid_sample": {"input": image, "grid": lambda: matrix(1, 2, 2, 2)},
    "torch.nn.functional.affine_grid": {"theta": lambda: matrix(1, 2, 3)},
    "torch.nn.functional.unfold": {"input": image},
    "torch.nn.functional.fold": {"input": lambda: matrix(1, 4, 9)},
    "torch.nn.functional.pixel_shuffle": {"input": lambda: image(4)},
    "torch.nn.functional.pixel_unshuffle": {"input": image},
    "torch.nn.functional.nll_loss": {"target": lambda: whole(0, 1, 2)},
    "torch.nn.functional.cross_entropy": {"target": lambda: whole(0, 1, 2)},
    "torch.nn.functional.multi_margin_loss": {"target": lambda: whole(0, 1, 2)},
    "torch.nn.functional.binary_cross_entropy": {"input": chances, "target": lambda: chances().detach()},
    "torch.nn.functional.soft_margin_loss": {"target": signs},
    "torch.nn.functional.hinge_embedding_loss": {"target": signs},
    "torch.nn.functional.margin_ranking_loss": {"target": signs},
    "torch.nn.functional.cosine_embedding_loss": {"target": lambda: whole(1, -1, 1)},
    "torch.nn.functional.multilabel_soft_margin_loss": {"target": lambda: mask().double()},
    "torch.nn.functional.ctc_loss": {
        "log_probs": lambda: matrix(4, 1, 3).log_softmax(-1),
        "targets": lambda: torch.tensor([[1, 2]]),
        "input_lengths": (4,),
        "target_lengths": (2,),
    },
    "torch.Tensor.backward": {"self": lambda: matrix().sum()},
    "torch.autograd.backward": {"tensors": lambda: (matrix().sum(),)},
    "torch.autograd.grad": {"outputs": lambda: ((LEAF * 2).sum(),), "inputs": lambda: (LEAF,)},
    "torch.Tensor.view:dtype": {"dtype": torch.float64},
    "torch.Tensor.retain_grad": {"self": written},
    "torch.nn.utils.clip_grad_norm_": {"parameters": with_gradients},
    "torch.nn.utils.clip_grad_value_": {"parameters": with_gradients},
    "torch.Tensor.index_add_": {"index": ROWS, "source": lambda: matrix(2, 3)},
    "torch.Tensor.index_copy_": {"index": ROWS, "source": lambda: matrix(2, 3)},
    "torch.Tensor.index_fill_": {"index": ROWS},
    "torch.Tensor.data=": {"value": lambda: matrix(grad=False)},
    "torch.where": {"other": matrix},
    "torch.poisson": {"input": chances},
    "torch.multinomial": {"input": chances},
    "torch.kthvalue": {"input": lambda: matrix(3, 4)},
    **{key: dict.fromkeys("ab", mask) for key in ("operator.and_", "operator.or_", "operator.xor", "operator.invert")},
    **{key: dict.fromkeys("ab", mask) for key in ("operator.iand", "operator.ior", "operator.ixor")},
    **{key: {"a": lambda: whole(1, 2), "b": 1} for key in ("operator.ilshift", "operator.irshift")},
    **{key: {"a": lambda: whole(1, 2), "b": 1} for key in ("operator.lshift", "operator.rshift")},
    **{f"builtins.{word}": {"x": 1.5} for word in ("float", "int", "bool")},
    "builtins.round": {"number": 1.25},
    **{f"builtins.{word}": {"args": (1.0, 2.0)} for word in ("min", "max")},
    "builtins.enumerate": {"iterable": (1.0, 2.0)},
    "builtins.zip": {"iterables": ((1.0, 2.0), (3.0, 4.0))},
    **{key: {"iterable": (1.0, 2.0)} for key in ("builtins.sum", "builtins.list", "math.prod")},
    **operator_calls_rare.SAMPLES,
    **operator_calls_objects.SAMPLES,
    **operator_calls_processes.SAMPLES,
    **{f"torch.bitwise_{word}": dict.fromkeys(("input", "other"), mask) for word in ("and", "or", "xor", "not")},
}
"""What the generic sample gets wrong: key → values by parameter name; functions are called afresh."""

NEEDS_A_GPU = frozenset(
    {"torch.Tensor.cuda", "torch.nn.Module.cuda", "torch.sparse.spsolve", "torch.Tensor.to_padded_tensor"}
    | operator_calls_objects.NEEDS_CUDA
    | {"torch.mm:mat2", "torch.bmm:mat2", "torch.addmm:mat1", "torch.baddbmm:batch1"}
)
"""Or a build of torch that is not everywhere, or a nested tensor, which no row makes."""


def arguments(operator: Operator) -> dict[str, Any]:
    """A value for each argument a call needs: a sample, the suggested literal, or a generic one."""
    given = SAMPLES.get(operator.key, {})
    if operator_calls_numpy.is_own(operator):
        return operator_calls_numpy.values_for(operator)
    if operator.rare and not given:
        of_torch = operator_samples.samples(operator)
        if of_torch:
            return prepared(operator, of_torch[0])
    values = {}
    for parameter in operator.parameters:
        if parameter.name in given:
            values[parameter.name] = (
                given[parameter.name]() if callable(given[parameter.name]) else given[parameter.name]
            )
        elif parameter.name in operator.suggested:
            values[parameter.name] = evaluate(operator.suggested[parameter.name])
        elif parameter.name in operator.writes and parameter.kind is not Kind.TENSORS:
            values[parameter.name] = written()
        elif parameter.default is None:
            values[parameter.name] = generic(parameter)
    return values


def generic(parameter: Parameter) -> Any:
    """A plain value of the parameter's kind."""
    match parameter.kind:
        case Kind.TENSOR if parameter.name in ("index", "indices"):
            return INDEX
        case Kind.TENSOR if parameter.name in ("mask", "condition"):
            return mask()
        case Kind.TENSOR | Kind.TENSOR_OR_NUMBER | Kind.ANY:
            return matrix()
        case Kind.TENSORS | Kind.VALUES:
            return (matrix(), matrix())
        case Kind.GENERATOR:
            return torch.Generator()
        case Kind.MODULE:
            return nn.Linear(2, 2)
        case Kind.MODULES:
            return (nn.Linear(2, 2), nn.ReLU())
        case Kind.OPTIMIZER:
            return torch.optim.SGD([matrix()], lr=0.1)
        case kind:
            raise LookupError(f"no sample for '{parameter.name}', which takes {kind}")


def prepared(operator: Operator, values: dict[str, Any]) -> dict[str, Any]:
    """The values with what is written into made no leaf, as torch asks."""
    return {
        name: value * 1
        if name in operator.writes and isinstance(value, torch.Tensor) and value.requires_grad and value.is_leaf
        else value
        for name, value in values.items()
    }


def call(operator: Operator, values: dict[str, Any]) -> Any:
    """Call the operator as its face and parameters say; what it sets for the process, a group too, is put back."""
    if Effect.SETTING not in operator.effects:
        with operator_calls_processes.group_around(operator):
            return _called(operator, values)
    before = settings()
    with torch.backends.__allow_nonbracketed_mutation():  # torch's own tests, which others import, forbid it
        try:
            with torch.enable_grad():
                return _called(operator, values)
        finally:
            before.restore()


def _called(operator: Operator, values: dict[str, Any]) -> Any:
    positional, keywords = bind(operator, values)
    match operator.face:
        case Face.METHOD:
            return getattr(positional[0], operator.word)(*positional[1:], **keywords)
        case Face.ATTRIBUTE:
            return getattr(positional[0], operator.symbol)
        case Face.SET_ATTRIBUTE:
            return setattr(positional[0], operator.symbol, values[operator.parameters[1].name])
        case Face.ASSERT:
            assert positional[0], positional[1:]
            return None
        case Face.SET_PATH:
            owner, _, word = operator.path.removesuffix("=").rpartition(".")
            return setattr(resolve(owner), word, positional[0])
        case _:
            return resolve(operator.path)(*positional, **keywords)


def bind(operator: Operator, values: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """By position while nothing is left out, else by keyword: both styles are exercised."""
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    is_open = True
    for parameter in operator.parameters:
        if parameter.name not in values:
            is_open = False
            continue
        value = values[parameter.name]
        if parameter.variadic:
            positional += list(value) if isinstance(value, tuple | list) and len(value) else [value]
        elif is_open and not parameter.keyword_only:
            positional.append(value)
        else:
            keywords[parameter.name] = value
    return positional, keywords


def tensors_in(values: dict[str, Any]) -> list[torch.Tensor]:
    """Every tensor among the arguments, those in lists too."""
    found = []
    for value in values.values():
        found += [v for v in (value if isinstance(value, tuple | list) else (value,)) if isinstance(v, torch.Tensor)]
    return found
