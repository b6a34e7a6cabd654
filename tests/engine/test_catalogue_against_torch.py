"""The catalogue says of every operator what torch does; torch is asked, by a sample call of each."""

import contextlib
import io
import pickle
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch
from torch.distributed.tensor import DTensor

from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Effect, Face, Family, Kind, Operator
from tests.engine.operator_calls import NEEDS_A_GPU, arguments, call, evaluate, tensors_in
from tests.engine.operator_calls_objects import OF_INSTANCES
from tests.engine.operator_calls_processes import NEEDS_ANOTHER_PROCESS, OWN_ALREADY
from tests.helpers.seeds import seed_torch
from tools.catalogue.signatures import resolve
from tools.generate_catalogue import TARGET, generate

CATALOGUE = load()
OF_TORCH = [row for row in CATALOGUE if row.path.startswith("torch.")]
NOT_HERE = NEEDS_A_GPU | NEEDS_ANOTHER_PROCESS
CALLED = [row for row in CATALOGUE if not row.key.startswith("python.") and row.key not in NOT_HERE]

SHARES_SOMETIMES = frozenset(
    [f"torch.nn.functional.{word}" for word in ("alpha_dropout", "dropout3d", "feature_alpha_dropout")]
    + [f"torch.{word}" for word in ("conj_physical", "Tensor.conj_physical", "masked.prod", "Tensor.to_dense")]
    + ["torch.distributed.tensor.distribute_tensor"]
)
"""Gives its input back while it has nothing to do; a process alone keeps the tensor as its own part."""

CASTS = frozenset("float half bfloat16 from_numpy long int bool byte short char cdouble cfloat chalf".split())
"""Gives its input back when there is nothing to convert, a copy otherwise."""

WRITES_NO_ELEMENT = frozenset(
    f"torch.{word}" for word in ("Tensor.detach_", "detach_", "Tensor.resize_as_", "resize_as_")
)
"""Changes the tensor itself, but none of its elements: torch counts no new version."""


WRITES_UNSEEN = frozenset(
    {"torch.Tensor.data=", "torch.nn.utils.vector_to_parameters", "builtins.next"}
    | {f"torch.nn.utils.{word}" for word in ("clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_")}
    | {"torch.nn.utils.rnn.unpad_sequence"}
    | OWN_ALREADY
)
"""What is written is `.data`, or the gradients of what is given, or what it held before; `unpad_sequence` turns its
argument round for itself.
"""


def quietly(operator: Operator, values: dict[str, Any]) -> Any:
    seed_torch(0)
    with contextlib.redirect_stdout(io.StringIO()):
        return call(operator, values)


def results_of(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple | list) and not isinstance(value, torch.Size) else [value]


def family_of(value: Any) -> Family:
    match value:
        case torch.Tensor():
            return Family.TENSOR
        case torch.nn.Module():
            return Family.MODULE
        case torch.optim.Optimizer():
            return Family.OPTIMIZER
        case bool() | int() | float() | complex():
            return Family.NUMBER
        case torch.dtype() | torch.device() | torch.layout() | str() | numpy.dtype():
            return Family.TEXT
        case tuple() | list():
            return Family.TUPLE
        case None:
            return Family.NONE
        case _:
            return Family.ARRAY if type(value).__module__ == "numpy" else Family.OBJECT


def storages(value: Any) -> set[int]:
    tensors = [_local(v) for v in results_of(value) if isinstance(v, torch.Tensor)]
    dense = [v for v in tensors if v.layout is torch.strided]
    return {v.untyped_storage().data_ptr() for v in dense if v.untyped_storage().nbytes()}


def _local(tensor: torch.Tensor) -> torch.Tensor:
    """What this process holds of a tensor that is shared out, which has no storage itself."""
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def test_the_generator_gives_the_file_that_travels_with_the_program() -> None:
    assert generate() == TARGET.read_text(encoding="utf-8")


def test_it_is_of_the_torch_that_is_installed() -> None:
    assert torch.__version__.startswith(CATALOGUE.torch_version)


def test_every_path_leads_to_something_in_torch() -> None:
    for operator in OF_TORCH:
        if operator.key not in OF_INSTANCES:
            resolve(operator.path.removesuffix("="))


# Slow: 2,374 rows are called, and the first also draws the samples of PyTorch's own tests.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("category", CATALOGUE.categories)
def test_a_sample_call_of_each_row_does_what_the_row_says(category: str) -> None:
    assert wrong_in(category, lambda row: problems_of(row, arguments(row))) == {}


