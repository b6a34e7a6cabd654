import torch

x = torch.ones(2)
f = lambda v: v * 2
y = f(x)
