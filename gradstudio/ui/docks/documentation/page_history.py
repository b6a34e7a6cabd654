"""Which pages were read, in which order. No Qt."""

MAX_PAGES = 100


class History:
    """Pages behind and ahead of the one that is shown, as in a browser."""

    def __init__(self) -> None:
        """Nothing was read."""
        self._keys: list[str] = []
        self._at = -1

    @property
    def current(self) -> str:
        """The page that is shown; "" for none."""
        return self._keys[self._at] if self._keys else ""

    @property
    def can_go_back(self) -> bool:
        """Whether another page was read before."""
        return self._at > 0

    @property
    def can_go_forward(self) -> bool:
        """Whether one went back from another."""
        return self._at < len(self._keys) - 1

    def visit(self, key: str) -> None:
        """Show a page; what lay ahead is forgotten."""
        if key != self.current:
            self._keys = [*self._keys[: self._at + 1], key][-MAX_PAGES:]
            self._at = len(self._keys) - 1

    def go(self, steps: int) -> str:
        """Back (negative) or forward, as far as there are pages; the page that is shown then."""
        self._at = max(0, min(self._at + steps, len(self._keys) - 1)) if self._keys else -1
        return self.current
