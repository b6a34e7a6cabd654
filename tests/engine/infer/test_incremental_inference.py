"""Inference that remembers against one that knows nothing: after every edit they say the same."""

import random
import re
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType, FunctionType

import pytest
from torch import nn

from gradstudio.engine.infer import pass_checkpoints
from gradstudio.engine.infer.inference_pass import InferencePass
from gradstudio.engine.infer.shape_inference import Inference
from gradstudio.engine.tensor_files import StoredTensors
from gradstudio.graph import recipes
from gradstudio.graph.edits import apply_all
from gradstudio.graph.errors import GraphError
from gradstudio.graph.model import Graph
from gradstudio.program.compile import compile_graph
from gradstudio.program.model import Program
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.inference import Infer, Inferred
from tests.engine.gradient.test_gradient_registry import SCENARIOS
from tests.engine.infer.test_call_inference import SOME
from tests.engine.infer.test_shape_inference import MORE
from tests.engine.test_statements import PROGRAMS

pytestmark = [pytest.mark.feature(40)]
EDITS = 5
HEAD = "import torch\nfrom torch import nn, optim\nimport torch.nn.functional as F\n\n"
"""Each holds what an answer that is kept too long would tell wrong."""
NETS = {
    "sister modules": "x = torch.randn(4, 6)\na = nn.Linear(6, 6)\nb = nn.Linear(6, 6)\nc = nn.Linear(6, 6)\nb.requires_grad_(False)\np = a(x)\nq = b(x)\nr = c(x)\ns = q + r",  # noqa: E501
    "moved sisters": "x = torch.randn(4, 6)\na = nn.Linear(6, 6)\nb = nn.Linear(6, 6)\np = a(x)\nb.double()\nq = b(x)\nr = b(x.double())",  # noqa: E501
    "modes of sisters": "x = torch.randn(1, 6)\na = nn.BatchNorm1d(6)\nb = nn.BatchNorm1d(6)\na.eval()\np = a(x)\nq = b(x)",  # noqa: E501
    "changed under another name": "x = torch.randn(4, 6)\na = nn.Linear(6, 6)\nb = nn.Linear(6, 6)\np = b(x)\nc = b.double()\nd = a.eval()\nq = c(x.double())\nr = a(x)",  # noqa: E501
    "part of a module": "x = torch.randn(4, 6)\na = nn.Linear(6, 6)\nb = nn.Linear(6, 6)\nv = a.weight.detach()\nw = b.weight.detach()\nv += 1\nu = v @ w",  # noqa: E501
    "views of one": "x = torch.randn(4, 6)\ny = x[1:3]\nz = y.view(2, 3, 2)\nz += 1\nw = x * 2\ny.unsqueeze_(0)\nv = y + 1",  # noqa: E501
    "two names": "x = torch.zeros(3)\ny = x\ny += 2\nz = torch.zeros(3)\nn = (z > 1).nonzero()\nm = (x > 1).nonzero()",
    "training": "x = torch.randn(8, 3)\nm = nn.Linear(3, 2)\no = optim.SGD(m.parameters(), lr=0.1)\nfor t in range(3):\n    o.zero_grad()\n    y = m(x)\n    l = y.pow(2).mean()\n    l.backward()\n    o.step()\nz = m(x[:2])",  # noqa: E501
    "drawn": "torch.manual_seed(3)\nx = torch.randn(5)\nd = torch.randint(0, 4, (5,))\ny = x[d > 1]\nz = torch.dropout(x, 0.5, True)",  # noqa: E501
    "lists": "xs = [torch.ones(2), torch.ones(2)]\nxs.append(torch.ones(2))\ny = torch.stack(xs)\nxs[0] = torch.zeros(2)\nz = torch.stack(xs) + 1",  # noqa: E501
    "a view of what was taken from a list": "xs = [torch.ones(3)]\ny = torch.stack(xs)\nz = y.view(3)\ny.zero_()\nn = z.nonzero()\nk = torch.ones(2)\nj = torch.ones(4)",  # noqa: E501
    "a view of what was written": "x = torch.ones(3)\nx += 1\nz = x.view(3)\nx.zero_()\nn = z.nonzero()\nk = torch.ones(2)\nj = torch.ones(4)",  # noqa: E501
    "settings": "a = torch.ones(2)\ntorch.set_default_dtype(torch.float64)\nb = torch.ones(2)\nc = a + b",
    "a long row": "x = torch.randn(4, 6)\n" + "".join(f"x = torch.relu(x * 1.5) + {k}\n" for k in range(60)) + "y = x.sum()",  # noqa: E501
    "a long row, then a write": "x = torch.randn(4, 6)\ny = x * 2\n" + "".join(f"v{k} = (y + {k}).view(24)\n" for k in range(50)) + "w = v3[1:]\nw.unsqueeze_(0)\ny += 1\nz = v3 + 1",  # noqa: E501
}  # fmt: skip
TEXTS = {
    **{name: HEAD + text + "\n" for name, text in {**PROGRAMS, **SCENARIOS, **MORE, **NETS}.items()},
    **{f"groups: {name}": text for name, text in SOME.items()},
}
NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")


