import torch
opts = [1]
x = torch.ones(2, **opts)  # refused: unpacks while it runs
