import torch

sizes = [4, 8, 2]
ws = [torch.randn(n, requires_grad=True) for n in sizes]  # refused: for n in sizes: values.append(torch.randn(n, requires_grad=True))
