"""Programs for questions about graphs: read from Python, and drawn at random by hypothesis."""

from collections.abc import Iterable

from hypothesis import strategies as st

from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.reading.reader import read_script


def program(text: str) -> Graph:
    return read_script("import torch\n" + text).graph


def node(graph: Graph, name: str) -> ItemId:
    """The last node that binds the name."""
    return next(
        item for item in reversed(list(graph.order())) if item in graph.nodes and name in graph.nodes[item].names
    )


def names(graph: Graph, items: Iterable[ItemId]) -> list[str]:
    """The names of items that have one, else their operators' last words."""
    return [
        ", ".join(graph.nodes[item].names) or graph.nodes[item].operator.rpartition(".")[2]
        if item in graph.nodes
        else graph.blocks[item].kind
        for item in items
    ]


Line = tuple[str, tuple[int, ...]]
"""A kind ("leaf", "plain", "sum", "detach") and the lines it takes from."""


@st.composite
def lines(draw: st.DrawFn, most: int = 9) -> list[Line]:
    """A program of so many lines, each of which takes from earlier ones; the last one is a sum."""
    made: list[Line] = [("leaf", ())]
    for number in range(1, draw(st.integers(3, most))):
        kind = draw(st.sampled_from(["leaf", "plain", "sum", "sum", "sum", "detach"]))
        count = {"leaf": 0, "plain": 0, "sum": 2, "detach": 1}[kind]
        made.append((kind, tuple(draw(st.integers(0, number - 1)) for _ in range(count))))
    ends = (draw(st.integers(0, len(made) - 1)), len(made) - 1)
    return [*made, ("sum", ends)]


def written(drawn: list[Line]) -> Graph:
    """The program, a backward from its last line at its end."""
    text = []
    for number, (kind, sources) in enumerate(drawn):
        taken = [f"v{source}" for source in sources]
        match kind:
            case "leaf":
                text.append(f"v{number} = torch.tensor({number + 1}.0, requires_grad=True)")
            case "plain":
                text.append(f"v{number} = torch.tensor({number + 1}.0)")
            case "detach":
                text.append(f"v{number} = {taken[0]}.detach()")
            case _:
                text.append(f"v{number} = {taken[0]} + {taken[1]}")
    return program("\n".join([*text, f"v{len(drawn) - 1}.backward()"]))
