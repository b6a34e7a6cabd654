import torch


def relu(x):  # refused: function cannot be drawn yet
    return torch.max(x, torch.zeros_like(x))


print(relu(torch.randn(3)))
