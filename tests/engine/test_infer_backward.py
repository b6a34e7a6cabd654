"""What is said of backwards, indices and devices before a run, against what the run says."""

import pytest
import torch

from tests.engine.build import node
from tests.engine.conftest import Bench
from tests.engine.infer.test_shape_inference import infer

X = "x = torch.randn(3, 2, requires_grad=True)\n"
REFUSED = {
    "no scalar": X + "y = x * 2\ny.backward()",
    "a scalar that was cut": X + "y = (x * 2).sum().detach()\ny.backward()",
    "a choice": X + "y = x.argmax()\ny.backward()",
    "nothing requires grad": "x = torch.ones(3)\ny = x.sum()\ny.backward()",
    "under no_grad": X + "with torch.no_grad():\n    y = x.sum()\ny.backward()",
    "weights of another shape": X + "y = x * 2\nw = torch.ones(3)\ny.backward(w)",
    "grad of no scalar": X + "y = x * 2\ng, = torch.autograd.grad(y, x)",
    "grad by what needs none": X + "t = torch.ones(2)\ny = (x * t).sum()\ng, = torch.autograd.grad(y, t)",
    "backward of a list": X + "y = x * 2\ntorch.autograd.backward([y])",
    "twice": X + "y = (x ** 2).sum()\ny.backward()\ny.backward()",
    "twice through a common part": X + "h = x.exp()\na = h.sum()\nb = h.mean()\na.backward()\nb.backward()",
    "in a loop": X + "y = (x ** 2).sum()\nfor t in range(3):\n    y.backward()",
    "in a loop with Adam": "w = torch.randn(3, requires_grad=True)\no = optim.Adam([w])\ny = (w ** 2).sum()\n"
    "for t in range(3):\n    o.zero_grad()\n    y.backward()\n    o.step()",
    "written after it was saved": X + "y = x.exp()\ny += 1\nz = y.sum()\nz.backward()",
    "a parameter written between": "w = torch.randn(3, requires_grad=True)\no = optim.SGD([w], lr=0.1)\n"
    "y = (w ** 2).sum()\ny.backward(retain_graph=True)\no.step()\ny.backward()",
    "a class too many": "a = torch.randn(3, 2)\nt = torch.tensor([0, 1, 2])\nl = F.cross_entropy(a, t)",
    "a class too many, by a module": "a = torch.randn(3, 2)\nt = torch.tensor([0, 1, 2])\n"
    "c = nn.CrossEntropyLoss()\nl = c(a, t)",
    "classes of 32 bits": "a = torch.randn(3, 2)\nt = torch.tensor([0, 1, 1], dtype=torch.int32)\n"
    "l = F.cross_entropy(a, t)",
    "drawn classes of 32 bits": "a = torch.randn(3, 2)\nt = torch.randint(0, 2, (3,), dtype=torch.int32)\n"
    "l = F.cross_entropy(a, t)",
    "a row too many": "e = nn.Embedding(10, 4)\ni = torch.tensor([1, 12])\ny = e(i)",
    "an element too many": "x = torch.randn(3, 2)\ni = torch.tensor([0, 3])\ny = x[i]",
    "gathered too far": "x = torch.randn(3, 2)\ni = torch.full((3, 2), 7)\ny = torch.gather(x, 1, i)",
    "large products": "x = torch.zeros(2000, 3000)\nw = torch.zeros(2000, 3000)\ny = x @ w",
    "a large layer": "x = torch.zeros(2000, 3000)\nf = nn.Linear(2000, 3000)\ny = f(x)",
    "large batches": "x = torch.zeros(20, 300, 200)\nw = torch.zeros(20, 300, 200)\ny = torch.bmm(x, w)",
}  # fmt: skip
ACCEPTED = {
    "once": X + "y = (x ** 2).sum()\ny.backward()",
    "weights": X + "y = x * 2\nw = torch.ones(3, 2)\ny.backward(w)",
    "nothing was saved": X + "y = x.sum()\ny.backward()\ny.backward()",
    "retained": X + "y = (x ** 2).sum()\ny.backward(retain_graph=True)\ny.backward()",
    "one element": X + "y = (x ** 2).sum().reshape(1, 1)\ny.backward()",
    "anew in each turn": X + "for t in range(3):\n    y = (x ** 2).sum()\n    y.backward()",
    "written before it was saved": X + "y = x * 2\ny += 1\nz = y.exp().sum()\nz.backward()",
    "trained": "w = torch.randn(3, requires_grad=True)\no = optim.Adam([w])\nfor t in range(3):\n    o.zero_grad()\n"
    "    y = (w ** 2).sum()\n    y.backward()\n    o.step()",
    "by gradients of gradients": X + "y = (x ** 3).sum()\ng, = torch.autograd.grad(y, x, create_graph=True)\n"
    "z = g.sum()\nz.backward()",
    "classes that exist": "a = torch.randn(3, 2)\nt = torch.tensor([0, 1, 1])\nl = F.cross_entropy(a, t)",
    "drawn classes": "a = torch.randn(3, 2)\nt = torch.randint(0, 2, (3,))\nl = F.cross_entropy(a, t)",
    "drawn rows": "e = nn.Embedding(2, 4)\ni = torch.randint(0, 2, (30,))\ny = e(i)",
}


def refusals(text: str) -> dict[str, str]:
    return {str(key[0]): port.refusal for key, port in infer(text).items() if port.refusal}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_the_run_refuses_is_announced_at_its_node_in_its_words(bench: Bench, name: str) -> None:
    bench.run(REFUSED[name])
    failed = bench.failed()
    assert refusals(REFUSED[name]) == {failed.node: failed.message}


@pytest.mark.parametrize("name", ACCEPTED)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_the_run_accepts_is_not_refused_before_it(bench: Bench, name: str) -> None:
    assert bench.run(ACCEPTED[name]).outcome == "done"
    assert refusals(ACCEPTED[name]) == {}


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
@pytest.mark.parametrize("made", ["torch.ones(2, device='cuda')", "torch.ones(2).to('cuda')", "torch.ones(2).cuda()"])
def test_a_device_that_is_not_here_is_refused_and_its_shapes_are_told(bench: Bench, made: str) -> None:
    text = f"x = {made}\ny = x * 2"
    bench.run(text)
    told = infer(text)
    assert told[node(1), 0].refusal == bench.failed().message
    assert (told[node(1), 0].shape, told[node(2), 0].shape, told[node(2), 0].refusal) == ((2,), (2,), "")
