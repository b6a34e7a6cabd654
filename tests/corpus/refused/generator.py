import torch

x = torch.randn(3)
values = (v * 2 for v in x)  # refused: for v in x: values.append(v * 2)
