"""Cards of statements without a name say what they write into, and follow its name."""

from gradstudio.document.python.python_document import read_python
from gradstudio.graph import recipes
from gradstudio.graph.ports.item_ports import operator_of
from gradstudio.scene.card.assignment_title import title_with_target
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


def test_the_title_follows_the_name(drawing: Drawing) -> None:
    source, writer = drawing.add("torch.ones", 0, 0), drawing.add("operator.isub", 400, 0)
    drawing.connect(source, writer, "a")
    cards = drawing.scene.stack.cards
    name = drawing.graph.nodes[source].names[0]
    assert cards[writer].layout.title == f"{name} -="
    drawing.do(recipes.rename(drawing.graph, source, ("weight",)))
    assert cards[writer].layout.title == "weight -="
