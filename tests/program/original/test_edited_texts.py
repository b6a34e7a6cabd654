"""A text that was read and edited on the canvas: only what was edited is another line, and it means what is drawn."""

import difflib
from collections.abc import Callable
from typing import NamedTuple

import msgspec
import pytest

from gradstudio.graph.edits import Edits, SetDefinition, apply_all
from gradstudio.graph.model import Graph, Header, ItemId
from gradstudio.graph.recipes import connect
from gradstudio.graph.recipes.nodes import add_operator, rename, set_header, set_literal, set_muted, set_note
from gradstudio.graph.recipes.removal import delete
from gradstudio.program.original.original_script import original_script
from gradstudio.program.reading.reader import read_script

TYPED = '''\
"""Fits a line."""
import torch
import torch.nn as nn


class Net( nn.Module ):
    def __init__(self, width = 4):
        super().__init__()
        self.fc = nn.Linear(1, width)   # wide
        self.out = nn.Linear(width, 1)

    def hidden(self, x):
        # bent
        return torch.tanh( self.fc(x) )

    def forward(self, x):
        return self.out(self.hidden(x))


torch.manual_seed(3)
device = torch.device('cuda:0' if torch.cuda.is_available() else 'cpu')

xs = torch.linspace( -1, 1, 8 ).unsqueeze(1).to(device)   # the data
ys = xs*2 - 0.5

net = Net().to(device)
opt = torch.optim.SGD(net.parameters(), lr = 0.1)

for step in range( 3 ):
    opt.zero_grad()
    loss = ((net(xs) - ys)**2).mean()   # squared
    loss.backward()
    opt.step()

    if step%2 == 0:
        print('at', step)
    else:
        best = loss.item()

    # what is left
    history = [p.norm() for p in net.parameters()]

if __name__ == '__main__':
    print( loss )
'''


class Found(NamedTuple):
    """What an edit has made of a text: the lines that are gone, those that are new, and what is told of it."""

    gone: list[str]
    new: list[str]
    anew: str
    text: str


def read(text: str) -> Graph:
    graph = read_script(text, keeps_code=True).graph
    graph.original = text
    return graph


def edited(text: str, *edits: Callable[[Graph], Edits], report: bool = False) -> Found:
    """The text after some edits of what is read of it."""
    graph = read(text)
    for edit in edits:
        apply_all(graph, edit(graph))
    return exported(graph, report=report)


def exported(graph: Graph, *, report: bool = False) -> Found:
    found = original_script(graph, "typed", report=report)
    lines = list(difflib.unified_diff(graph.original.split("\n"), found.text.split("\n"), lineterm="", n=0))[2:]
    gone = [line[1:] for line in lines if line.startswith("-")]
    return Found(gone, [line[1:] for line in lines if line.startswith("+")], found.anew, found.text)


def node(graph: Graph, operator: str, **literals: str) -> ItemId:
    """The node of an operator with these literals; its key may be cut short."""
    graphs = [graph, *(one.graph for one in graph.definitions.values())]
    nodes = (one for part in graphs for one in part.nodes.values())
    return next(n.id for n in nodes if n.operator.startswith(operator) and literals.items() <= n.literals.items())


def test_a_literal_is_another_word_in_its_line() -> None:
    found = edited(TYPED, lambda graph: set_literal(graph, node(graph, "torch.linspace"), "steps", "16"))
    assert found.gone == ["xs = torch.linspace( -1, 1, 8 ).unsqueeze(1).to(device)   # the data"]
    assert found.new == ["xs = torch.linspace( -1, 1, 16 ).unsqueeze(1).to(device)   # the data"]
    assert found.anew == ""


def test_a_literal_that_is_new_goes_into_its_line() -> None:
    found = edited(TYPED, lambda graph: set_literal(graph, node(graph, "torch.optim.SGD"), "momentum", "0.9"))
    assert found.new == ["opt = torch.optim.SGD(net.parameters(), lr = 0.1, momentum=0.9)"]


BRANCHES = """\
import torch
x = torch.ones(2)
if x.sum() > 1:
    y = x.new_full( (2,), 7 )  # twice
    x.add_(y)
else:
    y = x
"""


def test_a_literal_in_a_branch_that_is_drawn_otherwise_is_one_line() -> None:
    found = edited(BRANCHES, lambda graph: set_literal(graph, node(graph, "torch.Tensor.new_full"), "fill_value", "5"))
    assert found.gone == ["    y = x.new_full( (2,), 7 )  # twice"]
    assert found.new == ["    y = x.new_full( (2,), 5 )  # twice"]
    assert found.anew == ""


def test_a_node_that_is_new_is_one_line_and_its_import() -> None:
    text = "import torch\n\nx = torch.zeros(2)  # none\n"
    found = edited(text, lambda graph: add_operator(graph, "torch.nn.Linear", 0, 0)[0])
    assert found.gone == []
    assert found.text.startswith("import torch\nfrom torch import nn\n\nx = torch.zeros(2)  # none\n")
    assert found.new == ["from torch import nn", "fc = nn.Linear(4, 8)"]


