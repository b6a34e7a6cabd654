"""A block typed around statements: what a hand would write above and below their lines, read as the whole text is."""

from collections.abc import Iterable
from typing import Final, Literal

from gradstudio.document.python.merge_edits import merge
from gradstudio.graph.edits import Edits
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import BodyId, Graph, ItemId
from gradstudio.graph.names import fresh_name
from gradstudio.graph.recipes.draft import Draft
from gradstudio.graph.recipes.grouping.block_wrapping import top_items
from gradstudio.graph.text.code_text import indented, outdented
from gradstudio.program.errors import NotReadable
from gradstudio.program.write import write

TypedBlock = Literal["for", "while", "if", "try"]
HEADS: Final[dict[TypedBlock, tuple[str, tuple[str, ...]]]] = {
    "for": ("for {variable} in range(3):", ()),
    "while": ("while True:", ("    break",)),
    "if": ("if True:", ()),
    "try": ("try:", ("except RuntimeError as {error}:", "    print({error})")),
}
"""What stands above the lines, and below: at first a `while` goes through them once."""
INDENT = "    "


def wrap_lines(graph: Graph, items: Iterable[ItemId], kind: TypedBlock) -> Edits:
    """Put the lines of statements of the program into a block, with what that means: a loop carries what they bind.

    Raises:
        Refused: nothing is selected, statements between stay outside, or a canvas cannot express the text.
    """
    chosen = top_items(graph, items)
    if not chosen:
        raise Refused("Select the statements that shall stand in the block first.")
    body = graph.bodies[graph.parents[chosen[0]]]
    begin = body.index(chosen[0])
    if list(body[begin : begin + len(chosen)]) != chosen:
        raise Refused("Select statements that follow on one another: those between them would run in the block, too.")
    script = write(graph, stem="program")
    within = {*chosen, *(item for block in chosen if block in graph.blocks for item in graph.order(BodyId(block)))}
    spans = [span for span in script.spans if span.node in within]
    if not spans:
        raise Refused("These statements cannot run: they have no lines in the text.")
    lines = script.code.split("\n")
    first, last = min(span.line for span in spans) - 1, max(span.end_line for span in spans)
    margin = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    head, below = HEADS[kind]
    taken = Draft(graph).taken_names()
    own = {"variable": fresh_name(taken, "i"), "error": fresh_name(taken, "error")}
    inner = indented(outdented(lines[first:last], len(margin)), margin + INDENT)
    block = [margin + head.format_map(own), *inner, *(margin + line.format_map(own) for line in below)]
    try:
        return merge(graph, "\n".join([*lines[:first], *block, *lines[last:]]))
    except NotReadable as error:
        raise Refused(error.reason) from error
