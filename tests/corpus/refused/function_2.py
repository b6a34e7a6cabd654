import torch


def down(x, n):
    y = x / 2
    return down(y, n)  # refused: calls what no statement above binds


print(down(torch.ones(2), 3))
