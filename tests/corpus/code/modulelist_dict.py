import torch
from torch import nn

torch.manual_seed(0)
heads = nn.ModuleDict({"a": nn.Linear(2, 1), "b": nn.Linear(2, 3)})
x = torch.ones(1, 2)
outs = {name: head(x) for name, head in heads.items()}
shapes = {k: tuple(v.shape) for k, v in outs.items()}
total = sum(v.sum() for v in outs.values())
total.backward()
print(shapes)
