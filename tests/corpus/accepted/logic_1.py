import torch
import torch.nn as nn
import torch.nn.functional as F
import numpy as np
import math
from math import sqrt, pi
torch.manual_seed(0)
net = nn.Linear(3, 2)
x = torch.randn(4, 3)
has_bias = net.bias is not None
b0 = net.bias.sum() if net.bias is not None else torch.tensor(0.0)
p = F.softmax(net(x), dim=1)
ok = torch.allclose(p.sum(dim=1), torch.ones(4)) and not torch.isnan(p).any()
mode = "train" if net.training else "eval"
y = F.relu(x) if x.min() < 0 else torch.sqrt(x)
g = x.grad
msg = "no grad yet" if g is None else f"grad {g.sum():.3f}"
lr = 0.1
lr = lr * 0.5 if lr > 0.05 else lr
n = 10
for epoch in range(n):
    loss = (net(x) ** 2).mean()
    loss.backward()
    if epoch % 5 == 0 or epoch == n - 1:
        print(f"epoch {epoch + 1}/{n}: {loss.item():.4f}")
    if epoch > 2 and epoch < 5:
        print("between", epoch)
    if not epoch:
        print("first")
print("=" * 30)
print("-" * 10 + " done " + "-" * 10)
print("shape", tuple(x.shape), list(x.shape))
a, b = 3, 4
h = sqrt(a**2 + b**2)
deg = pi / 180
m = max(a, b) - min(a, b)
t = (a > 2) == (b > 2)
u = a == 3 and b == 4 or a == 0
v = (a == 3 or b == 0) and a < b
w = not (a == 3 and b == 3)
q = -(a if a > b else b)
r = [a if a > b else b, 2]
s = (a, b) if a else None
k = a in (1, 2, 3) and b not in [4, 5]
z = x[0] if len(x) > 2 and x.dim() == 2 else x
c = x[:, 1:] if x.shape[1] > 2 else x[:, :1]
d = x[0, -1].item() if x.requires_grad is False else 0.0
e = float("inf") if a > b else float("-inf")
f = a ** 2 if a > 1 and b > 1 else a ** -b
o = np.pi if a else math.e
is_t = isinstance(x, torch.Tensor)
is_n = isinstance(a, (int, float))
ver = torch.__version__ is not None
i = 1 if a > b else 2 if a == b else 3
dt = x.dtype == torch.float32 and x.device.type == "cpu"
