"""Ids of what is inside a call of a group, as a run speaks of it: ``call/inner``, nested ``outer/call/inner``.

No node of a graph has such an id: its parts are ids of nodes, the last of one in a definition.
"""

from collections.abc import Iterable

from gradstudio.graph.model import DEFINITION_INPUTS, DEFINITION_OUTPUTS, ItemId

SEPARATOR = "/"
INPUTS = DEFINITION_INPUTS
"""The last part of the id under which the inputs of a call are told."""
OUTPUTS = DEFINITION_OUTPUTS
"""The last part of the id at which a run stands that is to return from a call."""


def call_item_id(call: ItemId, item: ItemId) -> ItemId:
    """The id of an item inside a call."""
    return ItemId(f"{call}{SEPARATOR}{item}")


def is_call_item(item: ItemId) -> bool:
    """Whether an item is inside a call."""
    return SEPARATOR in item


def call_items(items: Iterable[ItemId]) -> list[ItemId]:
    """Those of some items that are inside calls."""
    return [item for item in items if SEPARATOR in item]


def outermost(item: ItemId) -> ItemId:
    """The item of the program that an item is, or is inside of."""
    return ItemId(item.partition(SEPARATOR)[0])


def path_of(item: ItemId) -> tuple[ItemId, ...]:
    """The calls an item is inside of, the outermost first, and the item itself."""
    return tuple(ItemId(part) for part in item.split(SEPARATOR))


def calls_around(item: ItemId) -> tuple[ItemId, ...]:
    """The ids of the calls an item is inside of, the outermost first."""
    parts = item.split(SEPARATOR)
    return tuple(ItemId(SEPARATOR.join(parts[:count])) for count in range(1, len(parts)))
