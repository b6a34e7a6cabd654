import sys

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return torch.tanh(self.fc(x)) + x


torch.manual_seed(0)
blocks = nn.ModuleList([Block(3) for _ in range(2)])
x = torch.ones(1, 3)
for block in blocks:
    x = block(x)
params = sum(p.numel() for p in blocks.parameters())
sys.stdout.write(f"{params} parameters\n")
out = x.sum()
out.backward()
