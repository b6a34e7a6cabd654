"""Which statements of a text are kept as code, as they were typed; what is in doubt is never drawn."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstudio.graph.model import Graph
from gradstudio.graph.order import effect_needs
from gradstudio.graph.text.code_records import code_of, code_reason, holds_code, is_code
from gradstudio.graph.text.while_heads import condition_in
from gradstudio.program.compile import compile_graph
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_script

CHOICE = "torch.device('cuda' if torch.cuda.is_available() else 'cpu')"


def read(text: str) -> Graph:
    return read_script(text, keeps_code=True).graph


def codes(text: str) -> list[str]:
    graph = read(text)
    graphs = (graph, *(definition.graph for definition in graph.definitions.values()))
    return [code_of(node) for one in graphs for node in one.nodes.values() if is_code(node)]


def drawn(text: str) -> set[str]:
    return {node.operator for node in read(text).nodes.values()} - {"python.code"}


def test_neighbours_are_one_card_and_an_empty_line_parts_them() -> None:
    text = "import os\nimport time  # two\n# between\nt = time.time()\n\nn = os.getpid()\n"
    assert codes(text) == ["import os\nimport time  # two\n# between\nt = time.time()", "n = os.getpid()"]


def test_a_block_is_drawn_around_code() -> None:
    text = "import torch\nimport time\n\nx = torch.ones(2)\nfor k in range(2):\n    t = time.time()\n    x = x * k\n"
    graph = read(text)
    assert [block.kind for block in graph.blocks.values()] == ["for"]
    assert codes(text) == ["import time", "t = time.time()"]
    assert "operator.mul" in drawn(text)


def test_ports_are_called_after_the_names_that_are_read() -> None:
    graph = read("import torch\nx = torch.ones(2)\nd = dict((k, x) for k in 'ab')\n")
    (code,) = (node for node in graph.nodes.values() if is_code(node))
    assert [wire.port for wire in graph.wires_to(code.id)] == ["in.x"]
    assert code.names == ("d",)


@pytest.mark.parametrize(
    "text",
    [
        "import torch\nn = 1\nexec('n = 2')\ny = torch.ones(n)\n",
        "import torch\nn = 1\nglobals()['n'] = 2\ny = torch.ones(n)\n",
        "from os import *\nimport torch\ny = torch.ones(2)\n",
        "import torch\nfrom pprint import pprint as print\nprint(torch.ones(1))\n",
        "import os\nos.environ['OMP_NUM_THREADS'] = '1'\nimport torch\nx = torch.ones(2)\n",
    ],
)
def test_where_code_may_do_anything_to_names_all_of_the_text_is_one_card(text: str) -> None:
    assert len(read(text).nodes) == 1
    assert write_script(read(text)) == text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("import torch\n\nn = 1\ndef f():\n    global n\n    n += 1\n\nf()\ny = n + 1\n", "y = n + 1"),
        ("import torch\n\nk = 2\ndef f(x):\n    return x and k\n\ng = dict((k, f) for k in 'ab')\n", "= x and k"),
        ("import torch\nimport inspect\n\ndef f(x):\n    return x * 2\n\ns = inspect.signature(f)\n", "def f(x):"),
        ("import torch\n\ndef f(x):\n    return x * 2\n\ntry:\n    f = 3\nfinally:\n    pass\n", "def f(x):"),
        ("import torch\n\nf = torch.relu\nh = dict((k, f) for k in 'a')\n", "f = torch.relu"),
        ("import torch as th\n\nh = dict((k, th.ones(2)) for k in 'a')\n", "import torch as th"),
        ("import torch\ndevice = 'cpu'\nh = dict((k, device) for k in 'a')\n", "device = 'cpu'"),
        ("import torch\nclass A:\n    pass\n\na = A()\nb = a.relu()\n", "b = a.relu()"),
        ("import torch\nn = dict((k, k) for k in 'a')\nn += 1\n", "n += 1"),
    ],
)  # fmt: skip
def test_what_code_may_meddle_with_is_code_too(text: str, line: str) -> None:
    assert any(line in code for code in codes(text)), codes(text)


@pytest.mark.parametrize(
    "code",
    [
        "os.environ['CUDA_VISIBLE_DEVICES'] = '0'",
        "vars(os)['environ'].clear()",
        "getattr(os, 'environ').clear()",
        "getattr(os, name)['x'] = 'y'",
        "__import__('os').putenv('x', 'y')",
        "setattr(torch.cuda, 'is_' + 'available', print)",
        "a = [torch.cuda]; a[0].is_available = lambda: False",
        "exec('import os')",
        "sys.modules['os'].unsetenv('x')",
        "import of_our_own",
        "try:\n    import of_our_own\nfinally:\n    pass",
        "def hide(*names):\n    os.environ.update(names)\n\nhide()",
        "torch.cuda.set_device(1); a = {*'b'}",
    ],
)
def test_a_choice_of_a_device_is_code_behind_code_that_may_decide_which_there_are(code: str) -> None:
    text = (
        f"import torch\nimport os, sys\nname = 'environ'\n{code}\n\ndevice = {CHOICE}\nx = torch.ones(2).to(device)\n"
    )
    assert any("device =" in one for one in codes(text)), codes(text)


@pytest.mark.parametrize(
    "code",
    [
        "random.seed(0)",
        "warnings.filterwarnings('ignore')",
        "os.makedirs('out', exist_ok=True)",
        "started = time.time()",
        "args = argparse.ArgumentParser().parse_known_args()",
        "letters = {*'abc'}",
        "for k in range(3):\n    print(k)\n    break",
        "with open('a') as file:\n    words = file.read().split()",
        "class Trainer:\n    def __init__(self, net, *more):\n        self.device = net.eval()",
    ],
)
def test_a_choice_of_a_device_is_drawn_behind_other_code(code: str) -> None:
    imports = "import torch\nimport argparse, os, random, time, warnings\n"
    moved = "def move(x):\n    x = x.to(device)\n    return x\n\ny = move(torch.ones(2))\n"
    found = codes(f"{imports}{code}\n\ndevice = {CHOICE}\n\n{moved}")
    assert not any(CHOICE in one or ".to(device)" in one for one in found), found


def test_a_class_that_code_may_look_into_is_drawn_only_as_it_is_printed() -> None:
    plain = (
        "import torch\nfrom torch import nn\nimport time\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.fc = nn.Linear(2, 2)\n\n    def forward(self, x):\n"
        "        return self.fc(x)\n\nnet = Net()\nd = dict((k, v) for k, v in net.state_dict().items())\n"
    )
    assert read(plain).definitions.keys() == {"Net"}
    other = plain.replace("return self.fc(x)", "return self.fc(x) if self.training else x")
    assert "result = self.fc(x) if self.training else x" in codes(other)


def test_a_statement_that_ends_a_turn_is_code_in_a_loop_that_is_drawn() -> None:
    text = "import torch\nx = torch.ones(3)\nfor k in range(3):\n    y = x * k\n    if k > 1:\n        break\n"
    assert codes(text) == ["if k > 1:\n    break"]
    graph = read(text)
    assert write_script(graph).startswith(text.replace("\nx", "\n\nx", 1))
    (card,) = (one for one in graph.nodes.values() if is_code(one))
    assert code_reason(card, {"k": "k"}, (), in_loop=True) is None
    assert "leaves a loop" in (code_reason(card, {"k": "k"}, ()) or "")


@pytest.mark.parametrize("way", ["return", "yield k"])
def test_a_statement_that_leaves_a_function_takes_the_function_along(way: str) -> None:
    text = f"import torch\ndef f(x):\n    for k in range(3):\n        if k > 1:\n            {way}\n    x = x + 1\n"
    (code,) = codes(f"{text}y = f(torch.ones(2))\n")
    assert code.startswith("def f(x):")


def test_what_may_have_no_value_behind_a_loop_that_is_left_is_no_branch_of_its_own() -> None:
    text = "import torch\nx = torch.ones(3)\nfor k in range(3):\n    if k > -1:\n        break\n    y = x * k\n"
    behind = "if x.sum() > 5:\n    y = x + 1\n"
    names: dict[str, object] = {}
    exec(write_script(read(text + behind)), names)
    assert "y" not in names


def test_what_is_no_python_is_refused_as_ever() -> None:
    with pytest.raises(NotReadable):
        read("import torch\nx = = 1\n")


LINES = st.lists(
    st.sampled_from(
        [
            "import  os",
            "t = {k : k   for k in 'ab' }   # odd",
            "x = x * 2",
            "y=x.sum( )",
            "",
            "# a comment  ",
            "while x.sum() < 3 :\n\tx = x+1\n\n\t# inside\n\ty = 2",
            's = """two\n   lines"""; u = [*s]',
            "try:\n  z = 1\nexcept Exception as e :\n  z = str( e )",
            "print( f'{x!r:>{20}}' )",
            "for k in range(2):\n    q = {k}\n    x = x + k",
            "with open(__file__) as f:   # é\n    line = f.readline( )",
            "del x\nx = torch.ones(2)",
        ]
    ),
    min_size=1,
    max_size=12,
)


@given(LINES)
def test_code_is_kept_byte_for_byte_and_read_back_the_same(lines: list[str]) -> None:
    text = "import torch\nx = torch.ones(2)\n" + "\n".join(lines) + "\n"
    graph = read(text)
    for code in (code_of(node) for node in graph.nodes.values() if is_code(node)):
        if condition := condition_in(code):
            assert f"while {condition}" in text
            continue
        if "\n" not in code or all(line[:1] != " " for line in code.split("\n")):
            assert code in text
        for line in code.split("\n"):
            assert line in text
    written = write_script(graph)
    assert write_script(read(written)) == written
    assert [code_of(n) for n in read(written).nodes.values()] == [code_of(n) for n in graph.nodes.values()]
    ast.parse(written)


ARGUMENTS = """\
import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--turns", type=int, default=2)
args = parser.parse_args([])
x = torch.ones(2)
for k in range(args.turns):
    x = x * k
