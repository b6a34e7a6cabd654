"""Names: which are free, which statement a name means, and how an item is called."""

import itertools
import keyword
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Final

from gradstudio.graph.boundary_cards import card_operator
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Block, Graph, ItemId, Node
from gradstudio.graph.operator_rows import GROUP
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Face, Operator

RESERVED = frozenset(
    (
        "torch nn F optim np math load_file Path HERE "
        "float int bool complex str print range slice list tuple len device super"
    ).split()
)
"""Words the writer itself needs (semantics §1)."""
MAX_LENGTH = 100
HUNDRED: Final = 100
"""So many numbered names are made at once."""


def check(text: str) -> str:
    """The name after NFKC.

    Raises:
        Refused: it is no Python identifier, a keyword, begins with two underscores, or is a
            word that the exported script needs itself.
    """
    name = unicodedata.normalize("NFKC", text.strip())
    if not name:
        raise Refused("A name cannot be empty. Use letters, digits and underscores, such as 'w1'.")
    if len(name) > MAX_LENGTH:
        raise Refused(f"A name can have at most {MAX_LENGTH} characters; this one has {len(name)}.")
    if not name.isidentifier():
        raise Refused(f"'{name}' is not a Python name. Use letters, digits and underscores, such as '{suggest(name)}'.")
    if keyword.iskeyword(name):
        raise Refused(f"'{name}' is a word of Python itself. Try '{name}_'.")
    if name.startswith("__"):
        raise Refused(f"'{name}' begins with two underscores, which Python keeps for itself.")
    if name in RESERVED:
        raise Refused(f"'{name}' is a word the exported script needs. Try '{name}_'.")
    return name


def suggest(text: str) -> str:
    """A legal name near to the text."""
    name = re.sub(r"\W+", "_", unicodedata.normalize("NFKC", text)).strip("_") or "x"
    name = f"x{name}" if name[0].isdigit() else name
    return f"{name}_" if keyword.iskeyword(name) or name in RESERVED else name


def bound_names(graph: Graph) -> Iterator[str]:
    """Every name some statement or loop of the program binds; of a definition's inside also those of its inputs."""
    yield from graph.edges.inputs if graph.edges is not None else ()
    for node in graph.nodes.values():
        yield from node.names
    for block in graph.blocks.values():
        yield from (block.variable, *block.carried)


def names_of(graph: Graph, item: ItemId) -> tuple[str, ...]:
    """The names that an item binds, by number: of a node its results, of a loop its variable and what it carries."""
    if item in graph.nodes:
        return graph.nodes[item].names
    block = graph.blocks.get(item)
    return (block.variable, *block.carried) if block is not None else ()


def names_at_end(graph: Graph) -> dict[str, tuple[ItemId, int]]:
    """What each name means behind the last statement: the result of a node."""
    found: dict[str, tuple[ItemId, int]] = {}
    for item in graph.order():
        node = graph.nodes.get(item)
        if node is None or node.muted:
            continue
        for output, name in enumerate(node.names):
            if name != "_":
                found[name] = item, output
    return found


def fresh_name(taken: set[str], base: str) -> str:
    """The base, or the base with the lowest free number; added to `taken`."""
    return fresh_name_from(taken, base, 1)[0]


def fresh_name_from(taken: set[str], base: str, number: int) -> tuple[str, int]:
    """As `fresh_name`, where no lower number is free; also the number it has."""
    base = suggest(base)
    stem = base.rstrip("0123456789") or base
    name = base if number == 1 else f"{stem}{number}"
    if name in taken or name in RESERVED:
        hundred, first = divmod(number + 1, HUNDRED)
        hundreds = map(partial(_numbered, stem), itertools.count(hundred))
        names = itertools.islice(itertools.chain.from_iterable(hundreds), first, None)
        name = next(free for free in itertools.filterfalse(taken.__contains__, names) if free not in RESERVED)
        number = int(name[len(stem) :])
    taken.add(name)
    return name, number


@lru_cache(maxsize=200)
def _numbered(stem: str, hundred: int) -> tuple[str, ...]:
    """A stem with a hundred numbers; kept with their hashes: thousands may be taken, and are again the next time."""
    return tuple([f"{stem}{number}" for number in range(hundred * HUNDRED, (hundred + 1) * HUNDRED)])


def value_words(words: str) -> str:
    """How what an item gives is called within a sentence: ``p``, and "the result of -" where its title is a sign."""
    return words if any(map(str.isalnum, words)) else f"the result of {words}"


def node_title(node: Node) -> str:
    """The names a node binds, else its operator as its card writes it: ``mul_``, ``+=``, ``@``, ``.T``."""
    if len(node.names) == 1 and node.names[0] != "_":
        return node.names[0]
    if any(name != "_" for name in node.names):
        return ", ".join(name for name in node.names if name != "_")
    operator = load().get(node.operator) or card_operator(node)
    return (
        operator_title(node, operator) if operator is not None else node.operator.removeprefix(GROUP).rsplit(".", 1)[-1]
    )


def operator_title(node: Node, operator: Operator) -> str:
    """What a node's operator is called: its title; of one for any attribute that one, ``.weight``, ``.fc =``."""
    is_of_any = operator.face in (Face.ATTRIBUTE, Face.SET_ATTRIBUTE) and not operator.symbol
    name = node.literals.get("name", "").strip("'\"") if is_of_any else ""
    if not name:
        return operator.title
    return f".{name}" if operator.face is Face.ATTRIBUTE else f".{name} ="


def block_word(block: Block) -> str:
    """The word that a block is known by: ``no_grad``, ``for``, ``while``."""
    return "while" if block.endless else block.kind


def block_title(block: Block) -> str:
    """The block as Python would begin it."""
    match block.kind:
        case "for" if block.endless:
            return "while"
        case "for":
            return f"for {block.variable or '_'}"
        case "group":
            return block.title or "group"
        case "if":
            return "if"
        case _:
            return f"with {block.kind}"
