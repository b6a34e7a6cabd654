import functools
import time
import torch
from torch import nn

scale = 3.0
table = {}


def make_adder(n):
    total = torch.zeros(2)
    total = total + n

    def add(x):
        return total + x * scale

    later = lambda: total * 2
    total = total + 1
    table[n] = later
    return add


def twice(f, x):
    y = f(x)
    cache = dict((k, y) for k in range(2))
    z = y + cache[1]
    return z, cache


class Net(nn.Module):
    def __init__(self, n, act="relu"):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.acts = {"relu": torch.relu, "tanh": torch.tanh}
        self.act = act
        self.calls = 0
        self.hist = []
        for k in range(2):
            setattr(self, f"l{k}", nn.Linear(n, n))
        self.head = nn.Linear(n, 1)

    def forward(self, x, mask=None):
        self.calls += 1
        h = self.fc(x)
        h = self.acts[self.act](h)
        if mask is not None:
            h = h * mask
        for k in range(2):
            h = getattr(self, f"l{k}")(h)
            self.hist.append(h.detach().mean().item())
        out = self.head(h)
        if not self.training:
            out = out * 0.5
        return out


torch.manual_seed(0)
add = make_adder(2)
a = add(torch.ones(2))
b, c = twice(add, torch.arange(2.0))
d = table[2]()
net = Net(2)
x = torch.randn(3, 2)
loss = net(x).sum()
loss.backward()
g = net.fc.weight.grad
calls = net.calls
hist = net.hist
net.eval()
e = net(x, mask=torch.tensor([1.0, 0.0]))
calls2 = net.calls
keys = sorted(net.state_dict())
print(a, b, c, d, loss.item(), calls, hist)
print(keys, net)
