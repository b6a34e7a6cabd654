"""Given arguments: what stands between the parentheses of a Python call, before a row is chosen. No torch here."""

import msgspec

from gradstudio.operators.model import Family


class Wired(msgspec.Struct, frozen=True):
    """An argument that another statement computes."""

    family: Family = Family.UNKNOWN


class Written(msgspec.Struct, frozen=True):
    """An argument that stands there as a literal: ``0.5``, ``(2, 3)``, between brackets ``:, 1:``."""

    text: str


class Several(msgspec.Struct, frozen=True):
    """A tuple or a list in which wires and literals stand side by side."""

    items: "tuple[Given, ...]"
    is_list: bool = True


class Slice(msgspec.Struct, frozen=True):
    """``start:stop:step`` between brackets, any of them wired."""

    start: "Wired | Written | None" = None
    stop: "Wired | Written | None" = None
    step: "Wired | Written | None" = None


Given = Wired | Written | Several | Slice
