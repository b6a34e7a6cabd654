"""What a person sees first of a program."""

from gradstudio.document.python.python_document import read_python
from gradstudio.graph.model import Graph
from gradstudio.scene.entry_point import first_item

BROUGHT = """
# region: Weights of Net
w = torch.ones(3)
# endregion
# region: Layers of Net
f = nn.Linear(3, 3)
# endregion
x = torch.randn(2, 3)
y = f(x) * w
"""


def read(text: str) -> Graph:
    return read_python(text, pasted=True).graph


def test_a_brought_module_begins_at_its_input() -> None:
    graph = read(BROUGHT)
    item = first_item(graph)
    assert item is not None
    assert graph.nodes[item].names == ("x",)


def test_other_programs_begin_at_their_first_statement() -> None:
    graph = read("# region: encoder\ny = torch.ones(3)\n# endregion\nz = torch.sin(y)")
    item = first_item(graph)
    assert item in graph.blocks
    assert first_item(Graph()) is None