"""


def test_an_attribute_of_what_code_made_is_read_by_what_is_drawn() -> None:
    graph = read(ARGUMENTS)
    assert [block.kind for block in graph.blocks.values()] == ["for"]
    assert drawn(ARGUMENTS) >= {"python.attribute", "operator.mul"}
    assert codes(ARGUMENTS)[-1].endswith("args = parser.parse_args([])")


@pytest.mark.parametrize(
    "line", ["y = args.turns.bit_length()", "args.turns += 1", "y = args.run(k=args.net)", "y = args.net.sum()"]
)
def test_what_code_says_to_what_it_made_and_a_write_into_it_is_code(line: str) -> None:
    assert any(line in code for code in codes(f"{ARGUMENTS}{line}\n"))


@pytest.mark.parametrize("line", ["y = args.run(x)", "args.log(x.sum(), step=2)"])
def test_what_is_drawn_is_given_to_a_method_of_what_code_made_by_a_node(line: str) -> None:
    text = f"{ARGUMENTS}{line}\n"
    graph = read(text)
    assert "python.free_method" in drawn(text)
    assert not any(line in code for code in codes(text))
    assert f"\n{line}\n" in write_script(graph)


def test_nothing_is_moved_past_a_call_of_what_code_made() -> None:
    graph = read(f"{ARGUMENTS}args.log(x)\ny = torch.ones(2)\nargs.log(y)\n")
    (first, second) = (item for item, node in graph.nodes.items() if node.operator == "python.free_method")
    needs = effect_needs(graph)
    (ones,) = (item for item, node in graph.nodes.items() if node.names == ("y",))
    assert first in needs[ones] and {first, ones} <= set(needs[second])


def test_a_definition_that_code_calls_stays_drawn_where_it_is_printed_as_it_was() -> None:
    text = "import torch\n\ndef f(x, n=2):\n    y = x * n\n    return y\n\ng = dict((k, f) for k in 'ab')\n"
    graph = read(text)
    assert graph.definitions.keys() == {"f"}
    assert "def f(x, n=2):\n    y = x * n\n    return y\n" in write_script(graph)


def test_two_refusals_in_one_block_keep_that_block_and_not_the_one_around_it() -> None:
    inner = "    if k > 0:\n        time.tzset()\n        time.tzset()\n"
    text = f"import torch\nimport time\n\nx = torch.ones(2)\nfor k in range(2):\n    x = x * k\n{inner}"
    assert codes(text)[-1].startswith("if k > 0:") and "operator.mul" in drawn(text)


@pytest.mark.parametrize("ending", ["", "  # both", ";"])
def test_statements_on_one_line_are_one_card(ending: str) -> None:
    text = f"import torch\nimport time\n\nx = torch.ones(2)\nt = time.time(); y = x * 2{ending}\nz = x + 1\n"
    found = codes(text)
    assert (f"t = time.time(); y = x * 2{ending}" in found) == (ending != ";")
    assert ("operator.add" in drawn(text)) == (ending != ";")


def test_what_a_call_of_anything_gives_may_be_a_module() -> None:
    text = (
        "import torch\n\n\ndef main(kind):\n    n = {1, 2}\n    net = kind(3).to('cpu')\n"
        "    o = torch.optim.SGD(net.parameters(), lr=0.1)\n    for k in range(2):\n        net = net.float()\n"
        "        net.train()\n    return o\n\n\nz = torch.ones(2)\n"
    )
    inside = read(text).definitions["main"].graph
    assert [code_of(node) for node in inside.nodes.values() if is_code(node)] == ["n = {1, 2}"]


@pytest.mark.parametrize("change", ["if z.sum() > 1:\n    net = net.cuda()", "for k in range(2):\n    net = net.cpu()"])
def test_an_attribute_of_what_code_made_and_torch_moved_is_read(change: str) -> None:
    text = f"import torch\nfrom mine import Net\nz = torch.ones(2)\nnet = Net()\n{change}\ny = z * net.width\n"
    assert codes(text) == ["from mine import Net", "net = Net()"]


def test_what_torch_makes_is_given_to_what_code_made_by_a_node() -> None:
    text = "import torch\nfrom mine import net\nnet.body.fc = torch.nn.Linear(2, 2)\n"
    assert codes(text) == ["from mine import net"]
    assert "python.set_attribute" in drawn(text)


@pytest.mark.parametrize("line", ["net.cuda = torch.ones(2)", "net.fc = make()", "net.n = 3"])
def test_what_else_is_written_into_what_code_made_is_code(line: str) -> None:
    text = f"import torch\nfrom mine import net, make\n\n{line}\n"
    assert codes(text) == ["from mine import net, make", line]


def test_a_method_that_code_may_call_is_code_of_its_class() -> None:
    text = (
        "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.fc = nn.Linear(2, 2)\n\n    def part(self, x):\n"
        "        return self.fc(x)\n\n    def forward(self, x):\n        return self.part(x)\n\n"
        "net = Net()\nd = dict((k, v) for k, v in net.state_dict().items())\n"
    )
    assert read(text).definitions.keys() == {"Net"}
    part = "def part(self, x):\n    return self.fc(x)"
    assert part not in codes(text)
    assert part in codes(f"{text}e = dict((k, net.part) for k in 'a')\n")
    assert part in codes(f"{text}e = dict((k, getattr(net, 'part')) for k in 'a')\n")
    assert part in codes(f"import helpers\n{text}")


BRANCHES = """\
import torch
x = torch.ones(2)
if x.sum() > 1:
    x = x * 2
    d = dict((k, x) for k in 'ab')
