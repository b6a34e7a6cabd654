"""What is said of the inputs of a pasted part. No Qt."""

from typing import Final

from gradstudio.document.clipboard import Fragment
from gradstudio.graph.edits import AddBlock, AddNode, AddWire, Edits
from gradstudio.graph.external_inputs import end_words

MOST_NAMED: Final = 3


def open_inputs_message(found: Fragment, edits: Edits, here: int) -> str:
    """How many inputs are wired as they were, and which are open; what feeds `here` of them is on this canvas."""
    fresh = {edit.node.id for edit in edits if isinstance(edit, AddNode)}
    fresh |= {edit.block.id for edit in edits if isinstance(edit, AddBlock)}
    wires = [edit.wire for edit in edits if isinstance(edit, AddWire)]
    wired = sum(wire.source not in fresh and wire.target in fresh for wire in wires)
    count = len(found.outside) - wired
    if not count:
        return f"Pasted; {_inputs(wired)} wired as before"
    if wired:
        return f"Pasted; {_inputs(wired)} wired as before, {_inputs(count)} open"
    named = ", ".join(end_words(found.graph, one) for one in found.outside[:MOST_NAMED])
    more = " and more" if count > MOST_NAMED else ""
    hint = "; Ctrl+Shift+V wires them as they were" if here else ""
    return f"Pasted; {_inputs(count)} open: {named}{more}{hint}"


def _inputs(count: int) -> str:
    return f"{count} input{'' if count == 1 else 's'} {'is' if count == 1 else 'are'}"
