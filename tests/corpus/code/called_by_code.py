"""Definitions that code calls, hands on and looks into, and that are drawn all the same."""
import torch
from torch import nn


def scaled(x, factor=2.0):
    y = x * factor
    return y.sum(), y


class Net(nn.Module):
    """Two layers."""

    def __init__(self, width, bias=True):
        super().__init__()
        self.width = width
        self.first = nn.Linear(3, width, bias=bias)
        self.second = nn.Linear(width, 2)

    def encode(self, x):
        h = self.first(x)
        return torch.relu(h)

    def forward(self, x):
        return self.second(self.encode(x))


torch.manual_seed(1)
nets = {width: Net(width, bias=False) for width in (2, 4)}
apply = lambda f, x: f(x, factor=3.0)
x = torch.randn(5, 3)
total, y = apply(scaled, x)
net = Net(6)
out = net(x)
loss = out.pow(2).mean() + total
loss.backward()
names = {name: tuple(p.shape) for name, p in net.named_parameters()}
shapes = {width: tuple(one(x).shape) for width, one in nets.items()}
print(names, shapes, isinstance(nets[2], Net), net.width, sorted(vars(net))[-2:])
print(net)
