import torch
from torch import nn


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = torch.zeros(1)

    def forward(self, x):
        self.n = self.n + 1  # refused: `forward` binds no attributes
        return x * self.n