elif x.sum() > 0:
    x = x * 3
else:
    e = dict((k, x) for k in 'ab')
    x = x * 4
"""


def test_the_branches_of_an_if_are_drawn_around_code() -> None:
    graph = read(BRANCHES)
    assert codes(BRANCHES) == ["d = dict((k, x) for k in 'ab')", "e = dict((k, x) for k in 'ab')"]
    assert [node.operator for node in graph.nodes.values()].count("operator.mul") == 3
    assert {block.kind for block in graph.blocks.values()} == {"for"}


@pytest.mark.parametrize(
    "branch",
    [
        "    d = dict((k, x) for k in 'ab')\n    e = dict((k, x) for k in 'cd')\n",  # it would hold nothing else
        "    x = x * 2\n    if d := dict((k, x) for k in 'ab'): y = 1\n",
    ],
)
def test_an_if_of_code_alone_is_one_card(branch: str) -> None:
    text = f"import torch\nx = torch.ones(2)\nif x.sum() > 1:\n{branch}"
    (code,) = codes(text)
    assert code.startswith("if x.sum() > 1:") == ("cd" in branch)


def test_code_that_ends_a_turn_within_an_if_is_code_with_all_of_the_if() -> None:
    text = "import torch\nx = torch.ones(2)\nfor k in range(3):\n    x = x * k\n    if k > 1:\n        x = x + 1\n"
    assert codes(f"{text}        break\n") == ["if k > 1:\n    x = x + 1\n    break"]


PERHAPS = (
    "import torch\nx = torch.ones(2)\nfor k in range(3):\n    x = x * k\n    if k > 1: d = dict((j, x) for j in 'ab')\n"
)


def test_what_code_in_a_loop_binds_perhaps_need_not_be_bound_before_it() -> None:
    assert codes(PERHAPS) == ["if k > 1: d = dict((j, x) for j in 'ab')"]
    assert codes(f"{PERHAPS}    print({{d for j in 'ab'}})\n") == [
        "if k > 1: d = dict((j, x) for j in 'ab')\nprint({d for j in 'ab'})"
    ]


@pytest.mark.parametrize(
    "text",
    [
        PERHAPS.replace("    x = x * k\n", "    x = x * k\n    print({k: d})\n    x = x + 1\n"),  # of the turn before
        f"{PERHAPS}    x = x + 1\n    if k > 0: d = dict((j, x) for j in 'ab')\n",  # either of the two
    ],
)
def test_a_loop_whose_turns_read_what_another_turn_may_have_bound_is_code(text: str) -> None:
    assert codes(text)[0].startswith("for k in range(3):")


def test_a_loop_of_one_turn_has_a_variable_of_its_own_where_the_text_reads_the_usual_one() -> None:
    text = "import torch\nx = torch.ones(2)\n_ = dict((k, 5) for k in 'a')\n"
    text += "if x.sum() > 1:\n    x = x * 2\n    y = x + 1\n"
    assert "for _ in" in write_script(read(text))
    assert "for turn in" in write_script(read(f"{text}d = dict((k, _) for k in 'ab')\n"))


def test_an_if_around_work_for_an_accelerator_is_drawn() -> None:
    text = (
        "import torch\nx = torch.ones(2)\nif torch.cuda.is_available():\n    x = x * 2\n    torch.cuda.synchronize()\n"
    )
    assert codes(text) == []
    assert drawn(text) >= {"torch.cuda.is_available", "torch.cuda.synchronize"}


STAR = """\
import os
import numpy as np

