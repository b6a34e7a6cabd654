"""One form of numbers everywhere."""

import pytest

from gradstudio.protocol.number_format import format_number


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.25, "0.25"), (4.3811e-7, "4.38e-7"), (-2.0e-12, "-2e-12"), (1.0e6, "1e6"), (float("inf"), "inf"), (0.0, "0")],
)
def test_an_exponent_has_no_zeros_before_it(value: float, written: str) -> None:
    assert format_number(value) == written
