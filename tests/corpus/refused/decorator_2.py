import torch


@torch.jit.script
def evaluate(x):  # refused: decorator
    return x * 2
