"""Rows that write into `out`: torch writes there what it would have given, and gives the very same object back."""

from typing import Any

import pytest
import torch

from gradstudio.operators.calls.argument_binding import Several, Wired, bind
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.catalogue.out_variants import OUT, key_of, plain_key
from gradstudio.operators.model import Family, Operator
from tests.engine.operator_calls import NEEDS_A_GPU, arguments, call

UNINITIALISED = frozenset({"torch.empty", "torch.linalg.lstsq"})
"""Some of their results are whatever the memory held."""
FILLS = [row for row in load() if row.fills and row.path.startswith("torch.") and row.key not in NEEDS_A_GPU]
ALONG = {"torch.sum": {"dim": 0}}
"""torch has no `out` for the sum of everything."""
TENSOR = Wired(Family.TENSOR)


def detached(value: Any) -> Any:
    """The value without the gradients that torch's `out` forms refuse to record."""
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, list | tuple) and any(isinstance(each, torch.Tensor) for each in value):
        return [detached(each) for each in value]
    return value


def seeded(row: Operator, values: dict[str, Any]) -> Any:
    torch.manual_seed(0)
    return call(row, values)


def wrong_with(row: Operator) -> str:
    """What a call with `out` does otherwise than the row says; "" when nothing."""
    values = {name: detached(value) for name, value in (arguments(row) | ALONG.get(row.key, {})).items()}
    expected = seeded(row, values)
    out: Any = (
        torch.empty_like(expected) if len(row.results) == 1 else tuple(torch.empty_like(each) for each in expected)
    )
    filling = load()[key_of(row.key)]
    given = seeded(filling, {**values, OUT: out})
    pairs = [(expected, given, out)] if len(row.results) == 1 else list(zip(expected, given, out, strict=True))
    if not all(result is place for _, result, place in pairs):
        return "the result is not `out`"
    same = all(torch.equal(_plain(one), _plain(two)) for one, two, _ in pairs)
    return "" if same or row.key in UNINITIALISED else "other numbers than without `out`"


def _plain(value: torch.Tensor) -> torch.Tensor:
    return torch.nan_to_num(torch.view_as_real(value.resolve_conj()) if value.is_complex() else value)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("category", sorted({row.category for row in FILLS}))
def test_each_row_that_fills_writes_its_results_into_what_it_is_given(category: str) -> None:
    rows = [row for row in FILLS if row.category == category]
    assert {row.key: wrong for row in rows if (wrong := wrong_with(row))} == {}


def test_the_well_known_functions_fill() -> None:
    keys = {row.key for row in FILLS}
    assert {"torch.add", "torch.matmul", "torch.sum", "torch.max:dim", "torch.zeros", "torch.randn"} <= keys
    assert {"torch.linalg.inv", "torch.special.erf", "torch.fft.fft", "torch.cat", "torch.where"} <= keys


def test_the_row_is_found_where_out_is_given_and_only_there() -> None:
    assert bind(load(), "torch.add", [TENSOR, TENSOR]).operator.key == "torch.add"
    filled = bind(load(), "torch.add", [TENSOR, TENSOR], {OUT: TENSOR})
    assert (filled.operator.key, filled.operator.writes, filled.ports[OUT]) == ("torch.add:out", (OUT,), TENSOR)
    pair = bind(load(), "torch.max", [TENSOR, TENSOR], {OUT: TENSOR})
    assert pair.operator.key == "torch.max:other_out"
    several = bind(load(), "torch.sort", [TENSOR], {OUT: Several((TENSOR, TENSOR), is_list=False)})
    assert (several.operator.writes, several.lengths) == (("out.0", "out.1"), {OUT: 2})


def test_its_key_leads_back_to_the_row_without_out_and_it_is_in_no_list() -> None:
    for row in FILLS:
        assert plain_key(key_of(row.key)) == row.key
        assert load()[key_of(row.key)].path == row.path
    assert all(plain_key(row.key) == row.key for row in load())
    assert not any(row.parameter(OUT) for row in load() if row.path.startswith("torch."))