def wrong_in(category: str, problems: Callable[[Operator], list[str]]) -> dict[str, list[str]]:
    """What is wrong with the rows of a category; a call that fails is wrong too."""
    found = {}
    for row in CALLED:
        if row.category == category:
            try:
                found[row.key] = problems(row)
            except (RuntimeError, TypeError, ValueError, LookupError, AttributeError, AssertionError) as error:
                found[row.key] = [f"{type(error).__name__}: {error}"]
    return {key: wrong for key, wrong in found.items() if wrong}


def problems_of(operator: Operator, values: dict[str, Any]) -> list[str]:
    """What a call does otherwise than the row says."""
    tensors = tensors_in(values)
    versions = {name: _versions(operator, value) for name, value in values.items()}
    before, state = storages(tensors), torch.get_rng_state()
    value = quietly(operator, values)
    torch.set_rng_state(state)
    return [
        *_wrong_results(operator, value),
        *_wrong_writes(operator, values, versions),
        *_wrong_sharing(operator, value, values, before),
        *_wrong_tracking(operator, value, tensors),
    ]


def _versions(operator: Operator, value: Any) -> list[int]:
    """How often a tensor was written into; of numpy's arrays and Python's lists what they hold.

    So too of a collective's tensors, whose writing torch does not always count.
    """
    if operator.category == "Distributed" and isinstance(value, torch.Tensor):
        return [hash(repr(value.tolist()))]
    if isinstance(value, numpy.ndarray | list):
        return [hash(repr(value))]
    return [tensor._version for tensor in tensors_in({"": value})]


def _wrong_results(operator: Operator, value: Any) -> list[str]:
    if operator.varying:
        return [] if isinstance(value, tuple | list) else [f"one {type(value).__name__}, not several"]
    if operator.word in ("manual_seed", "set_grad_enabled", "set_detect_anomaly") and not operator.results:
        return []  # a Generator, or what ends a block: nobody wants them
    if operator.results and operator.results[0].family is Family.UNKNOWN:
        return []
    if not operator.results:
        return [] if value is None or operator.face is Face.SET_ATTRIBUTE else [f"gives {type(value).__name__}"]
    if len(operator.results) > 1:
        named = getattr(value, "_fields", None) or getattr(type(value), "__match_args__", None)
        names = tuple(result.name for result in operator.results)
        if named and tuple(named) != names:
            return [f"fields {named}, not {names}"]
        return [] if len(value) == len(names) else [f"{len(value)} results, not {len(names)}"]
    if operator.face in (Face.SET_ITEM, Face.AUGMENTED) or operator.key == "torch.Tensor.grad":
        return []
    family = operator.results[0].family
    if operator.key == "torch.Tensor.grad_fn":
        return []
    return [] if family_of(value) is family else [f"gives {family_of(value)}, not {family}"]


def _wrong_writes(operator: Operator, values: dict[str, Any], before: dict[str, list[int]]) -> list[str]:
    if operator.key in WRITES_UNSEEN:
        return []
    written = {name for name, value in values.items() if _versions(operator, value) != before[name]}
    expected = set() if operator.key in WRITES_NO_ELEMENT else set(operator.writes)
    return [] if written == expected else [f"writes {sorted(written)}, not {sorted(expected)}"]


def _wrong_sharing(operator: Operator, value: Any, values: dict[str, Any], before: set[int]) -> list[str]:
    if operator.writes or operator.face in (Face.CONSTRUCTOR, Face.SET_ATTRIBUTE) or Effect.MODE in operator.effects:
        return []
    shared = bool(storages(value) & before)
    if operator.view:
        if any(tensor.layout is not torch.strided for tensor in tensors_in(values)):
            return []  # a sparse tensor has no one storage
        is_copy = "dtype" in values or operator.word in CASTS
        return [] if shared or is_copy else ["is no view"]
    return ["shares memory with an argument"] if shared and operator.key not in SHARES_SOMETIMES else []


def _wrong_tracking(operator: Operator, value: Any, tensors: list[torch.Tensor]) -> list[str]:
    results = [v for v in results_of(value) if isinstance(v, torch.Tensor)]
    if not results or not any(tensor.requires_grad for tensor in tensors):
        return []
    if operator.face is Face.CONSTRUCTOR or set(operator.effects) & {Effect.GRAD, Effect.MODE, Effect.BACKWARD}:
        return []
    tracked = any(result.requires_grad for result in results)
    if operator.cuts and tracked:
        return ["the result requires grad although it is said to cut"]
    return [] if operator.cuts or tracked else ["the result does not require grad although nothing is said to cut"]


DEFAULTS = [
    (row, p) for row in CALLED for p in row.parameters if p.default is not None and row.path.startswith("torch.")
]


NOT_ALONE = frozenset(f"{home}.{word}" for home in ("torch", "torch.Tensor") for word in ("sum", "mean"))
"""torch takes `keepdim` only together with `dim` here, and says so at the node."""

