import numpy as np
import torch
from torch.nn import functional as F, Linear
from torch.nn.parameter import Parameter
from collections.abc import Sequence
import typing

SEED = 3
torch.manual_seed(SEED)
layer = Linear(3, 2)
scale = Parameter(torch.ones(2))
z = F.softplus(layer(torch.rand(4, 3)) * scale)
z.mean().backward()
print(scale.grad)
