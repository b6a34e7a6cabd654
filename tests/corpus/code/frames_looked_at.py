import inspect
import sys

import torch
from torch import nn

import torch
from torch import nn

here = sys.modules[__name__]


class Settings:
    def save(self, ignore=()):
        frame = inspect.currentframe().f_back
        _, _, _, values = inspect.getargvalues(frame)
        self.kept = {name: value for name, value in values.items() if name not in {"self", *ignore}}


class Model(nn.Module, Settings):
    def __init__(self, width, scale):
        super().__init__()
        self.save()
        self.layer = nn.Linear(width, 1)

    def forward(self, x, device=None):
        x = torch.relu(self.layer(x))
        return x * torch.ones(1, device=device)

    def about(self, x):
        self.save(ignore=("x",))
        total = torch.sum(x)
        self.save()
        return total


def penalty(w, scale):
    squares = w.pow(2)
    total = torch.sum(squares) / 2
    return total * scale


def clipped(w, most):
    if torch.norm(w) > most:
        w = w / torch.norm(w)
    return w


model = Model(3, 0.5)
loss = model(torch.ones(2, 3)).sum() + penalty(model.layer.weight, 0.1)
loss.backward()
names = sorted(model.kept)
model.about(torch.ones(2))
print(here is sys.modules["__main__"], names, sorted(model.kept), clipped(torch.ones(4), 1.0))
