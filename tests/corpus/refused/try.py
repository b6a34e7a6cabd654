import torch
try:  # refused: chooses while it runs
    x = torch.ones(2) + torch.ones(3)
except RuntimeError as e:
    print(e)
