"""What a run held is let go when the next begins: by its references alone, for the garbage collector comes seldom."""

import gc
import re
from collections.abc import Callable, Iterator

import pytest
import torch

from gradstudio import paths
from gradstudio.document import file
from gradstudio.engine.experiment.gradcheck import check
from gradstudio.engine.experiment.rerun import World
from gradstudio.engine.experiment.whatif import answer
from gradstudio.engine.live.live_state import Loaded
from gradstudio.engine.torch_settings import settings
from gradstudio.engine.verbs import Engine
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph
from gradstudio.graph.recipes.grouping.group_creation import make_group
from gradstudio.program.compile import compile_graph
from gradstudio.program.model import flatten_statements
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.debugging import Change, Check, WhatIf
from gradstudio.protocol.messages.requests import Do

RUNS, MANY_RUNS = 2, 6
EXAMPLES = sorted(path.stem for path in paths.examples().glob("*.gsg"))
LAYER = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(64, 64)

    def forward(self, x):
        return self.fc(x).relu()

x = torch.ones(32, 64)
net = Net()
"""
STEP = "loss = net(x).mean()\nloss.backward()\n"
INNER = """
class Inner(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(size))

    def forward(self, x):
        return x * self.scale

class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Inner(64)
        self.second = nn.LayerNorm(64)

    def forward(self, x):
        return self.second(self.first(x))

net = Outer()
x = torch.ones(32, 64)
"""
TRAIN = """
optimizer = optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = net(x).mean()
    loss.backward()
    optimizer.step()
"""
SCHEDULE = """
optimizer = optim.Adam(net.parameters(), lr=0.1)
schedule = optim.lr_scheduler.StepLR(optimizer, 2)
for step in range(3):
    optimizer.zero_grad()
    loss = net(x).mean()
    loss.backward()
    optimizer.step()
    schedule.step()
"""
FUNCTION = """
def twice(x):
    y = x * 2
    return y

x = torch.ones(32, 64, requires_grad=True)
y = twice(twice(x))
loss = y.sum()
loss.backward()
"""
CLASSES = {
    "layer": LAYER + STEP,
    "only made": LAYER,
    "called twice": LAYER + "y = net(net(x))\n",
    "in a loop": LAYER + "for turn in range(3):\n    x = net(x)\nloss = x.sum()\nloss.backward()\n",
    "without gradients": LAYER + "with torch.no_grad():\n    y = net(x)\n",
    "one in another": INNER + STEP,
    "trained": LAYER + TRAIN,
    "by a schedule": LAYER + SCHEDULE,
    "in a sequence": LAYER + "both = nn.Sequential(net, nn.ReLU(), Net())\ny = both(x)\n",
    "with a second graph": LAYER + "loss = net(x).mean()\nloss.backward(create_graph=True)\n",
    "fails": LAYER + "y = net(torch.ones(2, 3))\n",
    "a function": FUNCTION,
}


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    """What is there stays out of sight for good: thawed, all that is imported would be walked before each test."""
    gc.collect()
    gc.freeze()
    gc.disable()
    yield
    gc.enable()


def held() -> int:
    """Bytes of the tensors that there are since the collector was stopped, each storage once."""
    storages = (one.untyped_storage() for one in gc.get_objects() if isinstance(one, torch.Tensor))
    return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())


def loaded_engine(graph: Graph) -> Engine:
    engine = Engine(lambda message: None, lambda: False)
    engine.stored.add({digest: tensor.data for digest, tensor in graph.tensors.items()})
    engine.load(Loaded("document", 1, compile_graph(graph)))
    return engine


def held_after_each(engine: Engine, runs: int, *, trace: bool) -> list[int]:
    after = []
    for _ in range(runs):
        engine.do(Do(verb="run", restart=True, trace=trace))
        engine.settle()
        after.append(held())
    return after


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize("text", CLASSES.values(), ids=CLASSES)
def test_runs_of_a_definition_hold_what_the_first_held(text: str, trace: bool) -> None:
    head = "import torch\nfrom torch import nn, optim\n\ntorch.manual_seed(0)\n"
    engine = loaded_engine(read_script(head + text).graph)
    after = held_after_each(engine, RUNS, trace=trace)
    assert after[0] > 0
    assert after == [after[0]] * RUNS
    engine.load(Loaded("another", 1, engine.loaded.program))
    assert held() == 0


@pytest.mark.parametrize("text", CLASSES.values(), ids=CLASSES)
def test_what_was_tried_on_the_side_holds_nothing_behind_it(text: str) -> None:
    small = re.sub("32|64", "3", text)
    program = compile_graph(read_script("import torch\nfrom torch import nn, optim\n\n" + small).graph)
    statements = tuple(flatten_statements(program.statements))
    world = World(Loaded("document", 1, program), 0, settings(), lambda path: {}, lambda: False)
    tried = Change(node=statements[-1].node, value=2.0)
    answer(world, WhatIf(request=1, change=tried), None)
    gc.collect()  # what torch keeps of its first optimizer
    for statement in statements:
        check(world, Check(request=1, nodes=(statement.node,)))
        answer(world, WhatIf(request=1, change=tried), None)
        assert held() == 0, statement.text


def digits() -> Graph:
    return file.load(paths.examples() / "07_digits_perceptron.gsg")


def layers() -> Graph:
    head = "import torch\nfrom torch import nn, optim\n\ntorch.manual_seed(0)\nx = torch.ones(32, 64)\n"
    made = "a = nn.Linear(64, 64)\nb = nn.Linear(64, 8)\nh = a(x).relu()\ny = b(h)\n"
    return read_script(f"{head}{made}loss = y.mean()\nloss.backward()\n").graph


def many_runs(graph: Graph, *, trace: bool) -> None:
    """Several runs hold what the first held."""
    engine = loaded_engine(graph)
    after = held_after_each(engine, MANY_RUNS, trace=trace)
    assert after[0] > 0
    assert after == [after[0]] * MANY_RUNS


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize(
    ("made", "names"), [(digits, ("W1", "b1", "hidden")), (layers, ("a", "b", "h", "y")), (layers, ("a", "h"))]
)
def test_runs_of_a_group_made_by_hand_hold_what_the_first_held(
    made: Callable[[], Graph], names: tuple[str, ...], trace: bool
) -> None:
    graph = made()
    chosen = [item for item, node in graph.nodes.items() if set(node.names) & set(names)]
    apply_all(graph, make_group(graph, chosen, "Part"))
    assert graph.definitions["Part"].is_module
    many_runs(graph, trace=trace)


def test_runs_of_stored_tensors_hold_what_the_first_held() -> None:
    graph = digits()
    assert graph.tensors
    many_runs(graph, trace=True)


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize("example", EXAMPLES)
def test_runs_of_an_example_hold_what_the_first_held(example: str, trace: bool) -> None:
    engine = loaded_engine(file.load(paths.examples() / f"{example}.gsg"))
    after = held_after_each(engine, RUNS, trace=trace)
    assert after[0] > 0
    assert after == [after[0]] * RUNS
