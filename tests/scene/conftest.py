"""A scene without a window."""

import pytest

from tests.helpers.drawing import Drawing


@pytest.fixture
def drawing() -> Drawing:
    """An empty graph and its scene."""
    return Drawing()
