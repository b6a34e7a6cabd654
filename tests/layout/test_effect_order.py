"""What stands right of a training, though no wire joins them."""

from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.text.item_titles import title
from gradstudio.layout.tidy import layout
from gradstudio.program.reading.reader import read_script

QUICKSTART = """import os
import torch
from torch import nn


def train(model, opt):
    loss = model(torch.ones(1, 2)).sum()
    loss.backward()
    opt.step()


model = nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    train(model, opt)
torch.save(model.state_dict(), "model.pth")
other = nn.Linear(2, 1)
other.load_state_dict(torch.load("model.pth"))
os.remove("model.pth")
"""


def _lefts(graph: Graph) -> dict[str, float]:
    return {title(graph, ItemId(item)): place[0] for item, place in layout(graph).items() if ItemId(item) in graph}


def test_what_reaches_files_and_code_stand_right_of_the_training_before_them() -> None:
    graph = read_script(QUICKSTART, keeps_code=True).graph
    lefts = _lefts(graph)
    assert {"save", "load", "load_state_dict", "Python"} <= lefts.keys()
    assert all(lefts["for epoch"] < lefts[name] for name in ("state_dict", "save", "load", "load_state_dict", "Python"))
    assert lefts["model"] < lefts["for epoch"] < lefts["os"] + 1
