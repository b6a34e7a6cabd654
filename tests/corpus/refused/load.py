import torch
state = torch.load("model.pt")  # refused: torch.load
