"""Several attributes of an object that one statement binds."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.a, self.b = 1, 2
        self.n, self.m = n, m * 2
        self.fc, self.gc = nn.Linear(n, m), nn.Linear(m, 2)
        self.u, self.v = torch.ones(2).chunk(2)
        (self.k, self.l), self.z = (3, n), None

    def forward(self, x):
        h = self.gc(self.fc(x)) * self.n + self.m
        if self.z is None:
            h = h + self.a
        return h * self.b + self.u + self.v + self.k + self.l


torch.manual_seed(0)
net = Net(3, 2)
y = net(torch.ones(2, 3))
y.sum().backward()
print(y, net.a, net.m)
net.a, net.b = 5, 6
print(net(torch.ones(2, 3)), net)
