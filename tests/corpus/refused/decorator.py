import torch


@torch.no_grad()
def evaluate(x):  # refused: decorator
    return x * 2
