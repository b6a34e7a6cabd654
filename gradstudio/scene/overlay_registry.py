"""Every overlay, a row each: what may be painted over the program, what it is called, and whether it is on.

A row is a field of `Shown`: what is painted asks that by name, and menus, keys, toolbar and settings are made from
`OVERLAYS`. No Qt.
"""

from dataclasses import Field, dataclass, field, fields
from typing import Any, Final, NamedTuple


class OverlayRow(NamedTuple):
    """One overlay.

    Attributes:
        id: as settings keep it; it never changes.
        title: its entry in the menu.
        button: the word on its button.
        tip: what it shows.
        icon: one of `resources/icons`.
        is_on_at_first: False for what answers a question that is asked now and then.
        in_toolbar: whether it has a button there.
    """

    id: str
    title: str
    button: str
    tip: str
    icon: str
    is_on_at_first: bool
    in_toolbar: bool


def _row(title: str, button: str, tip: str, icon: str, *, is_on: bool = True, in_toolbar: bool = True) -> Any:
    """A field of `Shown` that knows its words."""
    return field(default=is_on, metadata={"words": (title, button, tip, icon), "in_toolbar": in_toolbar})


@dataclass(frozen=True, slots=True)
class Shown:
    """Which overlays are on; a field is the row of one, in the order of the menu and of the keys."""

    values: bool = _row("Values", "Values", "numbers, short vectors and heat maps on the cards", "values")
    shapes: bool = _row("Shapes", "Shapes", "the shape of every result", "shapes")
    dtype_device: bool = _row("Dtype and device", "Types", "dtype and device of every result", "dtype_device")
    grad_fn: bool = _row("grad_fn", "grad_fn", "the name of the function that backward will call", "grad_fn")
    gradients: bool = _row(
        "Gradients", "Gradients", "the gradient of every result, and why where there is none", "gradients"
    )
    wire_gradients: bool = _row(
        "Wire gradients", "Wires", "what a backward sent back along every wire", "wire_gradients", in_toolbar=False
    )
    storage: bool = _row(
        "Storage", "Storage", "which results share one storage: views and in-place writes", "storage",
        is_on=False, in_toolbar=False,
    )  # fmt: skip
    cost: bool = _row(
        "Memory and time", "Cost", "what every node holds, and how long it took", "cost", is_on=False, in_toolbar=False
    )
    over_ranks: bool = False
    """No row: of several processes whether they agree, and by how much not, in the place of one's numbers."""


def _row_of(each: "Field[bool]") -> OverlayRow:
    title, button, tip, icon = each.metadata["words"]
    return OverlayRow(each.name, title, button, tip, icon, each.default is True, each.metadata["in_toolbar"])


OVERLAYS: Final = tuple(_row_of(each) for each in fields(Shown) if each.metadata)
"""All of them, in the order of the menu."""
