"""The groups that stand in the Library and the search beside the catalogue: the document's, and those published."""

import msgspec

from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.groups.definitions import calls_transitively
from gradstudio.graph.model import BodyId, Definition, Graph, ItemId
from gradstudio.graph.operator_rows import GROUP, row_of_key
from gradstudio.operators.model import Operator
from gradstudio.ui.state.library.published_groups import PublishedGroups

PUBLISHED = "published:"
"""How the key of a published group begins until it is brought into a document."""
OF_DOCUMENT = "Groups of this document"
MINE = "My groups"


def is_own(key: str) -> bool:
    """Whether a key stands for a group, of the document or published."""
    return key.startswith((GROUP, PUBLISHED))


def document_rows(graph: Graph) -> tuple[Operator, ...]:
    """The groups of a document, as operators."""
    rows = (row_of_key(graph, GROUP + name) for name in sorted(graph.definitions))
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


def definitions(graph: Graph, published: PublishedGroups | None) -> dict[str, Definition]:
    """Every definition whose card can be shown, by key."""
    found = {GROUP + name: one for name, one in graph.definitions.items()}
    for name in published.names() if published is not None else ():
        document = published.document(name) if published is not None else None
        if document is not None:
            found[PUBLISHED + name] = document.definitions[name]
    return found


def add_own(
    graph: Graph, key: str, published: PublishedGroups | None, x: float, y: float, body: BodyId, inside: str
) -> tuple[Edits, ItemId]:
    """A call of a group; a published one is brought into the document first.

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
    if key.startswith(PUBLISHED):
        source = published.document(name) if published is not None else None
        if source is None:
            raise Refused(f"There is no published group '{name}' any more.")
        brought, name = bring(graph, source, name)
        apply_all(draft, brought)
    if inside and (name == inside or calls_transitively(draft, [name], inside)):
        raise Refused(f"'{name}' cannot stand inside '{inside}': a group cannot call itself.")
    edits, item = add_operator(draft, GROUP + name, x, y, body=body)
    return (*brought, *edits), item
