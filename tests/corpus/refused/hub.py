import torch
model = torch.hub.load("pytorch/vision", "resnet18")  # refused: torch.hub.load
