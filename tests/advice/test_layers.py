"""What is said of cut chains and of attention: the operators and nodes by their names."""

from gradstudio.advice.explanation import explain, failed_of
from gradstudio.advice.fixes.fix_kinds import fixes_for
from gradstudio.advice.fixes.inside_calls import definition_around
from gradstudio.advice.quotations import source_name
from gradstudio.graph.groups.call_ids import call_item_id
from gradstudio.graph.model import ItemId
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.inference import PortInference
from tests.graph.builder import Drawing

NO_WAY = "element 0 of tensors does not require grad and does not have a grad_fn"
HANDED_IN = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
    def forward(self, x):
        return self.fc(x)
def run(net, x):
    return net(x)
y = run(Net(), torch.ones(2, 5))
"""


def explained(d: Drawing, node: ItemId, words: str) -> str:
    return explain(failed_of(PortInference(node=node, refusal=words)), d.graph).explanation


def test_what_cuts_a_chain_is_named() -> None:
    d = Drawing()
    x = d.add("torch.randn", size="(2,)", requires_grad="True", name="x")
    cut = d.add("torch.Tensor.detach", d.add("torch.exp", x, name="h"), name="d")
    backward = d.add("torch.Tensor.backward", d.add("torch.Tensor.sum", cut, name="s"))
    assert explained(d, backward, NO_WAY).startswith("s has no way back: `d = h.detach()` cuts the chain. ")


def test_where_nothing_requires_grad_nothing_is_said_to_be_cut() -> None:
    d = Drawing()
    total = d.add("torch.Tensor.sum", d.add("torch.randn", size="(2,)", name="x"), name="s")
    said = explained(d, d.add("torch.Tensor.backward", total), NO_WAY)
    assert said == "Nothing that s was computed from requires grad, so there is no way back."


def test_attention_is_explained_in_its_own_words() -> None:
    d = Drawing()
    q, k = d.add("torch.ones", size="(2, 4, 8)"), d.add("torch.ones", size="(2, 4, 6)")
    item = d.add("torch.nn.functional.scaled_dot_product_attention", q, k, k)
    words = "Expected size for first two dimensions of batch2 tensor to be: [2, 8] but got: [2, 6]."
    assert "query and key need the same last size" in explained(d, item, words)


def test_ignoring_a_class_is_never_offered() -> None:
    d = Drawing()
    x, t = d.add("torch.randn", size="(3, 2)"), d.add("torch.tensor", data="[0, 1, 2]")
    item = d.add("torch.nn.functional.cross_entropy", x, t)
    fixes = fixes_for(failed_of(PortInference(node=item, refusal="Target 2 is out of bounds.")), d.graph)
    assert fixes and not any("ignore_index" in fix.title for fix in fixes)


def test_a_layer_of_a_model_that_a_function_was_given_is_told_with_all_that_it_is_inside_of() -> None:
    graph = read_script(HANDED_IN).graph
    inside, net = graph.definitions["run"].graph, graph.definitions["Net"].graph
    (y,) = (node.id for node in graph.nodes.values() if "y" in node.names)
    (call,) = inside.nodes
    (fc,) = (wire.target for wire in net.wires.values() if wire.port == "module")
    node = call_item_id(call_item_id(y, call), fc)
    words = "mat1 and mat2 shapes cannot be multiplied (2x5 and 4x3)"
    failed = failed_of(PortInference(node=node, refusal=words))
    assert explain(failed, graph).explanation.startswith("In run ▸ Net ▸ fc: A matrix product needs")
    assert definition_around(graph, node) == "Net"


def test_what_a_loop_carries_is_called_by_its_own_name() -> None:
    text = "import torch\nx = torch.ones(2, 3)\nw = torch.ones(2, 3)\nfor k in range(3):\n    x = x @ w * k\n"
    graph = read_script(text).graph
    (loop,) = graph.blocks
    names = {wire.output: source_name(graph, wire) for wire in graph.wires_from(loop)}
    assert names == {0: "k", 1: "x"}


def test_a_root_that_is_one_of_several_results_is_called_by_its_own_name() -> None:
    text = "import torch\ndef f(x):\n    return x * 2, x.sum()\ny, loss = f(torch.ones(3))\nloss.backward()\n"
    graph = read_script(text).graph
    (backward,) = (node.id for node in graph.nodes.values() if node.operator == "torch.Tensor.backward")
    failed = failed_of(PortInference(node=backward, refusal=NO_WAY))
    assert explain(failed, graph).explanation.startswith("Nothing that loss was computed from requires grad")