def test_a_node_that_is_gone_takes_its_line_and_comments_along() -> None:
    text = "import torch\n\nx = torch.ones(2)\n\n# a note\ny = x.clone()  # of x\n\nz = x + 1\n"
    found = edited(text, lambda graph: delete(graph, [node(graph, "torch.Tensor.clone")]))
    assert (found.gone, found.new) == (["# a note", "y = x.clone()  # of x"], [])


def test_a_name_is_another_in_the_lines_that_name_it() -> None:
    found = edited(TYPED, lambda graph: rename(graph, node(graph, "torch.optim.SGD"), ("sgd",)))
    assert found.gone == ["opt = torch.optim.SGD(net.parameters(), lr = 0.1)", "    opt.zero_grad()", "    opt.step()"]
    assert found.new == ["sgd = torch.optim.SGD(net.parameters(), lr = 0.1)", "    sgd.zero_grad()", "    sgd.step()"]


def test_a_note_is_the_only_line() -> None:
    found = edited(TYPED, lambda graph: set_note(graph, node(graph, "torch.optim.SGD"), "small steps"))
    assert (found.gone, found.new) == ([], ["# small steps"])


def test_a_muted_statement_is_no_part_of_the_text() -> None:
    text = "import torch\n\nx = torch.ones(2)\nx.add_(1)   # more\n"
    found = edited(text, lambda graph: set_muted(graph, [node(graph, "torch.Tensor.add_")], True))
    assert (found.gone, found.new) == (["x.add_(1)   # more"], [])


@pytest.mark.parametrize(
    ("header", "line"),
    [
        (Header(seed=5, device="auto"), "torch.manual_seed(5)"),
        (Header(seed=3, device="cpu"), 'device = torch.device("cpu")'),
        (Header(seed=3, device="cuda:1"), 'device = torch.device("cuda:1")'),
        (Header(seed=3, device="auto", default_dtype="torch.float64"), "torch.set_default_dtype(torch.float64)"),
    ],
    ids=["seed", "cpu", "cuda", "dtype"],
)
def test_a_setting_is_a_line(header: Header, line: str) -> None:
    found = edited(TYPED, lambda graph: set_header(graph, header))
    assert [one for one in found.new if one] == [line]
    assert len(found.gone) <= 1


def test_a_setting_that_is_gone_is_no_line() -> None:
    found = edited(TYPED, lambda graph: set_header(graph, Header(seed=None, device="auto")))
    assert (found.gone, found.new) == (["torch.manual_seed(3)"], [])


def test_tabs_and_two_spaces_stay() -> None:
    text = "import torch\nfor k in range(2):\n\tx = torch.ones( 3 )\n\tprint(x)\n"
    found = edited(text, lambda graph: set_literal(graph, node(graph, "torch.ones"), "size", "4"))
    assert found.new == ["\tx = torch.ones( 4 )"]


def test_a_statement_that_cannot_say_what_was_edited_is_printed_anew() -> None:
    text = "import torch\n\nrows = [torch.ones(k) for k in range(3)]   # three\n\nx = torch.ones( 2 )\n"
    found = edited(text, lambda graph: set_literal(graph, node(graph, "torch.ones"), "dtype", "torch.float64"))
    assert found.gone == ["rows = [torch.ones(k) for k in range(3)]   # three"]
    assert found.new == ["rows = [torch.ones(0, dtype=torch.float64), torch.ones(1), torch.ones(2)]   # three"]


CALLED_TWICE = """\
import torch
from torch import nn


class Net(nn.Module):
    def bent( self, x ):
        return x.clamp( 0, 1 )

    def forward( self, x ):
        return self.bent( self.bent(x) + 1 )


net = Net()
y = net( torch.ones(2) )   # the only one
"""


def inside(graph: Graph, name: str, operator: str, **literals: str) -> Edits:
    """Other literals on the first node of an operator in a definition."""
    one = graph.definitions[name]
    inner = one.graph.copy()
    old = next(node for node in inner.nodes.values() if node.operator == operator)
    inner.nodes[old.id] = msgspec.structs.replace(old, literals={**old.literals, **literals})
    return (SetDefinition(name, one.but(graph=inner)),)


def test_what_is_edited_in_a_definition_is_one_line() -> None:
    found = edited(TYPED, lambda graph: inside(graph, "Net", "torch.nn.Linear", in_features="2"))
    assert found.gone == ["        self.fc = nn.Linear(1, width)   # wide"]
    assert found.new == ["        self.fc = nn.Linear(2, width)   # wide"]


def test_what_is_edited_in_one_of_two_calls_of_a_method_is_printed_where_it_is_called() -> None:
    found = edited(CALLED_TWICE, lambda graph: inside(graph, "Net", "torch.Tensor.clamp", max="2"))
    assert found.gone == ["        return self.bent( self.bent(x) + 1 )"]
    assert found.new == ["        return (x.clamp(0, 2) + 1).clamp(0, 1)"]


