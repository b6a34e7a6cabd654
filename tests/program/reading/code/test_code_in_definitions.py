"""Code within functions and classes that are drawn: which statements it is, and where all of one is code."""

import pytest

from gradstudio.graph.model import Graph
from gradstudio.graph.text.code_records import code_of, is_code
from gradstudio.program.compile import compile_graph
from gradstudio.program.file_lines import FileLines
from gradstudio.program.model import flatten_statements
from gradstudio.program.reading.reader import read_script
from gradstudio.program.trust import code_digest
from gradstudio.program.write import write_script

HEAD = "import torch\nfrom torch import nn\n\n\n"
NET = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
{made}

    def forward(self, x):
        y = self.fc(x)
{called}
        return y


net = Net()
z = net(torch.ones(1, 2))
"""


def read(text: str) -> Graph:
    return read_script(HEAD + text, keeps_code=True).graph


def codes_in(graph: Graph, name: str) -> list[str]:
    return [code_of(node) for node in graph.definitions[name].graph.nodes.values() if is_code(node)]


def function(line: str, before: str = "", behind: str = "") -> str:
    return f"{before}def f(x, n=2):\n    y = x * n\n    {line}\n    return y\n\n\nz = f(torch.ones(2))\n{behind}"


def net(made: str = "        self.n = 1", called: str = "        y = y * 2") -> str:
    return NET.format(made=made, called=called)


@pytest.mark.parametrize(
    "line",
    [
        "d = dict((k, y) for k in range(2))",
        "while y.sum() > 9: y = y / 2\n    else: y = y + 1",
        "with open('a') as file: y = y + len(file.read())",
        "try: y = y / 0\n    except ZeroDivisionError: pass",
        "import os; os.getcwd()",
        "g = lambda t: t + y",
    ],
)
def test_what_is_not_drawn_in_a_function_is_code_in_it(line: str) -> None:
    graph = read(function(line))
    assert codes_in(graph, "f") == [line.replace("\n    ", "\n")]
    written = write_script(graph)
    assert write_script(read_script(written, keeps_code=True).graph) == written


def test_code_is_in_the_blocks_of_a_function() -> None:
    graph = read(
        function("for k in range(n):\n        y = y + 1\n        d = dict((k, y) for k in 'ab')\n        y = y * 2")
    )
    inner = graph.definitions["f"].graph
    assert [block.kind for block in inner.blocks.values()] == ["for"]
    assert codes_in(graph, "f") == ["d = dict((k, y) for k in 'ab')"]


def test_what_a_function_returns_may_be_code() -> None:
    graph = read(
        "def f(x):\n    y = x * 2\n    return {\n        'y': y,\n        **{}}  # both\n\n\nz = f(torch.ones(2))\n"
    )
    assert codes_in(graph, "f") == ["result = {\n    'y': y,\n    **{}}  # both"]


@pytest.mark.parametrize(
    "text",
    [
        function("if y.sum() > 5: raise_it(); return dict((k, y) for k in 'ab')"),  # leaves the function
        function("yield dict((k, y) for k in 'ab')"),
        function("global m; m = dict((k, y) for k in 'ab')", "m = 1\n"),
        function("d = dict((k, y) for k in locals())"),
        function("del n"),
        function("torch = dict((k, y) for k in 'ab')"),  # a word that what is drawn needs
        function("def g():\n        nonlocal y\n        y = y + 1\n    g()"),
        function("d = dict((k, y) for k in 'ab')").replace("n=2", "*n").replace("* n", "* n[0]"),
        net(called="        d = dict((k, __class__) for k in 'ab')"),
        net(made="        d = dict((k, super()) for k in 'ab')"),
        net(called="        d = dict((k, self.__secret) for k in 'ab')"),
        net(called="        d = dict((k, y) for k in 'ab')")
        .replace("self, x", "me, x")
        .replace("self.fc(x)", "me.fc(x)"),
        net().replace("super().__init__()", "d = dict((k, 1) for k in 'ab')\n        super().__init__()"),
    ],
)
def test_where_code_in_it_might_do_something_else_a_definition_is_code(text: str) -> None:
    assert {"f", "Net"}.isdisjoint(read(text).definitions)


def test_code_in_methods_says_self() -> None:
    made = "        self.seen = dict((k, []) for k in 'ab')\n        self.n = 3"
    graph = read(net(made, "        self.seen['a'].append(y)\n        y = y * self.n\n        self.n += 1"))
    assert codes_in(graph, "Net") == [
        "self.seen = dict((k, []) for k in 'ab')",
        "self.seen['a'].append(y)",
        "self.n += 1",
    ]
    ports = {wire.port for wire in graph.definitions["Net"].graph.wires.values()}
    assert "in.y" in ports
    assert "in.self" not in ports


def test_what_code_calls_reads_names_from_around_it_by_itself() -> None:
    text = "m = torch.ones(2)\n\n\ndef f(x):\n    y = x + 1\n    y = y * m\n    return y\n\n\n"
    text += "d = dict((k, f(m)) for k in 'ab')\n"
    graph = read(text)
    assert codes_in(graph, "f") == ["m2 = m"]
    assert "y = y * m2" in write_script(graph)
    assert graph.definitions["f"].inputs == ("x",)


def test_names_that_code_in_a_definition_reads_are_bound() -> None:
    graph = read(function("act = torch.relu\n    d = dict((k, act(y)) for k in 'ab')"))
    assert codes_in(graph, "f") == ["act = torch.relu\nd = dict((k, act(y)) for k in 'ab')"]
    graph = read(function("d = dict((k, loss(y)) for k in 'ab')", "loss = nn.functional.relu\n"))
    assert [code_of(node) for node in graph.nodes.values() if is_code(node)] == ["loss = nn.functional.relu"]


def test_what_code_in_a_definition_imports_is_its_own() -> None:
    text = "import numpy as np\n\n\n" + function(
        "import os as np; d = dict((k, np) for k in 'ab')", behind="a = np.ones(2)\n"
    )
    graph = read(text)
    assert graph.definitions == {}  # `np` is a word of the writer
    text = function("import math as maths; y = y * maths.pi", behind="maths = torch.ones(1)\na = maths.sum()\n")
    graph = read(text)
    assert [node.operator for node in graph.nodes.values() if node.names == ("a",)] == ["torch.Tensor.sum"]


MEMBERS = """\

    def  weigh(self , x):
        return x*self.fc.weight.sum( )  # odd

    @property
    def size(self):
        return 2

    kind = "small"
