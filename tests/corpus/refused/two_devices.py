import torch
device = "cpu"
x = torch.ones(2, device=device)
device = "cuda"  # refused: a canvas has one device