INLINED = """\
import torch
from torch import nn


class Line(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        return x @ self.w

    def loss(self, said, y):
        l = ( said - y )**2
        return l.mean()


line = Line()
l = line.loss(line(torch.ones(3, 2)), torch.ones(3))   # its loss
l.backward()
"""


def test_a_name_that_only_what_is_inlined_has_twice_is_another_in_its_own_lines() -> None:
    found = edited(INLINED, lambda graph: rename(graph, node(graph, "torch.Tensor.mean"), ("mine",)))
    assert found.gone == INLINED.split("\n")[-3:-1]
    assert found.new == ["mine = line.loss(line(torch.ones(3, 2)), torch.ones(3))   # its loss", "mine.backward()"]
    assert found.anew == ""


CALLS = """\
import torch


def one( x ):
    return x + 1


def two( x ):
    return x * 2


x = torch.ones(2)
print( two(x) )
y = one( x )
z = two( y )
"""


def test_definitions_stay_where_they_stand_whoever_calls_them_first() -> None:
    def without_print(graph: Graph) -> Edits:
        printed = node(graph, "builtins.print")
        return delete(graph, [printed, *(wire.source for wire in graph.wires_to(printed))])

    found = edited(CALLS, without_print)
    assert (found.gone, found.new, found.anew) == (["print( two(x) )"], [], "")


def test_a_name_that_a_definition_reads_around_it_prints_the_definitions_anew_and_is_told() -> None:
    text = (
        "import torch\n\nwidth = 4   # wide\n\n\ndef wide( x ):\n    return x.expand( width, -1 )\n\n\n"
        "y = wide( torch.ones(1, 2) )   # once\nz = y*width\n"
    )
    found = edited(text, lambda graph: rename(graph, node(graph, "python.literal"), ("broad",)))
    assert "broad = 4   # wide" in found.text and "z = y*broad" in found.text
    assert "    return x.expand(width, -1)" in found.new
    assert found.anew == "2 lines of the text are printed anew: what was edited in them is drawn otherwise than typed."


def test_the_items_stand_where_the_text_says() -> None:
    graph = read(TYPED)
    found = original_script(graph, "typed", report=False)
    assert found.lines == read_script(TYPED, keeps_code=True).lines
    apply_all(graph, set_note(graph, node(graph, "torch.linspace"), "two\nlines"))
    moved = original_script(graph, "typed", report=False)
    item = node(graph, "torch.optim.SGD")
    assert moved.lines[item] == found.lines[item] + 2
    assert moved.text.split("\n")[moved.lines[item] - 1].startswith("opt = ")


SENDING = '''\
import json

try:
    json.send("""a

# one
b""")
except json.Failed as failed:
    json.say("""a

# one
b""")
finally:
    json.end()
'''


@pytest.mark.parametrize("text", ['"""a\n\n# two and three\nb"""', '"""a\nb"""', '"""a\n\n\n# one\n# k\nb"""'])
def test_a_line_of_a_text_over_several_lines_is_no_comment(text: str) -> None:
    graph = read_script(SENDING, keeps_code=True).graph
    graph.original = SENDING.replace('"""a\n\n# one\nb"""', text)
    assert original_script(graph, "program", report=False).text == SENDING


def test_what_a_note_says_is_not_imported() -> None:
    text = "import torch\n\nx = torch.ones(2)\n"
    found = edited(text, lambda graph: set_note(graph, node(graph, "torch.ones"), "math and np, by F"))
    assert found.text == "import torch\n\n# math and np, by F\nx = torch.ones(2)\n"


def test_what_is_not_wired_yet_is_no_part_of_the_text() -> None:
    found = edited(TYPED, lambda graph: add_operator(graph, "torch.nn.functional.relu", 0, 0)[0])
    assert (found.gone, found.new, found.anew) == ([], [], "")


def test_what_is_new_ahead_of_all_goes_below_the_settings() -> None:
    text = (
        "import torch\n\n\ndef twice( x ):\n    return x*2\n\n\ntorch.manual_seed(3)\n\n# data\n"
        "xs = torch.linspace( -1, 1, 8 ).unsqueeze(1)   # wide\ny = twice( xs )\n"
    )

    def second_user(graph: Graph) -> Edits:
        return connect(graph, node(graph, "torch.linspace"), 0, node(graph, "torch.relu"), "input")

    found = edited(text, lambda graph: add_operator(graph, "torch.relu", 0, 0)[0], second_user)
    assert found.gone == ["xs = torch.linspace( -1, 1, 8 ).unsqueeze(1)   # wide"]
    assert found.text.startswith(text[: text.index("# data")]) and found.anew == ""
    assert "linspace_1 = torch.linspace(-1, 1, 8)" in found.new
    assert "xs = linspace_1.unsqueeze(1)   # wide" in found.new


def test_an_import_goes_below_those_of_the_edited_text() -> None:
    text = "# one\n# two\nimport torch\n\nx = torch.ones(2)\n"
    found = edited(text, lambda graph: add_operator(graph, "torch.nn.ReLU", 0, 0)[0])
    assert found.text == "# one\n# two\nimport torch\nfrom torch import nn\n\nx = torch.ones(2)\nrelu = nn.ReLU()\n"
