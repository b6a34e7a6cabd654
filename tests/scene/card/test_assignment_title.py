"""Cards of statements without a name say what they write into, and follow its name."""

from gradstudio.document.python.python_document import read_python
from gradstudio.graph import recipes
from gradstudio.graph.names import node_title
from gradstudio.graph.ports.item_ports import operator_of
from gradstudio.graph.text.item_titles import title_with_target
from tests.helpers.drawing import Drawing

WRITES = """
w = torch.ones(3)
t = torch.ones(3, 3)
w -= 1
w *= 2
t[0] = 5
t[:, 1] += 2
w.grad *= 2
w.grad = None
t[w > 0] = 1
"""


def test_a_card_is_titled_with_what_it_writes_into() -> None:
    graph = read_python(WRITES, pasted=True).graph
    operators = ((node.id, operator_of(graph, node.id)) for node in graph.nodes.values())
    titles = [title_with_target(graph, item, operator) for item, operator in operators if operator is not None]
    written = [title for title in titles if title.endswith("=")]
    assert written == ["w -=", "w *=", "t[0] =", "t[:, 1] +=", "w.grad *=", "w.grad =", "t[·] ="]


def test_what_reads_any_attribute_is_called_by_the_one_it_reads() -> None:
    graph = read_python("fc = nn.Linear(2, 2)\ny = fc.weight * 2\nfc.weight.grad = None\n", pasted=True).graph
    reading = [node for node in graph.nodes.values() if node.operator == "python.attribute"]
    assert [node_title(node) for node in reading] == [".weight"] * len(reading) and reading
    titles = [title_with_target(graph, node.id, found) for node in reading if (found := operator_of(graph, node.id))]
    assert titles == [".weight"] * len(reading)
    emptied = [(node.id, found) for node in graph.nodes.values() if (found := operator_of(graph, node.id))]
    assert "fc.weight.grad =" in [title_with_target(graph, item, operator) for item, operator in emptied]


def test_a_display_is_titled_with_what_it_makes_and_a_choice_is_not() -> None:
    text = "x = torch.ones(2)\nd = {'a': x, 'b': 2}\ne = [*d, x]\nt = (1, *d)\nf = x is not None and d\n"
    graph = read_python(text, pasted=True).graph
    chosen = [node.id for node in graph.nodes.values() if node.operator == "python.choice"]
    operators = [(item, operator_of(graph, item)) for item in chosen]
    titles = [title_with_target(graph, item, operator) for item, operator in operators if operator is not None]
    assert titles == ["dict", "list", "tuple", "and / or / if"]


def test_a_method_of_what_code_made_is_titled_with_its_name() -> None:
    text = "x = torch.ones(2)\nm = dict((k, []) for k in 'ab')\nn = m.setdefault('c', x)\n"
    graph = read_python(text, pasted=True, keeps_code=True).graph
    (item,) = (node.id for node in graph.nodes.values() if node.operator == "python.free_method")
    operator = operator_of(graph, item)
    assert operator is not None and title_with_target(graph, item, operator) == ".setdefault( )"


def test_the_title_follows_the_name(drawing: Drawing) -> None:
    source, writer = drawing.add("torch.ones", 0, 0), drawing.add("operator.isub", 400, 0)
    drawing.connect(source, writer, "a")
    cards = drawing.scene.stack.cards
    name = drawing.graph.nodes[source].names[0]
    assert cards[writer].layout.title == f"{name} -="
    drawing.do(recipes.rename(drawing.graph, source, ("weight",)))
    assert cards[writer].layout.title == "weight -="


def test_a_call_is_titled_with_the_module_it_calls_and_follows_its_name() -> None:
    text = (
        "from torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.fc = nn.Linear(3, 2)\n    def forward(self, x):\n        return self.fc(x)\n"
        "x = torch.ones(4, 3)\nnet = Net()\na = net(x)\nb = net(a @ a.T @ x)\n"
    )
    drawing = Drawing(read_python(text, pasted=True).graph)
    named = {node.names[0]: node.id for node in drawing.graph.nodes.values() if node.names}
    cards = drawing.scene.stack.cards
    assert [cards[named[name]].layout.title for name in "ab"] == ["net(…)", "net(…)"]
    drawing.do(recipes.rename(drawing.graph, named["net"], ("model",)))
    assert [cards[named[name]].layout.title for name in "ab"] == ["model(…)", "model(…)"]


def test_a_name_that_stands_alone_is_the_title_and_follows_its_node() -> None:
    text = "w = torch.ones(3)\nw -= 1\nw\nw.grad\nfor i in range(2):\n    i\n"
    drawing = Drawing(read_python(text, pasted=True).graph)
    alone = [node.id for node in drawing.graph.nodes.values() if node.operator == "python.alias"]
    cards = drawing.scene.stack.cards
    assert [cards[item].layout.title for item in alone] == ["w", "i"]
    (first,) = (node.id for node in drawing.graph.nodes.values() if node.names == ("w",))
    drawing.do(recipes.rename(drawing.graph, first, ("weight",)))
    assert [cards[item].layout.title for item in alone] == ["weight", "i"]
