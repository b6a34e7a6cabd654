"""Functions that code calls, in classes and under decorators: their statements are drawn, the rest stays as typed."""

import ast
from typing import Any

import msgspec
import pytest

from gradstudio.document import file
from gradstudio.graph.edits import ReplaceNode, SetDefinition, apply, apply_all
from gradstudio.graph.model import Graph
from gradstudio.graph.recipes.fragments import copy_items, paste
from gradstudio.graph.recipes.grouping.group_creation import make_group
from gradstudio.graph.text.code_records import code_of, is_code
from gradstudio.graph.text.drawn_bodies import with_bodies
from gradstudio.graph.text.literal_text import quote
from gradstudio.program.compile import compile_graph
from gradstudio.program.merging.merge import merge_text
from gradstudio.program.merging.whole_merge import draw_code
from gradstudio.program.reading.reader import read_script
from gradstudio.program.trust import code_digest
from gradstudio.program.write import write_script

HEAD = "import torch\nfrom torch import nn\n\n\n"
TRAINER = '''\
class Trainer:
    """Fits a line."""

    rate = 0.5

    def __init__(self, size):
        self.net = nn.Linear(size, 1)
        self.steps = 0

    @torch.no_grad()
    def check(self, x, *, scale=2.0):
        """How far off."""
        # the same every time
        y = self.net(x) * scale
        return torch.mean(y), y.shape

    def fit(self, x):
        while self.steps < 2:
            self.steps += 1
        return self.steps


trainer = Trainer(3)
mean, shape = trainer.check(torch.ones(2, 3))
'''
"""What was read, `check` and `__init__` are drawn, `fit` is nothing but code."""


def read(text: str, head: str = HEAD) -> Graph:
    return read_script(head + text, keeps_code=True).graph


def codes(graph: Graph) -> str:
    return "\n".join(code_of(node) for node in graph.nodes.values() if is_code(node))


def operators(graph: Graph, name: str) -> list[str]:
    return [node.operator for node in graph.definitions[name].graph.nodes.values()]


def test_methods_of_a_class_of_any_kind_are_drawn() -> None:
    graph = read(TRAINER)
    assert set(graph.definitions) == {"Trainer.__init__()", "Trainer.check()"}
    assert "torch.nn.Linear" in operators(graph, "Trainer.__init__()")
    assert "torch.mean" in operators(graph, "Trainer.check()")
    assert graph.definitions["Trainer.check()"].inputs == ("self", "x", "scale")


def test_what_is_drawn_stands_on_no_card_of_code() -> None:
    code = codes(read(TRAINER))
    assert "torch.mean" not in code
    assert "nn.Linear" not in code
    assert "@torch.no_grad()\n    def check(self, x, *, scale=2.0):\n" in code
    assert '"""How far off."""' in code


def test_the_text_is_printed_as_it_was() -> None:
    written = write_script(read(TRAINER))
    assert ast.dump(ast.parse(written)) == ast.dump(ast.parse(HEAD + TRAINER))
    assert "        # the same every time\n" in written
    assert write_script(read(written, head="")) == written


def test_a_function_under_a_decorator_is_drawn() -> None:
    graph = read("import functools\n\n\n@functools.cache\ndef f(n):\n    return torch.ones(n)\n\n\nx = f(2)\n")
    assert operators(graph, "f()") == ["torch.ones"]
    assert "@functools.cache\ndef f(n):\n    ...  # drawn: f()" in codes(graph)


def test_what_it_reads_from_around_it_is_an_input() -> None:
    text = "class A:\n    def f(self, x):\n        return torch.add(x, factor)\n\n\na = A()\n"
    inside = read(f"import os\nfactor = len(os.sep)\n\n\n{text}").definitions["A.f()"]
    assert inside.inputs == ("self", "x", "factor")
    assert inside.taken == ("self", "x")


@pytest.mark.parametrize(
    "body",
    [
        "return locals(), torch.ones(1)",
        "global n; n = torch.ones(1)",
        "yield torch.ones(1)",
        "n = 1\n        def g():\n            nonlocal n\n            n = torch.ones(1)\n        return g",
        "pass",
    ],
)
def test_what_reaches_out_of_it_stays_code(body: str) -> None:
    graph = read(f"n = 2\n\n\nclass A:\n    def f(self, x):\n        {body}\n\n\na = A()\n")
    assert not graph.definitions
    assert body in codes(graph)


@pytest.mark.parametrize(
    "line",
    [
        "import inspect; print(inspect.getsource(A.f))",
        "print(A.f.__code__)",
        "import sys; print(sys._getframe().f_lineno)",
        "import inspect; print(inspect.stack())",
        "torch.jit.script(A())",
        "import traceback; print(traceback.format_exc())",
    ],
)
def test_code_that_looks_into_functions_finds_them_as_typed(line: str) -> None:
    graph = read(f"class A:\n    def f(self, x):\n        return torch.ones(1)\n\n\n{line}\n")
    assert not graph.definitions


