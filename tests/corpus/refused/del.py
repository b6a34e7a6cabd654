import torch
x = torch.ones(2); y = x * 2
del x  # refused: unbinds a name
