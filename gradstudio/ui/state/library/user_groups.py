"""The groups that stand in the Library and the search beside the catalogue: the document's, published, shipped."""

from functools import cache
from typing import Final

import msgspec

from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.groups.definitions import calls_transitively
from gradstudio.graph.model import BodyId, Definition, Graph, ItemId
from gradstudio.graph.operator_rows import GROUP, row_of_key
from gradstudio.graph.text.drawn_bodies import is_body
from gradstudio.operators.model import Face, Operator, Result
from gradstudio.paths import resources
from gradstudio.ui.state.library.published_groups import PublishedGroups

PUBLISHED = "published:"
"""How the key of a published group begins until it is brought into a document."""
OF_DOCUMENT = "Groups of this document"
MINE = "My groups"
SHIPPED: Final = "shipped:"
"""How the key of a data set begins until it is brought into a document."""
DATA_SETS: Final = "Data sets"
_RESULTS: Final = (("points", "labels"), ("x", "y"))
_SETS: Final = (
    ("two_moons", "Two half moons that reach into each other: points [count, 2] and classes 0, 1.", 0),
    ("circles", "A circle within a circle: points [count, 2] and classes 0 (outside), 1 (inside).", 0),
    ("spirals", "Spirals around each other: points [count, 2] and which arm each lies on.", 0),
    ("blobs", "Clouds around points of a circle: points [count, 2] and which cloud each belongs to.", 0),
    ("xor", "Four quarters of a square: points [count, 2] and class 1 where the signs of x and y differ.", 0),
    ("sine", "A noisy wave: x [count, 1] from -3 to 3 and y [count, 1].", 1),
)
DIGITS: Final = SHIPPED + "digits"
"""The one that is no group: its tensors are brought as those of a file that is imported."""
_DIGITS_ROW: Final = Operator(
    key=DIGITS,
    title="digits",
    face=Face.CALL,
    category=DATA_SETS,
    summary="1,797 handwritten digits of 8×8 grey values, as MNIST's but small: X [1438, 64] and y to learn from, "
    "X_val and y_val [359] to validate.",
    results=tuple(Result(name=one) for one in ("X", "y", "X_val", "y_val")),
    words=("data set", "dataset", "mnist", "handwritten", "optdigits", "load digits"),
    rare=True,
)
DATA_SET_ROWS: Final = (
    *(
        Operator(
            key=SHIPPED + name,
            title=name,
            face=Face.CALL,
            category=DATA_SETS,
            summary=summary,
            results=tuple(Result(name=one) for one in _RESULTS[kind]),
            words=("data set", "dataset"),
            rare=True,
        )
        for name, summary, kind in _SETS
    ),
    _DIGITS_ROW,
)
"""The data sets as operators, in the order in which they are listed."""


def is_own(key: str) -> bool:
    """Whether a key stands for a group, of the document, published, or shipped."""
    return key.startswith((GROUP, PUBLISHED, SHIPPED))


def is_data_set(key: str) -> bool:
    """Whether a key stands for one of the data sets that come along, also where its group is the document's by now."""
    return is_own(key) and any(name == key.partition(":")[2] for name, _, _ in _SETS)


def document_rows(graph: Graph) -> tuple[Operator, ...]:
    """The groups of a document, as operators."""
    rows = (row_of_key(graph, GROUP + name) for name in sorted(graph.definitions) if not is_body(name))
    return tuple(msgspec.structs.replace(row, summary="A group of this document.") for row in rows if row is not None)


def published_rows(published: PublishedGroups | None) -> tuple[Operator, ...]:
    """The published groups, as operators."""
    found = []
    for name in published.names() if published is not None else ():
        graph = published.document(name) if published is not None else None
        row = row_of_key(graph, GROUP + name) if graph is not None else None
        if row is not None:
            found.append(msgspec.structs.replace(row, key=PUBLISHED + name, summary="A group that you published."))
    return tuple(found)


@cache
def shipped_document() -> Graph:
    """The document that holds the data sets; its text is read when the first of them is used."""
    from gradstudio.program.reading.reader import read_script

    return read_script((resources() / "groups" / "data_sets.py").read_text("utf-8")).graph


def definition_of(key: str, graph: Graph, published: PublishedGroups | None) -> Definition | None:
    """The definition whose card is shown for a key; None when it is gone, or the key is no group's."""
    if not is_own(key) or key == DIGITS:
        return None
    source, name = (graph if key.startswith(GROUP) else _source(key, published)), key.partition(":")[2]
    return source.definitions.get(name) if source is not None else None


def add_own(
    graph: Graph, key: str, published: PublishedGroups | None, x: float, y: float, body: BodyId, inside: str
) -> tuple[Edits, ItemId]:
    """A call of a group; one that is not the document's is brought into it first.

    Args:
        graph: the document, or the inside of a group.
        key: of `is_own`.
        published: where published groups are.
        x, y: scene pixels.
        body: where it is put.
        inside: the group whose inside `graph` is; "" for the program.

    Raises:
        Refused: there is no such group any more, or it would call itself.
    """
    from gradstudio.graph.recipes import add_operator
    from gradstudio.graph.recipes.grouping.definition_copies import bring

    brought: Edits = ()
    name = key.partition(":")[2]
    draft = graph.copy()
    if not key.startswith(GROUP):
        source = _source(key, published)
        if source is None:
            raise Refused(f"There is no published group '{name}' any more.")
        brought, name = bring(graph, source, name)
        apply_all(draft, brought)
    if inside and (name == inside or calls_transitively(draft, [name], inside)):
        raise Refused(f"'{name}' cannot stand inside '{inside}': a group cannot call itself.")
    edits, item = add_operator(draft, GROUP + name, x, y, body=body)
    return (*brought, *edits), item


def _source(key: str, published: PublishedGroups | None) -> Graph | None:
    """The document that a group is brought from."""
    if key.startswith(SHIPPED):
        return shipped_document()
    return published.document(key.removeprefix(PUBLISHED)) if published is not None else None
