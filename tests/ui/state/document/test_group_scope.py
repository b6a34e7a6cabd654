"""What is shown inside of a group, and which edits are refused there."""

from pytestqt.qtbot import QtBot

from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.recipes import rename
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_script
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.document.group_scope import Scope, ShownStore

STRETCH = """\
import torch

exec("rate = 0.2")

x = torch.ones(2)
for k in range(3):
    y = torch.relu(x)
print(y)
"""


def node(graph: Graph, name: str) -> ItemId:
    return next(item for item, node in graph.nodes.items() if name in node.names)


def test_what_the_code_around_a_part_may_read_keeps_its_name_in_it(qtbot: QtBot) -> None:
    root = GraphStore(read_script(STRETCH, keeps_code=True).graph)
    scope = Scope(root, root)
    shown = ShownStore(root, scope)
    refused: list[str] = []
    shown.refused.connect(refused.append)
    (name,) = root.graph.definitions
    scope.look_into(name)
    shown.submit(rename(shown.graph, node(shown.graph, "x"), ("z",)), "Rename")
    assert refused == [f"The code around {name} may read 'x': change the name in the text."]
    assert write_script(root.graph) == STRETCH
    assert not root.undo_stack.count()