@pytest.mark.parametrize(
    "line", ["import sys; print(sys._getframe().f_locals)", "print(torch.fx.symbolic_trace(A().f))"]
)
@pytest.mark.parametrize(
    ("body", "is_drawn"),
    [
        ("y = torch.ones(1)\n        return x + y", True),
        ("if x.sum() > 0:\n            x = torch.relu(x)\n        return x", False),
    ],
)
def test_what_may_be_seen_in_a_frame_is_drawn_where_it_is_printed_as_it_was_typed(
    line: str, body: str, is_drawn: bool
) -> None:
    graph = read(f"class A:\n    def f(self, x):\n        {body}\n\n\n{line}\n")
    assert bool(graph.definitions) == is_drawn


def test_what_would_be_printed_otherwise_where_frames_are_looked_at_is_code_and_the_rest_is_drawn() -> None:
    text = """\
class A:
    def f(self, xs):
        y = torch.ones(1)
        for x in xs:
            y = torch.add(y, x)
            if y > 3:
                y = torch.relu(y)
        squares = [k * k for k in range(3)]
        return y + sum(squares)


"""
    graph = read(f"{text}print(torch.fx.symbolic_trace(A().f))\n")
    assert {"torch.ones", "torch.add"} <= set(operators(graph, "A.f()"))
    inside = codes(graph.definitions["A.f()"].graph)
    assert inside == "if y > 3:\n    y = torch.relu(y)\nsquares = [k * k for k in range(3)]"
    assert ast.dump(ast.parse(text).body[0]) in ast.dump(ast.parse(write_script(graph)))


def test_words_of_the_writer_that_mean_something_else_are_not_printed() -> None:
    head = "import torch\nimport torch.nn.functional as G\n\n\n"
    graph = read("class A:\n    def f(self, x):\n        return G.relu(x)\n\n\nF = A()\n", head)
    assert "G.relu(x)" in codes(graph)


def test_an_argument_called_device_is_the_functions_own() -> None:
    text = "class A:\n    def f(self, device, x):\n        return torch.relu(x.to(device))\n\n\na = A()\n"
    graph = read(text)
    assert "torch.relu" in operators(graph, "A.f()")
    assert "    def f(self, device, x):\n        return torch.relu(x.to(device))\n" in write_script(graph)


def test_the_device_around_it_is_read_where_it_stands() -> None:
    text = "class A:\n    def f(self, x):\n        return torch.relu(x.to(device))\n\n\na = A()\n"
    graph = read(f"device = torch.device('cpu')\n\n\n{text}")
    assert "torch.relu" in operators(graph, "A.f()")
    assert "torch.relu(x.to(device))" in write_script(graph)


def test_a_body_is_edited_where_it_is_drawn() -> None:
    graph = read(TRAINER)
    before = compile_graph(graph)
    definition = graph.definitions["Trainer.check()"]
    inner = definition.graph.copy()
    node = next(one for one in inner.nodes.values() if one.operator == "torch.mean")
    apply(inner, ReplaceNode(msgspec.structs.replace(node, operator="torch.sum")))
    apply(graph, SetDefinition("Trainer.check()", definition.but(graph=inner)))
    assert "return torch.sum(y), y.shape" in write_script(graph)
    after = compile_graph(graph)
    assert "torch.sum(y)" in "".join(one.text for one in after.codes)
    assert code_digest(before) != code_digest(after)


def test_a_file_keeps_it() -> None:
    graph = read(TRAINER)
    again = file.loads(file.dumps(graph))
    assert write_script(again) == write_script(graph)
    assert set(again.definitions) == set(graph.definitions)


def test_an_edited_text_keeps_what_was_not_edited() -> None:
    graph = read(TRAINER)
    written = write_script(graph)
    target = merge_text(graph, written.replace("trainer = Trainer(3)", "trainer = Trainer(4)"))
    assert target.definitions["Trainer.check()"] is graph.definitions["Trainer.check()"]
    assert "Trainer(4)" in write_script(target)
    target = merge_text(graph, written.replace("torch.mean(y)", "torch.sum(y)"))
    assert "torch.sum" in operators(target, "Trainer.check()")
    assert target.definitions["Trainer.__init__()"] is graph.definitions["Trainer.__init__()"]


def test_a_copied_card_brings_its_bodies_along() -> None:
    graph = read(TRAINER)
    card = next(item for item, node in graph.nodes.items() if "class Trainer" in code_of(node))
    part = copy_items(graph, [card])
    other = read(TRAINER.replace("torch.mean", "torch.sum"))
    apply_all(other, paste(other, part)[0])
    written = write_script(other)
    assert written.count("torch.mean(y)") == 1
    assert written.count("torch.sum(y)") == 1
    assert "...  # drawn" not in written


