import torch
from torch import nn

nz = 3
scale = torch.ones(2, requires_grad=True)
rate = 2


class Generator(nn.Module):
    def __init__(self, n):
        super(Generator, self).__init__()
        # the layers
        self.main = nn.Sequential(nn.Linear(nz, n), nn.Tanh())  # beside

    def forward(self, x):
        y = self.main(x) * scale
        return y


def inner(a):
    return a * rate


def penalty(model, x):
    out = model(x)
    for k in range(rate):
        out = out + inner(out)
    if nz > 2:
        out = out * nz
        out = out + 1
    return (out * scale).sum() * rate


net = Generator(2)
d = dict((k, penalty(net, torch.ones(1, nz))) for k in "ab")
e = dict((k, Generator) for k in "a")
d["a"].backward()
rate = 3
f = dict((k, penalty(net, torch.ones(1, nz))) for k in "ab")
g = penalty(net, torch.ones(1, nz))
g.backward()
print(d, f)
