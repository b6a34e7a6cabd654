"""Notes: the comments above and beside a statement, shown and edited on the canvas as one text."""

import msgspec

from gradstudio.graph.model import Block, Node


def note_of(owner: Node | Block) -> str:
    """What the canvas shows as an item's note: the lines above its statement, then the one beside it."""
    return "\n".join(filter(None, (owner.note.strip("\n"), owner.beside)))


def with_note(owner: Node | Block, text: str) -> Node | Block:
    """The record with another note: its last line stays beside the statement while that is the line which stood there.

    It is that line when nothing else changed but it, or when it is still the last one.
    """
    text = text.strip("\n")
    above, _, last = text.rpartition("\n")
    is_beside = bool(owner.beside and text) and (last == owner.beside or above == owner.note.strip("\n"))
    note, beside = (above, last) if is_beside else (text, "")
    gap = "\n" if owner.note.endswith("\n") and note.strip("\n") else ""
    return msgspec.structs.replace(owner, note=note.rstrip("\n") + gap, beside=beside.rstrip())