def test_a_card_whose_functions_are_drawn_is_not_drawn_again() -> None:
    graph = read(TRAINER)
    assert [draw_code(graph, item) for item, node in graph.nodes.items() if is_code(node)] == [None] * 2
    item = next(item for item, node in graph.nodes.items() if "class Trainer" in code_of(node))
    code = with_bodies(
        code_of(graph.nodes[item]), {"Trainer.check()": ["y = self.net(x) * scale", "return torch.mean(y)"]}
    )
    apply(graph, ReplaceNode(msgspec.structs.replace(graph.nodes[item], literals={"code": quote(code)})))
    drawn = draw_code(graph, item)
    assert drawn is not None
    assert "torch.mean" in operators(drawn, "Trainer.check()")
    assert "torch.mean" not in codes(drawn)


def test_methods_of_what_it_is_given_are_nodes_that_may_do_anything() -> None:
    text = """\
class A:
    def f(self, net, data):
        net.prepare(data)
        for x in data.batches(2):
            y = net.score(torch.relu(x), data.labels)
        self.kept.append(y.view(-1))
        return torch.stack(self.kept)


a = A()
"""
    graph = read(text)
    inside = graph.definitions["A.f()"].graph
    assert not any(map(is_code, inside.nodes.values()))
    assert operators(graph, "A.f()").count("python.free_method") == 4
    assert ast.dump(ast.parse(write_script(graph))) == ast.dump(
        ast.parse(HEAD.replace("from torch import nn", "") + text)
    )


def test_what_a_method_of_anything_is_given_stays_apart_beside_keywords_in_any_order() -> None:
    text = """\
class A:
    def f(self, parser):
        parser.add_argument("--rate", type=float, default=0.1)
        parser.add_argument("-n", "--number", type=int, default=2)
        return torch.ones(1)


a = A()
"""
    written = write_script(read(text))
    assert text.rpartition("\n\n\n")[0] in written
    assert write_script(read(written, head="")) == written


def test_functions_of_one_name_are_not_taken_for_one_another() -> None:
    text = "class A:\n    def f(self):\n        return torch.ones(1)\n\n\na = A()\n\n\n"
    text += text.replace("ones", "zeros").replace("a =", "b =")
    written = write_script(read(text))
    assert written.count("torch.ones(1)") == written.count("torch.zeros(1)") == 1


def test_a_class_that_is_grouped_takes_the_bodies_of_its_methods_along() -> None:
    graph = read(f"torch.manual_seed(0)\n{TRAINER}")
    card = next(node.id for node in graph.nodes.values() if is_code(node) and "class Trainer" in code_of(node))
    apply_all(graph, make_group(graph, [card], "made"))
    script = write_script(graph)
    assert "def made(" in script and "y = self.net(x) * scale" in script
    assert values_of(script) == values_of(f"{HEAD}torch.manual_seed(0)\n{TRAINER}")


def values_of(script: str) -> tuple[float, tuple[int, ...]]:
    """What the program computes, by Python."""
    namespace: dict[str, Any] = {}
    exec(script, namespace)
    return namespace["mean"].item(), tuple(namespace["shape"])


def test_a_body_that_reads_the_device_in_code_takes_it() -> None:
    body = "        with open(str(device)):\n            pass\n        return torch.relu(x)\n"
    graph = read(f"device = torch.device('cpu')\n\n\nclass A:\n    def f(self, x):\n{body}\n\na = A()\n")
    assert "torch.relu" in operators(graph, "A.f()")
    assert "with open(str(device)):" in write_script(graph)


def test_what_a_body_calls_of_an_import_that_is_code_is_an_input() -> None:
    head = "import torch\nfrom torch.distributed.checkpoint.state_dict import get_model_state_dict\n\n\n"
    text = "class A:\n    def f(self, x):\n        with open(str(get_model_state_dict)):\n            pass\n"
    text += "        return torch.relu(get_model_state_dict(x))\n\n\na = A()\n"
    graph = read(text, head)
    assert graph.definitions["A.f()"].inputs == ("self", "x", "get_model_state_dict")
    assert ast.dump(ast.parse(text).body[0]) == ast.dump(ast.parse(write_script(graph)).body[-2])


@pytest.mark.parametrize(
    "line", ["torch.cuda.synchronize()", "return torch.device('cpu')", "with torch.no_grad():\n            print(1)"]
)
def test_a_function_is_drawn_where_torch_is_in_what_is_drawn_of_it(line: str) -> None:
    graph = read(f"class Timer:\n    def stop(self):\n        {line}\n\n\ntimer = Timer()\n")
    assert "Timer.stop()" in graph.definitions


def test_a_function_whose_torch_is_all_code_stays_code() -> None:
    graph = read("class Timer:\n    def stop(self):\n        y = torch.compile(self.net)\n\n\ntimer = Timer()\n")
    assert not graph.definitions
