import torch

sizes = [4, 8, 2]
ws = {torch.randn(n, requires_grad=True) for n in sizes}  # refused: A comprehension runs Python of its own
