import torch

n = torch.tensor(3)


def f(x, k=n):  # refused: The default of 'k' is a literal here
    return x * k
