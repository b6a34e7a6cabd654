import torch


def f(x):
    return x + 1


f = f(torch.ones(2))  # refused: 'f' is the name of a definition
