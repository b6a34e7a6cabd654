import torch
x = torch.ones(2)
global x  # refused: belongs to functions
