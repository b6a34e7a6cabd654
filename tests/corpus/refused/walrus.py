import torch
x = torch.ones(3)
y = x.sum() * (n := x.mean()) * 2  # refused: bind it on a line of its own
