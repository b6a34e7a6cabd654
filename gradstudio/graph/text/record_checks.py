"""Whether names and literals of a record are what the text of a program may hold; if not, why."""

from functools import lru_cache

from gradstudio.graph import names as names_of
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import DOCUMENT_DEVICE, Node
from gradstudio.graph.text.literal_text import NotALiteral, spell, spell_index
from gradstudio.operators.model import Kind

DEVICE_KINDS = frozenset({Kind.DEVICE, Kind.ANY, Kind.VALUES})
"""Arguments that may be the document's device."""


def attribute_of(node: Node) -> str:
    """The attribute that a node with a `name` port reads or writes."""
    return _unquoted(node.literals.get("name", ""))


def digest_of(node: Node) -> str:
    """The digest of the stored tensor that a node loads."""
    return _unquoted(node.literals.get("digest", ""))


def names_reason(names: tuple[str, ...]) -> str | None:
    """Why names cannot be bound by one statement; None when they can."""
    for name in names:
        reason = _name_reason(name)
        if reason is not None:
            return reason
    if len(names) > 1:
        real = [name for name in names if name != "_"]
        return "it binds one name twice" if len(set(real)) != len(real) else None
    return None


def literal_reason(text: str, kind: Kind) -> str | None:
    """Why a text is no literal of its kind; None when it is one."""
    if kind in DEVICE_KINDS and text == DOCUMENT_DEVICE:
        return None
    try:
        if kind is Kind.INDEX:
            spell_index(text)
        elif kind is not Kind.NAME:
            spell(text)
    except NotALiteral as error:
        return str(error)
    return None


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text


@lru_cache(maxsize=8192)
def _name_reason(name: str) -> str | None:
    if name == "_":
        return None
    try:
        return None if names_of.check(name) == name else f"'{name[:60]}' is not a Python name as it is written"
    except Refused as error:
        return str(error)
