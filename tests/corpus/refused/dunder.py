import torch
x = torch.ones(2)
k = x.__dict__  # refused: __dict__