NO_NONE = frozenset(f"torch.sparse_{word}_tensor" for word in ("coo", "csr", "csc", "bsr", "bsc", "compressed"))
"""torch takes no None for the `size` that may be left out, and says so at the node."""


# Slow: 2,462 pairs of calls.
@pytest.mark.filterwarnings("ignore")
def test_a_default_that_is_written_out_changes_nothing() -> None:
    wrong = [problem for operator, parameter in DEFAULTS if (problem := _default_problem(operator, parameter.name))]
    assert not wrong


def _default_problem(operator: Operator, name: str) -> str:
    seed_torch(1)
    values = arguments(operator)
    if name in values or "empty" in operator.word or (name == "keepdim" and operator.key in NOT_ALONE):
        return ""
    if name == "size" and operator.key in NO_NONE:
        return ""
    if operator.parameter(name).kind in (Kind.TENSORS, Kind.MODULES):  # type: ignore[union-attr] # it has it
        return ""
    plain = quietly(operator, values)
    seed_torch(1)
    again = arguments(operator)
    try:
        text = operator.parameter(name).default or ""  # type: ignore[union-attr] # it has it
        explicit = quietly(
            operator,
            {
                p.name: again[p.name] if p.name in again else evaluate(text)
                for p in operator.parameters
                if p.name in again or p.name == name
            },
        )
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        return f"{operator.key} {name}={text}: {str(error).splitlines()[0]}"
    return "" if _same(plain, explicit) else f"{operator.key} {name}={text}: another result"


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    """The elements as numbers that can be compared."""
    tensor = tensor.detach().resolve_conj()
    return (torch.view_as_real(tensor) if tensor.is_complex() else tensor).nan_to_num()


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, torch.nn.parameter.UninitializedTensorMixin):
        return type(left) is type(right)
    if isinstance(left, DTensor) and isinstance(right, DTensor):
        return left.placements == right.placements and _same(_local(left), _local(right))
    if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
        kinds = (left.dtype, left.shape, left.device, left.requires_grad)
        alike = kinds == (right.dtype, right.shape, right.device, right.requires_grad)
        if not alike or left.layout is not torch.strided:
            return alike and left.layout == right.layout
        return torch.equal(_plain(left), _plain(right)) or not left.is_contiguous()
    if isinstance(left, torch.nn.Module):
        pairs = zip(left.state_dict().values(), right.state_dict().values(), strict=True)
        return repr(left) == repr(right) and all(_same(a, b) for a, b in pairs)
    if isinstance(left, torch.optim.Optimizer):
        return repr(left) == repr(right)
    if isinstance(left, tuple | list):
        return len(left) == len(right) and all(_same(a, b) for a, b in zip(left, right, strict=True))
    return type(left) is type(right) and (not isinstance(left, int | float | str) or left == right)


RANDOM_ONLY_SOMETIMES = frozenset(
    "scaled_dot_product_attention alpha_dropout dropout3d feature_alpha_dropout multi_head_attention_forward "
    "rrelu rrelu_ gru lstm rnn_relu rnn_tanh".split()
)
"""Words of what is random only with a dropout rate, or while training."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("category", CATALOGUE.categories)
def test_random_numbers_are_drawn_where_the_row_says_so(category: str) -> None:
    assert wrong_in(category, _wrong_randomness) == {}


def _wrong_randomness(operator: Operator) -> list[str]:
    if Effect.SEED in operator.effects or operator.word in RANDOM_ONLY_SOMETIMES:
        return []
    values = arguments(operator)
    seed_torch(5)
    before = _generators(values)
    with contextlib.redirect_stdout(io.StringIO()):
        call(operator, values)
    drew = before != _generators(values)
    return [] if drew == (Effect.RANDOM in operator.effects) else [f"draws random numbers: {drew}"]


def _generators(values: dict[str, Any]) -> list[Any]:
    """The states of torch's generator, numpy's, and those that are given."""
    own = [value for value in values.values() if isinstance(value, numpy.random.Generator)]
    older = [value for value in values.values() if isinstance(value, numpy.random.RandomState)]
    states = [value.bit_generator.state for value in own] + [value.get_state() for value in (numpy.random, *older)]
    return [pickle.dumps(state) for state in (torch.get_rng_state().numpy(), *states)]


@pytest.mark.filterwarnings("ignore")
def test_creation_follows_the_device_it_is_given() -> None:
    for operator in CATALOGUE:
        if operator.creates and operator.results[0].family is Family.TENSOR:
            value = quietly(operator, {**arguments(operator), "device": "meta"})
            assert value.device.type == "meta", operator.key
