import torch

x = torch.ones(2)
global x  # refused: reaches out of a function
