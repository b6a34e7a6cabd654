import torch
import torch.nn as nn

width = 3
net = nn.Linear(width, 1)
x = torch.ones(2, width)
del width


class Trainer:
    def __init__(self, net):
        self.net = net

    def step(self, x, *more):
        loss = self.net(x).pow(2).mean()
        loss.backward()
        return [loss.item(), *more]


losses = Trainer(net).step(x, 1.0)
print(losses)
