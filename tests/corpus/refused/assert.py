import torch
x = torch.ones(2)
assert x.sum() == 2, "two"  # refused: take it out