def said(inference: Inference, program: Program, store: StoredTensors) -> tuple[object, ...]:
    answer: Inferred = inference.infer(Infer(revision=1, program=program), store.load_file)
    return {(port.node, port.output): port for port in answer.ports}, answer.needs


def edit(graph: Graph, chance: random.Random) -> bool:
    """Another number in a literal, or a node less; whether the graph took it."""
    nodes = [node for node in graph.nodes.values() if NUMBER.search(" ".join(node.literals.values()))]
    try:
        if not nodes or chance.random() < 0.15:
            apply_all(graph, recipes.delete(graph, [chance.choice(list(graph.nodes))]))
            return True
        node = chance.choice(nodes)
        port, text = chance.choice([(port, text) for port, text in node.literals.items() if NUMBER.search(text)])
        place = chance.choice(list(NUMBER.finditer(text)))
        other = text[: place.start()] + str(chance.randrange(1, 7)) + text[place.end() :]
        apply_all(graph, recipes.set_literal(graph, node.id, port, other))
    except (GraphError, IndexError):
        return False
    return True


def follow(graph: Graph, seed: int, store: StoredTensors) -> None:
    """Edit, and undo some of it; each time the one that remembers is asked beside one that does not."""
    chance, remembering = random.Random(seed), Inference()
    said(remembering, compile_graph(graph), store)
    for _ in range(EDITS):
        before = compile_graph(graph)
        if not edit(graph, chance):
            continue
        now = compile_graph(graph)
        programs = (now, before, now) if chance.random() < 0.3 else (now,)
        for program in programs:
            assert said(remembering, program, store) == said(Inference(), program, store), program.script


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.filterwarnings("ignore")
def test_after_an_edit_the_same_is_said_as_by_one_that_knows_nothing(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pass_checkpoints, "FEWEST_BETWEEN", 1)  # also short programs are gone on with in the middle
    follow(read_script(TEXTS[name]).graph, 0, StoredTensors())


def test_a_result_that_lost_its_name_says_nothing_any_more() -> None:
    named = read_script(HEAD + "x = torch.ones(5)\ny = x * 3\nz = y.sum()\n").graph
    inference, store = Inference(), StoredTensors()
    said(inference, compile_graph(named), store)
    apply_all(named, recipes.delete(named, [list(named.nodes)[-1]]))
    program = compile_graph(named)
    assert said(inference, program, store) == said(Inference(), program, store)


def test_a_parameter_without_a_shape_is_known_after_a_run() -> None:
    lazy = read_script(HEAD + "fc = nn.LazyLinear(4)\nw = fc.weight\nz = w.sum()\n").graph
    told = said(Inference(), compile_graph(lazy), StoredTensors())[0]
    assert isinstance(told, dict)
    known = {port.node: port.known_after_run for port in told.values()}
    assert [known[node] for node in list(lazy.nodes)[1:]] == [True, True]


def test_equal_layers_are_tried_once() -> None:
    """Of fifty layers that differ in their names and numbers, two are tried on tensors without data."""
    layers = "".join(f"m{k} = nn.Linear(6, 6)\nx = m{k}(x)\n" for k in range(50))
    graph = read_script(HEAD + "x = torch.randn(4, 6)\n" + layers).graph
    inference, store = Inference(), StoredTensors()
    said(inference, compile_graph(graph), store)
    first = next(iter(graph.nodes))
    apply_all(graph, recipes.set_literal(graph, first, "size", "(9, 6)"))
    count = count_calls(nn.Linear.forward, lambda: said(inference, compile_graph(graph), store))
    assert count == 2  # the first is given what needs no gradient


@pytest.mark.parametrize("place", [1, 150, 299])
def test_an_edit_that_leaves_the_shapes_ends_soon_behind_it(place: int) -> None:
    """Of three hundred statements fewer than fifty are gone through, wherever the literal stands."""
    row = "".join(f"x = x + {k}.5\n" for k in range(300))
    graph = read_script(HEAD + "x = torch.randn(4, 6)\n" + row).graph
    inference, store = Inference(), StoredTensors()
    said(inference, compile_graph(graph), store)
    for number in ("1000.25", "2000.25"):
        apply_all(graph, recipes.set_literal(graph, list(graph.nodes)[place], "b", number))
        program = compile_graph(graph)
        count = count_calls(InferencePass.statement, partial(said, inference, program, store))
        assert 0 < count < 50
        assert said(inference, program, store) == said(Inference(), program, store)


def count_calls(function: FunctionType, work: Callable[[], object]) -> int:
    """How often a function is called in some work."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call" and frame.f_code is function.__code__

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count
