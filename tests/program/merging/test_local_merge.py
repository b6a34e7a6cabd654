"""A local merge gives what reading and comparing the whole text gives, and reads no more than the edited lines."""

import random
import re
from pathlib import Path

import msgspec
import pytest

from gradstudio.document.file import load
from gradstudio.document.python.python_document import read_python
from gradstudio.graph.model import Graph, ItemId, Wire
from gradstudio.program.errors import NotReadable
from gradstudio.program.merging.local_merge import merge_locally
from gradstudio.program.merging.whole_merge import merge_whole
from gradstudio.program.write import write_code

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.gsg"))
PLAIN = """\
import torch
import torch.nn.functional as F
from torch import nn

# what comes in
x = torch.randn(4, 8)

w = torch.randn(8, 8, requires_grad=True)  # weights
layer = nn.Linear(8, 8)
n = 3 * 2
h = F.relu(x @ w) + x
s = f"{n} rows of {h.shape}"
a, b = torch.chunk(h, 2, dim=1)
h = layer(h)
h += 1
x.mul_(2)
y = torch.cat([a, b], dim=1) * n
# the loss

loss = (h * y).sum()
print(s, loss)
loss.backward()
"""
NESTED = """\
import torch
from torch import nn


def twice(x):
    y = x * 2
    return y


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return torch.relu(self.linear(x))


torch.manual_seed(0)

x = torch.randn(4, 8)
block = Block(8)
optimizer = torch.optim.SGD(block.parameters(), lr=0.1)
total = 0
for step in range(3):
    h = block(x)
    # the loss
    loss = h.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total = total + loss.item()
# region: the end
with torch.no_grad():
    z = twice(x) + 1
    m = z.mean()
    v = z.var()
# endregion
if m > 0:
    q = m * 2
print(total, v)
"""
SNIPPETS = (
    *("t = torch.zeros(3)", "t = torch.zeros(3)  # new", "x = torch.ones(4, 8)", "y = x * 2", "h = h * 2", "x += 1"),
    *(
        "print(x)",
        'print(f"{x} and {x.shape}")',
        "a = b = 2",
        "c, d = 1, 2",
        "# a remark",
        "",
        "x.add_(1)",
        "q = q + 1",
    ),
    *(
        "for k in range(2):",
        "    x = x + 1",
        "if x.sum() > 0:",
        "def f(x):",
        "    return x",
        '"""words',
        "(",
        "t = 1 +",
    ),
    *(
        "u = [k * 2 for k in range(3)]",
        "g = torch.relu",
        "n = 4",
        "n = x",
        "# region: part",
        "# endregion",
        "import math",
    ),
    *(
        "z = x.sum() if n else x",
        "t = torch.randn(3)\nt2 = t.exp().sum()",
        "x, y = y, x",
        "torch.manual_seed(1)",
        "pass",
    ),
)
MOVES = ("F.relu", "torch.tanh"), (" * ", " / "), ("8", "16"), (" + ", "+"), ("loss", "cost"), ("x", "n"), ('"', "'")


def edited(text: str, choice: random.Random) -> str:
    """The text as somebody may have left it."""
    lines = text.split("\n")
    k = choice.choice([i for i, line in enumerate(lines) if line.strip()] or [0])
    j = choice.randrange(len(lines))
    length = choice.choice((1, 1, 2, 5))
    indent = " " * (len(lines[k]) - len(lines[k].lstrip()))
    kind = choice.randrange(13)
    if kind == 0:
        del lines[k : k + length]
    elif kind == 1:
        lines[k:k] = lines[j : j + length]
    elif kind == 2:
        lines[k] = re.sub(r"\b\d+\b", str(choice.randint(1, 9)), lines[k], count=1)
    elif kind == 3:
        moved = lines[k : k + length]
        del lines[k : k + length]
        lines[j:j] = moved
    elif kind == 4:
        lines[k] += "" if "region" in lines[k] else "  # a comment"
    elif kind == 5:
        lines[k] = lines[k].partition("#")[0].rstrip()
    elif kind == 6:
        lines.insert(k, choice.choice(("", indent + "# above", "    # deeper")))
    elif kind in (7, 8, 9):
        lines[k:k] = [indent + line for line in choice.choice(SNIPPETS).split("\n")]
    elif kind == 10:
        lines[k] = "    " + lines[k] if choice.random() < 0.5 else lines[k].removeprefix("    ")
    elif kind == 11:
        old, new = choice.choice(MOVES)
        lines[k] = lines[k].replace(old, new)
    else:
        lines.append(choice.choice(SNIPPETS))
    return "\n".join(lines).rstrip() + "\n"