from helpers import *

import torch
x = torch.ones(2)
y = shift(x)
z = x * 2
"""


def test_what_all_of_a_module_may_bind_is_code_and_the_rest_is_drawn() -> None:
    assert codes(STAR) == ["import os\nimport numpy as np\n\nfrom helpers import *", "y = shift(x)"]
    assert drawn(STAR) >= {"torch.ones", "operator.mul"}
    written = write_script(read(STAR))
    assert write_script(read(written)) == written


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (STAR + "def f(x):\n    return x * 2\n", "def f(x):"),  # it is printed above, and may be bound there, too
    ],
)
def test_what_all_of_a_module_may_bind_anew_is_code(text: str, line: str) -> None:
    assert any(line in code for code in codes(text))


def test_what_was_imported_above_all_of_a_module_is_called_as_it_is_bound_then() -> None:
    text = STAR.replace("import os", "from torch.autograd import Variable") + "w = Variable(x)\n"
    assert "python.free_call" in drawn(text) and "torch.autograd.Variable" not in drawn(text)


def test_of_modules_of_pythons_own_is_known_what_they_bind() -> None:
    text = "from random import *\nimport torch\n\ndef f(x):\n    return x * 2\n\ndef choice(x):\n    return x\n"
    assert read(text).definitions.keys() == {"f"}


@pytest.mark.parametrize(
    "text",
    [
        STAR.replace("import os", "n = 3"),  # which may be another number then
        STAR.replace("helpers", "pylab"),  # `sum` and `all` are not Python's behind it
        "import torch\nx = torch.ones(2)\ndef f():\n    pass\n\nfrom helpers import *\ny = x\n",
        "import torch\nfor k in range(2):\n    x = torch.ones(k)\n\nif x.sum() > 1:\n    from helpers import *\n",
    ],
)
def test_where_all_of_a_module_may_change_what_is_drawn_all_of_the_text_is_one_card(text: str) -> None:
    assert len(read(text).nodes) == 1
    assert ast.dump(ast.parse(write_script(read(text)))) == ast.dump(ast.parse(text))


@pytest.mark.parametrize(
    ("line", "is_open"),
    [
        ("exec('n = 2', {})", False),
        ("exec('n = 2', globals())", True),
        ("exec('n = 2')", True),
        ("exec(*['n = 2'])", True),
        ("import sys; del sys.modules['a']", False),
        ("import sys; sys.modules['a'] = sys", False),
        ("import sys; m = [k for k in list(sys.modules) if k in sys.modules]", False),
        ("import sys; m = sys.modules['__main__']", True),
        ("import sys; m = sys.modules[__name__]", True),
        ("import sys; m = sys.modules.values()", True),
        ("import sys; m = sys.modules", True),
        ("c = compile('n = 2', 'a', 'exec')", False),
    ],
)
def test_code_that_reaches_elsewhere_leaves_the_rest_drawn(line: str, is_open: bool) -> None:
    assert (not drawn(f"import torch\nx = torch.ones(2)\n{line}\n")) == is_open


def test_a_function_of_torch_without_a_row_is_a_node_that_needs_a_yes() -> None:
    text = "import torch\ntorch.cuda.set_device(0)\nn = torch.get_num_interop_threads()\n"
    graph = read(text)
    assert [node.operator for node in graph.nodes.values()] == ["python.free_path"] * 2
    assert holds_code(graph)
    assert [one.text.partition(" = ")[2] for one in compile_graph(graph).codes] == [
        "torch.cuda.set_device(0)", "torch.get_num_interop_threads()",
    ]  # fmt: skip


@pytest.mark.parametrize("path", ["get_rank", "get_world_size"])
def test_what_is_computed_from_the_rank_is_as_known_as_from_any_number(path: str) -> None:
    text = f"import torch\nimport torch.distributed\nn = torch.distributed.{path}()\nnet = torch.nn.Linear(2, 3)\n"
    text += "x = torch.ones(4, 2) / 10 + 2 * n\nloss = (net(x) ** 2).mean()\nloss.backward()\n"
    operators = [node.operator for node in read(text).nodes.values()]
    assert "torch.Tensor.mean" in operators and "torch.Tensor.backward" in operators
    assert "python.free_method" not in operators


def test_what_is_behind_an_import_of_its_own_is_called_by_the_name_that_code_binds() -> None:
    text = "import torch\nfrom torch.distributed.fsdp import FullyShardedDataParallel as FSDP\n"
    text += "net = FSDP(torch.nn.Linear(2, 3))\n"
    assert codes(text) == ["from torch.distributed.fsdp import FullyShardedDataParallel as FSDP"]
    assert "python.free_call" in drawn(text)
    assert "net = FSDP(nn.Linear(2, 3))" in write_script(read(text))


@pytest.mark.parametrize(
    "line",
    [
        "traced = torch.fx.symbolic_trace(net)",
        "traced = torch.jit.trace(net, torch.ones(1, 2))",
        "torch.onnx.export(net, torch.ones(1, 2), 'net.onnx')",
    ],
)
def test_what_looks_into_a_program_is_code(line: str) -> None:
    assert line in codes(f"import torch\nnet = torch.nn.Linear(2, 3)\n{line}\n")


def test_a_module_of_torch_that_is_imported_whole_is_loaded_where_it_was() -> None:
    text = "import torch\nimport torch.utils.tensorboard\nw = torch.utils.tensorboard.SummaryWriter()\n"
    assert codes(text)[0].startswith("import torch.utils.tensorboard")


def test_a_module_that_code_made_is_one_after_it_was_moved() -> None:
    text = "import torch\nfrom models import Net\nnet = Net().cuda()\nfor k in range(2):\n    net = net.cuda()\n"
    assert "optim.SGD(net.parameters())" in write_script(read(text + "o = torch.optim.SGD(net.parameters())\n"))


def test_imports_of_a_try_without_which_nothing_goes_on_are_imports() -> None:
    head = "try:\n    import os\n    import torch\nexcept ImportError as error:\n    {}\n"
    rest = "x = torch.ones(2)\n"
    assert "torch.ones" in drawn(head.format("raise error") + rest)
    assert "torch.ones" not in drawn(head.format("print(error)") + rest)


def test_a_dict_by_its_name_is_one_that_is_written_out() -> None:
    assert 'd = {"a": x, "b": 2}' in write_script(read("import torch\nx = torch.ones(2)\nd = dict(a=x, b=2)\n"))
    assert codes("import torch\nfrom tool import dict\nd = dict(a=torch.ones(2))\n")[-1] != ""
    assert "python.choice" not in drawn("import torch\nfrom tool import dict\nd = dict(a=torch.ones(2))\n")


def test_code_in_a_function_may_unbind_what_nothing_reads_after_it() -> None:
    text = "import torch\n\ndef f(x):\n    h = x * 2\n    y = h + 1\n    del h\n    y = y * 2\n    return y{}\n\n"
    text += "z = f(torch.ones(2))\n"
    assert codes(text.format("")) == ["del h"]
    assert any("def f(x):" in code for code in codes(text.format(" + h")))


def test_a_loop_in_which_code_unbinds_what_the_next_turn_reads_is_code() -> None:
    text = "import torch\nh = torch.ones(2)\nfor k in range(2):\n    y = h * 2\n    del h\n"
    assert codes(text) == ["for k in range(2):\n    y = h * 2\n    del h"]
