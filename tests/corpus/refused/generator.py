import torch
from torch import nn

model = nn.Linear(2, 3)
count = sum(p.numel() for p in model.parameters())  # refused: for p in model.parameters(): values.append(p.numel())
print(count)
