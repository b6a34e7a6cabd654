import os
from itertools import chain

from random import *

import torch
from torch import nn

seed(3)
words = ["a", "b", "c", "d"]
shuffle(words)
print(words, os.path.basename("a/b"), list(chain("ab", "c")))
net = nn.Linear(len(words), 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def penalty(model, scale=2):
    return model.weight.pow(2).sum() * scale


def choice(values):
    return values[0]


for k in range(4):
    x = torch.full((3, 4), uniform(0, 1))
    optimizer.zero_grad()
    loss = net(x).pow(2).mean() + penalty(net)
    loss.backward()
    optimizer.step()
    print(k, f"{loss.item():.4f}")
first = choice(words)
print(first)
