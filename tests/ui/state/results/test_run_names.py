"""What stands inside a call is found there, also where the model that it calls was handed to a function."""

from gradstudio.graph.groups.call_ids import call_item_id
from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.progress import CurveKey
from gradstudio.protocol.timeline.run_timeline import Timeline
from gradstudio.ui.state.document.attention import Attention
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.results.run_names import RunNames
from gradstudio.ui.state.results.timeline_cursor import TimelineCursor, loops_around

TEXT = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
    def forward(self, x):
        for k in range(3):
            x = self.fc(x)
        return x
def run(net, x):
    out = net(x)
    return out
y = run(Net(), torch.ones(2, 4))
"""


def inside(graph: Graph) -> tuple[ItemId, ItemId]:
    """The call of the layer in the model that `run` was given, and the loop around it."""
    (y,) = (node.id for node in graph.nodes.values() if "y" in node.names)
    (out,) = graph.definitions["run"].graph.nodes
    net = graph.definitions["Net"].graph
    (layer,) = (wire.target for wire in net.wires.values() if wire.port == "module")
    (loop,) = net.blocks
    return call_item_id(call_item_id(y, out), layer), loop


def test_a_step_inside_a_model_that_was_handed_in_is_called_by_its_name() -> None:
    graph = read_script(TEXT).graph
    assert RunNames(graph, compile_graph(graph)).title(inside(graph)[0]) == "y ▸ out ▸ x"


def test_the_loops_of_a_model_that_was_handed_in_are_around_what_stands_in_them() -> None:
    graph = read_script(TEXT).graph
    layer, loop = inside(graph)
    assert loops_around(graph, layer) == (loop,)
    cursor = TimelineCursor(Timeline(), Attention(), GraphStore(graph))
    assert cursor._loops(layer) == (loop,)


def test_curves_of_one_of_several_values_are_called_by_its_own_name() -> None:
    graph = read_script("import torch\n\nhighest, place = torch.ones(3).max(0)\n").graph
    (node,) = (one.id for one in graph.nodes.values() if "place" in one.names)
    assert RunNames(graph).curve_title(CurveKey(node, output=1)) == "place"
    assert RunNames(graph).curve_title(CurveKey(node, figure="norm")) == "norm of highest"
