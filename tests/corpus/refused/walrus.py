import torch
x = torch.ones(3)
y = (n := x.sum()) * 2  # refused: bind it on a line of its own
