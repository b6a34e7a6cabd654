"""The measure itself: what it calls the same, and what it does not."""

import pytest
import torch

from gradstudio.engine.value.value_records import record_of
from tools.conformance.compare import differs, plain_differs, tensors_differ
from tools.conformance.exceptions import read
from tools.conformance.inputs import take_apart
from tools.conformance.literals import NotWritable, literal
from tools.conformance.tally import Tally, Verdict, exceptions

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    "tensor",
    [
        torch.tensor([1.5, -0.0, INF, -INF, NAN]),
        torch.tensor([[1, -2], [3, 2**62]]),
        torch.tensor([True, False]),
        torch.tensor([1 + 2j, complex(NAN, -0.0)]),
        torch.tensor(0.1, dtype=torch.bfloat16),
        torch.empty(0, 3),
        torch.arange(6.0).reshape(2, 3).t(),
        torch.tensor([1 + 2j]).conj(),
    ],
)
def test_a_record_of_a_tensor_is_the_same_as_the_tensor(tensor: torch.Tensor) -> None:
    assert differs(record_of(tensor, 1000), tensor) == ""


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (torch.tensor([0.0]), torch.tensor([-0.0])),
        (torch.tensor([1.0]), torch.tensor([1.0 + 2**-23])),
        (torch.tensor([1.0]), torch.tensor([1])),
        (torch.tensor([1.0]), torch.tensor([[1.0]])),
        (torch.tensor([NAN]), torch.tensor([INF])),
        (torch.tensor([1 + 2j]), torch.tensor([1 - 2j])),
        (torch.tensor([2**62]), torch.tensor([2**62 + 1])),
    ],
)
def test_a_bit_a_dtype_or_a_shape_that_is_another_is_found(told: torch.Tensor, expected: torch.Tensor) -> None:
    assert differs(record_of(told, 1000), expected)
    assert tensors_differ(told, expected)
    assert tensors_differ(expected, expected) == ""


def test_plain_results_are_compared_with_their_kind() -> None:
    assert plain_differs(record_of((1, 2.5)), (1, 2.5)) == ""
    assert plain_differs(record_of(True), 1)
    assert plain_differs(record_of(1.0), 2.0)
    assert plain_differs(record_of(torch.float32), torch.float32) == ""


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(6.0).reshape(2, 3).t(),
        torch.ones(3).expand(4, 3),
        torch.arange(8.0)[1::3],
        torch.tensor([1 + 2j, 3j]).conj(),
        torch.eye(3).to_sparse(),
        torch.empty(0, 2),
        torch.tensor(2.0, dtype=torch.complex128),
    ],
)
def test_a_tensor_is_taken_apart_into_dense_ones_of_the_same_numbers(tensor: torch.Tensor) -> None:
    entry = take_apart(tensor)
    assert all(part.layout is torch.strided and part.is_contiguous() for part in entry.parts)
    assert tensors_differ(entry.leaf, tensor) == ""
    needs_a_step = tensor.layout is not torch.strided or not tensor.is_contiguous() or tensor.is_conj()
    assert bool(entry.steps) == needs_a_step


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (INF, 'float("inf")'),
        (NAN, 'float("nan")'),
        (1e-07, "1e-07"),
        (2 - 3j, "2.0 - 3.0j"),
        ((1,), "(1,)"),
        ([None, (2, True)], "[None, (2, True)]"),
        (torch.int64, "torch.int64"),
        ("mean", '"mean"'),
        (torch.device("cpu"), '"cpu"'),
    ],
)
def test_values_are_written_as_a_person_would(value: object, text: str) -> None:
    assert literal(value) == text


def test_a_function_is_nothing_that_can_be_written() -> None:
    with pytest.raises(NotWritable):
        literal(torch.relu)


def test_an_exception_without_a_reason_and_a_reason_without_an_exception_are_told() -> None:
    tally = Tally("float32 function", "op")
    for verdict in (
        Verdict("a", "differs", "1 of 2"),
        Verdict("b", "same"),
        Verdict("c", "same"),
        Verdict("d", "same"),
    ):
        tally.add(verdict)
    known = {"op b": "a reason", "op c": "at times: it comes and goes", "op e": "not measured"}
    told, wrong = exceptions([tally], known, complete=True)
    assert not told
    assert [line.split()[0] for line in wrong] == ["NOT", "WORKS"]
    assert exceptions([tally], {**known, "op a": "because"}, complete=False) == (
        ["float32 function: a (1): because"],
        [],
    )


def test_every_listed_exception_has_a_section_and_a_reason() -> None:
    assert all(key.split()[0] in ("op", "module", "error", "infer") and reason for key, reason in read().items())
