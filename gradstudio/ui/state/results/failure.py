"""A node that failed, and the same failure as the canvas shows it."""

import msgspec

from gradstudio.graph.groups.call_ids import path_of
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import Failed


class Failure(msgspec.Struct, frozen=True):
    """A node that failed: torch's words, ours, and what can be done.

    Attributes:
        what: torch's exception and message, unchanged.
        explanation: in plain words; "" when we know no more than torch.
        fixes: titles of what may be done.
        text: the statement that failed; the failure stands only while the program says that.
        place: where in undrawn Python it failed ("line 7"); "" of a drawn node, which says it.
    """

    failed: Failed
    explanation: str = ""
    fixes: tuple[str, ...] = ()
    text: str = ""
    place: str = ""

    @property
    def what(self) -> str:
        """Torch's exception class and words, and where in undrawn Python they were said."""
        return self.at_place(f"{self.failed.type_name}: {self.failed.message}")

    @property
    def words(self) -> str:
        """Why it failed in one plain sentence, where we know more than torch, and behind it torch's words."""
        why, dot, _ = " ".join(self.explanation.split()).partition(". ")
        said = f"{self.failed.type_name}: {self.failed.message}"
        return self.at_place(f"{why}{dot.strip()} {said}".strip())

    def at_place(self, words: str) -> str:
        """Words of the failure behind its place."""
        return f"{self.place}: {words}" if self.place else words


def shown_at(failure: Failure, node: ItemId) -> Failure:
    """The failure as that of what is shown; what went into a node inside a call did not go into the call."""
    if failure.failed.node == node:
        return failure
    same = path_of(failure.failed.node)[-1] == node
    operands = failure.failed.operands if same else ()
    return msgspec.structs.replace(
        failure, failed=msgspec.structs.replace(failure.failed, node=node, operands=operands)
    )
