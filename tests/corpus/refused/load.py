import torch
state = torch.load("model.pt")  # refused: loads no files