def canonical(graph: Graph, known: Graph) -> object:
    """A graph whose new items are called by where they stand."""
    names = {item: item if item in known else ItemId(f"new {k}") for k, item in enumerate(graph.order())}

    def wire(one: Wire) -> Wire:
        return Wire(names[one.source], one.output, names[one.target], one.port)

    return (
        {names[item]: msgspec.structs.replace(node, id=names[item]) for item, node in graph.nodes.items()},
        {names[item]: msgspec.structs.replace(block, id=names[item]) for item, block in graph.blocks.items()},
        {names.get(ItemId(body), body): [names[item] for item in items] for body, items in graph.bodies.items()},
        {names[item]: names.get(ItemId(body), body) for item, body in graph.parents.items()},
        {wire(one) for one in graph.wires.values()},
        {wire(one) for ends in graph.outgoing.values() for one in ends},
        {wire(one) for ends in graph.incoming.values() for one in ends},
        graph.places,
        graph.tails,
        graph.header,
        {name: id(one) for name, one in graph.definitions.items()},
        graph.tensors,
    )


def compared(graph: Graph, text: str) -> tuple[Graph | None, bool]:
    """The graph that the text means, and whether it was read locally; both ways say the same."""
    local = merge_locally(graph, text)
    try:
        whole = merge_whole(graph, text)
    except NotReadable:
        assert local is None, text
        return None, False
    if text == write_code(graph)[0]:
        assert local is not None and canonical(local, graph) == canonical(graph, graph)
    elif local is not None:
        assert canonical(local, graph) == canonical(whole, graph), text
    return local or whole, local is not None


def walk(first: Graph, seed: str, count: int) -> int:
    """Edit a text again and again, from time to time the first one; how often it was read locally."""
    choice, graph, locally = random.Random(seed), first, 0
    for k in range(count):
        text = edited(write_code(graph)[0], choice)
        if choice.random() < 0.3:
            text = edited(text, choice)
        found, was_local = compared(graph, text)
        locally += was_local
        if k % 10 == 9:
            graph = first
        elif found is not None and choice.random() < 0.7:
            graph = found
    return locally


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("text", [PLAIN, NESTED], ids=["plain", "nested"])
def test_what_is_read_locally_is_what_reading_the_whole_gives(text: str, seed: int) -> None:
    assert walk(read_python(text).graph, f"{seed}", 40) > 3


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_read_locally_as_it_is_as_a_whole(path: Path) -> None:
    walk(load(path), path.stem, 10)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (PLAIN, "F.relu(x @ w) + x", "F.gelu(x @ w) * x + 1"),
        (PLAIN, "  # weights", "  # the weights"),
        (PLAIN, "nn.Linear(8, 8)", "nn.Linear(8, 8, bias=False)"),
        (PLAIN, "x.mul_(2)\n", "x.mul_(2)\nt = torch.zeros(3)\n"),
        (PLAIN, "loss.backward()\n", "loss.backward()\nprint(w.grad)\n"),
        (PLAIN, "print(s, loss)\n", ""),
        (PLAIN, "# the loss\n\n", "# the loss of all\n"),
        (NESTED, "h.square().mean()", "h.abs().mean() * 2"),
        (NESTED, "    loss.backward()\n", "    print(loss)\n    loss.backward()\n"),
        (NESTED, "v = z.var()", "v = z.std()  # not the variance"),
        (NESTED, "    v = z.var()\n", "    v = z.var()\n    spread = v * 2\n"),
    ],
)
def test_what_a_person_types_on_a_line_is_read_locally(text: str, old: str, new: str) -> None:
    graph = read_python(text).graph
    code = write_code(graph)[0]
    assert old in code
    found, was_local = compared(graph, code.replace(old, new))
    assert found is not None and was_local


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("layer = nn.Linear(8, 8)", "layer = nn.ReLU()"),
        ("h = F.relu(x @ w) + x", "g = F.relu(x @ w) + x"),
        ("n = 3 * 2", "for k in range(2):\n    n = 3 * 2"),
        ("loss = (h * y).sum()", "loss = [k for k in (h * y).sum()]"),
        ("x.mul_(2)", "torch.manual_seed(3)"),
        ("from torch import nn", "from torch import nn as layer"),
        ("n = 3 * 2", '"""words'),
        ("loss.backward()", "    loss.backward()"),
    ],
)
def test_what_the_rest_may_read_otherwise_is_read_with_it(old: str, new: str) -> None:
    graph = read_python(PLAIN).graph
    _, was_local = compared(graph, write_code(graph)[0].replace(old, new))
    assert not was_local


def test_a_text_in_a_persons_own_words_is_read_locally_between_them() -> None:
    graph = read_python(PLAIN).graph
    text = PLAIN.replace("import torch.nn.functional as F\nfrom torch import nn", "from torch import nn, optim")
    text = text.replace("torch.chunk(h, 2, dim=1)", "torch.chunk( h,2,dim = 1 )").replace("h += 1", "h+=2")
    assert compared(graph, text)[1]
