import torch
x = torch.ones(2  # refused: never closed
y = x