"""


def with_members(members: str = MEMBERS, behind: str = "d = dict((k, net.weigh(z)) for k in 'ab')\n") -> str:
    return net().replace("        return y\n", "        return y\n" + members) + behind


def test_what_else_stands_in_a_class_is_code_of_it() -> None:
    graph = read(with_members())
    members = [
        "def  weigh(self , x):\n    return x*self.fc.weight.sum( )  # odd",
        "@property\ndef size(self):\n    return 2",
        'kind = "small"',
    ]
    assert codes_in(graph, "Net") == members
    written = write_script(graph)
    assert MEMBERS.rstrip("\n") in written
    assert write_script(read_script(written, keeps_code=True).graph) == written
    assert {node.operator for node in graph.definitions["Net"].graph.nodes.values()} >= {
        "torch.nn.Linear",
        "python.call",
    }


def test_members_need_a_yes_and_are_part_of_its_hash() -> None:
    first, second = (compile_graph(read(with_members(MEMBERS.replace("2", number)))) for number in "23")
    assert any("def  weigh" in one.text for one in first.codes)
    assert code_digest(first) != code_digest(second)
    assert first.insides[0].members
    assert not any("weigh" in step.text for inside in first.insides for step in flatten_statements(inside.body))


@pytest.mark.parametrize(
    "members",
    [
        "\n    def train(self, mode=True):\n        return self\n",  # what nn.Module does
        "\n    def __getattr__(self, name):\n        return 1\n",
        "\n    def __init__(self, n):\n        self.n = n\n",
        "\n    @os.fsencode\n    def weigh(self, x):\n        return x\n",  # read when the class is made
        "\n    def weigh(self, x=net):\n        return x\n",
        "\n    def weigh(self, x):\n        global z\n        z = x\n",
    ],
)
def test_a_class_whose_members_make_it_another_one_is_code(members: str) -> None:
    graph = read("import os\n\n\n" + with_members(members))
    assert "Net" not in graph.definitions


def test_methods_that_only_what_is_drawn_calls_are_drawn_where_they_are_called() -> None:
    members = "\n    def weigh(self, x):\n        return x * self.fc.weight.sum()\n"
    graph = read(with_members(members, "u = net.weigh(z)\nd = dict((k, u) for k in 'ab')\n"))
    assert codes_in(graph, "Net") == []
    assert [node.operator for node in graph.nodes.values() if node.names == ("u",)] == ["operator.mul"]


def test_code_in_a_definition_stands_on_the_lines_of_the_file() -> None:
    read_text = read_script(HEAD + function("d = dict((k, y) for k in range(2))"), keeps_code=True)
    program = compile_graph(read_text.graph)
    (code,) = program.codes
    shown = FileLines(read_text.graph, read_text.lines).shown(code)
    assert shown is not None and shown.numbers == (7,)


def test_what_nobody_wants_may_have_no_name_in_a_definition() -> None:
    assert codes_in(read(function("a, _ = dict((k, y) for k in 'ab'), 1")), "f") == [
        "a, _ = dict((k, y) for k in 'ab'), 1"
    ]
    assert (
        read(function("_ = dict((k, y) for k in 'ab')\n    y = y + 1\n    d = dict((k, _) for k in 'ab')")).definitions
        == {}
    )


GLOBALS = """\
import torch
from torch import nn

