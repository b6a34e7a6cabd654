"""Hosts of these tests are this machine: their engines are forks, each a process of its own."""

from collections.abc import Iterator

import pytest

from tests.helpers import engine_forks


@pytest.fixture(autouse=True, scope="package")
def _engines_are_forks() -> Iterator[None]:
    with engine_forks.everywhere():
        yield
