"""Ids of what Python that is not drawn has called: ``card/file:line:number:path``, as a run speaks of it.

No graph has a node for them: the card of code, or the call of what code made, stands for all that is inside it.
"""

from typing import NamedTuple

from gradstudio.graph.groups.call_ids import SEPARATOR, call_item_id
from gradstudio.graph.model import ItemId

_BETWEEN = ":"


class CodeCall(NamedTuple):
    """One call of torch inside of code.

    Attributes:
        card: the statement that it is inside of.
        file: the name of the file it stands in; "" in the program's own text.
        line: there.
        number: how many calls were before it since the card began.
        path: what was called: ``torch.relu``, ``torch.nn.Linear``.
    """

    card: ItemId
    file: str
    line: int
    number: int
    path: str

    @property
    def word(self) -> str:
        """What was called in a word: ``relu``, ``getitem``."""
        name = self.path.removesuffix(".__get__").rpartition(".")[2]
        is_special = name.startswith("__") and name.endswith("__")
        return name.strip("_") if is_special else name


def code_call_id(call: CodeCall) -> ItemId:
    """The id of such a call."""
    file = call.file.replace(SEPARATOR, "_").replace(_BETWEEN, "_")
    path = call.path.replace(SEPARATOR, "_").replace(_BETWEEN, "_")
    return call_item_id(call.card, ItemId(_BETWEEN.join((file, str(call.line), str(call.number), path))))


def code_call(item: ItemId) -> CodeCall | None:
    """What an id of a run means, if it is that of a call inside of code."""
    if _BETWEEN not in item:
        return None
    card, _, last = item.rpartition(SEPARATOR)
    parts = last.split(_BETWEEN)
    if not card or len(parts) != 4 or not (parts[1].isdecimal() and parts[2].isdecimal()):
        return None
    return CodeCall(ItemId(card), parts[0], int(parts[1]), int(parts[2]), parts[3])
