"""Which statement each name means while a text is read from top to bottom."""

from difflib import get_close_matches

from gradstudio.graph.names import fresh_name
from gradstudio.program.reading.graph_builder import Port

SHOWN = 60
"""How many characters of a name are repeated in a reason."""


class Scope:
    """The names bound so far.

    Attributes:
        used: all names in the text.
        has_device: the header says `device = …`: the name stands for the document's device.
        offers: a reason says which name may have been meant.
    """

    def __init__(self, used: set[str], outside: frozenset[str] = frozenset()) -> None:
        """Nothing is bound; `used` are all names in the text, `outside` those bound around a definition."""
        self.used = used
        self.has_device = False
        self.offers = True
        self._bound: dict[str, Port] = {}
        self._gone: dict[str, str] = {}
        self._outside = outside

    def find(self, name: str) -> Port | None:
        """What the name means here, or None."""
        return self._bound.get(name)

    def bind(self, name: str, value: Port) -> None:
        """From here on the name means this."""
        self._bound[name] = value
        self._gone.pop(name, None)

    def bindings(self) -> dict[str, Port]:
        """Every name and what it means here."""
        return dict(self._bound)

    def keep(self, prefix: str) -> None:
        """From here on only names that begin in this way mean anything."""
        self._bound = {name: value for name, value in self._bound.items() if name.startswith(prefix)}

    def forget(self, name: str, why: str) -> None:
        """The name means nothing from here on."""
        if self._bound.pop(name, None) is not None:
            self._gone[name] = why

    def fresh(self, base: str) -> str:
        """A name that the text uses nowhere."""
        return fresh_name(self.used, base)

    def unbound(self, name: str) -> str:
        """Why the name cannot be read here."""
        if name in self._gone:
            return self._gone[name]
        if name in self._outside:
            return f"'{name[:SHOWN]}' is bound outside of this definition, which reads its arguments only: pass it in."
        near = get_close_matches(name[:SHOWN], self._bound, n=1) if self.offers else []
        hint = f" Did you mean '{near[0]}'?" if near else ""
        return f"'{name[:SHOWN]}' is not bound by any statement above.{hint}"
