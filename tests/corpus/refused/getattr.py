import torch
x = torch.ones(2)
f = getattr(x, "sum")  # refused: write `x.name`
