"""`device` as a name of functions' own, and functions within functions."""
import os

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
half = lambda t, by=2.0: t / by


def train(model, device, x, scale=2.0):
    x = x.to(device)
    loss = model(x).pow(2).mean() * scale
    loss.backward()
    return loss


class Net(nn.Module):
    def __init__(self, width, device):
        super().__init__()

        # a layer and what follows it
        def block(a, b, normal=True):
            layers = [nn.Linear(a, b, device=device_of(normal))]  # first
            if normal:
                layers.append(nn.LayerNorm(b))
            return layers

        def device_of(normal):
            return "cpu" if normal else None

        self.model = nn.Sequential(*block(3, width), nn.Tanh(), *block(width, 1, normal=False))

    def forward(self, x):
        device = x.device
        shift = torch.ones(1, device=device)
        return self.model(x) + shift


class Other(nn.Module):
    def __init__(self):
        super().__init__()
        block = lambda a, b: [nn.Linear(a, b), nn.ReLU()]
        self.model = nn.Sequential(*block(3, 4))

    def forward(self, x):
        def twice(t):
            return t * 2

        return twice(self.model(x))


def scaled(x, n):
    def inner(y):
        return y * n

    return inner(x)


torch.manual_seed(0)
x = torch.randn(5, 3)
net = Net(4, device=device)
loss = train(net, device, x)
again = train(model=net, device="cpu", x=half(x))
other = Other()(half(x, by=4.0))
s = scaled(x, 3).sum()
print(loss.item(), again.item(), other.sum().item(), s.item(), os.sep)
print(net)