width = 3
scale = torch.ones(2)


class Net(nn.Module):
    def __init__(self, n):
        super(Net, self).__init__()
        self.fc = nn.Linear(width, n)  # beside

    def forward(self, x):
        return self.fc(x) * scale


def inner(a):
    return a * width


def f(net, x):
    y = net(x)
    for k in range(width):
        y = y + inner(y)
    return y * scale


d = dict((k, f(Net(2), torch.ones(1, width))) for k in "ab")
"""


def test_a_name_from_around_what_code_calls_is_looked_up_where_it_is_needed() -> None:
    graph = read_script(GLOBALS, keeps_code=True).graph
    assert graph.definitions["Net"].inputs[0] == "n"
    assert sorted(codes_in(graph, "Net")) == ["scale2 = scale", "width2 = width"]
    assert sorted(codes_in(graph, "f")) == ["scale2 = scale", "width2 = width"]
    assert codes_in(graph, "inner") == []  # what is drawn brings it
    written = write_script(graph)
    assert "nn.Linear(width2, n)  # beside\n" in written
    assert write_script(read_script(written, keeps_code=True).graph) == written


@pytest.mark.parametrize(
    "line", ["y = x if x is not None else k", "y = x and k", "assert x is not None, k", "y = [t + k for t in x]"]
)
def test_a_name_that_may_not_be_reached_is_read_by_code(line: str) -> None:
    text = f"k = 2\n\n\ndef f(x):\n    {line}\n    y = x * 2\n    return y\n\n\nd = {{j: f for j in 'ab'}}\n"
    assert codes_in(read(text), "f") == [line]


def test_what_stands_behind_a_return_in_a_branch_may_hold_code() -> None:
    text = "def f(x):\n    if x.sum() > 1:\n        if x.sum() > 2:\n            return x\n        x = x + 1\n"
    text += "    d = dict((k, x) for k in 'ab')\n    return x * 2\n\n\nz = f(torch.ones(2))\n"
    assert set(codes_in(read(text), "f")) == {"d = dict((k, x) for k in 'ab')"}


def test_settings_that_a_function_is_given_or_gives_back_are_read_by_any_name() -> None:
    parse = "def parse():\n    p = argparse.ArgumentParser()\n    p.add_argument('--clip', type=float)\n"
    used = "def f(args, x):\n    return x * args.clip\n\n\nargs = parse()\nfor k in range(args.epochs):\n"
    graph = read(f"import argparse\n\n\n{parse}    return p.parse_args()\n\n\n{used}    z = f(args, torch.ones(2))\n")
    assert not codes_in(graph, "f")
    assert [code_of(node) for node in graph.nodes.values() if is_code(node)] == ["import argparse"]
