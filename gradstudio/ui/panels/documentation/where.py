"""Where a person may look at an operator and ask for its page."""

from typing import Protocol, runtime_checkable


@runtime_checkable
class Documented(Protocol):
    """A widget that lists operators: F1 within it shows the page of the one that is current."""

    def documented_operator(self) -> str:
        """The key of the operator that is current; "" for none."""
