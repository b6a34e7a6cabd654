"""What switches gradients off in front of a backward is found in one walk, also where nothing is known of the item."""

from gradstudio.advice.cut_chains import cut_inside
from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.reading.reader import read_script

SWITCHED = (
    "import torch\nx = torch.ones(2, requires_grad=True)\nfor k in range(2):\n    y = x.sum()\n    y.backward()\n"
    "    torch.set_grad_enabled(False)\n"
)


def backward(graph: Graph) -> ItemId:
    return next(node.id for node in graph.nodes.values() if node.operator == "torch.Tensor.backward")


def test_a_switch_behind_a_backward_counts_in_a_loop_around_both() -> None:
    graph = read_script(SWITCHED).graph
    assert cut_inside(backward(graph), graph).startswith("set_grad_enabled(False) switches gradients off")
    flat = read_script(SWITCHED.replace("for k in range(2):\n", "").replace("    ", "")).graph
    assert cut_inside(backward(flat), flat) == ""


def test_of_what_is_not_on_the_canvas_nothing_is_said() -> None:
    assert cut_inside(ItemId("call/gone"), read_script(SWITCHED).graph) == ""
