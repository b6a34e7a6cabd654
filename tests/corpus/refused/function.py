import torch

W = torch.randn(3)


def scale(x):
    return x * W  # refused: 'W' is bound outside of this definition


print(scale(torch.randn(3)))
