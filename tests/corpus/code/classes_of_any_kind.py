"""Classes and functions that a canvas has no shape for: what their methods do is drawn, how they are called is Python's."""

import dataclasses
import functools

import torch
from torch import nn
from torch.utils.data import Dataset


@dataclasses.dataclass
class Settings:
    width: int = 3
    rate: float = 0.25

    @property
    def made(self):
        return torch.full((self.width,), self.rate)

    @staticmethod
    def ones(*sizes, fill=1.0):
        return torch.full(sizes, fill)

    @classmethod
    def wide(cls, width):
        """As wide as that."""
        made = cls(width)
        print("wide", torch.arange(width).sum())
        return made


class Points(Dataset):
    def __init__(self, count, settings):
        self.x = torch.linspace(0, 1, count * settings.width).reshape(count, settings.width)
        self.y = torch.sum(self.x, dim=1)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, k):
        return torch.sin(self.x[k]), self.y[k]


class Base(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, 1)


class Net(Base):
    def forward(self, x, scale=1.0):
        # one branch or the other
        if scale > 1.0:
            return torch.tanh(self.fc(x)) * scale
        h = torch.relu(self.fc(x))
        for _ in range(2):
            h = torch.exp(h) - 1
        return h


def twice(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(function(*args, **kwargs), **kwargs)

    return inner


@twice
def halved(x, by=2.0):
    y = torch.abs(x) / by
    return y


class Trainer:
    def __init__(self, net, data, settings):
        self.net, self.data = net, data
        self.optimizer = torch.optim.SGD(net.parameters(), lr=settings.rate)
        self.losses = []

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = nn.functional.mse_loss(self.net(x).squeeze(), y)
        loss.backward()
        self.optimizer.step()
        self.losses.append(loss.item())
        return loss

    @torch.no_grad()
    def measure(self):
        total = torch.zeros(())
        for k in range(len(self.data)):
            x, y = self.data[k]
            total += (self.net(x, scale=2.0) - y).abs().sum()
        print(f"off by {total:.3f}")
        return total

    def fit(self, turns):
        turn = 0
        while turn < turns:
            for k in range(len(self.data)):
                self.step(*self.data[k])
            turn += 1


settings = Settings.wide(4)
points = Points(6, settings)
net = Net(settings.width)
trainer = Trainer(net, points, settings)
trainer.fit(3)
off = trainer.measure()
made = settings.made
ones = Settings.ones(2, 3, fill=2.0)
half = halved(torch.tensor([-8.0, 4.0]), by=2.0)
loss = trainer.step(points.x, points.y)
losses = trainer.losses
