import torch
model = torch.hub.load("pytorch/vision", "resnet18")  # refused: reaches no network
