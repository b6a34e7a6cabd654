"""What a person sees first of a program."""

from gradstudio.document.python.python_document import read_python
from gradstudio.graph.model import ROOT, Graph
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


CODE_FIRST = """import random
import torch
from torch import nn

seed = 3
random.seed(seed)
data = torch.randn(8, 2)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)

    def forward(self, x):
        return self.fc(x)


net = Net()
"""


def test_a_program_that_begins_with_imports_is_seen_at_its_model_else_where_it_computes() -> None:
    for text, name in ((CODE_FIRST, "net"), (CODE_FIRST.replace("net = Net()", ""), "data")):
        graph = read_python(text, keeps_code=True).graph
        item = first_item(graph)
        assert item is not None
        assert graph.nodes[item].names == (name,)
    graph = read_python("import random\nrandom.seed(3)\n", keeps_code=True).graph
    assert first_item(graph) == graph.bodies[ROOT][0]
