"""Doc."""
from __future__ import annotations, division
import time
from dataclasses import dataclass, fields

import torch
import torch.nn as nn


@dataclass
class Config:
    n: int = 4
    other: Missing | None = None

    def width(self) -> Elsewhere:
        return self.n * 2


def widen(x: Foo, k: Bar = 2) -> Baz:
    return x * k


class Net(nn.Module):
    scale: Scale = 2

    def __init__(self, n: int) -> None:
        super().__init__()
        self.fc = nn.Linear(n, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(x)

    def names(self) -> Missing:
        return [n for n, _ in self.named_parameters()]


torch.manual_seed(0)
config = Config()
print([f.type for f in fields(config)])
net = Net(config.n)
x = torch.randn(3, 4)
y = widen(net(x))
loss = y.pow(2).mean()
loss.backward()
print(loss.item(), Config.width.__annotations__, net.names(), net.scale)
