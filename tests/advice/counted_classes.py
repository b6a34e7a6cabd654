"""Programs whose stored target has ten classes, for as many scores or for fewer; asked of torch in tests/engine."""

import struct

from gradstudio.document.stored_tensors import stored_tensor
from gradstudio.graph.model import Graph
from gradstudio.program.reading.reader import read_script

HEAD = """import torch
from pathlib import Path
from safetensors.torch import load_file
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, random_split
HERE = Path(__file__).parent
X = torch.randn(8, 4)
y = {target}
"""
FILE = 'load_file(HERE / "y.tensors/{digest}.safetensors")["data"]'
LABELS = (0, 3, 9, 1, 2, 3, 4, 5)
CLASS = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 8)

    def forward(self, x):
        return self.fc(x).relu()

net = Net()
"""
TOLD = {
    "a function": "net = nn.Linear(4, 8)\nlogits = net(X)\nloss = F.cross_entropy(logits, y)\n",
    "a class": "net = nn.Linear(4, 8)\nlogits = net(X)\ncriterion = nn.CrossEntropyLoss()\n"
    "loss = criterion(logits, y)\n",
    "logarithms": "net = nn.Linear(4, 8)\nlogits = net(X)\nloss = F.nll_loss(F.log_softmax(logits, dim=1), y)\n",
    "another shape": "net = nn.Linear(4, 8)\nlogits = net(X)\nloss = F.cross_entropy(logits, y.view(-1).long())\n",
    "layers": "net = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 8))\nloss = F.cross_entropy(net(X), y)\n",
    "a loader": "net = nn.Linear(4, 8)\nloader = DataLoader(TensorDataset(X, y), batch_size=4)\n"
    "for X_batch, y_batch in loader:\n    loss = F.cross_entropy(net(X_batch), y_batch)\n",
    "counted batches of a part": "net = nn.Linear(4, 8)\n"
    "train, test = random_split(TensorDataset(X, y), [7, 1])\nloader = DataLoader(train, batch_size=4)\n"
    "for number, (X_batch, y_batch) in enumerate(loader):\n    loss = F.cross_entropy(net(X_batch), y_batch)\n",
    "a function of the program's": "net = nn.Linear(4, 8)\ndef judge(scores, target):\n"
    "    return F.cross_entropy(scores, target)\nloss = judge(net(X), y)\n",
}
LAYER = "net = nn.Linear(4, {outputs})\nlogits = net(X)\n"
SILENT = {
    "as many outputs": LAYER.format(outputs=10) + "loss = F.cross_entropy(logits, y)\n",
    "one score is told by another": LAYER.format(outputs=1) + "loss = F.cross_entropy(logits, y)\n",
    "a class is ignored": LAYER.format(outputs=9) + "loss = F.cross_entropy(logits, y, ignore_index=9)\n",
    "a layer that ignores one": LAYER.format(outputs=9)
    + "criterion = nn.CrossEntropyLoss(ignore_index=9)\nloss = criterion(logits, y)\n",
    "a choice of rows": LAYER.format(outputs=8) + "loss = F.cross_entropy(logits[:2], y[:2])\n",
    "other numbers": LAYER.format(outputs=8) + "loss = F.cross_entropy(logits, y % 8)\n",
    "numbers": LAYER.format(outputs=8) + "loss = F.mse_loss(logits, y)\n",
    "rows put together otherwise": LAYER.format(outputs=8)
    + "loader = DataLoader(TensorDataset(X, y), batch_size=4, collate_fn=None)\n"
    "for X_batch, y_batch in loader:\n    loss = F.cross_entropy(net(X_batch), y_batch)\n",
}


NOT_OF_TORCH = frozenset({"one score is told by another", "rows put together otherwise"})
"""Torch refuses these too; they are another look's, or nobody knows what they are."""


def program(body: str, labels: tuple[int, ...] = LABELS, dtype: str = "int64") -> Graph:
    """The program that is drawn, its target a stored tensor of these numbers."""
    code = {"int64": "q", "float32": "f"}[dtype]
    tensor = stored_tensor(struct.pack(f"<{len(labels)}{code}", *labels), dtype, (len(labels),))
    text = HEAD.format(target=FILE.format(digest=tensor.digest)) + body
    return read_script(text, lambda _file: tensor).graph
